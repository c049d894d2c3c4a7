package policy

import (
	"github.com/agent-airlock/airlock/internal/policy/tree"
	"github.com/agent-airlock/airlock/internal/safeoutput"
)

// Kind is a safe output's kind, for packages that know only policy.
type Kind = safeoutput.Kind

// Config is what the owner allows. With the zero Config nothing was configured:
// every kind is approved with its defaults, and staged.
type Config struct {
	// Kinds has the settings of every kind that the configuration names. Nil means that there is no
	// configuration. Otherwise only these kinds and those that are always allowed may pass, and of
	// them no disabled kind.
	Kinds map[safeoutput.Kind]KindConfig
	// Staged plans every item and applies none.
	Staged bool
	// Footer ends every body, unless a kind has its own.
	Footer Footer
	// HoldAfterFailedCode holds back text items after a failed item that carries
	// code; otherwise they are applied with a visible note.
	HoldAfterFailedCode bool
	// Own is what Airlock's own items may do. Kinds does not apply to them.
	Own OwnSettings
}

// Configured reports whether there is a configuration of kinds.
func (c Config) Configured() bool { return c.Kinds != nil }

// Kind returns the settings of a kind, and whether its items may pass at all.
func (c Config) Kind(kind safeoutput.Kind) (KindConfig, bool) {
	kc, listed := c.Kinds[kind]
	if listed {
		return kc, !kc.Disabled
	}
	if !c.Configured() {
		return unconfigured(kind), true
	}
	return KindConfig{}, safeoutput.SpecOf(kind).AlwaysAllowed
}

// unconfigured returns the settings of a kind when there is no configuration.
// Nothing is written then, and the plan shows all that the agent asked for.
func unconfigured(kind safeoutput.Kind) KindConfig {
	var kc KindConfig
	if kind == safeoutput.KindUpdateIssue {
		kc.Update = UpdateSettings{Status: true, Title: true, Body: true}
	}
	return kc
}

// StagedKind reports whether items of a kind are only planned.
func (c Config) StagedKind(kind safeoutput.Kind) bool {
	return c.Staged || !c.Configured() || c.Kinds[kind].Staged
}

// KindConfig is what the owner allows one kind. Nearly all of the first group is for several kinds;
// the structs below it each belong to one or two. A setting that a kind has no use for is ignored.
type KindConfig struct {
	// Disabled denies the kind even though it is listed ("kind: false").
	Disabled bool
	// Staged plans items of this kind and applies none.
	Staged bool
	// Max is the number of items: nil means the kind's default, negative no
	// limit. Package intake counts them; see config.SafeOutputs.Intake.
	Max *int
	// Min is the number of items below which the run fails; 0 means none. Whoever
	// collects and applies items counts them.
	Min int
	// Target is which issue, pull request or discussion items may act on.
	Target TargetRule
	// Excludes are the things that items may not act on, though the kind could.
	Excludes []safeoutput.Target
	// TitlePrefix begins every title, exactly as written.
	TitlePrefix string
	// Labels are added to those the item asks for.
	Labels []string
	// AllowedLabels are the labels that an item may ask for, whatever the case,
	// where '*' stands for any text; nil allows all, an empty list none.
	// BlockedLabels are refused even if they are allowed.
	AllowedLabels, BlockedLabels []string
	// MaxLabels is the number of labels an item of add-issue-label may ask for:
	// 0 means the kind's default, negative no limit but GitHub's.
	MaxLabels int
	// CreateIssue opens an issue for items such as missing-tool, which change nothing otherwise. The
	// issue's title begins with TitlePrefix, and the issue has Labels.
	CreateIssue bool
	// Footer replaces Config.Footer where it is not nil.
	Footer *Footer

	Update     UpdateSettings
	Review     ReviewSettings
	Discussion DiscussionSettings
	Report     ReportSettings
	Changes    ChangeSettings
}

// Footer is the line below a body. The zero value means the built-in footer.
type Footer struct {
	// None leaves the footer out.
	None bool
	// Text replaces the built-in footer. It is the owner's Markdown.
	Text string
}

// UpdateSettings belong to update-issue.
type UpdateSettings struct {
	// Status, Title and Body are the fields that may be changed.
	Status, Title, Body bool
	// Operation is what is done with the body of an item that names no operation. It is one of
	// safeoutput's operations; "" means that the body replaces the issue's.
	Operation string
}

// OutsideDiff is what becomes of a review comment whose line the pull request's
// diff does not show.
type OutsideDiff string

// The ways to treat a review comment outside the diff.
const (
	OutsideBody OutsideDiff = ""     // into the review's body, with file and line
	OutsideFile OutsideDiff = "file" // a comment on the file, without a line
	OutsideDrop OutsideDiff = "drop" // left out, and reported as skipped
)

// ReviewSettings belong to create-pull-request-review-comment.
type ReviewSettings struct {
	// Side is the side of a comment that names none: "LEFT", "RIGHT" or "" (RIGHT).
	Side string
	// OutsideDiff is what becomes of a comment outside the diff.
	OutsideDiff OutsideDiff
}

// DiscussionSettings belong to create-discussion.
type DiscussionSettings struct {
	// Category is a category's name, slug or node id. It overrides the item's.
	Category string
}

// ReportSettings belong to create-security-report.
type ReportSettings struct {
	// Driver is the name of the tool that findings are reported under; "" means
	// Airlock's name for agents' findings.
	Driver string
	// Category is code scanning's category. It overrides the item's.
	Category string
}

// IfNoChanges is what an empty set of changes leads to.
type IfNoChanges string

// The outcomes of an empty set of changes.
const (
	NoChangesWarn   IfNoChanges = "" // skipped, with a warning
	NoChangesError  IfNoChanges = "error"
	NoChangesIgnore IfNoChanges = "ignore"
)

// OnViolation is what changes that break a rule about files lead to.
type OnViolation string

// The outcomes of a violated rule about files.
const (
	ViolationRefuse OnViolation = "" // nothing is pushed
	ViolationIssue  OnViolation = "issue"
)

// Commits is what becomes of several commits.
type Commits string

// The outcomes of several commits.
const (
	CommitsKeepSound Commits = "" // as they are, or as one if an earlier one breaks a rule that the result keeps
	CommitsKeep      Commits = "keep"
	CommitsSquash    Commits = "squash"
)

// ChangeSettings belong to create-pull-request and push-to-branch.
type ChangeSettings struct {
	// Draft, if it is not nil, overrides the item's; the default is a draft.
	Draft *bool
	// Base is the branch that a pull request is opened against; "" means the
	// event's base or the default branch.
	Base string
	// Branch is the one branch that push-to-branch may push to instead of a
	// pull request's head; for create-pull-request, the new branch's name.
	Branch string
	// BranchPrefix begins the names of the branches that create-pull-request makes.
	// An approved item that names a branch has it already; Branch does not need it.
	BranchPrefix string
	// StayOnBase starts the new branch at the commit that the changes were made from.
	// Otherwise they are carried over to the base branch's newest commit.
	StayOnBase bool
	// CommitTitleSuffix ends the first line of the message of every commit that
	// push-to-branch makes.
	CommitTitleSuffix string
	// RequiredTitlePrefix and RequiredLabels limit push-to-branch to pull requests
	// whose title begins with the prefix and that have all of the labels.
	RequiredTitlePrefix string
	RequiredLabels      []string
	// Reviewers are requested on a new pull request.
	Reviewers []string
	// IfNoChanges is what an empty set of changes leads to.
	IfNoChanges IfNoChanges
	// AllowedBranches are the patterns that the branch of an item of
	// create-pull-request must match, BranchPrefix included; nil allows all, an
	// empty list none. They do not apply to Branch, which the owner chose.
	AllowedBranches []string
	// Excluded are the patterns of the files that are left out of the changes, before any
	// rule is asked about them: see tree.Matcher.
	Excluded []string
	// Files are the rules about what may change.
	Files tree.Config
	// OnViolation is what a violated rule about files leads to.
	OnViolation OnViolation
	// Commits is what becomes of several commits.
	Commits Commits
	// FallbackIssue opens an issue that links to the new branch if creating pull requests is
	// forbidden.
	FallbackIssue bool
	// SignedCommits makes commits through the API, which signs them.
	SignedCommits bool
}
