package changes

import (
	"context"

	"github.com/agent-airlock/airlock/internal/gitrepo"
)

// FromGit lists what head changes since it left base, as the pull request of
// the two does. Errors are those of gitrepo: ErrMissing and ErrShallow when the
// clone does not hold the history, which GitHub's API then can answer.
func FromGit(ctx context.Context, repo *gitrepo.Repo, base, head string) ([]ChangedFile, error) {
	d, err := repo.Diff(ctx, base, head)
	if err != nil {
		return nil, err
	}
	return ParseGit(d.Raw, d.Patch)
}
