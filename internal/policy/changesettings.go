package policy

import "github.com/agent-airlock/airlock/internal/policy/tree"

// IfNoChanges says what an empty set of changes leads to.
type IfNoChanges string

// The outcomes of an empty set of changes.
const (
	NoChangesWarn   IfNoChanges = "" // skipped, with a warning
	NoChangesError  IfNoChanges = "error"
	NoChangesIgnore IfNoChanges = "ignore"
)

// OnViolation says what follows when changes break a rule about files.
type OnViolation string

// The outcomes of a violated rule about files.
const (
	ViolationRefuse OnViolation = "" // nothing is pushed
	ViolationIssue  OnViolation = "issue"
)

// ChangeSettings belong to create-pull-request and push-to-branch.
type ChangeSettings struct {
	// Draft, where it is not nil, overrides what the item says; the default is a draft.
	Draft *bool
	// Base is the branch that a pull request is opened against; "" means the
	// event's base or the default branch.
	Base string
	// Branch is the one branch that push-to-branch may push to instead of a
	// pull request's head; for create-pull-request, the new branch's name.
	Branch string
	// BranchPrefix begins the names of the branches that create-pull-request makes.
	// An approved item that names a branch has it already; Branch goes without it.
	BranchPrefix string
	// StayOnBase makes the new branch begin at the commit that the changes were made
	// from. Otherwise they are carried over to the base branch's newest commit.
	StayOnBase bool
	// CommitTitleSuffix ends the first line of the message of every commit that
	// push-to-branch makes.
	CommitTitleSuffix string
	// RequiredTitlePrefix and RequiredLabels say which pull requests
	// push-to-branch may push to: those whose title begins so and that have all
	// of the labels.
	RequiredTitlePrefix string
	RequiredLabels      []string
	// Reviewers are requested on a new pull request.
	Reviewers []string
	// IfNoChanges is what an empty set of changes leads to.
	IfNoChanges IfNoChanges
	// AllowedBranches are the patterns that the branch which an item of
	// create-pull-request names must match, BranchPrefix included; nil allows all,
	// an empty list none. They do not bind Branch, which is the owner's own word.
	AllowedBranches []string
	// Files are the rules about what may change.
	Files tree.Config
	// OnViolation is what a violated rule about files leads to.
	OnViolation OnViolation
	// FallbackIssue opens an issue that links to the branch where creating pull
	// requests is forbidden.
	FallbackIssue bool
	// SignedCommits makes commits through the API, which signs them.
	SignedCommits bool
}
