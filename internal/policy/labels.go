package policy

import (
	"fmt"
	"slices"
	"strings"

	"github.com/agent-airlock/airlock/internal/safeoutput"
	"github.com/agent-airlock/airlock/internal/text"
)

// maxLabels is GitHub's limit for the labels of an issue.
const maxLabels = 100

// addedLabels returns the labels that an add-issue-label item adds, or a refusal if
// none of those that it asks for may be added.
func (n *notes) addedLabels(kc KindConfig, asked []string) ([]string, *refusal) {
	limit := kc.MaxLabels
	switch {
	case limit == 0:
		limit = safeoutput.SpecOf(safeoutput.KindAddIssueLabel).DefaultMaxLabels
	case limit < 0:
		limit = maxLabels // if it were negative, n.labels would set the owner's labels alone
	}
	labels := n.labels(kc, asked, limit)
	if len(labels) == 0 {
		return nil, refuse(RuleAllowedLabels, "none of the labels %s is allowed%s; allowed: %s", text.QuoteList(asked), describeAlike(kc, asked), listAllowed(kc))
	}
	return labels, nil
}

// labels returns the labels to set, without duplicates: the allowed ones of those asked for, at
// most limit of them, then the owner's. The owner's labels count first towards GitHub's limit,
// which is the only one if limit is negative. With any other limit, the owner's labels alone are
// not set: labels returns nil if no label asked for is allowed.
func (n *notes) labels(kc KindConfig, asked []string, limit int) []string {
	own := unique(kc.Labels, nil)
	most := max(maxLabels-len(own), 0)
	if limit >= 0 {
		most = min(most, limit)
	}
	var allowed, refused []string
	for _, l := range asked {
		isOwn := containsLabel(own, l)
		switch {
		case AllowsLabel(kc, l) && (isOwn || !onlyLooksLike(own, l)):
			allowed = append(allowed, l)
		case isOwn: // it is added if any label is
		default:
			refused = append(refused, l)
		}
	}
	labels := unique(allowed, nil)
	if len(labels) > most {
		n.add(RuleMaxLabels, "left out %s: at most %s an item", text.QuoteList(labels[most:]), text.Count(most, "label"))
		labels = labels[:most:most]
	}
	if refused != nil {
		n.add(RuleAllowedLabels, "left out %s%s; allowed: %s", text.QuoteList(refused), describeAlike(kc, refused), listAllowed(kc))
	}
	if labels == nil && limit >= 0 {
		return nil // the owner's labels alone are not a reason to add labels
	}
	return append(labels, unique(own, labels)...)
}

// unique returns labels without repetitions and without those in seen.
func unique(labels, seen []string) []string {
	known := make(map[string]bool, len(labels)+len(seen))
	for _, l := range seen {
		known[text.FoldCase(l)] = true
	}
	var out []string
	for _, l := range labels {
		if key := text.FoldCase(l); !known[key] {
			known[key] = true
			out = append(out, l)
		}
	}
	return out
}

func containsLabel(labels []string, label string) bool {
	return slices.ContainsFunc(labels, func(l string) bool { return text.FoldCase(l) == text.FoldCase(label) })
}

// AllowsLabel reports whether an item may ask for a label. Like GitHub, it ignores
// case. A label that only looks like an allowed one is not allowed, and one that only
// looks like a blocked one is blocked.
func AllowsLabel(kc KindConfig, label string) bool {
	looks := likeness(label)
	blocks := func(pattern string) bool {
		return matchLabel(pattern, label) || matchLabel(likeness(pattern), looks)
	}
	return (kc.AllowedLabels == nil || AnyLabelMatches(kc.AllowedLabels, label)) &&
		!slices.ContainsFunc(kc.BlockedLabels, blocks)
}

// onlyLooksLike reports whether a label looks as if it matched one of the patterns, but does not
// match that one.
func onlyLooksLike(patterns []string, label string) bool {
	looks := likeness(label)
	return slices.ContainsFunc(patterns, func(pattern string) bool {
		return !matchLabel(pattern, label) && matchLabel(likeness(pattern), looks)
	})
}

// describeAlike returns a remark about the labels that only look like one that the owner allows,
// blocks or adds. It returns "" if there are none.
func describeAlike(kc KindConfig, labels []string) string {
	named := slices.Concat(kc.AllowedLabels, kc.BlockedLabels, kc.Labels)
	alike := slices.DeleteFunc(slices.Clone(labels), func(l string) bool { return !onlyLooksLike(named, l) })
	if len(alike) == 0 {
		return ""
	}
	return fmt.Sprintf(" (%s only looks like one that the configuration names)", text.QuoteList(alike))
}

// AnyLabelMatches reports whether a label matches one of the patterns of a list of allowed or
// blocked labels.
func AnyLabelMatches(patterns []string, label string) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool { return matchLabel(pattern, label) })
}

// matchLabel reports whether a label matches a pattern, in which '*' stands for any
// text. It searches the label from its beginning to its end, without backtracking.
func matchLabel(pattern, label string) bool {
	pattern, label = text.FoldCase(pattern), text.FoldCase(label)
	first, rest, star := strings.Cut(pattern, "*")
	if !star {
		return pattern == label
	}
	label, ok := strings.CutPrefix(label, first)
	if !ok {
		return false
	}
	parts := strings.Split(rest, "*")
	last := len(parts) - 1
	for _, part := range parts[:last] {
		if _, label, ok = strings.Cut(label, part); !ok {
			return false
		}
	}
	return strings.HasSuffix(label, parts[last])
}

// listAllowed lists the labels that an item may ask for.
func listAllowed(kc KindConfig) string {
	list := listLabels(kc.AllowedLabels)
	switch {
	case kc.AllowedLabels == nil:
		list = "any"
	case list == "":
		list = "none"
	}
	if len(kc.BlockedLabels) > 0 {
		list += ", but not " + listLabels(kc.BlockedLabels)
	}
	return list
}

// listLabels lists labels. Of more than fifty, it lists the first fifty and how many more there
// are, because each item that is refused has such a list.
func listLabels(labels []string) string {
	const most = 50
	list := strings.Join(labels[:min(len(labels), most)], ", ")
	if more := len(labels) - most; more > 0 {
		list += fmt.Sprintf(" and %d more", more)
	}
	return list
}
