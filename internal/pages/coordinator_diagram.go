package pages

import (
	"fmt"

	"github.com/agent-airlock/airlock/internal/fixloop"
	"github.com/agent-airlock/airlock/internal/text"
)

// drawing is a sequence diagram with the places of all its parts, in pixels.
type drawing struct {
	Width, Height int
	Lifelines     []drawnLifeline
	Rows          []drawnRow
	// Description is what the diagram shows, for those who do not see it.
	Description string
}

// drawnLifeline is a participant: its name on top of a line.
type drawnLifeline struct {
	Title       string
	Class       string
	X, Top, End int
	BoxX, BoxW  int
}

// drawnRow is one row from the top: a note across the diagram, or an arrow.
type drawnRow struct {
	Y    int
	Note string // "" for an arrow

	Clock, Label, About string
	From, To            int // where the arrow begins and ends
	LabelX, LabelY      int
	Class               string
	// Self is the path of an arrow that leads back to its lifeline; "" for one between two.
	Self string
	// Head is the path of the arrow's head.
	Head string
}

const (
	lifelineWidth = 170
	timeWidth     = 80
	headHeight    = 44
	rowHeight     = 40
)

// draw lays a diagram out.
func draw(d fixloop.Diagram) drawing {
	middle := map[string]int{} // of each lifeline
	out := drawing{Width: timeWidth + lifelineWidth*len(d.Lifelines)}
	for i, l := range d.Lifelines {
		x := timeWidth + lifelineWidth*i + lifelineWidth/2
		middle[l.ID] = x
		class := "lifeline"
		if l.Person {
			class = "lifeline person"
		}
		out.Lifelines = append(out.Lifelines, drawnLifeline{Title: l.Title, Class: class, X: x, BoxX: x - lifelineWidth/2 + 10, BoxW: lifelineWidth - 20})
	}
	y := headHeight
	note := func(s string) {
		y += rowHeight
		out.Rows = append(out.Rows, drawnRow{Y: y, Note: s})
	}
	if d.Omitted > 0 {
		note(text.Count(d.Omitted, "earlier message") + " left out")
	}
	iteration := 0
	for _, a := range d.Arrows {
		m := a.Message
		if m.Iteration != iteration {
			iteration = m.Iteration
			note(fmt.Sprintf("iteration %d of %d", m.Iteration, m.Max))
		}
		y += rowHeight
		r := drawnRow{Y: y, Clock: m.Time.UTC().Format("15:04:05"), Label: a.Title(), From: middle[a.From], To: middle[a.To],
			About: text.Truncate(text.OneLine(m.ID+": "+m.Summary), 300), Class: [...]string{"request", "answer", "notice"}[a.Style]}
		if m.Type != fixloop.RevalidationResult && a.Detail != "" {
			r.Label += ": " + a.Detail
		}
		r.lay(out.Width)
		out.Rows = append(out.Rows, r)
	}
	if d.Ending != "" {
		note(text.OneLine(d.Ending))
	}
	out.Height = y + rowHeight
	for i := range out.Lifelines {
		out.Lifelines[i].Top, out.Lifelines[i].End = headHeight, out.Height-rowHeight/2
	}
	out.Description = fmt.Sprintf("%s between %s. The same is below as a list.", text.Count(len(d.Arrows), "message"), text.Count(len(d.Lifelines), "participant"))
	return out
}

// lay places the arrow's head, its path if it leads back to its lifeline, and the label above it, in
// a diagram of a width.
func (r *drawnRow) lay(width int) {
	r.LabelY = r.Y - 7
	if r.From == r.To {
		r.Self = fmt.Sprintf("M%d %d h26 v14 h-26", r.From, r.Y-4)
		r.Head = fmt.Sprintf("M%d %d l8 -4 v8 z", r.From, r.Y+10)
		r.LabelX = r.From
		return
	}
	r.LabelX = (r.From + r.To) / 2
	back := 8
	if r.To > r.From {
		back = -8
	}
	r.Head = fmt.Sprintf("M%d %d l%d -4 v8 z", r.To, r.Y, back)
	// A label is about 7 pixels a character wide and stays within the diagram.
	half := len([]rune(r.Label))*7/2 + 4
	r.LabelX = min(max(r.LabelX, half), width-half)
}
