package doors

import (
	"fmt"
	"io"
	"net/url"
	"path"
	"strings"

	"github.com/agent-airlock/airlock/internal/checkreport"
	"github.com/agent-airlock/airlock/internal/event"
	"github.com/agent-airlock/airlock/internal/sarif"
)

// ReadFindings reads the findings document of an earlier job. That job ran the pull
// request's code, so the document is untrusted: it is checked against its schema
// and against the event. Errors of the document itself begin with name.
func (g *Gate) ReadFindings(in io.Reader, name string, ev event.Event) (*checkreport.Document, error) {
	doc, err := checkreport.Read(in)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if err := checkSubject("they are", doc.Repository, doc.Number, ev); err != nil {
		return nil, err
	}
	doc.Mask(g.secrets.Mask)
	return doc, nil
}

// checkSubject refuses another job's document that names another repository or pull request than
// the event's. The error begins with theyAre.
func checkSubject(theyAre, repository string, number int, ev event.Event) error {
	if repo := ev.Repo.FullName(); repository != "" && repo != "" && !strings.EqualFold(repository, repo) {
		return fmt.Errorf("%s about %s, and the event is about %s", theyAre, repository, repo)
	}
	if number != 0 && ev.IsPull && number != ev.Number {
		return fmt.Errorf("%s about pull request #%d, and the event is about #%d", theyAre, number, ev.Number)
	}
	return nil
}

// deliver returns the delivery of a findings document, for Request.Checks: the items that the owner
// wants Airlock itself to add. It changes the gate's policy so that it lets these pass.
func (g *Gate) deliver(doc *checkreport.Document, input checkreport.ItemsInput) *checkreport.Delivery {
	own := g.cfg.Checks.Report.Own(input.OnPull)
	g.cfg.Policy.Own = own
	input.Comment, input.CheckRun, input.SecurityReport = own.Comment, own.CheckRun, own.SecurityReport
	if own.Review {
		input.ReviewComments = own.ReviewComments
	}
	return doc.Deliver(input)
}

// alertsURL returns the address of the open alerts of Airlock's checks in code scanning: those
// of the pull request, where the event is about one; "" where the server is not known.
func alertsURL(getenv func(string) string, ev event.Event) string {
	server := strings.TrimRight(getenv("GITHUB_SERVER_URL"), "/")
	if server == "" {
		return ""
	}
	query := `is:open tool:"` + sarif.OwnTool + `"`
	if ev.IsPull && ev.Number != 0 {
		query = fmt.Sprintf("pr:%d ", ev.Number) + query
	}
	return server + "/" + path.Join(ev.Repo.FullName(), "security/code-scanning") + "?query=" + url.QueryEscape(query)
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
