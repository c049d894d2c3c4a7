package policy

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/agent-airlock/airlock/internal/policy/tree"
	"github.com/agent-airlock/airlock/internal/safeoutput"
	"github.com/agent-airlock/airlock/internal/text"
)

// finish applies the owner's settings to an item: it returns a new item, what
// was changed about it, or why it may not pass. The given item stays as it is.
func finish(kc KindConfig, it safeoutput.Item) (safeoutput.Item, []Note, *refusal) {
	var n notes
	switch it := it.(type) {
	case *safeoutput.CreateIssue:
		c := *it
		c.Title = n.title(kc.TitlePrefix, it.Title)
		c.Labels = n.labels(kc, it.Labels, -1)
		return &c, n, nil
	case *safeoutput.CreatePullRequest:
		c := *it
		c.Title = n.title(kc.TitlePrefix, it.Title)
		c.Labels = n.labels(kc, it.Labels, -1)
		c.Draft = n.draft(kc.Changes.Draft, it.Draft)
		var ref *refusal
		if c.Branch, ref = n.branch(kc.Changes, it.Branch); ref != nil {
			return nil, nil, ref
		}
		return &c, n, nil
	case *safeoutput.CreateDiscussion:
		c := *it
		c.Title = n.title(kc.TitlePrefix, it.Title)
		c.Category = n.category(kc.Discussion.Category, it.Category)
		return &c, n, nil
	case *safeoutput.CreateSecurityReport:
		c := *it
		c.SARIF = slices.Clone(it.SARIF)
		c.Category = n.category(kc.Report.Category, it.Category)
		return &c, n, nil
	case *safeoutput.AddIssueLabel:
		return finishLabels(kc, it)
	case *safeoutput.UpdateIssue:
		if ref := checkFields(kc.Update, it); ref != nil {
			return nil, nil, ref
		}
		c := *it
		c.Status, c.Title, c.Body = clonePtr(it.Status), clonePtr(it.Title), clonePtr(it.Body)
		return &c, nil, nil
	case *safeoutput.CreateReviewComment:
		c := *it
		if c.Side == "" {
			c.Side = kc.Review.Side
		}
		if c.Side == "" {
			c.Side = "RIGHT"
		}
		return &c, nil, nil
	case *safeoutput.AddIssueComment:
		c := *it
		return &c, nil, nil
	case *safeoutput.PushToBranch:
		c := *it
		return &c, nil, nil
	case *safeoutput.MissingTool:
		c := *it
		return &c, nil, nil
	case *safeoutput.Noop:
		c := *it
		return &c, nil, nil
	}
	return nil, nil, refuse(RuleKindNotEnabled, "no rule knows the kind %q", it.Kind())
}

// checkFields denies an update of a field that is not enabled.
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
			denied = append(denied, "'"+f.name+"'")
		}
	}
	if denied == nil {
		return nil
	}
	may := "no field is enabled"
	if enabled != nil {
		may = "enabled: " + strings.Join(enabled, ", ")
	}
	return refuse(RuleFieldNotEnabled, "%s may not be changed (%s); enable a field with \"%s:\" below update-issue", strings.Join(denied, ", "), may, strings.Trim(denied[0], "'"))
}

// notes collects what rules changed about one item.
type notes []Note

func (n *notes) add(rule, format string, args ...any) {
	*n = append(*n, Note{rule, fmt.Sprintf(format, args...)})
}

// category lets the owner's category win over the item's.
func (n *notes) category(owner, asked string) string {
	if owner == "" {
		return asked
	}
	if asked != "" && asked != owner {
		n.add(RuleCategory, "the category %q was asked for; the configuration sets %q", asked, owner)
	}
	return owner
}

// draft lets the owner's setting win over the item's; the default is a draft.
func (n *notes) draft(owner, asked *bool) *bool {
	d := true
	if asked != nil {
		d = *asked
	}
	if owner != nil {
		if asked != nil && *asked != *owner {
			n.add(RuleDraft, "draft: %t was asked for; the configuration sets %t", *asked, *owner)
		}
		d = *owner
	}
	return &d
}

func clonePtr[T any](p *T) *T {
	if p == nil {
		return nil
	}
	v := *p
	return &v
}

// branch returns the name of a pull request's new branch as the owner's settings
// leave it, "" where whoever makes the branch names it, or why there may be none.
func (n *notes) branch(s ChangeSettings, asked string) (string, *refusal) {
	if s.Branch != "" {
		if asked != "" && asked != s.Branch {
			n.add(RuleBranch, "the branch %q was asked for; the configuration sets %q", asked, s.Branch)
		}
		return s.Branch, nil
	}
	name := asked
	if name != "" && !strings.HasPrefix(name, s.BranchPrefix) {
		name = s.BranchPrefix + name
		n.add(RuleBranch, "the branch %q was asked for; with the configured prefix it is %q", asked, name)
	}
	if s.AllowedBranches == nil {
		return name, nil
	}
	words := "none is allowed"
	if len(s.AllowedBranches) > 0 {
		words = "allowed: " + text.QuoteList(s.AllowedBranches)
	}
	if name == "" {
		return "", refuse(RuleAllowedBranches, "'branch' is missing, and only branches of the list may be made; %s", words)
	}
	if !BranchAllowed(s, name) {
		return "", refuse(RuleAllowedBranches, "the branch %q may not be made; %s", name, words)
	}
	return name, nil
}

// BranchAllowed reports whether AllowedBranches lets create-pull-request make a
// branch of the name, the prefix included.
func BranchAllowed(s ChangeSettings, name string) bool {
	return s.AllowedBranches == nil || tree.MatchesAny(s.AllowedBranches, name)
}

// maxTitle is GitHub's limit for a title in characters; counted here in UTF-16
// code units, which are never fewer.
const maxTitle = 256

// title puts the prefix before a title, unless it is there already, and cuts
// the whole to GitHub's limit.
func (n *notes) title(prefix, title string) string {
	if !prefixed(prefix, title) {
		title = prefix + title
	}
	cut, was := cutTitle(title)
	if was {
		n.add(RuleTitleLength, "the title was cut to %d characters", maxTitle)
	}
	return cut
}

// prefixed reports whether a title begins with the prefix already. The blank at
// a prefix's end may be missing ("[ai]x"), unless a word would run on ("Fix" is
// no prefix of "Fixed").
func prefixed(prefix, title string) bool {
	if strings.HasPrefix(title, prefix) {
		return true
	}
	bare := strings.TrimSpace(prefix)
	last, _ := utf8.DecodeLastRuneInString(bare)
	return title == bare || !unicode.IsLetter(last) && !unicode.IsDigit(last) && strings.HasPrefix(title, bare)
}

// cutTitle cuts a title to maxTitle UTF-16 code units, the last an ellipsis.
func cutTitle(s string) (string, bool) {
	if len(s) <= maxTitle {
		return s, false
	}
	units, end := 0, 0 // end: where to cut if it proves too long
	for i, r := range s {
		if units <= maxTitle-1 {
			end = i
		}
		units++
		if r > 0xFFFF {
			units++
		}
	}
	if units <= maxTitle {
		return s, false
	}
	return trimJoin(s[:end]) + "…", true
}

// trimJoin removes what would join or space out the ellipsis after a cut.
func trimJoin(s string) string {
	for s != "" {
		r, size := utf8.DecodeLastRuneInString(s)
		if r != ' ' && r != '\u200d' && r != '\ufe0f' {
			break
		}
		s = s[:len(s)-size]
	}
	return s
}
