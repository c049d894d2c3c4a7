package githubapi

import (
	"cmp"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
)

// Kind classifies an Error by what the caller can do about it. A Kind is
// itself an error, so that errors.Is(err, githubapi.NotFound) works.
type Kind string

// Error returns the kind's own name.
func (k Kind) Error() string { return string(k) }

// The kinds of errors.
const (
	// NotFound: the thing does not exist, or the token may not see it (GitHub does not
	// distinguish the two).
	NotFound Kind = "not-found"
	// Unauthorized: there is no token, GitHub does not accept it, or it must not be sent.
	Unauthorized Kind = "unauthorized"
	// Forbidden: the token lacks a permission (Error.Permission), a feature is
	// switched off or the thing is locked or archived (Error.Feature), or a rule
	// of the repository forbids it.
	Forbidden Kind = "forbidden"
	// Validation: GitHub refused the content (Error.Fields).
	Validation Kind = "validation"
	// Conflict: the thing changed in the meantime, or exists already.
	Conflict Kind = "conflict"
	// RateLimited: a limit is reached and waiting for it would take longer than
	// the configuration allows. The request had no effect.
	RateLimited Kind = "rate-limited"
	// Ambiguous: a write was sent and its answer is missing or useless. It may
	// have taken effect: look before writing again.
	Ambiguous Kind = "ambiguous"
	// Unreachable: GitHub could not be reached, or keeps failing. The request
	// had no effect.
	Unreachable Kind = "unreachable"
	// Malformed: GitHub's answer to a read could not be understood, or the answer to any request is a
	// redirect without an address or to another host. The request had no effect.
	Malformed Kind = "malformed"
	// Usage: the request was not sent, because an argument is invalid. GetFile also returns it for
	// what is not a file, or is too large a file.
	Usage Kind = "usage"
)

// The values of Error.Feature.
const (
	FeatureCodeScanning = "code scanning"
	FeatureIssues       = "issues"
	FeatureDiscussions  = "discussions"
	FeatureLocked       = "locked"
	FeatureArchived     = "archived"
	// FeaturePullCreation: the workflow's token may not open pull requests.
	FeaturePullCreation = "pull request creation"
	// FeatureDrafts: the repository's plan has no draft pull requests.
	FeatureDrafts = "draft pull requests"
	// FeatureAccess: the organization's rules about access, such as single sign-on or a list of
	// addresses, do not let the token in.
	FeatureAccess = "access"
	// FeatureBlocked: GitHub has disabled access to the repository (status 451).
	FeatureBlocked = "blocked"
)

// FieldError is one of the reasons that GitHub gives for a refusal.
type FieldError struct {
	Resource string // Issue, PullRequestReview, ...
	Field    string // title, body, ...; may be empty
	Code     string // missing, invalid, custom, ...; may be empty
	Message  string // GitHub's own; may be empty
}

// Error is every error that a Client returns, with one exception: if the context ends while no
// request is on its way, the error is the context's.
type Error struct {
	Kind       Kind
	Op         string // what was attempted: "create an issue"
	Repo       Repo   // zero if the request is not about a repository
	Status     int    // HTTP status, 0 without an answer
	Message    string // GitHub's own message, of which at most 500 bytes are kept, or what broke; one line
	Permission string // if known, the permission that is needed, such as "issues=write"
	Feature    string // if Forbidden, and known, the cause: one of the Feature constants
	Moved      bool   // if NotFound, it has another name or number now
	Expired    bool   // if Unauthorized, GitHub accepted the token before
	Fields     []FieldError
	Until      time.Time // if RateLimited, when the limit ends; zero if that is unknown
	Err        error     // the cause, when there is one
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Is makes errors.Is(err, kind) work.
func (e *Error) Is(target error) bool {
	k, ok := target.(Kind)
	return ok && k == e.Kind
}

// Error describes what was attempted, what happened and what to do.
func (e *Error) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "could not %s", cmp.Or(e.Op, "call the API"))
	if !e.Repo.IsZero() {
		fmt.Fprintf(&b, " in %s", e.Repo)
	}
	b.WriteString(": " + e.whatHappened())
	if remedy := e.remedy(); remedy != "" {
		b.WriteString("; " + remedy)
	}
	return b.String()
}

// whatHappened returns the part of the message about what happened.
func (e *Error) whatHappened() string {
	quoted := ""
	if e.Message != "" {
		quoted = fmt.Sprintf(" (%q)", e.Message)
	}
	switch e.Kind {
	case NotFound:
		if e.Moved {
			return "it has moved: the repository was renamed or transferred, or the issue was transferred"
		}
		return "it does not exist, or the token may not see it"
	case Unauthorized:
		if e.Expired {
			return "GitHub does not accept the token any more" + quoted
		}
		if e.Status == 0 {
			return "the token was not sent" + quoted
		}
		return "GitHub does not accept the token" + quoted
	case Forbidden:
		return e.forbidden() + quoted
	case Validation:
		if e.Status != 0 && e.Status != http.StatusOK && e.Status != http.StatusUnprocessableEntity {
			return "GitHub refuses the request: " + e.fieldMessages()
		}
		return "GitHub refuses the content: " + e.fieldMessages()
	case Conflict:
		if len(e.Fields) > 0 {
			quoted = fmt.Sprintf(" (%q)", e.fieldMessages())
		}
		return "it conflicts with what is there" + quoted
	case RateLimited:
		if !e.Until.IsZero() {
			return "the rate limit is reached until " + e.Until.UTC().Format(time.RFC3339) + quoted
		}
		return "a rate limit is reached" + quoted
	case Ambiguous:
		return "the answer is missing or unusable, so nothing confirms the change: it may or may not have happened" + quoted
	case Unreachable:
		if e.Status != 0 {
			return fmt.Sprintf("GitHub keeps answering with status %d%s", e.Status, quoted)
		}
		return "GitHub cannot be reached" + quoted
	case Malformed:
		return "the answer could not be understood" + quoted
	}
	return e.Message
}

// forbidden returns what happened, of a Forbidden error.
func (e *Error) forbidden() string {
	switch {
	case e.Feature != "":
		return featureTexts[e.Feature].happened
	case e.Permission != "":
		return "the token lacks the permission " + permissions(e.Permission)
	}
	return "GitHub refuses it"
}

// featureTexts has what happened and the remedy for each value of Error.Feature.
var featureTexts = map[string]struct{ happened, remedy string }{
	FeatureCodeScanning: {"the repository does not have code scanning enabled",
		"enable code scanning (GitHub Advanced Security for a private repository) in the repository's settings"},
	FeatureIssues: {"the repository does not have issues enabled",
		"enable issues in the repository's settings, under General, Features"},
	FeatureDiscussions: {"the repository does not have discussions enabled",
		"enable discussions in the repository's settings, under General, Features"},
	FeatureLocked: {"the conversation is locked",
		"unlock it, or leave it alone"},
	FeatureArchived: {"the repository is archived, so it cannot be written to",
		"unarchive the repository"},
	FeatureAccess: {"the organization's rules about access do not let the token in",
		"authorize the token for the organization's single sign-on, or let its list of addresses (IP allow list) contain the runner's; permissions do not help"},
	FeatureBlocked: {"GitHub has blocked access to the repository for legal reasons",
		"the repository's owner has to ask GitHub's support"},
	FeaturePullCreation: {"the settings do not let GitHub Actions create pull requests",
		`allow it in the repository's Settings, Actions, General: "Allow GitHub Actions to create and approve pull requests" ` +
			`(an organization may have to allow it first), or use the token of a GitHub App`},
	FeatureDrafts: {"the repository has no draft pull requests",
		"open the pull request ready for review (draft: false)"},
}

// remedy returns the part of the message about what to do.
func (e *Error) remedy() string {
	switch e.Kind {
	case NotFound:
		if e.Moved {
			return "nothing was written; use its new name"
		}
		return "check the name or number, and that the token has access to the repository"
	case Unauthorized:
		if e.Expired {
			return "it has expired or was revoked (the token of a GitHub App expires after an hour, that of a job when the job ends); run the job again: it does not repeat what is done already"
		}
		return "give a token that is valid for this host"
	case Forbidden:
		switch {
		case e.Feature != "":
			return featureTexts[e.Feature].remedy
		case e.Permission != "":
			return "add it to the job's permissions: block; workflow runs from forks are read-only, whatever the block says"
		}
		return "check what the token may do"
	case Conflict:
		return "look at what is there now, and start from that"
	case RateLimited:
		return "wait, or write less in one go"
	case Ambiguous:
		return "look whether it is there before trying again"
	case Unreachable:
		if _, ok := errors.AsType[*tls.CertificateVerificationError](e.Err); ok {
			return "check the API URL, and give the certificate of the server, or of the proxy, as a PEM file (ca-file)"
		}
		return "check the API URL, the network and proxy settings, and GitHub's status page"
	case Malformed:
		return "check that the API URL is that of a GitHub API"
	}
	return ""
}

// permissions turns "issues=write; pull_requests=write" into the spelling of a
// workflow's permissions block: "issues: write, or pull-requests: write".
func permissions(header string) string {
	var alternatives []string
	for alternative := range strings.SplitSeq(header, ";") {
		var all []string
		for p := range strings.SplitSeq(alternative, ",") {
			if name, level, ok := strings.Cut(strings.TrimSpace(p), "="); ok {
				all = append(all, strings.ReplaceAll(name, "_", "-")+": "+level)
			}
		}
		if len(all) > 0 {
			alternatives = append(alternatives, strings.Join(all, " and "))
		}
	}
	return cmp.Or(strings.Join(alternatives, ", or "), header)
}

// fieldMessages joins the reasons of a refusal. GitHub's message comes first, if it says more than
// that something is invalid and none of the reasons repeats it.
func (e *Error) fieldMessages() string {
	if len(e.Fields) == 0 {
		return e.Message
	}
	var messages []string
	isGeneral := slices.Contains([]string{"", "Validation Failed", "Unprocessable Entity"}, e.Message)
	isRepeated := slices.ContainsFunc(e.Fields, func(f FieldError) bool { return strings.Contains(f.Message, e.Message) })
	if !isGeneral && !isRepeated {
		messages = append(messages, e.Message)
	}
	for _, f := range e.Fields {
		message := cmp.Or(f.Message, strings.ReplaceAll(f.Code, "_", " "))
		if f.Field != "" && !strings.HasPrefix(message, f.Field) {
			message = f.Field + " " + message
		}
		messages = append(messages, message)
	}
	return strings.Join(messages, "; ")
}
