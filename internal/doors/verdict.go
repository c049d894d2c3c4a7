package doors

import (
	"fmt"
	"io"

	"github.com/agent-airlock/airlock/internal/checkreport"
	"github.com/agent-airlock/airlock/internal/event"
	"github.com/agent-airlock/airlock/internal/intake"
	"github.com/agent-airlock/airlock/internal/verdictreport"
)

// ReadVerdict reads the verdict of an earlier job. That job ran the pull request's code, so
// the document is untrusted: it is checked against its schemas and against the event.
// Errors of the document itself begin with name.
func (g *Gate) ReadVerdict(in io.Reader, name string, ev event.Event) (*verdictreport.Document, error) {
	doc, err := verdictreport.Read(in)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if err := checkSubject("it is", doc.Repository, doc.Number, ev); err != nil {
		return nil, err
	}
	doc.Mask(g.secrets.Mask)
	return doc, nil
}

// verdictItems makes Airlock's own items of a verdict, and allows them in the policy, in
// addition to those that deliver has allowed before.
func (g *Gate) verdictItems(doc *verdictreport.Document, input checkreport.ItemsInput) []intake.OwnItem {
	input.Comment, input.CheckRun = input.OnPull, true
	own := &g.cfg.Policy.Own
	own.Comment, own.CheckRun = own.Comment || input.Comment, true
	return doc.Items(input, g.cfg.Acceptance.RequireCriteria, g.cfg.Acceptance.Tick)
}
