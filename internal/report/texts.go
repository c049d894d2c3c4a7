package report

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/agent-airlock/airlock/internal/apply"
	"github.com/agent-airlock/airlock/internal/markdown"
	"github.com/agent-airlock/airlock/internal/safeoutput"
	"github.com/agent-airlock/airlock/internal/text"
)

// maxTextLines is how many lines of a text a terminal shows.
const maxTextLines = 30

// shownText is a text for people: what cleaning changed about it is marked.
type shownText struct {
	field string
	lines []shownLine
}

// shownLine is one line of a text: as it would be posted (' '), as it was asked for and will
// not be posted ('-'), or as it is posted instead ('+').
type shownLine struct {
	mark byte
	text string
}

// textsOf returns the texts of an item that a person should read before it is posted. A short text
// is left out unless it was cleaned, because the summary of the operation contains it.
func (r *Report) textsOf(m apply.Member) []shownText {
	if m.Outcome != apply.OutcomeApply {
		return nil
	}
	var out []shownText
	for _, t := range m.Texts {
		isShort := t.Mode == safeoutput.Title || t.Mode == safeoutput.Label || t.Mode == safeoutput.Plain
		if isShort && t.Posted == t.Asked {
			continue
		}
		out = append(out, shownText{t.Field, r.compare(t)})
	}
	return out
}

// compare returns the lines of a text as it was asked for and as it would be posted.
func (r *Report) compare(t apply.ItemText) []shownLine {
	posted := strings.Split(strings.TrimRight(r.block(visible(t.Posted)), "\n"), "\n")
	if t.Posted == t.Asked {
		return markLines(' ', posted)
	}
	asked := strings.Split(strings.TrimRight(r.block(visible(t.Asked)), "\n"), "\n")
	return compareLines(asked, posted)
}

// maxCompared is the largest number of pairs of lines that compareLines compares.
const maxCompared = 1 << 20

// compareLines merges both texts into one: the lines of a longest common subsequence, and between
// them the lines that only one of the texts has.
func compareLines(asked, posted []string) []shownLine {
	var head, tail []shownLine
	for len(asked) > 0 && len(posted) > 0 && asked[0] == posted[0] {
		head, asked, posted = append(head, shownLine{' ', posted[0]}), asked[1:], posted[1:]
	}
	for len(asked) > 0 && len(posted) > 0 && asked[len(asked)-1] == posted[len(posted)-1] {
		tail = append(tail, shownLine{' ', posted[len(posted)-1]})
		asked, posted = asked[:len(asked)-1], posted[:len(posted)-1]
	}
	slices.Reverse(tail)
	return slices.Concat(head, compareMiddle(asked, posted), tail)
}

func compareMiddle(asked, posted []string) []shownLine {
	if len(asked)*len(posted) > maxCompared {
		return append(markLines('-', asked), markLines('+', posted)...)
	}
	// common[i][j] is the length of the longest common subsequence of asked[i:] and posted[j:].
	common := make([][]int32, len(asked)+1)
	for i := range common {
		common[i] = make([]int32, len(posted)+1)
	}
	for i := len(asked) - 1; i >= 0; i-- {
		for j := len(posted) - 1; j >= 0; j-- {
			if asked[i] == posted[j] {
				common[i][j] = common[i+1][j+1] + 1
			} else {
				common[i][j] = max(common[i+1][j], common[i][j+1])
			}
		}
	}
	var out []shownLine
	i, j := 0, 0
	for i < len(asked) || j < len(posted) {
		switch {
		case i < len(asked) && j < len(posted) && asked[i] == posted[j]:
			out = append(out, shownLine{' ', posted[j]})
			i, j = i+1, j+1
		case j == len(posted) || i < len(asked) && common[i+1][j] >= common[i][j+1]:
			out = append(out, shownLine{'-', asked[i]})
			i++
		default:
			out = append(out, shownLine{'+', posted[j]})
			j++
		}
	}
	return out
}

func markLines(mark byte, lines []string) []shownLine {
	out := make([]shownLine, len(lines))
	for i, l := range lines {
		out[i] = shownLine{mark, l}
	}
	return out
}

// visible returns a text in which characters that nobody sees are written as their numbers.
func visible(s string) string {
	if !strings.ContainsFunc(s, isInvisible) {
		return strings.ToValidUTF8(s, "\ufffd")
	}
	var b strings.Builder
	for _, c := range s {
		if isInvisible(c) {
			fmt.Fprintf(&b, "<U+%04X>", c)
			continue
		}
		b.WriteRune(c)
	}
	return b.String()
}

func isInvisible(c rune) bool {
	if ' ' <= c && c <= '~' { // nearly all of most texts
		return false
	}
	if c == '\u200c' || c == '\u200d' || unicode.Is(unicode.Variation_Selector, c) {
		return false // scripts and emoji are made of them
	}
	return c != '\n' && c != '\t' && (!unicode.IsGraphic(c) || unicode.Is(unicode.Cf, c))
}

// stagedTexts writes the texts of the staged operations of a plan that was carried out.
func (t *terminal) stagedTexts(r *Report) {
	if r.plan == nil {
		return
	}
	for _, op := range r.plan.Operations {
		if op.Staged {
			t.itemTexts(r, op)
		}
	}
}

// itemTexts writes the texts of an operation's items to a terminal.
func (t *terminal) itemTexts(r *Report, op apply.Operation) {
	for _, m := range op.Items {
		for _, shown := range r.textsOf(m) {
			name := shown.field
			if len(op.Items) > 1 || !r.DryRun {
				name += " of " + lineNumbers([]apply.Member{m})
			}
			t.printf("     %s:\n", name)
			for _, l := range shown.lines[:min(len(shown.lines), maxTextLines)] {
				switch l.mark {
				case '-':
					t.printf("       %s\n", t.paint(red, strings.TrimRight("- "+l.text, " ")))
				case '+':
					t.printf("       %s\n", t.paint(green, strings.TrimRight("+ "+l.text, " ")))
				default:
					t.printf("       %s\n", strings.TrimRight("│ "+l.text, " "))
				}
			}
			if more := len(shown.lines) - maxTextLines; more > 0 {
				t.printf("       … %s; --plan FILE writes the whole text\n", text.Count(more, "more line"))
			}
		}
	}
}

// writeTexts writes the texts of the staged items into the summary, each folded, as they
// would be posted. A text that cleaning changed is written as a diff.
func (r *Report) writeTexts(b *strings.Builder) {
	n := 0
	for m := range r.members() {
		if !m.op.Staged {
			continue
		}
		texts := r.textsOf(*m.item)
		if len(texts) == 0 {
			continue
		}
		if n++; n > maxRows {
			continue
		}
		if n == 1 {
			b.WriteString("\n**The texts, as they would be posted**\n")
		}
		fmt.Fprintf(b, "\n<details><summary>%s, <code>%s</code> on %s</summary>\n", lineNumbers([]apply.Member{*m.item}), m.item.Kind, markdown.EscapeHTML(r.plain(m.op.Target)))
		for _, shown := range texts {
			fmt.Fprintf(b, "\n%s:\n\n%s\n", markdown.CodeSpan(shown.field), shown.fence())
		}
		b.WriteString("\n</details>\n")
	}
	writeMore(b, n)
}

// fence returns the text as a block of code.
func (s shownText) fence() string {
	changed := slices.ContainsFunc(s.lines, func(l shownLine) bool { return l.mark != ' ' })
	var b strings.Builder
	for _, l := range s.lines {
		if changed {
			b.WriteByte(l.mark)
			b.WriteByte(' ')
		}
		b.WriteString(l.text + "\n")
	}
	if changed {
		return markdown.Fence("diff", b.String())
	}
	return markdown.Fence("markdown", b.String())
}
