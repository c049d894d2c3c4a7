package gitrepo

import (
	"context"
	"fmt"
	"regexp"
	"strings"
)

// maxPushed is how many commits are looked through for the one that a branch is
// at.
const maxPushed = 10_000

// PushRequest is one branch to be created or moved.
type PushRequest struct {
	Tip    string // the commit that the branch is to be at
	Branch string // without refs/heads/
	// Expect is the commit that the branch must be at; "": there must be no such
	// branch.
	Expect string
	// Replace allows that Tip does not follow Expect: the branch's commits after
	// the common ones are lost. It is for branches of our own only.
	Replace bool
}

// Push moves a branch of the remote from one commit to another, or creates it. It
// changes nothing else, and nothing if the branch is not at what is expected; a
// branch that is at Tip already is a success. So it can be tried again after any
// error. What the server or the way to it did not allow is a *PushError.
func (r *Repo) Push(ctx context.Context, m *Remote, p PushRequest) error {
	if err := r.CheckBranch(ctx, p.Branch); err != nil {
		return err
	}
	if !IsObjectID(p.Tip) || p.Expect != "" && !IsObjectID(p.Expect) {
		return fmt.Errorf("a push needs whole commit ids, not %q and %q", p.Tip, p.Expect)
	}
	if err := r.Require(ctx, p.Tip); err != nil {
		return err
	}
	if p.Expect != "" && !p.Replace {
		if err := r.follows(ctx, p.Tip, p.Expect); err != nil {
			return err
		}
	}
	ref := "refs/heads/" + p.Branch
	a, err := r.gitRemote(ctx, m, "push", "--porcelain", "--no-verify", "--no-signed", "--no-follow-tags", "--recurse-submodules=no",
		"--force-with-lease="+ref+":"+p.Expect, "--", m.url.String(), p.Tip+":"+ref)
	if err == nil && a.ExitCode == 0 && moved(a, ref) {
		return nil
	}
	return m.pushError(p.Branch, a, err)
}

// follows returns an error unless the commit tip has the other among its
// ancestors, or is it. A lease alone would force the branch back. The commits are
// checked against their ids, so that a clone cannot make up a history.
func (r *Repo) follows(ctx context.Context, tip, ancestor string) error {
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
				continue // not there: the history is cut off
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
	return fmt.Errorf("%s does not follow %s: pushing it would take commits off the branch", tip, ancestor)
}

// PushErrorKind says why a push did not happen.
type PushErrorKind int

// The kinds.
const (
	PushMoved       PushErrorKind = iota + 1 // the branch is not at what was expected
	PushRefused                              // the server's rules or hooks do not allow it
	PushForbidden                            // the token may not
	PushAmbiguous                            // the connection was lost: it may have happened
	PushUnreachable                          // nothing was sent
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
		return "the connection was lost, the push may have happened"
	case PushUnreachable:
		return "the server could not be reached"
	}
	return fmt.Sprintf("kind %d", int(k))
}

// PushError is the error of a push that the server did not allow, or that did
// not get to it.
type PushError struct {
	Kind   PushErrorKind
	Branch string
	// Reason is what the server or else git said: one line without control
	// characters and secrets. It is untrusted text.
	Reason     string
	Code       string // GitHub's code of a rule, such as GH006; "": none
	Permission string // what the token lacks, as a workflow file writes it; "": unknown
	err        error  // what ended git; nil: it ended by itself
}

// Error implements error in one line.
func (e *PushError) Error() string {
	text := fmt.Sprintf("pushing %q: %v", e.Branch, e.Kind)
	if e.Permission != "" {
		text += fmt.Sprintf(" (it needs %q)", e.Permission)
	}
	if e.Reason != "" {
		text += ": " + e.Reason
	}
	return text
}

// Unwrap returns the context's error if that ended the push.
func (e *PushError) Unwrap() error { return e.err }

// statusOf returns what git push --porcelain says of a ref: a flag and a text.
func statusOf(a Output, ref string) (flag byte, text string) {
	for line := range strings.Lines(string(a.Stdout)) {
		fields := strings.SplitN(strings.TrimRight(line, "\n"), "\t", 3)
		if len(fields) == 3 && len(fields[0]) == 1 && strings.HasSuffix(fields[1], ":"+ref) {
			flag, text = fields[0][0], fields[2]
		}
	}
	return flag, text
}

// moved reports whether git says that the ref is where it was to go.
func moved(a Output, ref string) bool {
	flag, _ := statusOf(a, ref)
	return flag != 0 && strings.IndexByte(" +*=", flag) >= 0
}

var (
	ruleCode     = regexp.MustCompile(`\bGH[0-9]{3}\b`)
	noWorkflows  = regexp.MustCompile("without .?workflows?.? (permission|scope)")
	concurrently = regexp.MustCompile(`is at [0-9a-f]+ but expected|reference already exists|incorrect old value`)
	httpStatus   = regexp.MustCompile(`(?:returned error: |RPC failed; HTTP )([0-9]{3})`)
)

// pushError reads from what git printed why a push did not happen. Where it
// cannot be known whether anything was sent, that is what it says.
func (m *Remote) pushError(branch string, a Output, err error) *PushError {
	own, server := said(a.Stderr)
	e := &PushError{Kind: PushAmbiguous, Branch: branch, err: err}
	flag, status := statusOf(a, "refs/heads/"+branch)
	what, why, _ := strings.Cut(status, " (")
	why = oneLine(m.redact(strings.TrimSuffix(why, ")")))
	text := strings.Join(own, " ")
	words := server
	switch code := httpStatus.FindStringSubmatch(text); {
	case err != nil:
		words = append([]string{m.redact(err.Error())}, server...)
	case flag == '!' && what == "[rejected]":
		e.Kind, words = PushMoved, append([]string{why}, server...)
	case flag == '!' && what == "[remote rejected]":
		e.Kind, words = PushRefused, append([]string{why}, server...)
		if concurrently.MatchString(why) || why == "failed to update ref" && concurrently.MatchString(strings.Join(server, " ")) {
			e.Kind = PushMoved
		}
	case code != nil:
		e.Kind = kindOfStatus(code[1], strings.Contains(text, "RPC failed"))
		words = append(server, own...)
	case strings.Contains(text, "Authentication failed") || strings.Contains(text, "could not read Username") || strings.Contains(text, "fatal: repository '"):
		e.Kind, words = PushForbidden, append(server, own...)
	case strings.Contains(text, "unable to access") && !strings.Contains(text, "RPC failed"):
		e.Kind, words = PushUnreachable, own
	default:
		words = append(server, own...)
	}
	e.Reason = oneLine(strings.Join(words, "; "))
	e.Code = ruleCode.FindString(e.Reason)
	switch {
	case noWorkflows.MatchString(e.Reason):
		e.Kind, e.Permission = PushForbidden, "workflows: write"
	case e.Kind == PushForbidden:
		e.Permission = "contents: write"
	}
	return e
}

// kindOfStatus judges an HTTP status: of the request that asks for the branches,
// or of the one that sends.
func kindOfStatus(code string, sent bool) PushErrorKind {
	switch {
	case code == "401" || code == "403" || code == "404":
		return PushForbidden
	case !sent, code == "429", code == "408": // not now
		return PushUnreachable
	case code[0] == '4':
		return PushRefused
	}
	return PushAmbiguous
}

// maxBranch is how long a branch's name may be, in bytes: what GitHub and the
// usual file systems take.
const maxBranch = 244

// CheckBranch returns an error that says why if a name cannot be a branch's. The
// rules are git's for a full ref and for a branch; nothing in the name is
// expanded, as "@{-1}" is by git. GitHub's own are added: no whole object id,
// nothing that begins with "refs/".
func (r *Repo) CheckBranch(ctx context.Context, name string) error {
	switch {
	case name == "":
		return fmt.Errorf("a branch needs a name")
	case len(name) > maxBranch:
		return fmt.Errorf("a branch's name is at most %d bytes long, this one has %d", maxBranch, len(name))
	case strings.ContainsRune(name, 0):
		return fmt.Errorf("%q is no branch's name: it holds a NUL", name)
	case name[0] == '-':
		return fmt.Errorf("%q is no branch's name: it begins with a dash, as options do", name)
	case name == "HEAD":
		return fmt.Errorf("a branch cannot be called HEAD")
	case IsObjectID(strings.ToLower(name)):
		return fmt.Errorf("%q is no branch's name: it reads as a commit's id", name)
	case strings.HasPrefix(name, "refs/"):
		return fmt.Errorf(`%q is no branch's name: leave out the "refs/heads/" of a full ref`, name)
	}
	a, err := r.Run(ctx, Call{AnyExit: true, Limit: 1 << 10}, "check-ref-format", "refs/heads/"+name)
	if err != nil {
		return err
	}
	if a.ExitCode != 0 {
		return fmt.Errorf(`%q is no branch's name: git allows no spaces, control characters, "..", "//", "@{", or any of ~^:?*[\ in it, `+
			`no "/" or "." at its end, and no part that begins with "." or ends with ".lock"`, name)
	}
	return nil
}
