package apply

import (
	"context"
	"errors"

	"github.com/agent-airlock/airlock/internal/githubapi"
	"github.com/agent-airlock/airlock/internal/gitrepo"
)

// withinLimits calls do, which fetches or pushes. If git's server asks to slow down, withinLimits
// waits as it would before a repeated request to the API, and then calls do again. In messages,
// operation is the name of what do does, such as "fetch".
func (d Deps) withinLimits(ctx context.Context, r githubapi.Repo, operation string, do func() error) error {
	patience := githubapi.NewPatience(d.Clock, d.log)
	for {
		err := do()
		limit := gitLimit(err)
		if limit == nil {
			return err
		}
		e := &githubapi.Error{Kind: githubapi.RateLimited, Op: operation, Repo: r, Status: limit.Status, Message: limit.Reason, Err: err}
		if limit.Wait > 0 {
			e.Until = d.Clock.Now().Add(limit.Wait)
		}
		if err := patience.Wait(ctx, e); err != nil {
			return err
		}
	}
}

// gitLimit returns the limit of git's server that an error reports; nil for any other error. The
// API has a limit of its own, so requests to it may still succeed.
func gitLimit(err error) *gitrepo.LimitError {
	limit, _ := errors.AsType[*gitrepo.LimitError](err)
	return limit
}
