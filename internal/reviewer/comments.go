package reviewer

import (
	"regexp"
	"strings"
)

var (
	note = regexp.MustCompile(`\b(TODO|FIXME)\b|^\W*(XXX)\b(: |[^:])|\bXXX: `)
	// noted is what says where or when the note will be found again: an issue, an
	// address, or the version with which it goes.
	noted = regexp.MustCompile(`#\d+|https?://|\b[A-Z][A-Z0-9]+-\d+\b|\bGH-\d+|(?i:\bissue ?\d+)|\w/pull/\d+|(?i:\b(remov|drop|replac|updat|requires?\b|once\b|when\b|until\b)).*(\d\.[\dx]|\bv\d|(?i:\bpy\d))`)
	// noNote is what has a note's word and is none: what an editor writes above a stub, what
	// points at another note, and the word in quotation marks.
	noNote   = regexp.MustCompile(`(?i:\bauto-?generated\b|\bsearch (and see|this)\b|\b(another|that) (TODO|FIXME)\b)|["'\x60](TODO|FIXME|XXX)\b|\b(TODO|FIXME|XXX)["'\x60|]`)
	codeLine = regexp.MustCompile(`[;{}]\s*$|^\s*(if|for|while|return|const|let|var|def|func|import)\b.*[({:;=]|^\s*[\w.]+\s*(=|:=|\+=)\s*\S|^\s*[\w.]+\(.*\)\s*$`)
)

// longestNote is how many comments that follow each other make one note.
const longestNote = 5

// wholeNote returns a comment with those that go on with it in the next lines.
func (c *codeFile) wholeNote(i int) string {
	all := c.source.comments
	last := i
	for last+1 < len(all) && last < i+longestNote && all[last+1].first && c.line(all[last+1].start) == c.line(all[last].start)+1 &&
		!note.MatchString(c.text[all[last+1].start:all[last+1].end]) {
		last++
	}
	return strings.ReplaceAll(c.text[all[i].start:all[last].end], "\n", " ")
}

// goesOnFrom reports whether a comment stands alone on its line, and is below one with a
// note that is found: each of these lines may begin with the note's word again.
func (c *codeFile) goesOnFrom(i int) bool {
	all := c.source.comments
	if i == 0 || !all[i].first || !all[i-1].first || c.line(all[i].start) != c.line(all[i-1].start)+1 {
		return false
	}
	return note.MatchString(c.text[all[i-1].start:all[i-1].end]) && !noted.MatchString(c.wholeNote(i-1))
}

// comments finds notes without an issue, and code that was commented out.
func (c *codeFile) comments() {
	run, code, begin, last := 0, 0, token{}, 0
	flush := func() {
		if run >= 3 && code*5 >= run*4 {
			c.report("commented-code", begin.start, begin.end, "")
		}
		run, code = 0, 0
	}
	for i, t := range c.source.comments {
		said := c.text[t.start:t.end]
		if m := note.FindStringIndex(said); m != nil && !c.goesOnFrom(i) && !noNote.MatchString(said) && !noted.MatchString(c.wholeNote(i)) {
			word := strings.Trim(said[m[0]:m[1]], "/#*:! \t\n")
			c.report("todo-without-issue", t.start+int32(m[0]), t.start+int32(m[1]), word[:min(len(word), 5)])
		}
		line := c.line(t.start)
		if !t.first || line != last+1 {
			flush()
		}
		if last = line; !t.first || strings.HasPrefix(said, "/*") {
			continue
		}
		if run == 0 {
			begin = t
		}
		if run++; codeLine.MatchString(strings.TrimLeft(said, "/#! ")) {
			code++
		}
	}
	flush()
}
