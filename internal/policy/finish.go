package policy

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/agent-airlock/airlock/internal/safeoutput"
)

// GitHub's limits for what the owner's settings make longer.
const (
	maxTitle  = 256 // characters of a title; counted here as UTF-16 code units
	maxLabels = 100 // labels of an issue
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

// finishLabels judges an add-issue-label item: labels that may not be added are
// taken out, and an item that is left without any is denied.
func finishLabels(kc KindConfig, it *safeoutput.AddIssueLabel) (safeoutput.Item, []Note, *refusal) {
	limit := kc.MaxLabels
	if limit == 0 {
		limit = DefaultMaxLabels
	}
	var n notes
	c := *it
	c.Labels = n.labels(kc, it.Labels, limit)
	if len(c.Labels) == 0 {
		return nil, nil, refuse(RuleAllowedLabels, "none of the labels %s is allowed; allowed: %s", quoteAll(it.Labels), allowedWords(kc.AllowedLabels))
	}
	return &c, n, nil
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

// labels returns what an item's labels become: those allowed, at most limit of
// them (negative: no limit), then the owner's, without duplicates.
func (n *notes) labels(kc KindConfig, asked []string, limit int) []string {
	var out []string
	seen := map[string]bool{}
	take := func(l string) bool {
		key := strings.ToLower(l)
		if seen[key] {
			return false
		}
		seen[key] = true
		out = append(out, l)
		return true
	}
	var refused, over []string
	for _, l := range asked {
		switch {
		case !allowsLabel(kc.AllowedLabels, l):
			refused = append(refused, l)
		case seen[strings.ToLower(l)]:
		case limit >= 0 && len(out) >= limit, len(out) >= maxLabels:
			over = append(over, l)
		default:
			take(l)
		}
	}
	if len(out) == 0 && limit >= 0 {
		return nil // an add-issue-label item must stand by its own labels
	}
	for _, l := range kc.Labels {
		if len(out) >= maxLabels && !seen[strings.ToLower(l)] {
			over = append(over, l)
			continue
		}
		take(l)
	}
	if refused != nil {
		n.add(RuleAllowedLabels, "left out %s; allowed: %s", quoteAll(refused), allowedWords(kc.AllowedLabels))
	}
	if over != nil {
		n.add(RuleMaxLabels, "left out %s: more than the labels allowed", quoteAll(over))
	}
	return out
}

// allowsLabel compares without regard to case, as GitHub does.
func allowsLabel(allowed []string, label string) bool {
	return allowed == nil || slices.ContainsFunc(allowed, func(a string) bool { return strings.EqualFold(a, label) })
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

func allowedWords(labels []string) string {
	if len(labels) == 0 {
		return "none"
	}
	return strings.Join(labels, ", ")
}

func quoteAll(list []string) string {
	q := make([]string, len(list))
	for i, s := range list {
		q[i] = fmt.Sprintf("%q", s)
	}
	return strings.Join(q, ", ")
}
