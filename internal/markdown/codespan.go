package markdown

import "strings"

// maxTicks is the longest run of backticks that cmark remembers; longer ones
// never open a code span.
const maxTicks = 80

// backtickMemo remembers where runs of backticks stand. It is cmark's own memo
// with its fault: a search that reaches the end keeps, for each length, only
// the last run, and one that stops early leaves positions behind the current
// one, which later count as "no such run".
type backtickMemo struct {
	scanned bool
	last    *[maxTicks + 1]int // shared by all leaves
}

// backticks reads a run of backticks and, if there is a closing run, the code
// span.
func (p *inlineParser) backticks() (InlineKind, int32) {
	n := leadingRun(p.text[p.pos:], '`')
	p.pos += n
	if end := p.closingTicks(n); end > 0 {
		p.pos = end
		return CodeNode, int32(n)
	}
	return Backticks, 0
}

// closingTicks returns the offset after the next run of exactly n backticks, 0
// if there is none.
func (p *inlineParser) closingTicks(n int) int {
	if n > maxTicks {
		return 0
	}
	m := &p.ticks
	if m.last == nil {
		m.last = &p.s.in.ticks
		*m.last = [maxTicks + 1]int{}
	}
	if m.scanned && m.last[n] <= p.pos {
		return 0
	}
	text := p.text
	for i := p.pos; ; {
		k := strings.IndexByte(text[i:], '`')
		if k < 0 {
			break
		}
		i += k
		run := leadingRun(text[i:], '`')
		if run <= maxTicks {
			m.last[run] = i
		}
		i += run
		if run == n {
			return i
		}
	}
	m.scanned = true
	return 0
}
