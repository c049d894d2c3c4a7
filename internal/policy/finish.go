package policy

import (
	"cmp"
	"fmt"
	"strings"
	"unicode/utf16"

	"github.com/agent-airlock/airlock/internal/branchname"
	"github.com/agent-airlock/airlock/internal/policy/tree"
	"github.com/agent-airlock/airlock/internal/safeoutput"
	"github.com/agent-airlock/airlock/internal/text"
)

// finish applies the owner's settings to an item. It returns a new item and what
// was changed about it, or why it may not pass.
func finish(kc KindConfig, it safeoutput.Item) (safeoutput.Item, []Note, *refusal) {
	var n notes
	var refused *refusal
	final := safeoutput.Clone(it)
	if repo, ok := safeoutput.Field(final, "repo").(*string); ok {
		*repo = "" // it names this repository
	}
	switch it := final.(type) {
	case *safeoutput.CreateIssue:
		it.Title = n.title(kc.TitlePrefix, it.Title)
		it.Labels = n.labels(kc, it.Labels, -1)
	case *safeoutput.CreatePullRequest:
		it.Title = n.title(kc.TitlePrefix, it.Title)
		it.Labels = n.labels(kc, it.Labels, -1)
		it.Draft = n.draft(kc.Changes.Draft, it.Draft)
		it.Branch, refused = n.branch(kc.Changes, it.Branch)
	case *safeoutput.CreateDiscussion:
		it.Title = n.title(kc.TitlePrefix, it.Title)
		it.Category = n.category(kc.Discussion.Category, it.Category)
	case *safeoutput.CreateSecurityReport:
		it.Category = n.category(kc.Report.Category, it.Category)
	case *safeoutput.AddIssueLabel:
		it.Labels, refused = n.addedLabels(kc, it.Labels)
	case *safeoutput.UpdateIssue:
		refused = checkFields(kc.Update, it)
		it.Operation = bodyOperation(kc.Update, it)
	case *safeoutput.CreateReviewComment:
		it.Side = cmp.Or(it.Side, kc.Review.Side, "RIGHT")
	default: // no setting changes an item of another kind
		if safeoutput.SpecOf(it.Kind()).Kind == "" {
			refused = refuse(RuleKindNotEnabled, "unknown kind %q", it.Kind())
		}
	}
	if refused != nil {
		return nil, nil, refused
	}
	return final, n, nil
}

// bodyOperation returns what is done with an update's body: what the item says, otherwise what the
// owner says. It returns "" if the body replaces the issue's, or the item has no body.
func bodyOperation(s UpdateSettings, it *safeoutput.UpdateIssue) string {
	operation := cmp.Or(it.Operation, s.Operation)
	if it.Body == nil || operation == safeoutput.OperationReplace {
		return ""
	}
	return operation
}

// checkFields refuses an update of a field that is not enabled.
func checkFields(allowed UpdateSettings, it *safeoutput.UpdateIssue) *refusal {
	var denied, enabled []string
	for _, f := range []struct {
		name         string
		asked, allow bool
	}{
		{"status", it.Status != nil, allowed.Status},
		{"title", it.Title != nil, allowed.Title},
		{"body", it.Body != nil, allowed.Body},
	} {
		if f.allow {
			enabled = append(enabled, f.name)
		} else if f.asked {
			denied = append(denied, f.name)
		}
	}
	if denied == nil {
		return nil
	}
	others := "no field is enabled"
	if enabled != nil {
		others = "enabled: " + strings.Join(enabled, ", ")
	}
	return refuse(RuleFieldNotEnabled, "'%s' may not be changed (%s); enable a field with \"%s:\" below update-issue", strings.Join(denied, "', '"), others, denied[0])
}

// notes collects what rules changed about one item.
type notes []Note

func (n *notes) add(rule, format string, args ...any) {
	*n = append(*n, Note{rule, fmt.Sprintf(format, args...)})
}

// category returns the owner's category if there is one, otherwise the item's.
func (n *notes) category(owner, asked string) string {
	if owner != "" && asked != "" && asked != owner {
		n.add(RuleCategory, "the category %q was asked for; the configuration sets %q", asked, owner)
	}
	return cmp.Or(owner, asked)
}

// draft returns the owner's setting if there is one, otherwise the item's; the
// default is a draft.
func (n *notes) draft(owner, asked *bool) *bool {
	if owner != nil && asked != nil && *asked != *owner {
		n.add(RuleDraft, "draft: %t was asked for; the configuration sets %t", *asked, *owner)
	}
	draft := cmp.Or(owner, asked, new(true))
	return new(*draft)
}

// branch returns the name of a pull request's new branch, or why the item is refused. The
// name is "" if neither the owner nor the item gives one: whoever makes the branch chooses it.
func (n *notes) branch(s ChangeSettings, asked string) (string, *refusal) {
	if s.Branch != "" {
		if asked != "" && asked != s.Branch {
			n.add(RuleBranch, "the branch %q was asked for; the configuration sets %q", asked, s.Branch)
		}
		return s.Branch, nil
	}
	name, why := newBranch(s, asked)
	if name != asked {
		n.add(RuleBranch, "the branch %q was asked for; its name is %q, because %s", asked, name, why)
	}
	allowed := "none is allowed"
	if len(s.AllowedBranches) > 0 {
		allowed = "allowed: " + text.QuoteList(s.AllowedBranches)
	}
	switch {
	case name == "" && s.AllowedBranches != nil:
		return "", refuse(RuleAllowedBranches, "'branch' is missing, and only branches on the list are allowed; %s", allowed)
	case BranchAllowed(s, name):
		return name, nil
	case name != asked:
		return "", refuse(RuleAllowedBranches, "the branch %q is not used, because %s, and %q is not allowed; %s", asked, why, name, allowed)
	}
	return "", refuse(RuleAllowedBranches, "the branch %q is not allowed; %s", name, allowed)
}

// DefaultBranchPrefix begins the names of new branches where the owner says nothing about
// them.
const DefaultBranchPrefix = "airlock/"

// newBranch returns the name of a new branch: the name that was asked for, or a name made of it. In
// the second case, why is the end of a sentence that explains the change. If the owner has set a
// list of allowed branches and no prefix, only reserved names get the default prefix.
func newBranch(s ChangeSettings, asked string) (name, why string) {
	if asked == "" {
		return "", ""
	}
	prefix := s.BranchPrefix
	if prefix == "" && s.AllowedBranches == nil {
		prefix = DefaultBranchPrefix
	}
	var reasons []string
	if name = branchname.Clean(asked); name != asked {
		reasons = append(reasons, `new branches have short names of letters, digits and "._/-"`)
	}
	if !strings.HasPrefix(name, prefix) || name == prefix {
		name = prefix + name
		reasons = append(reasons, fmt.Sprintf("new branches begin with %q (branch-prefix)", prefix))
	}
	if meaning := branchname.Reserved(name); meaning != "" && !ownersChoice(s, name) {
		reasons = append(reasons, fmt.Sprintf("%q is avoided: %s", name, meaning))
		name = cmp.Or(prefix, DefaultBranchPrefix) + name
	}
	return name, strings.Join(reasons, ", and ")
}

// ownersChoice reports whether the owner has chosen the reserved beginning of a name. The beginning
// is the prefix, or the fixed part at the start of an allowed pattern.
func ownersChoice(s ChangeSettings, name string) bool {
	for _, begin := range append([]string{s.BranchPrefix}, s.AllowedBranches...) {
		if i := strings.IndexAny(begin, `*?[{\`); i >= 0 {
			begin = begin[:i]
		}
		if begin == "" || !strings.HasPrefix(name, begin) {
			continue
		}
		// Some beginnings, such as "revert-", are reserved only with something after them.
		if branchname.Reserved(begin) != "" || branchname.Reserved(begin+"x") != "" {
			return true
		}
	}
	return false
}

// BranchAllowed reports whether create-pull-request may make a branch of the name,
// which has its prefix already.
func BranchAllowed(s ChangeSettings, name string) bool {
	return s.AllowedBranches == nil || tree.MatchesAny(s.AllowedBranches, name)
}

// maxTitle is GitHub's limit for a title, in characters; here it counts UTF-16 code
// units, which are never fewer.
const maxTitle = 256

// title puts the prefix before a title that does not begin with it (see BeginsWith), and
// cuts the result to GitHub's limit.
func (n *notes) title(prefix, title string) string {
	if !BeginsWith(title, prefix) {
		title = prefix + title
	}
	cut := cutTitle(title)
	if cut != title {
		n.add(RuleTitleLength, "the title was cut to %d characters", maxTitle)
	}
	return cut
}

// BeginsWith reports whether a title begins with an owner's prefix. Case and blanks count. The
// characters by which package sanitize makes mentions and closing words inert are ignored in both.
func BeginsWith(title, prefix string) bool {
	const inert = "\u200b"
	return strings.HasPrefix(strings.ReplaceAll(title, inert, ""), strings.ReplaceAll(prefix, inert, ""))
}

// cutTitle cuts a longer title to at most maxTitle UTF-16 code units, the last an ellipsis.
func cutTitle(title string) string {
	units, end := 0, 0 // end: where to cut if the title proves too long
	for i, r := range title {
		if units < maxTitle {
			end = i
		}
		if units += utf16.RuneLen(r); units > maxTitle {
			return trimJoin(title[:end]) + "…"
		}
	}
	return title
}

// trimJoin removes what would join or space out the ellipsis after a cut.
func trimJoin(s string) string { return strings.TrimRight(s, " \u200d\ufe0f") }
