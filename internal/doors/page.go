package doors

import (
	"io"
	"slices"

	"github.com/agent-airlock/airlock/internal/checkreport"
	"github.com/agent-airlock/airlock/internal/pages"
	"github.com/agent-airlock/airlock/internal/report"
)

// WritePage writes a report as one HTML page for people, with the checks of a findings document,
// which may be nil.
func (g *Gate) WritePage(w io.Writer, rep *report.Report, doc *checkreport.Document) error {
	p := rep.Page()
	if doc != nil {
		p.Checks = doc.PlanChecks(g.TerminalText())
		if p.Checks.Level == pages.Bad {
			p.Attention = slices.Insert(p.Attention, 0, pages.PlanPoint{Level: pages.Bad, Text: p.Checks.Headline, Anchor: "checks"})
		}
		if n := len(p.Checks.Silenced); n > 0 {
			p.Attention = append(p.Attention, pages.PlanPoint{Level: pages.Warn, Text: "The change tells tools to be silent", Anchor: "checks"})
		}
	}
	return pages.WritePlan(w, p)
}
