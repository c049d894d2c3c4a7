package policy

import (
	"fmt"
	"slices"
	"strings"

	"github.com/agent-airlock/airlock/internal/safeoutput"
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
