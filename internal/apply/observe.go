package apply

import (
	"context"
	"errors"

	"github.com/agent-airlock/airlock/internal/event"
	"github.com/agent-airlock/airlock/internal/githubapi"
	"github.com/agent-airlock/airlock/internal/policy"
)

// Observe reads what planning the items takes, and nothing else: see the table
// of requests in the package's documentation. It never writes. Without a token
// it reads only what the caller has at hand.
//
// What concerns single items and cannot be read makes those items fail. An
// error means that nothing can be judged: GitHub cannot be reached, does not
// accept the token, or the context ended.
func Observe(ctx context.Context, w World, cfg Config, ev event.Event, approved []policy.Approved) (*Snapshot, error) {
	entries, err := entriesOf(cfg, ev, approved)
	if err != nil {
		return nil, err
	}
	return observeEntries(ctx, w, cfg, ev, entries)
}

func observeEntries(ctx context.Context, w World, cfg Config, ev event.Event, entries []*entry) (*Snapshot, error) {
	o := &observer{ctx: ctx, w: w, ev: ev, cfg: cfg, repo: repoOf(ev), s: &Snapshot{secrets: screen(cfg.Secrets, entries)}}
	o.need = needsOf(ev, o.s.clean(entries))
	o.localDiff()
	if w.GitHub != nil && w.Clock == nil {
		return nil, errors.New("apply: World.Clock is required")
	}
	if w.GitHub == nil {
		o.sources()
		return o.s, o.code()
	}
	begun := w.Clock.Now()
	o.s.connected = true
	o.s.since = earliest(cfg.Run, ev, begun)
	for _, step := range []func() error{o.viewer, o.lists, o.issues, o.labels, o.pulls, o.diffs, o.discussions, o.categories, o.code} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	o.sources()
	if err := o.lookAgain(begun, entries); err != nil {
		return nil, err
	}
	return o.s, ctx.Err()
}

// observer is the state of one call of Observe.
type observer struct {
	ctx  context.Context
	w    World
	cfg  Config
	ev   event.Event
	repo githubapi.Repo
	need *needs
	s    *Snapshot
}

// fatal returns err when it means that no further request can succeed.
func (o *observer) fatal(err error) error {
	if o.ctx.Err() != nil {
		return o.ctx.Err()
	}
	var e *githubapi.Error
	if errors.As(err, &e) && (e.Kind == githubapi.Unauthorized || e.Kind == githubapi.Unreachable || e.Kind == githubapi.RateLimited) {
		return err
	}
	return nil
}

// viewer finds out who we are; that is only needed to recognise our own objects
// and our own edits.
func (o *observer) viewer() error {
	if len(o.need.lists.all) == 0 && len(o.need.issues.all) == 0 && len(o.need.code) == 0 {
		return nil
	}
	v, err := o.w.GitHub.Viewer(o.ctx)
	if err != nil {
		return err
	}
	if v.DatabaseID == 0 {
		return errors.New("GitHub does not say whose token this is, so what an earlier attempt wrote could not be told from what others wrote; use a token of a user or an app")
	}
	o.s.viewer = v
	return nil
}

func (o *observer) lists() error {
	o.s.lists, o.s.own = map[listID]error{}, map[string][]Object{}
	for _, id := range o.need.lists.all {
		if err := o.list(id); err != nil {
			return err
		}
	}
	return nil
}

// list reads one list and keeps what is ours.
func (o *observer) list(id listID) error {
	found, err := ownObjects(o.ctx, o.w.GitHub, o.repo, id, o.s.viewer, o.s.since)
	o.s.lists[id] = err
	if err != nil {
		return o.fatal(err)
	}
	for _, obj := range found {
		o.s.keep(obj)
	}
	return nil
}
