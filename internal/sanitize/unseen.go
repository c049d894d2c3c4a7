package sanitize

import (
	"strings"

	"github.com/agent-airlock/airlock/internal/markdown"
)

// The limits of what a page may contain unseen, in bytes. The longest info string of
// 2,500 READMEs has 70 bytes, the longest address of a link without text 140.
const (
	maxInfo      = 100
	maxEmptyLink = 200
	maxLabelName = 40 // of an equation
)

// fencedCode handles what a page does not show of fenced code: a long info string,
// and comments in diagrams and formulas, which GitHub draws.
func (p *pass) fencedCode(b *markdown.Block) {
	if p.removeStray(b.Info) {
		return
	}
	info := p.src[b.Info.Start:b.Info.End]
	language := info[:indexAnyOrLen(info, " \t{")]
	if len(info) > maxInfo {
		from := b.Info.Start + len(language)
		if len(language) > maxInfo {
			from = b.Info.Start
		}
		p.edit(from, b.Info.End, "", RuleHiddenText, "info")
	}
	pieces := p.doc.PiecesOf(b)
	switch strings.ToLower(language) {
	case "mermaid":
		for _, piece := range pieces {
			p.diagram(piece.Start, piece.End)
		}
	case "math":
		for _, piece := range pieces {
			p.formula(piece.Start, piece.End)
		}
	}
}

// diagram removes the comments of a Mermaid diagram from lines of its source.
func (p *pass) diagram(start, end int) {
	for start < end {
		line := p.src[start:end]
		if k := strings.IndexByte(line, '\n'); k >= 0 {
			line = line[:k+1]
		}
		text := strings.TrimLeft(line, " \t")
		if strings.HasPrefix(text, "%%") && !strings.HasPrefix(text, "%%{") {
			p.edit(start, start+len(line), "", RuleHiddenText, "diagram")
		}
		for k := strings.Index(line, "<!--"); k >= 0; {
			stop := markdown.CommentEnd(line, k)
			if stop < 0 {
				break
			}
			p.edit(start+k, start+stop, "", RuleHiddenText, "diagram")
			next := strings.Index(line[stop:], "<!--")
			if next < 0 {
				break
			}
			k = stop + next
		}
		start += len(line)
	}
}

// surplusCells handles the cells of a row, from block i on, that are beyond the
// columns of its table and that no page shows. A few letters stay; they are likely a
// slip. Others become a part of the last column: their pipes are escaped.
func (p *pass) surplusCells(i int) {
	first, last := i, i
	for last+1 < len(p.doc.Blocks) && p.doc.Blocks[last+1].Hidden && p.doc.Blocks[last+1].Parent == p.doc.Blocks[i].Parent {
		last++
	}
	const maxWord = 4
	for last > first && p.doc.Blocks[last].Empty() {
		last--
	}
	cell := p.src[p.doc.Blocks[first].Start:p.doc.Blocks[last].End]
	if len(cell) <= maxWord && !strings.ContainsAny(cell, " \t|") {
		return
	}
	for ; first <= last; first++ {
		pipe := p.doc.Blocks[first].Start
		for pipe > 0 && p.src[pipe] != '|' {
			pipe--
		}
		p.edit(pipe, pipe, `\`, RuleHiddenText, "cell")
	}
}

// formulas handles the formulas between dollar signs in src[start:end]. What looks
// like the beginning of a formula without an end is none, unless it has two signs: it
// may continue in the next block.
func (p *pass) formulas(start, end int) {
	text := p.src[start:end]
	noInline := false
	for k := 0; ; {
		j := strings.IndexByte(text[k:], '$')
		if j < 0 {
			return
		}
		k += j + 1
		switch {
		case escapes(text, k-1):
		case k < len(text) && text[k] == '$':
			k++
			n := strings.Index(text[k:], "$$")
			if n < 0 {
				n = len(text) - k
			}
			p.formula(start+k, start+k+n)
			k = min(k+n+2, len(text))
		case k == len(text) || noInline || text[k] == ' ' || text[k] == '\n' || text[k] == '\t':
		default:
			n := formulaEnd(text[k:])
			if noInline = n < 0; !noInline {
				p.formula(start+k, start+k+n)
				k += n + 1
			}
		}
	}
}

// formulaEnd returns the offset of the dollar sign that ends an inline formula, or -1.
func formulaEnd(text string) int {
	for k := 1; k < len(text); k++ {
		if text[k] == '$' && text[k-1] != ' ' && text[k-1] != '\n' && !escapes(text, k) && (k+1 == len(text) || !isAlnum(text[k+1])) {
			return k
		}
	}
	return -1
}

// escapes reports whether an odd number of backslashes precedes s[k].
func escapes(s string, k int) bool {
	n := 0
	for n < k && s[k-n-1] == '\\' {
		n++
	}
	return n%2 == 1
}

// formula removes from a formula in src[start:end] the commands that hide a part of
// it, or show it as something else, so that the part is shown.
func (p *pass) formula(start, end int) {
	for k := start; k < end; k++ {
		switch p.src[k] {
		case '%': // a comment, up to the end of the line
			p.edit(k, k+1, "", RuleHiddenText, "formula")
		case '\\':
			if n := hidingMacro(p.src[k:end]); n > 0 {
				p.edit(k, k+n, "", RuleHiddenText, "formula")
				k += n - 1
			} else {
				k++ // what is escaped
			}
		}
	}
}

// hidingMacro returns the length of the command of a formula at the start of s, which
// is a backslash, if it hides text: with its color, but without the text. Otherwise
// it is 0.
func hidingMacro(s string) int {
	const longest = len("definecolor")
	k := 1
	for k < len(s) && isAlpha(s[k]) {
		if k++; k > longest+1 {
			return 0
		}
	}
	switch s[1:k] {
	case "phantom", "hphantom", "vphantom", "href", "class", "cssId", "style", "require", "data", "mmlToken", "definecolor":
		return k
	case "label":
		if name, ok := braced(s[k:]); !ok || len(name) > maxLabelName || strings.ContainsAny(name, " \n\t") {
			return k
		}
	case "color", "textcolor", "colorbox", "fcolorbox", "pagecolor":
		n := k
		for n < len(s) && s[n] == ' ' {
			n++
		}
		color, ok := braced(s[n:])
		if !ok {
			return k // with a model, or a color without braces
		}
		if !isReadable(color) {
			return n + len(color) + len("{}")
		}
	}
	return 0
}

// braced returns the text in the braces at the start of s.
func braced(s string) (text string, ok bool) {
	const longest = 100
	if s == "" || s[0] != '{' {
		return "", false
	}
	k := strings.IndexByte(s[:min(len(s), longest)], '}')
	if k < 0 {
		return "", false
	}
	return s[1:k], true
}

// isReadable reports whether text of a color can be read on white and on black.
func isReadable(color string) bool {
	color = strings.ToLower(strings.TrimSpace(color))
	switch color {
	case "red", "green", "blue", "orange", "purple", "brown", "teal", "magenta", "cyan", "violet", "olive", "gray", "grey",
		"pink", "yellow", "lime", "crimson", "gold", "royalblue", "forestgreen", "dodgerblue", "tomato", "orangered",
		"darkorange", "limegreen", "lightgreen", "lightblue", "skyblue", "salmon", "coral", "turquoise", "orchid",
		"indianred", "firebrick", "steelblue", "seagreen", "goldenrod", "chocolate", "maroon", "navy", "aqua", "fuchsia",
		"silver", "cornflowerblue", "cadetblue", "slategray", "dimgray", "darkgray", "darkgreen", "darkred", "deeppink":
		return true
	}
	digits, ok := strings.CutPrefix(color, "#")
	if !ok || len(digits) != 3 && len(digits) != 6 {
		return false
	}
	const darkest, lightest = 0x30, 0xe0
	width := len(digits) / 3
	dark, light := true, true
	for i := 0; i < len(digits); i += width {
		if hexDigit(digits[i]) == 16 || hexDigit(digits[i+width-1]) == 16 {
			return false
		}
		value := hexDigit(digits[i])<<4 | hexDigit(digits[i+width-1])
		dark, light = dark && value <= darkest, light && value >= lightest
	}
	return !dark && !light
}
