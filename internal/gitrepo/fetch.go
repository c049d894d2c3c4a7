package gitrepo

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// Fetch gets commits that are not there yet from the remote, with depth commits
// of history each; 0: all of it. What the server sends is checked as git fsck
// does. Commits that are there are not asked for again, except with depth 0 where
// the history is cut off. A commit that the server does not have, or does not
// give, is ErrMissing.
//
// A history that is cut off here is so for every later question to the
// repository, also where a clone that it borrows from has more of it.
func (r *Repo) Fetch(ctx context.Context, m *Remote, oids []string, depth int) error {
	cut, err := r.isCut()
	if err != nil {
		return err
	}
	var want []string
	for _, oid := range unique(oids) {
		there, err := r.Has(ctx, oid) // also asserts that it is an id
		if err != nil {
			return err
		}
		if !there || depth == 0 && cut {
			want = append(want, oid)
		}
	}
	if len(want) == 0 {
		return nil
	}
	args := []string{"fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--no-auto-maintenance", "--no-recurse-submodules"}
	switch {
	case depth < 0:
		return errors.New("a history cannot be less than one commit deep")
	case depth > 0:
		args = append(args, "--depth="+strconv.Itoa(depth))
	case cut:
		args = append(args, "--unshallow")
	}
	a, err := r.gitRemote(ctx, m, append(append(args, "--", m.url.String()), want...)...)
	if err != nil {
		return fmt.Errorf("fetching from %s: %w", m, err)
	}
	if a.ExitCode != 0 {
		return m.fetchError(a)
	}
	return r.Require(ctx, want...)
}

// isCut reports whether the repository's history is cut off somewhere.
func (r *Repo) isCut() (bool, error) {
	info, err := os.Stat(filepath.Join(r.gitDir(), "shallow"))
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	return err == nil && info.Size() > 0, err
}

// fetchError says why a fetch failed, in the server's words or else in git's.
func (m *Remote) fetchError(a Output) error {
	own, server := said(a.Stderr)
	text := oneLine(strings.Join(append(server, own...), "; "))
	if strings.Contains(text, "not our ref") || strings.Contains(text, "unadvertised object") {
		return fmt.Errorf("%w: %s does not have it either: %s", ErrMissing, m, text)
	}
	if code := httpStatus.FindStringSubmatch(text); code != nil && kindOfStatus(code[1], true) == PushForbidden || strings.Contains(text, "Authentication failed") || strings.Contains(text, "could not read Username") {
		return fmt.Errorf("fetching from %s: the token may not read it: %s", m, text)
	}
	if lostConnection.MatchString(text) {
		return fmt.Errorf("fetching from %s: %w: %s", m, ErrUnreachable, text)
	}
	return fmt.Errorf("fetching from %s: %s", m, text)
}

// lostConnection is how git tells that it did not get through.
var lostConnection = regexp.MustCompile(`unable to access|RPC failed|disconnect|early EOF|hung up|timed out|returned error: (5|429)`)
