package apply

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/agent-airlock/airlock/internal/gitrepo"
	"github.com/agent-airlock/airlock/internal/policy/tree"
	"github.com/agent-airlock/airlock/internal/safeoutput"
	"github.com/agent-airlock/airlock/internal/secrets"
)

// screen looks for secrets in the texts of all items, before anything is written. It
// describes what it finds, by the entry's index, without showing it.
func screen(scanner *secrets.Scanner, entries []*entry) map[int]string {
	found := map[int]string{}
	if scanner == nil {
		return found
	}
	for _, e := range entries {
		field, hit, ok := secretOf(scanner, e.item)
		if asked := e.askedBranch(); !ok && asked != "" {
			hit, ok = secretWithin(scanner, asked)
			field = "branch"
		}
		if ok {
			found[e.index] = fmt.Sprintf("'%s' %s", field, describeSecret(hit))
		}
	}
	return found
}

// askedBranch returns the branch that an agent asked for, if the policy gave the branch another
// name. The new name may show a part of a secret, although no scan recognises the secret in it.
func (e *entry) askedBranch() string {
	if it, ok := e.approved.Accepted().Item().(*safeoutput.CreatePullRequest); ok && it.Branch != e.item.(*safeoutput.CreatePullRequest).Branch {
		return it.Branch
	}
	return ""
}

// withhold decides items that contain a secret. The operation repeats nothing of them.
func (p *planner) withhold(group []*entry) Operation {
	for _, e := range group {
		e.withheld = true
		e.decide(Denied, CodeSecret, "%s", p.snap.secrets[e.index])
	}
	return p.operation(group, fmt.Sprintf("nothing: %s contains a secret", group[0].kind))
}

// mask removes secrets from a text that people are shown, such as names of files, and
// messages of git or GitHub.
func (c Config) mask(text string) string {
	if c.Secrets == nil {
		return text
	}
	return c.Secrets.Mask(text)
}

// mask removes secrets from a result's message and notes.
func (r *Result) mask(c Config) {
	r.Message = c.mask(r.Message)
	for i, n := range r.Notes {
		r.Notes[i] = c.mask(n)
	}
}

// mask removes secrets from the messages about an item's changes. They may be in the names
// of files, in a patch that cannot be read, and in git's messages about both.
func (st *codeState) mask(c Config) {
	if st.refusal != nil {
		st.refusal.message = c.mask(st.refusal.message)
	}
	for i, n := range st.notes {
		st.notes[i] = c.mask(n)
	}
}

// describeSecret returns where a secret is and what to do, without showing it. An owner who wants
// to let the value pass needs its digest, which is left out for a value that Airlock was given.
func describeSecret(h secrets.Hit) string {
	what := fmt.Sprintf("contains a secret in line %d, column %d (%s, rule %s); if it is a real one, revoke it, because the agent knows it, and remove it", h.Line, h.Column, h.Name, h.Rule)
	if h.Digest != "" {
		what += "; if it is not, its digest in allowed-secrets lets it pass: values: [" + h.Digest + "]"
	}
	return what
}

// secretOf returns the first secret in an item, and the field that it is in.
func secretOf(scanner *secrets.Scanner, it safeoutput.Item) (field string, hit secrets.Hit, ok bool) {
	data, err := safeoutput.Encode(it)
	if err != nil {
		return "", hit, false // entriesOf has encoded it already
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	var fields map[string]any
	if dec.Decode(&fields) != nil {
		return "", hit, false
	}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if hit, ok := secretWithin(scanner, fields[name]); ok {
			return name, hit, true
		}
	}
	return "", hit, false
}

// secretWithin looks through the strings of a JSON value, and the names in it.
func secretWithin(scanner *secrets.Scanner, value any) (secrets.Hit, bool) {
	switch value := value.(type) {
	case string:
		if hits := scanner.Scan(value); len(hits) > 0 {
			return hits[0], true
		}
	case []any:
		for _, element := range value {
			if hit, ok := secretWithin(scanner, element); ok {
				return hit, true
			}
		}
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(value)) {
			if hit, ok := secretWithin(scanner, name); ok {
				return hit, true
			}
			if hit, ok := secretWithin(scanner, value[name]); ok {
				return hit, true
			}
		}
	}
	return secrets.Hit{}, false
}

// maxScanned is the largest file that is scanned for secrets, in bytes: GitHub accepts no larger
// one. The rules about size refuse far smaller ones, unless the owner lifts them.
const maxScanned = 100 << 20

// secret looks for a secret in everything that would be pushed: the message, names and files
// of each commit, because a later commit does not hide what an earlier one shows. It describes
// what it finds, without the secret.
func (c *codePreparer) secret(st *codeState) (refusal string, err error) {
	if c.o.cfg.Secrets == nil {
		return "", nil
	}
	s := &codeSearch{codePreparer: c, scanner: c.o.cfg.Secrets, state: st}
	for _, search := range []func() (refusal string, err error){s.messages, s.names, s.files} {
		if refusal, err := search(); refusal != "" || err != nil {
			return refusal, err
		}
	}
	return s.decide()
}

// codeSearch is the search for secrets in changes.
type codeSearch struct {
	*codePreparer
	scanner *secrets.Scanner
	state   *codeState
	found   []suspect
	unread  error // a file that is too large; a secret elsewhere counts for more
}

// messages looks into the messages and authors of the commits.
func (s *codeSearch) messages() (refusal string, err error) {
	for i, commit := range s.state.carried.Commits {
		info, err := s.code.Repo.Commit(s.o.ctx, commit)
		if err != nil {
			return "", err
		}
		if hits := s.scanner.Scan(info.Message + "\n" + info.Author.Name + "\n" + info.Author.Email); len(hits) > 0 {
			part, hit := "message", hits[0]
			if lines := strings.Count(info.Message, "\n") + 1; hit.Line > lines {
				part, hit.Line = "author", hit.Line-lines
			}
			return fmt.Sprintf("%sthe %s of commit %d %s", nothingPushed, part, i+1, describeSecret(hit)), nil
		}
	}
	return "", nil
}

// names looks into the names of the files.
func (s *codeSearch) names() (refusal string, err error) {
	seen := map[string]bool{}
	for _, changes := range s.state.steps {
		for _, ch := range changes {
			if ch.NewMode == "" || ch.NewMode == submoduleMode || seen[ch.Path] {
				continue
			}
			seen[ch.Path] = true
			if hits := s.scanner.Scan(ch.Path); len(hits) > 0 {
				return nothingPushed + "the name of a file " + describeSecret(hits[0]), nil
			}
		}
	}
	return "", nil
}

// files looks into the new contents of the files.
func (s *codeSearch) files() (refusal string, err error) {
	files, oids := newContents(s.state.steps)
	next := 0
	for data, err := range s.code.Repo.Blobs(s.o.ctx, oids, maxScanned) {
		ch := files[next]
		next++
		if errors.Is(err, gitrepo.ErrTooLarge) {
			s.unread = fmt.Errorf("the file %q: %w", ch.Path, err)
			continue
		}
		if err != nil {
			return "", fmt.Errorf("the file %q: %w", ch.Path, err)
		}
		if refusal, err := s.file(ch, string(data)); refusal != "" || err != nil {
			return refusal, err
		}
	}
	return "", nil
}

// suspect is what looks like a secret in a file, and is not in the file's former content.
type suspect struct{ path, value, description string }

// maxSuspects is how many values of changes are looked for in the base tree.
const maxSuspects = 100

// file searches the new content of one changed file. It lets a value pass if the file contained it
// before, because otherwise nobody could fix that file. It also lets a value pass if its place
// explains it, or the owner allows it. It refuses at once a value that Airlock was given, and any
// further secret after maxSuspects. It leaves the others to the method decide.
func (s *codeSearch) file(ch gitrepo.TreeChange, content string) (refusal string, err error) {
	hits := s.scanner.ScanFile(ch.Path, content)
	if len(hits) == 0 {
		return "", nil
	}
	before := ""
	if ch.OldMode != "" && ch.OldMode != submoduleMode {
		old, err := s.code.Repo.Blob(s.o.ctx, ch.OldOID, maxScanned)
		if err != nil && !errors.Is(err, gitrepo.ErrTooLarge) {
			return "", err
		}
		before = string(old)
	}
	allowed := tree.MatchesAny(s.scanner.Allowed().Files, ch.Path)
	for _, h := range hits {
		value := content[h.Start:h.End]
		known := h.Rule == secrets.KnownRule
		switch {
		case strings.Contains(before, value), allowed && !known:
		case h.Explained != "":
			s.state.note(fmt.Sprintf("%q contains what looks like a secret in line %d (rule %s); it was let pass, because the file is %s", ch.Path, h.Line, h.Rule, h.Explained))
		case known || len(s.found) == maxSuspects:
			return fmt.Sprintf("%sthe file %q %s", nothingPushed, ch.Path, describeSecret(h)), nil
		default:
			s.found = append(s.found, suspect{ch.Path, value, describeSecret(h)})
		}
	}
	return "", nil
}

// decide refuses the first secret that the base tree does not contain: what is there already
// is not given away by being moved or copied.
func (s *codeSearch) decide() (refusal string, err error) {
	if len(s.found) == 0 {
		return "", s.unread
	}
	values := make([]string, len(s.found))
	for i, f := range s.found {
		values[i] = f.value
	}
	known, err := s.code.Repo.Contained(s.o.ctx, s.state.onto, values)
	if err != nil {
		return "", err
	}
	for _, f := range s.found {
		if !known[f.value] {
			return fmt.Sprintf("%sthe file %q %s", nothingPushed, f.path, f.description), nil
		}
	}
	return "", s.unread
}
