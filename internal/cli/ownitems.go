package cli

import (
	"path"
	"strings"

	"github.com/agent-airlock/airlock/internal/checkreport"
	"github.com/agent-airlock/airlock/internal/event"
	"github.com/agent-airlock/airlock/internal/intake"
	"github.com/agent-airlock/airlock/internal/policy"
)

// ownItems is what Airlock itself has to say of the checks, as far as the owner
// wants it said.
func (s *step) ownItems(doc *checkreport.Document, here surroundings) ([]intake.OwnItem, error) {
	if doc == nil {
		return nil, nil
	}
	return here.gate.ownItems(doc, here.event, told(s.w, here.event, here.run))
}

// told is where items say that they come from.
func told(w World, ev event.Event, run event.Run) checkreport.ItemsInput {
	return checkreport.ItemsInput{SummaryURL: summaryURL(w.Getenv, ev), Version: versionOf(w), Job: run.Job, Leg: run.MatrixIndex}
}

// summaryURL leads to the workflow run's job summaries; "" off a runner.
func summaryURL(getenv func(string) string, ev event.Event) string {
	id, server := getenv("GITHUB_RUN_ID"), strings.TrimRight(getenv("GITHUB_SERVER_URL"), "/")
	if id == "" || server == "" {
		return ""
	}
	return server + "/" + path.Join(ev.Repo.FullName(), "actions/runs", id)
}

// ownItems makes the document's items, and lets the policy know which of them the
// owner allows.
func (g *gate) ownItems(doc *checkreport.Document, ev event.Event, in checkreport.ItemsInput) ([]intake.OwnItem, error) {
	r := g.cfg.Checks.Report
	unlessOff := func(b *bool) bool { return b == nil || *b }
	comments := policy.DefaultOwnReviewComments
	if r.ReviewComments != nil {
		comments = *r.ReviewComments
	}
	pull := ev.IsPull && ev.Number != 0
	own := policy.OwnSettings{Comment: pull && unlessOff(r.Comment), Review: pull && comments > 0, ReviewComments: comments,
		CheckRun: unlessOff(r.CheckRun), SecurityReport: unlessOff(r.SecurityReport)}
	g.cfg.Policy.Own = own
	in.Words, in.Head = g.checkWords(), ev.Head.SHA
	in.Comment, in.CheckRun, in.SecurityReport = own.Comment, own.CheckRun, own.SecurityReport
	if in.Head == "" && !pull {
		in.Head = ev.SHA
	}
	if own.Review {
		in.ReviewComments = comments
	}
	items, err := doc.Items(in)
	if err != nil {
		return nil, failedError(err)
	}
	return items, nil
}
