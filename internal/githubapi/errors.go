package githubapi

import (
	"time"
)

// Kind classifies an Error by what the caller can do about it. A Kind is
// itself an error, so that errors.Is(err, githubapi.NotFound) works.
type Kind string

// The kinds of errors.
const (
	// NotFound: it is not there, or the token may not see it (GitHub does not
	// tell the two apart).
	NotFound Kind = "not-found"
	// Unauthorized: there is no token, or GitHub does not accept it.
	Unauthorized Kind = "unauthorized"
	// Forbidden: the token lacks a permission (Error.Permission), or a feature
	// is switched off (Error.Feature), or the thing is locked or archived.
	Forbidden Kind = "forbidden"
	// Validation: GitHub refused the content (Error.Fields).
	Validation Kind = "validation"
	// Conflict: the thing changed in the meantime, or exists already.
	Conflict Kind = "conflict"
	// RateLimited: a limit is reached and waiting for it would take longer than
	// the configuration allows, or the write budget is used up. The request had
	// no effect.
	RateLimited Kind = "rate-limited"
	// Ambiguous: a write was sent and its answer is missing or useless. It may
	// have taken effect: look before writing again.
	Ambiguous Kind = "ambiguous"
	// Unreachable: GitHub could not be reached, or keeps failing. The request
	// had no effect.
	Unreachable Kind = "unreachable"
	// Malformed: GitHub's answer to a read could not be understood.
	Malformed Kind = "malformed"
	// Usage: the request was refused before it was sent, because an argument
	// cannot be right.
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
)

// FieldError is one reason of a Validation error.
type FieldError struct {
	Resource string // Issue, PullRequestReview, ...
	Field    string // title, body, ...; may be empty
	Code     string // missing, invalid, custom, ...; may be empty
	Message  string // GitHub's own words; may be empty
}

// Error is every error that a Client returns, save for the context's own when
// it ended before anything was sent.
type Error struct {
	Kind       Kind
	Op         string // what was attempted, in words: "create an issue"
	Repo       Repo   // zero when the request names none
	Status     int    // HTTP status, 0 without an answer
	Message    string // GitHub's own message, or what broke; one line, at most 500 bytes
	Permission string // of Forbidden: what X-Accepted-GitHub-Permissions asks for, such as "issues=write"
	Feature    string // of Forbidden: what is switched off, one of the Feature constants
	Fields     []FieldError
	Until      time.Time // of RateLimited: when it ends, when that is known
	RequestID  string    // X-GitHub-Request-Id, for GitHub's support
	Err        error     // the cause, when there is one
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Is makes errors.Is(err, kind) work.
func (e *Error) Is(target error) bool {
	k, ok := target.(Kind)
	return ok && k == e.Kind
}
