package apply

import (
	"fmt"
	"strings"

	"github.com/agent-airlock/airlock/internal/githubapi"
	"github.com/agent-airlock/airlock/internal/markdown"
	"github.com/agent-airlock/airlock/internal/safeoutput"
)

// part is what one body holds of the comments that are not inline.
type part struct {
	text string
	// ends are the comments whose text ends in this part: the marker names
	// those, so that after a crash a comment is rather repeated than lost.
	ends []*reviewComment
}

// partMargin is what a part leaves free for what cleaning the whole may add.
const partMargin = 2000

// parts lays out comments as sections, in order, in as many bodies as it takes.
// No text is lost: a section that does not fit is continued in the next part.
func (w *reviewWork) parts(comments []*reviewComment) []part {
	room := maxBody - partMargin - markdown.UTF16Len(w.lead+w.footer) - 300 // the marker and blank lines
	var out []part
	var cur part
	var texts []string
	used := 0
	flush := func() {
		if len(texts) > 0 {
			cur.text = strings.Join(texts, "\n\n")
			out = append(out, cur)
		}
		cur, texts, used = part{}, nil, 0
	}
	for _, c := range comments {
		section := c.section()
		size := markdown.UTF16Len(section)
		if size > room-used {
			flush()
		}
		pieces := []string{section}
		if size > room {
			pieces = w.pieces(c, room)
		}
		for i, piece := range pieces {
			if i > 0 {
				flush()
			}
			texts = append(texts, piece)
			used += markdown.UTF16Len(piece) + 2
		}
		cur.ends = append(cur.ends, c)
	}
	flush()
	return out
}

// pieces divides a comment's section into pieces of at most room UTF-16 code
// units, all but the first with a heading of their own. They are clean: what a
// cut takes out of a code span, for example, is no code any more, and grows by
// being made inert, so that a piece may have to be divided further.
func (w *reviewWork) pieces(c *reviewComment, room int) []string {
	continued := c.heading() + " (continued)\n\n"
	for most := room - markdown.UTF16Len(continued); ; most /= 2 {
		pieces := split(c.section(), most)
		longest := 0
		for i, piece := range pieces {
			if i > 0 {
				piece = continued + piece
			}
			pieces[i], _ = w.cfg.Sanitizer.Body(closed(piece))
			longest = max(longest, markdown.UTF16Len(pieces[i]))
		}
		if longest <= room || most <= minRoom {
			return pieces
		}
	}
}

// section is a comment's text with its place.
func (c *reviewComment) section() string {
	return c.heading() + "\n\n" + closed(markdown.StripMarkers(c.item.Body))
}

// heading names the comment's file and lines.
func (c *reviewComment) heading() string {
	return "**" + markdown.CodeSpan(c.item.Path) + ", " + c.lines() + "**"
}

func (c *reviewComment) lines() string { return linesOf(c.item) }

// linesOf names the lines of a review comment.
func linesOf(it *safeoutput.CreateReviewComment) string {
	s := fmt.Sprintf("line %d", it.Line)
	if it.StartLine != 0 && it.StartLine != it.Line {
		s = fmt.Sprintf("lines %d to %d", it.StartLine, it.Line)
	}
	if it.Side == githubapi.SideLeft {
		s += " of the old version"
	}
	return s
}

// partBody composes the body of a review or comment that carries a part and,
// for a review, inline comments. The marker names all that it carries.
func (w *reviewWork) partBody(in part, inline []*reviewComment) string {
	body, _ := w.cfg.body(w.lead+in.text, w.footer, w.partKey(in, inline))
	return body
}

func (w *reviewWork) partKey(in part, inline []*reviewComment) string {
	on := map[int]bool{}
	for _, c := range in.ends {
		on[c.member] = true
	}
	for _, c := range inline {
		on[c.member] = true
	}
	return membersKey(w.group, w.size, func(m int) bool { return on[m] })
}

// inlineBody is the text of a comment on lines.
func (w *reviewWork) inlineBody(c *reviewComment) string {
	body, _ := w.cfg.body(c.item.Body, "", c.e.marker(w.cfg.Run))
	return body
}

// fileBody is the text of a comment on a whole file.
func (w *reviewWork) fileBody(c *reviewComment) string {
	l := c.lines()
	body, _ := w.cfg.body("**"+strings.ToUpper(l[:1])+l[1:]+"**\n\n"+c.item.Body, "", c.e.key)
	return body
}
