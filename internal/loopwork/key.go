package loopwork

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"time"

	"github.com/agent-airlock/airlock/internal/checks"
	"github.com/agent-airlock/airlock/internal/event"
	"github.com/agent-airlock/airlock/internal/exitcode"
	"github.com/agent-airlock/airlock/internal/fixloop"
	"github.com/agent-airlock/airlock/internal/loops"
	"github.com/agent-airlock/airlock/internal/store"
)

// Key is what a user names a loop by.
type Key struct {
	Issue      int    // the pull request's number; 0 where there is none
	Ordinal    int    // which of its loops; 0 for the newest
	Repository string // as owner/name; "" for the workflow run's own, or the work tree's directory
	Dir        string // a directory of the work tree
	Store      string // the location of the store; "" for the usual one
}

// Status returns the status of the loop. Its errors, as those of the other methods, carry their
// exit code.
func (k Key) Status(ctx context.Context, getenv func(string) string) (s loops.Status, err error) {
	st, l, err := k.find(ctx, getenv)
	if err != nil {
		return s, err
	}
	defer st.Close()
	if s, err = loops.NewBook(st).Status(ctx, l); err != nil {
		return s, exitcode.FailedError(err)
	}
	return s, nil
}

// List returns the status of each loop in the store. If the key names a repository, it returns only
// the loops of the repository.
func (k Key) List(ctx context.Context, getenv func(string) string) (list List, err error) {
	st, err := k.open(ctx, getenv)
	if err != nil {
		return list, err
	}
	defer st.Close()
	var filter loops.Filter
	if k.Repository != "" {
		if filter.Repository, err = k.repositoryName(getenv); err != nil {
			return list, exitcode.UsageError(err)
		}
	}
	list.store, list.repository = st.Name(), filter.Repository
	if list.loops, err = loops.NewBook(st).Statuses(ctx, filter); err != nil {
		return list, exitcode.FailedError(err)
	}
	return list, nil
}

// List is the status of each loop in a store, or of each loop of one repository there.
type List struct {
	store      string
	repository string // the only one whose loops are listed; "" for all
	loops      []loops.Status
}

// Document returns what programs read about the loops; docs/loop.md describes it.
func (l List) Document() any {
	documents := make([]loops.Document, len(l.loops))
	for i, s := range l.loops {
		documents[i] = s.Document()
	}
	return map[string]any{"version": 1, "loops": documents}
}

// Text writes to w a line about each loop for a person. If there is no loop, it says so in notes.
func (l List) Text(w, notes io.Writer) error {
	if len(l.loops) == 0 {
		of := ""
		if l.repository != "" {
			of = " of " + l.repository
		}
		fmt.Fprintf(notes, "airlock: there is no loop%s in %s\n", of, l.store)
	}
	for _, s := range l.loops {
		if _, err := fmt.Fprintln(w, s.Headline()); err != nil {
			return err
		}
	}
	return nil
}

// Log returns the loop's communication log.
func (k Key) Log(ctx context.Context, getenv func(string) string) (log fixloop.Log, err error) {
	st, l, err := k.find(ctx, getenv)
	if err != nil {
		return log, err
	}
	defer st.Close()
	messages, err := loops.NewBook(st).Messages(ctx, l.ID)
	if err != nil {
		return log, exitcode.FailedError(err)
	}
	return fixloop.NewLog(l.State, messages, time.Now()), nil
}

// repositoryName returns the repository that the loop belongs to, or what is wrong with the key.
func (k Key) repositoryName(getenv func(string) string) (string, error) {
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

// open opens the store, if there is one.
func (k Key) open(ctx context.Context, getenv func(string) string) (*store.Store, error) {
	return store.OpenNamedExisting(ctx, k.Store, "airlock loop start", getenv, loops.Schema)
}

// find opens the store, if there is one, and finds the loop in it.
func (k Key) find(ctx context.Context, getenv func(string) string) (*store.Store, loops.Loop, error) {
	repository, err := k.repositoryName(getenv)
	if err != nil {
		return nil, loops.Loop{}, exitcode.UsageError(err)
	}
	st, err := k.open(ctx, getenv)
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
