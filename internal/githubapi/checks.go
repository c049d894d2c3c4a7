package githubapi

import (
	"context"
	"errors"
	"iter"

	"github.com/google/go-github/v60/github"
)

// MaxAnnotations is how many annotations one request can carry.
const MaxAnnotations = 50

// CheckRun is an entry in a commit's list of checks.
type CheckRun struct {
	ID          int64
	NodeID      string
	Name        string
	HeadSHA     string
	ExternalID  string // the creator's own id for it
	URL         string
	Annotations int // number of annotations
	Text        string
	App         string // the short name of the app that made it
}

// NewCheckRun is a check run that has ended.
type NewCheckRun struct {
	Name       string
	HeadSHA    string
	ExternalID string
	Conclusion string // "success", "failure", "neutral", ...
	Output     CheckOutput
}

// CheckOutput is what a check run shows.
type CheckOutput struct {
	Title       string
	Summary     string            // Markdown of at most 65,535 characters
	Text        string            // Markdown of at most 65,535 characters; "" for none
	Annotations []CheckAnnotation // at most MaxAnnotations
}

// CheckAnnotation is a remark on lines of a file.
type CheckAnnotation struct {
	Path      string
	StartLine int
	EndLine   int
	Level     string // "notice", "warning" or "failure"
	Title     string // "" for none
	Message   string
}

// CreateCheckRun makes a check run that has ended. It needs the token of an app, such as a
// workflow's.
func (c *Client) CreateCheckRun(ctx context.Context, r Repo, n NewCheckRun) (CheckRun, error) {
	op := creating(r, "create the check run %q", n.Name).checkAnnotations(n.Output)
	g, _, err := c.gh.Checks.CreateCheckRun(op.context(ctx), r.Owner, r.Name, github.CreateCheckRunOptions{Name: n.Name, HeadSHA: n.HeadSHA, ExternalID: &n.ExternalID,
		Status: github.String("completed"), Conclusion: &n.Conclusion, Output: outputOf(n.Output)})
	return resultOf(op, g, err, checkRunOf, func(run CheckRun) bool { return run.HeadSHA == "" || run.HeadSHA == n.HeadSHA })
}

// AddAnnotations replaces the title, summary and text of a check run that the token's app made. It
// adds the annotations to the existing ones: a second call with the same annotations duplicates them.
func (c *Client) AddAnnotations(ctx context.Context, r Repo, id int64, name string, o CheckOutput) (CheckRun, error) {
	op := creating(r, "add annotations to the check run %q", name).checkAnnotations(o)
	g, _, err := c.gh.Checks.UpdateCheckRun(op.context(ctx), r.Owner, r.Name, id, github.UpdateCheckRunOptions{Name: name, Output: outputOf(o)})
	return resultOf(op, g, err, checkRunOf, func(run CheckRun) bool { return run.ID == id })
}

// GetCheckRun reads a check run.
func (c *Client) GetCheckRun(ctx context.Context, r Repo, id int64) (CheckRun, error) {
	op := reading(r, "read the check run %d", id)
	g, _, err := c.gh.Checks.GetCheckRun(op.context(ctx), r.Owner, r.Name, id)
	return resultOf(op, g, err, checkRunOf, func(run CheckRun) bool { return run.ID == id })
}

// JobName returns the name that GitHub shows for a job of a workflow run, "caller / job" where a
// workflow calls another. A job and its check run have the same id. The token needs the permission
// checks: read or actions: read, and in a public repository neither. JobName asks for the check run
// and, if the token may not see that, for the job.
func (c *Client) JobName(ctx context.Context, r Repo, id int64) (string, error) {
	run, err := c.GetCheckRun(ctx, r, id)
	if err == nil {
		return run.Name, nil
	}
	if !errors.Is(err, Forbidden) && !errors.Is(err, NotFound) {
		return "", err
	}
	op := reading(r, "read the job %d", id)
	g, _, err := c.gh.Actions.GetWorkflowJobByID(op.context(ctx), r.Owner, r.Name, id)
	return result(op, g, err, (*github.WorkflowJob).GetName)
}

// ListCheckRuns yields all check runs of that name that a commit has, from every app. Check runs
// that newer ones replace are among them.
func (c *Client) ListCheckRuns(ctx context.Context, r Repo, sha, name string) iter.Seq2[CheckRun, error] {
	return c.checkRuns(ctx, r, sha, github.ListCheckRunsOptions{CheckName: &name, Filter: github.String("all")})
}

// LatestCheckRuns yields the newest of a commit's check runs for each app and name.
func (c *Client) LatestCheckRuns(ctx context.Context, r Repo, sha string) iter.Seq2[CheckRun, error] {
	return c.checkRuns(ctx, r, sha, github.ListCheckRunsOptions{Filter: github.String("latest")})
}

func (c *Client) checkRuns(ctx context.Context, r Repo, sha string, which github.ListCheckRunsOptions) iter.Seq2[CheckRun, error] {
	op := reading(r, "list the check runs of %.7s", sha)
	return pages(ctx, op, func(run CheckRun) int64 { return run.ID }, checkRunOf, func(ctx context.Context, page github.ListOptions) ([]*github.CheckRun, *github.Response, error) {
		which.ListOptions = page
		list, resp, err := c.gh.Checks.ListCheckRunsForRef(ctx, r.Owner, r.Name, sha, &which)
		if err != nil {
			return nil, nil, err
		}
		return list.CheckRuns, resp, nil
	})
}

func (op *operation) checkAnnotations(o CheckOutput) *operation {
	if len(o.Annotations) > MaxAnnotations {
		op.refuse("%d annotations are more than the %d of one request", len(o.Annotations), MaxAnnotations)
	}
	return op
}

func outputOf(o CheckOutput) *github.CheckRunOutput {
	g := &github.CheckRunOutput{Title: &o.Title, Summary: &o.Summary, Text: optional(o.Text)}
	for _, a := range o.Annotations {
		g.Annotations = append(g.Annotations, &github.CheckRunAnnotation{Path: &a.Path, StartLine: &a.StartLine, EndLine: &a.EndLine,
			AnnotationLevel: &a.Level, Title: optional(a.Title), Message: &a.Message})
	}
	return g
}

func (run CheckRun) identified() bool { return run.ID > 0 }

func checkRunOf(g *github.CheckRun) CheckRun {
	return CheckRun{ID: g.GetID(), NodeID: g.GetNodeID(), Name: g.GetName(), HeadSHA: g.GetHeadSHA(), ExternalID: g.GetExternalID(),
		URL: g.GetHTMLURL(), Annotations: g.GetOutput().GetAnnotationsCount(), Text: g.GetOutput().GetText(), App: g.GetApp().GetSlug()}
}
