package githubapi

import (
	"context"
	"fmt"
	"iter"

	"github.com/google/go-github/v60/github"
)

// MaxAnnotations is how many annotations one request can carry.
const MaxAnnotations = 50

// CheckRun is an entry in a commit's list of checks.
type CheckRun struct {
	ID         int64
	NodeID     string
	Name       string
	HeadSHA    string
	ExternalID string // what its maker called it
	Status     string // "completed", "in_progress", ...
	Conclusion string
	URL        string
	// Annotations is how many it has.
	Annotations int
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
	Title   string
	Summary string // Markdown; at most 65,535 characters, as Text
	Text    string // "" for none
	// Annotations are at most MaxAnnotations.
	Annotations []CheckAnnotation
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

// CreateCheckRun makes a check run that has ended. Only the token of an app can,
// such as a workflow's.
func (c *Client) CreateCheckRun(ctx context.Context, r Repo, n NewCheckRun) (CheckRun, error) {
	op := fmt.Sprintf("create the check run %q", n.Name)
	if err := checkOutput(op, r, n.Output); err != nil {
		return CheckRun{}, err
	}
	ctx, k := create(ctx, op, r)
	g, _, err := c.gh.Checks.CreateCheckRun(ctx, r.Owner, r.Name, github.CreateCheckRunOptions{Name: n.Name, HeadSHA: n.HeadSHA, ExternalID: &n.ExternalID,
		Status: github.String("completed"), Conclusion: &n.Conclusion, Output: outputOf(n.Output)})
	if err != nil {
		return CheckRun{}, k.finish(err)
	}
	return checkRunOf(g), nil
}

// AddAnnotations shows the output in a check run of one's own: its annotations come
// after those that are there. Done twice, they are there twice.
func (c *Client) AddAnnotations(ctx context.Context, r Repo, id int64, name string, o CheckOutput) (CheckRun, error) {
	op := fmt.Sprintf("add annotations to the check run %q", name)
	if err := checkOutput(op, r, o); err != nil {
		return CheckRun{}, err
	}
	ctx, k := create(ctx, op, r)
	g, _, err := c.gh.Checks.UpdateCheckRun(ctx, r.Owner, r.Name, id, github.UpdateCheckRunOptions{Name: name, Output: outputOf(o)})
	if err != nil {
		return CheckRun{}, k.finish(err)
	}
	return checkRunOf(g), nil
}

// GetCheckRun reads a check run.
func (c *Client) GetCheckRun(ctx context.Context, r Repo, id int64) (CheckRun, error) {
	op := fmt.Sprintf("read the check run %d", id)
	if err := r.check(); err != nil {
		return CheckRun{}, usage(op, Repo{}, "%v", err)
	}
	ctx, k := read(ctx, op, r)
	g, _, err := c.gh.Checks.GetCheckRun(ctx, r.Owner, r.Name, id)
	if err != nil {
		return CheckRun{}, k.finish(err)
	}
	return checkRunOf(g), nil
}

// ListCheckRuns yields a commit's check runs of that name, of all apps and those
// that newer ones stand in place of too.
func (c *Client) ListCheckRuns(ctx context.Context, r Repo, sha, name string) iter.Seq2[CheckRun, error] {
	op := fmt.Sprintf("list the check runs of %.7s", sha)
	if err := r.check(); err != nil {
		return failed[CheckRun](usage(op, Repo{}, "%v", err))
	}
	return pages(func(v CheckRun) int64 { return v.ID }, false, func(page int) ([]CheckRun, int, error) {
		ctx, k := read(ctx, op, r)
		list, resp, err := c.gh.Checks.ListCheckRunsForRef(ctx, r.Owner, r.Name, sha, &github.ListCheckRunsOptions{CheckName: &name, Filter: github.String("all"),
			ListOptions: github.ListOptions{Page: page, PerPage: perPage}})
		if err != nil {
			return nil, 0, k.finish(err)
		}
		return converted(k, list.CheckRuns, resp, nil, checkRunOf)
	})
}

func checkOutput(op string, r Repo, o CheckOutput) error {
	if err := r.check(); err != nil {
		return usage(op, Repo{}, "%v", err)
	}
	if len(o.Annotations) > MaxAnnotations {
		return usage(op, r, "%d annotations are more than the %d of one request", len(o.Annotations), MaxAnnotations)
	}
	return nil
}

func outputOf(o CheckOutput) *github.CheckRunOutput {
	g := &github.CheckRunOutput{Title: &o.Title, Summary: &o.Summary}
	if o.Text != "" {
		g.Text = &o.Text
	}
	for _, a := range o.Annotations {
		n := &github.CheckRunAnnotation{Path: &a.Path, StartLine: &a.StartLine, EndLine: &a.EndLine, AnnotationLevel: &a.Level, Message: &a.Message}
		if a.Title != "" {
			n.Title = &a.Title
		}
		g.Annotations = append(g.Annotations, n)
	}
	return g
}

func checkRunOf(g *github.CheckRun) CheckRun {
	return CheckRun{ID: g.GetID(), NodeID: g.GetNodeID(), Name: g.GetName(), HeadSHA: g.GetHeadSHA(), ExternalID: g.GetExternalID(), Status: g.GetStatus(),
		Conclusion: g.GetConclusion(), URL: g.GetHTMLURL(), Annotations: g.GetOutput().GetAnnotationsCount()}
}
