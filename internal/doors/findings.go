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
// request's code, so the document is untrusted: it is held against its schema and
// against the event. Errors of the document itself begin with name.
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

// OwnItems makes Airlock's own items of a findings document, as far as the owner wants
// them, and lets the policy know which of them the owner allows. of names the workflow
// run that they come from.
func (g *Gate) OwnItems(doc *checkreport.Document, ev event.Event, of checkreport.ItemsInput) ([]intake.OwnItem, error) {
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
	of.SafeText, of.Head = g.CheckText(), ev.Head.SHA
	of.Comment, of.CheckRun, of.SecurityReport = own.Comment, own.CheckRun, own.SecurityReport
	if of.Head == "" && !onPull {
		of.Head = ev.SHA
	}
	if own.Review {
		of.ReviewComments = comments
	}
	items, err := doc.Items(of)
	if err != nil {
		return nil, exitcode.FailedError(err)
	}
	return items, nil
}

// ItemsOf names the workflow run that own items come from.
func ItemsOf(getenv func(string) string, version string, ev event.Event, run event.Run) checkreport.ItemsInput {
	return checkreport.ItemsInput{SummaryURL: summaryURL(getenv, ev), Version: version, Job: run.Job, Leg: run.MatrixIndex}
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
