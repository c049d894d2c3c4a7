package finding

import (
	"cmp"
	"slices"
)

// Sort orders findings by place: path, line, column, then the most severe
// first, then tool, rule and message. The order depends on nothing else, so it
// is the same in every run.
func Sort(findings []Finding) {
	slices.SortStableFunc(findings, compare)
}

func compare(a, b Finding) int {
	return cmp.Or(
		cmp.Compare(a.Path, b.Path),
		cmp.Compare(a.Range.StartLine, b.Range.StartLine),
		cmp.Compare(a.Range.StartColumn, b.Range.StartColumn),
		cmp.Compare(b.Severity.Rank(), a.Severity.Rank()),
		cmp.Compare(a.Tool, b.Tool),
		cmp.Compare(a.Rule, b.Rule),
		cmp.Compare(a.Message, b.Message),
		cmp.Compare(a.Check, b.Check),
		cmp.Compare(a.Range.EndLine, b.Range.EndLine),
		cmp.Compare(a.Range.EndColumn, b.Range.EndColumn),
		cmp.Compare(a.Suggestion, b.Suggestion),
	)
}
