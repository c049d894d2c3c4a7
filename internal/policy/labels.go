package policy

import (
	"slices"
	"strings"

	"github.com/agent-airlock/airlock/internal/safeoutput"
	"github.com/agent-airlock/airlock/internal/text"
)

// maxLabels is GitHub's limit for the labels of an issue.
const maxLabels = 100

// finishLabels judges an add-issue-label item: labels that may not be added are
// taken out, and an item that is left without any is denied.
func finishLabels(kc KindConfig, it *safeoutput.AddIssueLabel) (safeoutput.Item, []Note, *refusal) {
	limit := kc.MaxLabels
	if limit == 0 {
		spec, _ := safeoutput.Lookup(string(it.Kind()))
		limit = spec.DefaultMaxLabels
	}
	var n notes
	c := *it
	c.Labels = n.labels(kc, it.Labels, limit)
	if len(c.Labels) == 0 {
		return nil, nil, refuse(RuleAllowedLabels, "none of the labels %s is allowed; allowed: %s", text.QuoteList(it.Labels), allowedWords(kc))
	}
	return &c, n, nil
}

// labels returns what an item's labels become: those allowed, at most limit of
// them (negative: no limit but GitHub's), then the owner's, without duplicates.
// The owner's labels keep their places where there are too many.
func (n *notes) labels(kc KindConfig, asked []string, limit int) []string {
	own := unique(kc.Labels, nil)
	room := max(maxLabels-len(own), 0)
	if limit >= 0 {
		room = min(room, limit)
	}
	var allowed, refused []string
	for _, l := range asked {
		if allowsLabel(kc, l) {
			allowed = append(allowed, l)
		} else if !containsLabel(own, l) {
			refused = append(refused, l)
		}
	}
	out := unique(allowed, nil)
	if len(out) > room {
		n.add(RuleMaxLabels, "left out %s: at most %s an item", text.QuoteList(out[room:]), text.Count(room, "label"))
		out = out[:room:room]
	}
	if refused != nil {
		n.add(RuleAllowedLabels, "left out %s; allowed: %s", text.QuoteList(refused), allowedWords(kc))
	}
	if out == nil && limit >= 0 {
		return nil // add-issue-label stands by the item's own labels
	}
	return append(out, unique(own, out)...)
}

// unique returns labels without those that came before or are in seen already.
func unique(labels, seen []string) []string {
	known := make(map[string]bool, len(labels)+len(seen))
	for _, l := range seen {
		known[strings.ToLower(l)] = true
	}
	var out []string
	for _, l := range labels {
		if key := strings.ToLower(l); !known[key] {
			known[key] = true
			out = append(out, l)
		}
	}
	return out
}

func containsLabel(labels []string, label string) bool {
	return slices.ContainsFunc(labels, func(l string) bool { return strings.EqualFold(l, label) })
}

// allowsLabel compares without regard to case, as GitHub does.
func allowsLabel(kc KindConfig, label string) bool {
	matches := func(pattern string) bool { return matchLabel(pattern, label) }
	return (kc.AllowedLabels == nil || slices.ContainsFunc(kc.AllowedLabels, matches)) &&
		!slices.ContainsFunc(kc.BlockedLabels, matches)
}

// matchLabel reports whether a label is what the pattern says, where '*' stands
// for any text. Linear in the label for each '*', without backtracking further.
func matchLabel(pattern, label string) bool {
	pattern, label = strings.ToLower(pattern), strings.ToLower(label)
	first, rest, star := strings.Cut(pattern, "*")
	if !star {
		return pattern == label
	}
	label, ok := strings.CutPrefix(label, first)
	if !ok {
		return false
	}
	parts := strings.Split(rest, "*")
	last := parts[len(parts)-1]
	for _, part := range parts[:len(parts)-1] {
		i := strings.Index(label, part)
		if i < 0 {
			return false
		}
		label = label[i+len(part):]
	}
	return strings.HasSuffix(label, last)
}

// allowedWords says which labels an item may ask for.
func allowedWords(kc KindConfig) string {
	words := "any"
	if kc.AllowedLabels != nil {
		words = "none"
	}
	if len(kc.AllowedLabels) > 0 {
		words = strings.Join(kc.AllowedLabels, ", ")
	}
	if len(kc.BlockedLabels) > 0 {
		words += ", but not " + strings.Join(kc.BlockedLabels, ", ")
	}
	return words
}
