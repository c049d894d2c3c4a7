package doors

import (
	"context"

	"github.com/agent-airlock/airlock/internal/action"
	"github.com/agent-airlock/airlock/internal/apply"
	"github.com/agent-airlock/airlock/internal/checkreport"
	"github.com/agent-airlock/airlock/internal/event"
	"github.com/agent-airlock/airlock/internal/githubapi"
	"github.com/agent-airlock/airlock/internal/verdictreport"
)

// Job is the job of a workflow run that makes a request, or the command line in its place.
type Job struct {
	Event   event.Event         // required
	Run     event.Run           // required
	Runner  action.Env          // required
	Getenv  func(string) string // required
	Version string              // of Airlock
	Client  *githubapi.Client   // nil without a token
	Files   apply.Files         // required; keeps what cannot be delivered
	Log     func(string)        // required
}

// Request returns a request of the job, without code and own items.
func (j Job) Request() Request {
	return Request{
		Event:  j.Event,
		Config: apply.Config{Run: j.Run, Workflow: j.Getenv("GITHUB_WORKFLOW"), Version: j.Version, Server: j.Runner.ServerURL},
		Deps:   apply.Deps{GitHub: j.Client, Clock: githubapi.SystemClock{}, Files: j.Files, Log: j.Log},
		Begin:  action.LedgerOf(j.Runner, j.Getenv).Begin,
	}
}

// AddOwn adds to a request of the job what Airlock itself wants to write, and allows it in the
// policy: the report of the checks (doc), the verdict and the boxes to tick. doc and verdict may be
// nil. notes are for people. The error is one of reading, and carries its exit code.
func (g *Gate) AddOwn(ctx context.Context, j Job, r *Request, doc *checkreport.Document, verdict *verdictreport.Document) (notes []string, err error) {
	input := checkreport.ItemsInput{SummaryURL: summaryURL(j.Getenv, j.Event), AlertsURL: alertsURL(j.Getenv, j.Event), Version: j.Version, Job: j.Run.Identity(), Leg: j.Run.MatrixIndex,
		SafeText: g.CheckText(), Head: j.Event.Head.SHA, OnPull: j.Event.IsPull && j.Event.Number != 0}
	if input.Head == "" && !input.OnPull {
		input.Head = j.Event.SHA
	}
	if doc != nil {
		r.Checks = g.deliver(doc, input)
	}
	if verdict != nil {
		r.Own = append(r.Own, g.verdictItems(verdict, input)...)
	}
	ticks, notes, err := g.tickItems(ctx, j.Client, j.Event)
	r.Own = append(r.Own, ticks...)
	return notes, err
}
