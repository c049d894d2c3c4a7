package gitrepo

import (
	"fmt"
	"regexp"
	"strings"
)

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
