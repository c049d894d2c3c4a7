package loopwork

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/agent-airlock/airlock/internal/checks"
	"github.com/agent-airlock/airlock/internal/event"
	"github.com/agent-airlock/airlock/internal/exitcode"
	"github.com/agent-airlock/airlock/internal/loops"
	"github.com/agent-airlock/airlock/internal/store"
)

// Key is what a user names a loop by.
type Key struct {
	Issue      int    // the pull request's number; 0 where there is none
	Ordinal    int    // which of its loops; 0 for the newest
	Repository string // as owner/name; "" for the workflow run's own, or the work tree's directory
	Dir        string // a directory of the work tree
}

// RepositoryName returns the repository that the loop belongs to, or what is wrong with the key.
func (k Key) RepositoryName(getenv func(string) string) (string, error) {
	if k.Issue < 0 {
		return "", fmt.Errorf("--issue: %d is negative; name the pull request by its number, or 0 where there is none", k.Issue)
	}
	dir, err := filepath.Abs(k.Dir)
	if err != nil {
		return "", err
	}
	if k.Repository != "" {
		repo, ok := event.ParseRepo(k.Repository)
		if !ok {
			return "", fmt.Errorf("--repo: %q does not have the form OWNER/NAME", k.Repository)
		}
		return repo.FullName(), nil
	}
	if own, ok := event.ParseRepo(getenv("GITHUB_REPOSITORY")); ok {
		return own.FullName(), nil
	}
	root, _ := checks.FindRoot(dir)
	return filepath.ToSlash(root), nil
}

// Find finds the loop in a store that open opens. Its errors carry their exit code.
func (k Key) Find(ctx context.Context, getenv func(string) string, open func() (*store.Store, error)) (*store.Store, loops.Loop, error) {
	repository, err := k.RepositoryName(getenv)
	if err != nil {
		return nil, loops.Loop{}, exitcode.UsageError(err)
	}
	st, err := open()
	if err != nil {
		return nil, loops.Loop{}, err
	}
	l, err := loops.NewBook(st).Find(ctx, repository, k.Issue, k.Ordinal)
	if err == nil {
		return st, l, nil
	}
	st.Close()
	if errors.Is(err, loops.ErrNoLoop) {
		return nil, l, exitcode.UsageError(fmt.Errorf("%s#%d has no such loop in %s: 'airlock loop status' lists those that there are, 'airlock loop start' begins one", repository, k.Issue, st.Name()))
	}
	return nil, l, exitcode.FailedError(err)
}
