package sanitize

import (
	"sort"
	"strings"

	"github.com/agent-airlock/airlock/internal/markdown"
)

// diagram is the source of a Mermaid diagram, of which GitHub shows only the drawing. What
// the drawing leaves out is removed: comments, descriptions for screen readers, and prose
// among the settings. Which words begin a comment depends on the diagram's type, as in
// Mermaid's grammars.
type diagram struct {
	p      *pass
	pieces []markdown.Piece
	starts []int  // where each piece begins in text
	text   string // the pieces joined
	kind   string // the diagram's first word, in lower case
}

// diagram removes what the drawing of a Mermaid diagram leaves out of its source.
func (p *pass) diagram(pieces []markdown.Piece) {
	d := diagram{p: p, pieces: pieces}
	var text strings.Builder
	for _, piece := range pieces {
		d.starts = append(d.starts, text.Len())
		text.WriteString(p.src[piece.Start:piece.End])
	}
	d.text = text.String()
	start := d.frontMatter()
	d.kind = d.firstWord(start)
	d.directives(start)
	for start < len(d.text) {
		line := d.text[start:]
		if k := strings.IndexByte(line, '\n'); k >= 0 {
			line = line[:k+1]
		}
		start = d.line(start, line)
	}
}

// remove removes a range of the text, wherever its pieces are in the body. Where a quote or a list
// contains the diagram, line breaks stay: the next line of the body begins with the container's mark.
func (d *diagram) remove(start, end int) {
	first := sort.Search(len(d.starts), func(i int) bool { return d.starts[i] > start }) - 1
	for i := max(first, 0); i < len(d.pieces) && d.starts[i] < end; i++ {
		piece := d.pieces[i]
		from, to := piece.Start+max(start-d.starts[i], 0), piece.Start+min(end-d.starts[i], piece.End-piece.Start)
		if from < to && len(d.pieces) > 1 && d.p.src[to-1] == '\n' {
			to--
		}
		if from < to {
			d.p.edit(from, to, "", RuleHiddenText, "diagram")
		}
	}
}

// frontMatter handles the settings between two lines of dashes at the start. It keeps the
// title, which is shown, and what looks like a setting. It returns where the diagram
// begins.
func (d *diagram) frontMatter() (end int) {
	const dashes = "---"
	first, rest, _ := strings.Cut(strings.TrimLeft(d.text, " \t\n"), "\n")
	if strings.TrimSpace(first) != dashes {
		return 0
	}
	indent, key, k := -1, "", len(d.text)-len(rest)
	for line := range strings.Lines(rest) {
		text := strings.TrimSpace(line)
		if text == dashes {
			return k + len(line)
		}
		depth := len(line) - len(strings.TrimLeft(line, " \t"))
		if indent < 0 && text != "" {
			indent = depth
		}
		if depth <= indent && text != "" {
			key, _, _ = strings.Cut(strings.ToLower(text), ":")
			key = strings.Trim(key, `"' `)
		}
		switch {
		case text == "":
		case key == "title" && text[0] != '#':
			if n := yamlComment(line); n >= 0 {
				d.remove(k+n, k+len(strings.TrimRight(line, "\n")))
			}
		case key != "config" && key != "displaymode", text[0] == '#', !isSetting(text):
			d.remove(k, k+len(line))
		}
		k += len(line)
	}
	return len(d.text)
}

// yamlComment returns where a comment begins after the value of a line of YAML, or -1.
func yamlComment(line string) int {
	from := strings.IndexByte(line, ':') + 1
	value := strings.TrimLeft(line[from:], " ")
	if value != "" && (value[0] == '"' || value[0] == '\'') {
		n := strings.IndexByte(value[1:], value[0])
		if n < 0 {
			return -1
		}
		from = len(line) - len(value) + n + 2
	}
	if n := strings.Index(line[from:], " #"); n >= 0 {
		return from + n
	}
	return -1
}

// firstWord returns, in lower case, the first word after an offset. It passes over comments and
// directives.
func (d *diagram) firstWord(start int) string {
	for rest := d.text[start:]; ; {
		rest = strings.TrimLeft(rest, " \t\n")
		end := "\n"
		if strings.HasPrefix(rest, "%%{") {
			end = "}%%"
		} else if !strings.HasPrefix(rest, "%%") {
			return strings.ToLower(rest[:indexAnyOrLen(rest, " \t\n;:{")])
		}
		_, rest, _ = strings.Cut(rest, end)
	}
}

// directives removes the directives, wherever they are, that are not settings.
func (d *diagram) directives(start int) {
	const begin, end = "%%{", "}%%"
	for {
		k := indexFrom(d.text, begin, start)
		if k == len(d.text) {
			return
		}
		n := strings.Index(d.text[k:], end)
		if n < 0 { // it goes on to the end of the diagram: without its beginning, the rest is not a directive
			d.remove(k, k+len(begin))
			return
		}
		content := strings.TrimLeft(d.text[k+len(begin):k+n], " \t\n")
		start = k + n + len(end)
		switch name := content[:len(content)-len(strings.TrimLeft(content, letters))]; {
		case strings.EqualFold(name, "init"), strings.EqualFold(name, "initialize"), strings.EqualFold(name, "wrap"):
			if isSetting(content[len(name):]) {
				continue
			}
		}
		d.remove(k, start)
	}
}

const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

// isSetting reports whether a text may be a part of a diagram's settings: numbers, colors
// and names of a few words each. Style sheets are not: they can hide anything.
func isSetting(s string) bool {
	const mostWords, longestWord = 3, 40
	if strings.Contains(strings.ToLower(s), "themecss") {
		return false
	}
	words := 0
	for k := 0; k < len(s); k++ {
		start := k
		for k < len(s) && (isAlpha(s[k]) || s[k] >= 0x80) {
			k++
		}
		switch size := k - start; {
		case size > longestWord:
			return false
		case size > 1:
			if words++; words > mostWords {
				return false
			}
		}
		if k < len(s) && strings.IndexByte(",:;{}[]\n", s[k]) >= 0 {
			words = 0
		}
	}
	return true
}

// line removes what the drawing does not show of one line. It returns where to go on: after
// the line, or after a description that continues beyond it.
func (d *diagram) line(start int, line string) (next int) {
	text := strings.TrimLeft(line, " \t")
	at := start + len(line) - len(text)
	end := start + len(strings.TrimRight(line, "\n"))
	switch {
	case strings.HasPrefix(text, "%%") && !strings.HasPrefix(text, "%%{"),
		d.hasHashComments() && (strings.HasPrefix(text, "#") || strings.HasPrefix(text, "%") && !strings.HasPrefix(text, "%%")),
		d.kind == "sequencediagram" && (beginsWithWord(text, "properties") || beginsWithWord(text, "details")):
		d.remove(start, start+len(line))
		return start + len(line)
	}
	for k := indexFrom(line, "<!--", 0); k < len(line); {
		stop := markdown.CommentEnd(line, k)
		if stop < 0 {
			break
		}
		d.remove(start+k, start+stop)
		k = indexFrom(line, "<!--", stop)
	}
	// A statement begins with the line, or after a semicolon.
	for k := at; ; {
		if n := d.description(k); n > 0 {
			d.remove(k, k+n)
			if k+n >= end {
				return max(k+n, start+len(line))
			}
		}
		n := strings.IndexByte(d.text[k:end], ';')
		if n < 0 {
			break
		}
		k += n + 1
		k += len(d.text[k:end]) - len(strings.TrimLeft(d.text[k:end], " \t"))
	}
	if k := d.comment(line); k >= 0 {
		d.remove(start+k, end)
	}
	if first, last, ok := d.direction(line); ok {
		d.remove(at, start+first)
		d.remove(start+last, end)
	}
	return start + len(line)
}

// hasHashComments reports whether a line of the diagram that begins with a hash or a
// percent sign is a comment.
func (d *diagram) hasHashComments() bool {
	switch d.kind {
	case "sequencediagram", "journey", "gantt", "statediagram", "statediagram-v2", "timeline", "requirementdiagram":
		return true
	}
	return false
}

// description returns the length of the description for screen readers that begins at an
// offset, or 0.
func (d *diagram) description(at int) int {
	rest := d.text[at:]
	name := rest[:len(rest)-len(strings.TrimLeft(rest, letters))]
	switch strings.ToLower(name) {
	case "acctitle", "accdescr", "accdescription":
	default:
		return 0
	}
	rest = strings.TrimLeft(rest[len(name):], " \t\n")
	switch {
	case strings.HasPrefix(rest, ":"):
		rest = strings.TrimLeft(rest[1:], " \t\n")
	case strings.HasPrefix(rest, "{"):
		_, after, _ := strings.Cut(rest, "}")
		return len(d.text) - at - len(after)
	case !strings.EqualFold(name, "accDescription"):
		return 0
	}
	return len(d.text) - at - len(rest) + indexAnyOrLen(rest, "\n")
}

// comment returns where a comment begins after something else in a line, or -1.
func (d *diagram) comment(line string) int {
	switch d.kind {
	case "sequencediagram", "journey", "gantt":
		for k := 0; k < len(line); k++ {
			if line[k] == '#' && !isColorOrEntity(line[k+1:]) {
				return k
			}
		}
		return -1
	case "graph", "flowchart", "flowchart-elk", "mindmap", "kanban", "block", "block-beta":
		return -1
	}
	quotes, counted := 0, 0 // the quotation marks before an offset
	for k := 1; k < len(line); k++ {
		n := strings.Index(line[k:], "%%")
		if n < 0 {
			return -1
		}
		k += n
		quotes, counted = quotes+strings.Count(line[counted:k], `"`), k
		blank := line[k-1] == ' ' || line[k-1] == '\t'
		if blank && quotes%2 == 0 && !strings.HasPrefix(line[k:], "%%{") {
			return k
		}
	}
	return -1
}

// isColorOrEntity reports whether s, after a hash, begins with the digits of a color or
// with a name or number and a semicolon.
func isColorOrEntity(s string) bool {
	word := s[:len(s)-len(strings.TrimLeft(s, letters+"0123456789"))]
	if strings.HasPrefix(s[len(word):], ";") {
		return word != ""
	}
	return (len(word) == 3 || len(word) == 4 || len(word) == 6 || len(word) == 8) && strings.Trim(word, "0123456789abcdefABCDEF") == ""
}

// direction returns where the direction is in a line of a class or state diagram, if the line
// contains more. Mermaid ignores the rest of such a line.
func (d *diagram) direction(line string) (first, last int, ok bool) {
	if !strings.HasPrefix(d.kind, "classdiagram") && !strings.HasPrefix(d.kind, "statediagram") {
		return 0, 0, false
	}
	const word = "direction"
	first = strings.Index(line, word)
	if first < 0 {
		return 0, 0, false
	}
	rest := line[first+len(word):]
	way := strings.TrimLeft(rest, " \t")
	if len(way) == len(rest) || len(way) < 2 {
		return 0, 0, false
	}
	switch way[:2] {
	case "TB", "BT", "RL", "LR":
	default:
		return 0, 0, false
	}
	last = len(line) - len(way) + 2
	return first, last, strings.TrimSpace(line) != strings.TrimSpace(line[first:last])
}

// beginsWithWord reports whether s begins with a word and a blank.
func beginsWithWord(s, word string) bool {
	return len(s) > len(word) && strings.EqualFold(s[:len(word)], word) && (s[len(word)] == ' ' || s[len(word)] == '\t')
}
