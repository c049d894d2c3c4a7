package secrets

import (
	"cmp"
	"slices"
)

// precedence orders hits at one place: known values, vendors' rules, the general
// rule.
func precedence(h Hit) int {
	switch h.Rule {
	case KnownRule:
		return 0
	case GeneralRule:
		return 2
	}
	return 1
}

// distinct orders hits by place. Of hits that overlap it keeps the more telling,
// then the earlier, then the longer.
func distinct(hits []Hit) []Hit {
	slices.SortFunc(hits, func(a, b Hit) int {
		return cmp.Or(cmp.Compare(precedence(a), precedence(b)), cmp.Compare(a.Start, b.Start), cmp.Compare(b.End, a.End),
			cmp.Compare(a.Rule, b.Rule), cmp.Compare(a.Name, b.Name), compareEncoded(a, b))
	})
	var kept []Hit // ordered by place
	for len(hits) > 0 {
		n := 1
		for n < len(hits) && precedence(hits[n]) == precedence(hits[0]) {
			n++
		}
		kept = withoutOverlaps(kept, hits[:n])
		hits = hits[n:]
	}
	return kept
}

// withoutOverlaps adds to kept what overlaps nothing of it and nothing added
// before. Both lists are ordered by place.
func withoutOverlaps(kept, more []Hit) []Hit {
	out := make([]Hit, 0, len(kept)+len(more))
	for _, h := range more {
		for len(kept) > 0 && kept[0].End <= h.Start {
			out = append(out, kept[0])
			kept = kept[1:]
		}
		if len(out) > 0 && out[len(out)-1].End > h.Start || len(kept) > 0 && kept[0].Start < h.End {
			continue
		}
		out = append(out, h)
	}
	return append(out, kept...)
}

// compareEncoded puts what stands there as it is before what is encoded.
func compareEncoded(a, b Hit) int {
	switch {
	case a.Encoded == b.Encoded:
		return 0
	case b.Encoded:
		return -1
	}
	return 1
}
