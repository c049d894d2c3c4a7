package policy

import (
	"fmt"

	"github.com/agent-airlock/airlock/internal/safeoutput"
)

// The rules by name, as reports and tests know them. Package tree has those about files.
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
