package gitrepo

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/agent-airlock/airlock/internal/branchname"
	"github.com/agent-airlock/airlock/internal/lazyregexp"
)

// maxPushed bounds how many commits checkFollows searches for the ancestor.
const maxPushed = 10_000

// PushRequest is one branch to be created or moved.
type PushRequest struct {
	Tip    string // required; the commit that the branch is to be at
	Branch string // required; without refs/heads/
	// Expect is the commit that the branch must be at; "": the branch must not exist.
	Expect string
	// Replace allows a Tip that does not follow Expect: the branch then loses its commits that Tip
	// does not follow. It is for branches of our own only.
	Replace bool
}

// Push moves a branch of the remote from one commit to another, or creates it. It changes nothing
// else. It changes nothing at all if the branch is not at p.Expect; if the branch is already at
// p.Tip, that is a success. So Push can be called again after any error. Once p and its commits
// have been checked, every error is a *PushError.
func (r *Repo) Push(ctx context.Context, m *Remote, p PushRequest) error {
	if err := branchname.Check(p.Branch); err != nil {
		return err
	}
	if !IsObjectID(p.Tip) || p.Expect != "" && !IsObjectID(p.Expect) {
		return fmt.Errorf("a push needs full commit ids, not %q and %q", p.Tip, p.Expect)
	}
	if err := r.Require(ctx, p.Tip); err != nil {
		return err
	}
	if p.Expect != "" && !p.Replace {
		if err := r.checkFollows(ctx, p.Tip, p.Expect); err != nil {
			return err
		}
	}
	ref := "refs/heads/" + p.Branch
	out, err := r.runRemote(ctx, m, "push", "--porcelain", "--no-verify", "--no-signed", "--no-follow-tags", "--recurse-submodules=no",
		"--force-with-lease="+ref+":"+p.Expect, "--", m.url.String(), p.Tip+":"+ref)
	if err == nil && out.ExitCode == 0 {
		// git may succeed without having moved the ref: this flag says that it is at Tip.
		if flag, _ := pushStatus(out, ref); flag != 0 && strings.IndexByte(" +*=", flag) >= 0 {
			return nil
		}
	}
	return m.pushError(p.Branch, out, err)
}

// checkFollows returns an error unless it finds that the commit tip is ancestor or descends from it,
// because a push with a lease could also move the branch back. The commits are checked against their
// ids, so the clone cannot make up a history.
func (r *Repo) checkFollows(ctx context.Context, tip, ancestor string) error {
	seen := map[string]bool{tip: true}
	for level := []string{tip}; len(level) > 0 && len(seen) <= maxPushed; {
		if seen[ancestor] {
			return nil
		}
		objects, err := r.read(ctx, level, maxObjects)
		if err != nil {
			return err
		}
		var next []string
		for _, oid := range level {
			if objects[oid].err != nil {
				continue // the history is cut off here
			}
			c, err := parseCommit(string(objects[oid].data))
			if err != nil {
				return fmt.Errorf("commit %s: %w", oid, err)
			}
			for _, p := range c.Parents {
				if !seen[p] {
					seen[p] = true
					next = append(next, p)
				}
			}
		}
		level = next
	}
	return fmt.Errorf("%s does not follow %s in the history that was searched: pushing it could take commits off the branch", tip, ancestor)
}

// PushErrorKind is why a push did not happen.
type PushErrorKind int

// The kinds.
const (
	PushMoved       PushErrorKind = iota + 1 // the branch is not at what was expected
	PushRefused                              // the server's rules or hooks do not allow it
	PushForbidden                            // the token does not allow it
	PushAmbiguous                            // it may have happened
	PushUnreachable                          // the commits did not reach the server
	PushLimited                              // the server asks to slow down: see LimitError
)

// String returns the kind in plain words.
func (k PushErrorKind) String() string {
	switch k {
	case PushMoved:
		return "the branch is not where it was expected"
	case PushRefused:
		return "the server refused the push"
	case PushForbidden:
		return "the token may not push"
	case PushAmbiguous:
		return "the push may have happened"
	case PushUnreachable:
		return "the commits did not reach the server"
	case PushLimited:
		return "the server asks to slow down"
	}
	return fmt.Sprintf("kind %d", int(k))
}

// PushError is the error of a push that did not happen, or that may not have happened.
type PushError struct {
	Kind   PushErrorKind
	Branch string
	// Reason is what the server printed, or else git: one line without control characters and
	// secrets. It is untrusted text.
	Reason     string
	Permission string // what the token lacks, as a workflow file writes it; "": unknown
	Status     int    // the HTTP status of the server's answer; 0: unknown
	err        error  // what ended git, or the LimitError; nil: it ended by itself, for another reason
}

// Error implements error in one line.
func (e *PushError) Error() string {
	message := fmt.Sprintf("pushing %q: %v", e.Branch, e.Kind)
	if e.Permission != "" {
		message += fmt.Sprintf(" (it needs %q)", e.Permission)
	}
	if e.Reason != "" {
		message += ": " + e.Reason
	}
	return message
}

// Unwrap returns what ended git, such as the context's error, or the *LimitError of a PushLimited.
func (e *PushError) Unwrap() error { return e.err }

// pushStatus returns what git push --porcelain reports of a ref: a flag and a text.
func pushStatus(out Output, ref string) (flag byte, status string) {
	for line := range strings.Lines(string(out.Stdout)) {
		fields := strings.SplitN(strings.TrimRight(line, "\n"), "\t", 3)
		if len(fields) == 3 && len(fields[0]) == 1 && strings.HasSuffix(fields[1], ":"+ref) {
			flag, status = fields[0][0], fields[2]
		}
	}
	return flag, status
}

var (
	// noWorkflows matches GitHub's refusal of a commit that changes a workflow.
	noWorkflows = lazyregexp.New("without .?workflows?.? (permission|scope)")
	// concurrently matches what servers answer if the branch was moved during the push.
	concurrently = lazyregexp.New(`is at [0-9a-f]+ but expected|reference already exists|incorrect old value`)
	// httpStatus finds the status of the server's answer in what git prints.
	httpStatus = lazyregexp.New(`(?:returned error: |RPC failed; HTTP )([0-9]{3})`)
)

// noGitServer is what git prints if the server answers with a page instead of refs: git then takes
// the server for a plain file server.
const noGitServer = "git-http-push failed"

// pushError finds in git's output why a push did not happen. The kind is PushAmbiguous if git did
// not end by itself, or if its output leaves open whether the server moved the branch.
func (m *Remote) pushError(branch string, out Output, err error) *PushError {
	own, server := splitStderr(out.Stderr)
	e := &PushError{Kind: PushAmbiguous, Branch: branch, err: err}
	flag, status := pushStatus(out, "refs/heads/"+branch)
	what, why, _ := strings.Cut(status, " (")
	why = messageLine(m.redact(strings.TrimSuffix(why, ")")))
	var reasons []string
	switch all := strings.Join(own, " "); {
	case err != nil:
		reasons = append([]string{m.redact(err.Error())}, server...)
	case flag == '!' && (what == "[rejected]" || what == "[remote rejected]"): // by git, or by the server
		e.Kind, reasons = PushRefused, append([]string{why}, server...)
		if why == "failed to update ref" {
			why = strings.Join(server, " ") // which says more
		}
		if what == "[rejected]" || concurrently.MatchString(why) {
			e.Kind = PushMoved
		}
	default:
		e.Kind, e.Status = kindOfFailure(all)
		reasons = slices.Concat(server, own)
		if e.Status == 0 && strings.Contains(all, noGitServer) {
			reasons = append([]string{"the server does not answer as a git server does"}, reasons...)
		}
	}
	e.Reason = messageLine(strings.Join(reasons, "; "))
	answered := flag != 0 // with what happened to the branch
	if limit := limitOf(out, e.Reason); limit != nil && err == nil && !answered {
		e.Kind, e.err = PushLimited, limit
	}
	switch {
	case noWorkflows.MatchString(e.Reason):
		e.Kind, e.Permission = PushForbidden, "workflows: write"
	case e.Kind == PushForbidden:
		e.Permission = "contents: write"
	}
	return e
}

// kindOfFailure returns why a push failed where git reports nothing about the branch, and the HTTP
// status, 0 if it is unknown. It reads both from the lines that git itself printed.
func kindOfFailure(printed string) (kind PushErrorKind, status int) {
	sent := strings.Contains(printed, "RPC failed")
	if code := httpStatus.FindStringSubmatch(printed); code != nil {
		status, _ = strconv.Atoi(code[1])
		return kindOfStatus(code[1], sent), status
	}
	switch {
	case strings.Contains(printed, noGitServer):
		return PushUnreachable, 0
	case strings.Contains(printed, "Authentication failed") || strings.Contains(printed, "could not read Username"):
		return PushForbidden, http.StatusUnauthorized
	case strings.Contains(printed, "fatal: repository '"):
		return PushForbidden, http.StatusNotFound
	case strings.Contains(printed, "unable to access") && !sent:
		return PushUnreachable, 0
	}
	return PushAmbiguous, 0
}

// kindOfStatus returns what an HTTP status means. sent reports whether the request contained the
// commits; the request before it only asks for the branches.
func kindOfStatus(code string, sent bool) PushErrorKind {
	switch {
	case code == "401" || code == "403" || code == "404":
		return PushForbidden
	case code == "408": // request timeout: a later try may succeed
		return PushUnreachable
	case !sent && (code[0] != '4' || code == "407"): // 407 is a proxy's
		return PushUnreachable
	case code[0] == '4':
		return PushRefused
	}
	return PushAmbiguous
}
