package doors

import (
	"fmt"
	"io"
	"path"
	"strings"

	"github.com/agent-airlock/airlock/internal/checkreport"
	"github.com/agent-airlock/airlock/internal/event"
	"github.com/agent-airlock/airlock/internal/exitcode"
	"github.com/agent-airlock/airlock/internal/intake"
	"github.com/agent-airlock/airlock/internal/policy"
)

// ReadFindings reads the findings document of an earlier job. That job ran the pull
// request's code, so the document is untrusted: it is checked against its schema
// and against the event. Errors of the document itself begin with name.
func (g *Gate) ReadFindings(in io.Reader, name string, ev event.Event) (*checkreport.Document, error) {
	doc, err := checkreport.Read(in)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if repo := ev.Repo.FullName(); doc.Repository != "" && repo != "" && !strings.EqualFold(doc.Repository, repo) {
		return nil, fmt.Errorf("they are about %s, and the event is about %s", doc.Repository, repo)
	}
	if doc.Number != 0 && ev.IsPull && doc.Number != ev.Number {
		return nil, fmt.Errorf("they are about pull request #%d, and the event is about #%d", doc.Number, ev.Number)
	}
	doc.Mask(g.secrets.Mask)
	return doc, nil
}

// OwnItems makes Airlock's own items of a findings document: those that the owner wants,
// which it also allows in the policy. ItemsOf returns the input.
func (g *Gate) OwnItems(doc *checkreport.Document, ev event.Event, input checkreport.ItemsInput) ([]intake.OwnItem, error) {
	wanted := g.cfg.Checks.Report
	unlessOff := func(b *bool) bool { return b == nil || *b }
	comments := policy.DefaultOwnReviewComments
	if wanted.ReviewComments != nil {
		comments = *wanted.ReviewComments
	}
	onPull := ev.IsPull && ev.Number != 0
	own := policy.OwnSettings{Comment: onPull && unlessOff(wanted.Comment), Review: onPull && comments > 0, ReviewComments: comments,
		CheckRun: unlessOff(wanted.CheckRun), SecurityReport: unlessOff(wanted.SecurityReport)}
	g.cfg.Policy.Own = own
	input.SafeText, input.Head = g.CheckText(), ev.Head.SHA
	input.Comment, input.CheckRun, input.SecurityReport = own.Comment, own.CheckRun, own.SecurityReport
	if input.Head == "" && !onPull {
		input.Head = ev.SHA
	}
	if own.Review {
		input.ReviewComments = comments
	}
	items, err := doc.Items(input)
	if err != nil {
		return nil, exitcode.FailedError(err)
	}
	return items, nil
}

// ItemsOf returns the input of OwnItems: the workflow run that the items come from.
func ItemsOf(getenv func(string) string, version string, ev event.Event, run event.Run) checkreport.ItemsInput {
	return checkreport.ItemsInput{SummaryURL: summaryURL(getenv, ev), Version: version, Job: run.Identity(), Leg: run.MatrixIndex}
}

// summaryURL returns the address of the workflow run's job summaries; "" outside of a
// workflow run.
func summaryURL(getenv func(string) string, ev event.Event) string {
	id, server := getenv("GITHUB_RUN_ID"), strings.TrimRight(getenv("GITHUB_SERVER_URL"), "/")
	if id == "" || server == "" {
		return ""
	}
	return server + "/" + path.Join(ev.Repo.FullName(), "actions/runs", id)
}
