package loopturn

import (
	"context"
	"errors"
	"fmt"

	"github.com/agent-airlock/airlock/internal/config"
	"github.com/agent-airlock/airlock/internal/fixer"
	"github.com/agent-airlock/airlock/internal/gitrepo"
	"github.com/agent-airlock/airlock/internal/secrets"
)

// Pushes judges what agents push, by the rules of the owner's configuration.
type Pushes struct {
	Remote   func(cloneURL string) (*gitrepo.Remote, error) // required: where the commits are
	PathList string                                         // where git is found
	Owner    config.SafeOutputs
	Scanner  *secrets.Scanner // required
}

// Judge returns the reasons why the changes that lead from one commit to another are refused, nil
// if there are none. It fetches both commits, without their history. If only the first commit is
// gone, that is a reason to refuse the changes; if the second commit is gone, the error is
// gitrepo.ErrMissing. It is a Turn's Judge.
func (p Pushes) Judge(ctx context.Context, cloneURL, from, to string) ([]string, error) {
	remote, err := p.Remote(cloneURL)
	if err != nil {
		return nil, err
	}
	repo, err := gitrepo.New(nil, gitrepo.Options{PathList: p.PathList, OIDLen: len(to)})
	if err != nil {
		return nil, err
	}
	defer repo.Close()
	switch err := repo.Fetch(ctx, remote, []string{from, to}, 1); {
	case errors.Is(err, gitrepo.ErrMissing):
		if err := repo.Fetch(ctx, remote, []string{to}, 1); err != nil {
			return nil, err // because that commit is gone, or for another reason
		}
		return []string{fmt.Sprintf("the commit %.12s, which the changes count from, is gone; push onto it instead of replacing it", from)}, nil
	case err != nil:
		return nil, err
	}
	return fixer.Judge(ctx, repo, from, to, fixer.RulesOf(p.Owner, p.Scanner))
}
