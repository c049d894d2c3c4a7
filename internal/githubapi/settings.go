package githubapi

import (
	"context"
	"errors"
	"net/http"

	"github.com/google/go-github/v60/github"
)

// WorkflowPermissions are the settings of a repository for the tokens of its workflows.
type WorkflowPermissions struct {
	// Default is what a token may do if its workflow declares no permissions: "read" or "write".
	Default string
	// MayOpenPulls is whether workflows may open and approve pull requests.
	MayOpenPulls bool
}

func (w WorkflowPermissions) identified() bool { return w.Default != "" }

// WorkflowPermissions reads the settings for the tokens of workflows. The client's token needs the
// permission to read the administration of the repository, which a workflow's own token never has.
func (c *Client) WorkflowPermissions(ctx context.Context, r Repo) (WorkflowPermissions, error) {
	op := reading(r, "read the settings for workflows")
	op.needs = "administration=read"
	g, _, err := c.gh.Repositories.GetDefaultWorkflowPermissions(op.context(ctx), r.Owner, r.Name)
	return result(op, g, err, func(g *github.DefaultWorkflowPermissionRepository) WorkflowPermissions {
		return WorkflowPermissions{Default: g.GetDefaultWorkflowPermissions(), MayOpenPulls: g.GetCanApprovePullRequestReviews()}
	})
}

// ActionsSecrets returns the names of a repository's own secrets for workflows; those of its
// organization and of environments are not among them.
func (c *Client) ActionsSecrets(ctx context.Context, r Repo) (names []string, err error) {
	op := reading(r, "list the names of the secrets")
	op.needs = "secrets=read"
	return collect(pages(ctx, op, nameKey, func(s *github.Secret) string { return s.Name }, func(ctx context.Context, page github.ListOptions) ([]*github.Secret, *github.Response, error) {
		list, resp, err := c.gh.Actions.ListRepoSecrets(ctx, r.Owner, r.Name, &page)
		if err != nil {
			return nil, nil, err
		}
		return list.Secrets, resp, nil
	}), nameKey)
}

// CodeScanningEnabled reports whether a repository accepts reports for code scanning. The client's
// token needs the permission to read alerts.
func (c *Client) CodeScanningEnabled(ctx context.Context, r Repo) (bool, error) {
	op := listing(r, "look for code scanning")
	op.needs = "security_events=read"
	var alerts []struct{}
	err := op.finish(c.send(ctx, op, http.MethodGet, "code-scanning/alerts?per_page=1", nil, &alerts))
	var e *Error
	switch {
	case errors.As(err, &e) && e.Feature == FeatureCodeScanning:
		return false, nil
	case errors.As(err, &e) && e.Kind == NotFound: // "no analysis found": nothing was uploaded yet
		return true, nil
	}
	return err == nil, err
}
