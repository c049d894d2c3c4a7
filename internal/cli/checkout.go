package cli

import (
	"context"
	"fmt"
	"path"
	"slices"

	"github.com/agent-airlock/airlock/internal/changes"
)

// maxWalked is how many commits on top of a pull request are looked through to find
// its head below them, where the clone does not hold the head itself.
const maxWalked = 100

// holdsHead reports whether the commit that is checked out holds the pull request:
// it is the head or a merge of it, or was made on top of one of these.
func (s changedSource) holdsHead(ctx context.Context, here string) (bool, error) {
	head := s.ev.Head.SHA
	at := here
	for range maxWalked {
		if at == head {
			return true, nil
		}
		c, err := s.git.repo.Commit(ctx, at)
		if err != nil || len(c.Parents) == 0 {
			break // the history ends, or is cut off
		}
		if slices.Contains(c.Parents, head) {
			return true, nil
		}
		at = c.Parents[0]
	}
	if there, err := s.git.repo.Has(ctx, head); err != nil || !there {
		return false, err
	}
	base, err := s.git.repo.MergeBase(ctx, here, head)
	return err == nil && base == head, ctx.Err() // no commit in common is an answer, too
}

// withoutHead refuses to check a commit that holds nothing of the pull request, as
// the one that pull_request_target and workflow_run check out by default: that it is
// good would be told of the pull request. Of any other commit it returns what to note.
func (s changedSource) withoutHead(here string) (note string, err error) {
	if here == s.ev.Base.SHA || here == s.ev.SHA {
		return "", usageError(fmt.Errorf("the commit that is checked out (%.7s) holds nothing of pull request #%d, whose head is %.7s: to check it would say nothing of the pull request. "+
			"Run the checks on the event pull_request, or name the head with 'ref:' for actions/checkout in a job without secrets", here, s.ev.Number, s.ev.Head.SHA))
	}
	return fmt.Sprintf("The commit that is checked out (%.7s) does not hold the pull request's head (%.7s): what is checked is what is there, and nothing is said of the head's lines.", here, s.ev.Head.SHA), nil
}

// places returns where the lines of a commit are at the pull request's head.
func (s changedSource) places(ctx context.Context, from string) (func(string, int, int) (int, int, bool), error) {
	if from == s.ev.Head.SHA {
		return nil, nil
	}
	d, err := s.git.repo.DiffFrom(ctx, from, s.ev.Head.SHA)
	if err != nil {
		return nil, err
	}
	files, err := changes.ParseGit(d.Raw, d.Patch)
	if err != nil {
		return nil, err
	}
	maps := map[string]*changes.LineMap{}
	for _, f := range files {
		name := f.Path
		if f.Status == changes.Renamed {
			name = f.PreviousPath
		}
		maps[name] = nil // its lines are elsewhere, or cannot be told
		if m, err := changes.NewLineMap(f.Patch); err == nil && f.Status == changes.Modified && !f.PatchMissing && !f.Binary {
			maps[name] = &m
		}
	}
	return func(name string, start, end int) (int, int, bool) {
		m, moved := maps[path.Clean(name)]
		if !moved {
			return start, end, true
		}
		if m == nil {
			return 0, 0, false
		}
		return m.Lines(start, end)
	}, nil
}
