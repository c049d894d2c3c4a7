package policy

import (
	"fmt"

	"github.com/agent-airlock/airlock/internal/safeoutput"
)

// The rules by name, as reports and tests know them.
const (
	RuleKindNotEnabled  = "kind-not-enabled"  // the configuration does not list the kind
	RuleTarget          = "target"            // the number is not one that the target allows
	RuleNoContext       = "no-context"        // the event is about nothing the item could act on
	RuleTargetKind      = "target-kind"       // the kind cannot act on such a thing
	RuleAllowedLabels   = "allowed-labels"    // a label is not on the list
	RuleMaxLabels       = "max-labels"        // more labels than an item may ask for
	RuleFieldNotEnabled = "field-not-enabled" // update-issue names a field that is not enabled
	RuleTitleLength     = "title-length"      // a title was cut to make room for the prefix
	RuleCategory        = "category"          // the owner's category replaced the item's
	RuleDraft           = "draft"             // the owner's draft setting replaced the item's
	RuleBranch          = "branch"            // the owner's branch, or prefix of branches, changed the item's
	RuleOwnKind         = "own-kind"          // the configuration lets no item of Airlock's own of the kind out
	RuleAnnotations     = "annotations"       // annotations beyond the limit of a check run
	RuleAllowedBranches = "allowed-branches"  // the item names no branch, or one that is not on the list
)

// The rules about files by name, as JudgeTree gives them.
const (
	RuleAllowedFiles = "allowed-files"   // a path is not on the list
	RuleProtected    = "protected-files" // a path is protected
	RuleMaxFiles     = "max-patch-files" // too many files changed
	RuleMaxSize      = "max-patch-size"  // too much is new
	RuleLink         = "link"            // a link leads out of the tree, or into git's own files
	RuleSubmodule    = "submodule"       // a submodule was added, changed or removed
	RuleMode         = "mode"            // a file became a link or the reverse, or has a mode that git does not write
	RuleLFS          = "lfs"             // a Git LFS pointer whose content is not in the changes
	RuleGitPath      = "git-path"        // a path that means .git, at least on some file systems
	RulePath         = "path"            // a path that is another one, or none, on some file systems
	RuleCollision    = "path-collision"  // two paths that are one on file systems that fold case or Unicode
	RuleExecutable   = "executable"      // only noted: a file became executable
)

// Denied is an item that may not leave, with the rule that stopped it. Message
// says what was asked and what would be allowed; it holds no line feed, but it
// may hold the agent's words, so whoever shows it escapes it.
type Denied struct {
	Item    safeoutput.Item
	Line    int
	Own     bool // it is an item of Airlock's own, with line 0
	Rule    string
	Message string
}

// Note is something that a rule changed about an item that was let out: nothing
// is taken away silently.
type Note struct{ Rule, Message string }

// refusal is a rule's reason to deny an item.
type refusal struct{ rule, message string }

func refuse(rule, format string, args ...any) *refusal {
	return &refusal{rule, fmt.Sprintf(format, args...)}
}
