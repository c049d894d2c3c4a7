package reviewer

import (
	"strings"

	"github.com/agent-airlock/airlock/internal/lazyregexp"
)

var (
	note = lazyregexp.New(`\b(TODO|FIXME)\b|^\W*(XXX)\b(: |[^:])|\bXXX: `)
	// notePlace matches the part of a note that says where or when it will be found again: an issue,
	// an address, or the version that makes the note obsolete.
	notePlace = lazyregexp.New(`#\d+|https?://|\b[A-Z][A-Z0-9]+-\d+\b|\bGH-\d+|(?i:\bissue ?\d+)|\w/pull/\d+|(?i:\b(remov|drop|replac|updat|requires?\b|once\b|when\b|until\b)).*(\d\.[\dx]|\bv\d|(?i:\bpy\d))`)
	// notNote matches comments with a note's word that are not notes: an editor's text above a stub, a
	// pointer to another note, and the word in quotation marks or in a list such as TODO|FIXME.
	notNote = lazyregexp.New(`(?i:\bauto-?generated\b|\bsearch (and see|this)\b|\b(another|that) (TODO|FIXME)\b)|["'\x60](TODO|FIXME|XXX)\b|\b(TODO|FIXME|XXX)["'\x60|]`)
	// statement matches lines of comments that are written like code.
	statement = lazyregexp.New(`[;{}]\s*$|^\s*(if|for|while|return|const|let|var|def|func|import)\b.*[({:;=]|^\s*[\w.]+\s*(=|:=|\+=)\s*\S|^\s*[\w.]+\(.*\)\s*$`)
)

// longestNote is how many comments after its first one a note may have.
const longestNote = 5

// notes finds notes that do not say where or when they will be found again: // TODO: faster.
func (c *codeFile) notes() {
	for i, t := range c.comments {
		text := c.commentText(i)
		at := noteIndex(text)
		if at == nil || c.continuesNote(i) || notNote.MatchString(text) || notePlace.MatchString(c.noteText(i)) {
			continue
		}
		noteWord := strings.TrimFunc(text[at[0]:at[1]], func(r rune) bool { return r < 'A' || r > 'Z' })
		c.report("todo-without-issue", t.start+int32(at[0]), t.start+int32(at[1]), noteWord)
	}
}

// noteIndex returns where the word of a note is in a comment, or nil. If the word is XXX, that
// includes the other characters that the expression matches.
func noteIndex(comment string) []int {
	if !strings.Contains(comment, "TODO") && !strings.Contains(comment, "FIXME") && !strings.Contains(comment, "XXX") {
		return nil // the expression would return the same, but takes longer
	}
	return note.FindStringIndex(comment)
}

func (c *codeFile) commentText(i int) string { return c.text[c.comments[i].start:c.comments[i].end] }

// followsComment reports whether a comment stands alone on its line, right below the
// comment before it.
func (c *codeFile) followsComment(i int) bool {
	all := c.comments
	return i > 0 && all[i].first && c.line(all[i].start) == c.line(all[i-1].start)+1
}

// noteText returns a comment and those below it that continue its note.
func (c *codeFile) noteText(i int) string {
	last := i
	for last+1 < len(c.comments) && last < i+longestNote && c.followsComment(last+1) && noteIndex(c.commentText(last+1)) == nil {
		last++
	}
	return strings.ReplaceAll(c.text[c.comments[i].start:c.comments[last].end], "\n", " ")
}

// continuesNote reports whether the comment right above is a note that notePlace does not match:
// each of the lines of a note may begin with the note's word again.
func (c *codeFile) continuesNote(i int) bool {
	return c.followsComment(i) && c.comments[i-1].first && noteIndex(c.commentText(i-1)) != nil && !notePlace.MatchString(c.noteText(i-1))
}

// commentedCode finds runs of line comments of which most are code.
func (c *codeFile) commentedCode() {
	const fewest = 3                                         // lines
	if !c.reviewer.uses(c.reviewer.byID["commented-code"]) { // it is off by default, and takes long
		return
	}
	lines, codeLines, begin, last := 0, 0, token{}, 0
	endRun := func() {
		if lines >= fewest && codeLines*5 >= lines*4 {
			c.report("commented-code", begin.start, begin.end, "")
		}
		lines, codeLines = 0, 0
	}
	for i, t := range c.comments {
		line := c.line(t.start)
		if !t.first || line != last+1 {
			endRun()
		}
		last = line
		text := c.commentText(i)
		if !t.first || strings.HasPrefix(text, "/*") {
			continue
		}
		if lines == 0 {
			begin = t
		}
		if lines++; statement.MatchString(strings.TrimLeft(text, "/#! ")) {
			codeLines++
		}
	}
	endRun()
}
