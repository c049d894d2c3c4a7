package sanitize

import "github.com/agent-airlock/airlock/internal/markdown"

// backticks escapes the runs of backticks in a leaf that begin no code span.
// Readers disagree about the code behind such a run (cmark's search is faulty
// there). When a run has no partner by the specification either, only such runs
// are escaped: what is code is seen in the next reading, so the leaf's other
// edits, from index first on, are dropped and the result is true.
func (p *pass) backticks(nodes []markdown.Inline, first int) bool {
	lonely, code := p.lonelyRuns(nodes)
	alone := false
	for i := range nodes {
		if nodes[i].Kind == markdown.Backticks {
			alone = alone || lonely[nodes[i].Start]
			code = code || !lonely[nodes[i].Start]
		}
	}
	again := code && alone
	if again {
		p.edits = p.edits[:first]
	}
	for i := range nodes {
		n := &nodes[i]
		if n.Kind != markdown.Backticks || again && !lonely[n.Start] {
			continue
		}
		for k := n.Start; k < n.End; k++ {
			p.edit(k, k, `\`, RuleCode, "backticks")
		}
	}
	return again
}

// lonelyRuns finds the runs of backticks, by their offsets, that have no
// partner by the specification's rule: a run opens a code span up to the next
// run of the same length. code tells that the leaf has a code span.
func (p *pass) lonelyRuns(nodes []markdown.Inline) (lonely map[int]bool, code bool) {
	var runs []span
	for i := range nodes {
		n := &nodes[i]
		if n.Kind == markdown.CodeNode {
			code = true
		} else if n.Kind != markdown.Backticks {
			continue
		}
		for k := n.Start; k < n.End; k++ {
			if p.src[k] == '`' {
				start := k
				for k < n.End && p.src[k] == '`' {
					k++
				}
				runs = append(runs, span{start, k})
			}
		}
	}
	partner := make([]int, len(runs)) // the next run of the same length
	next := map[int]int{}
	for i := len(runs) - 1; i >= 0; i-- {
		length := runs[i].end - runs[i].start
		partner[i] = next[length]
		next[length] = i
	}
	lonely = map[int]bool{}
	for i := 0; i < len(runs); i++ {
		if partner[i] > i {
			i = partner[i]
		} else {
			lonely[runs[i].start] = true
		}
	}
	return lonely, code
}
