package apply

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/agent-airlock/airlock/internal/changes"
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
func Observe(ctx context.Context, deps Deps, cfg Config, ev event.Event, approved []policy.Approved) (*Snapshot, error) {
	entries, err := entriesOf(cfg, ev, approved)
	if err != nil {
		return nil, err
	}
	return observeEntries(ctx, deps, cfg, ev, entries)
}

func observeEntries(ctx context.Context, deps Deps, cfg Config, ev event.Event, entries []*entry) (*Snapshot, error) {
	o := &observer{ctx: ctx, deps: deps, ev: ev, cfg: cfg, repo: repoOf(ev), s: &Snapshot{secrets: screen(cfg.Secrets, entries)}}
	o.need = needsOf(ev, o.s.clean(entries))
	o.localDiff()
	if deps.GitHub != nil && deps.Clock == nil {
		return nil, errors.New("apply: Deps.Clock is required")
	}
	if deps.GitHub == nil {
		o.sources()
		return o.s, o.code()
	}
	begun := deps.Clock.Now()
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
	deps Deps
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
	v, err := o.deps.GitHub.Viewer(o.ctx)
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
	found, err := ownObjects(o.ctx, o.deps.GitHub, o.repo, id, o.s.viewer, o.s.since)
	o.s.lists[id] = err
	if err != nil {
		return o.fatal(err)
	}
	for _, obj := range found {
		o.s.keep(obj)
	}
	return nil
}

func (o *observer) issues() error {
	o.s.issues = map[int]issueState{}
	since := started(o.cfg.Run, o.ev, o.deps.Clock.Now())
	if len(o.need.issues.all) > 0 && o.ev.Time.IsZero() && o.cfg.Run.StartedAt.IsZero() {
		o.s.unchecked = append(o.s.unchecked, "edits of the issues by others before now: when the workflow run started is not known")
	}
	for _, n := range o.need.issues.all {
		st := issueState{since: since}
		if st.issue, st.err = o.deps.GitHub.GetIssue(o.ctx, o.repo, n); st.err == nil {
			st.edits, st.err = o.deps.GitHub.IssueEdits(o.ctx, o.repo, n, since)
		}
		st.edits = byOthers(st.edits, since, o.s.viewer)
		o.s.issues[n] = st
		if err := o.fatal(st.err); err != nil {
			return err
		}
	}
	return nil
}

func (o *observer) labels() error {
	o.s.labels = map[int]labelState{}
	for _, n := range o.need.labels.all {
		var st labelState
		st.err = each(o.deps.GitHub.ListLabelsOfIssue(o.ctx, o.repo, n), func(name string) { st.names = append(st.names, name) })
		o.s.labels[n] = st
		if err := o.fatal(st.err); err != nil {
			return err
		}
	}
	return nil
}

func (o *observer) pulls() error {
	o.s.pulls = map[int]pullState{}
	for _, n := range o.need.pulls.all {
		var st pullState
		st.pull, st.err = o.deps.GitHub.GetPull(o.ctx, o.repo, n)
		o.s.pulls[n] = st
		if err := o.fatal(st.err); err != nil {
			return err
		}
	}
	return nil
}

// localDiff takes the caller's diff for the event's own pull request.
func (o *observer) localDiff() {
	o.s.diff = map[int]diffState{}
	if o.deps.Diff != nil && o.ev.IsPull && o.need.diffs.seen[o.ev.Number] {
		o.s.diff[o.ev.Number] = newDiff(o.deps.Diff)
	}
}

func newDiff(files []changes.ChangedFile) diffState {
	d := diffState{anchors: changes.NewAnchors(files), files: make(map[string]bool, len(files))}
	for _, f := range files {
		d.files[f.Path] = true
	}
	return d
}

func (o *observer) diffs() error {
	for _, n := range o.need.diffs.all {
		pull := o.s.pulls[n]
		if _, have := o.s.diff[n]; have || pull.err != nil {
			continue
		}
		if asked := askedCommit(o.ev, n); asked != "" && asked != pull.pull.Head.SHA {
			// GitHub shows the diff of the newer commit, whose lines are others.
			o.s.diff[n] = diffState{}
			o.s.unchecked = append(o.s.unchecked, fmt.Sprintf("the lines of the review comments: pull request #%d has moved on since the workflow run started, and GitHub shows the newer diff only", n))
			continue
		}
		var files []changes.ChangedFile
		err := each(o.deps.GitHub.ListPullFiles(o.ctx, o.repo, n), func(f githubapi.PullFile) {
			files = append(files, changes.FromAPI(f.Path, f.PreviousPath, f.Status, f.Patch, f.Changes))
		})
		if err != nil {
			if fatal := o.fatal(err); fatal != nil {
				return fatal
			}
			o.s.diff[n] = diffState{err: err}
			o.s.unchecked = append(o.s.unchecked, fmt.Sprintf("the lines of the review comments: the diff of pull request #%d could not be read: %v", n, err))
			continue
		}
		if all := pull.pull.ChangedFiles; all > len(files) {
			o.s.unchecked = append(o.s.unchecked, fmt.Sprintf("the review comments on %d of %d files: GitHub lists only the first %d of pull request #%d", all-len(files), all, len(files), n))
		}
		o.s.diff[n] = newDiff(files)
	}
	return nil
}

func (o *observer) discussions() error {
	o.s.discussions = map[int]discussionState{}
	for _, n := range o.need.discussions.all {
		d, err := o.deps.GitHub.GetDiscussion(o.ctx, o.repo, n)
		o.s.discussions[n] = discussionState{id: d.ID, err: err}
		if err := o.fatal(err); err != nil {
			return err
		}
	}
	return nil
}

func (o *observer) categories() error {
	if !o.need.categories {
		return nil
	}
	all, err := o.deps.GitHub.DiscussionCategories(o.ctx, o.repo)
	o.s.categories = categoryState{read: true, all: all, err: err}
	return o.fatal(err)
}

// maxSourceReads is how many files are asked of GitHub for line hashes: a
// workflow's token has 1,000 requests an hour for everything.
const maxSourceReads = 50

// sources reads the files that security reports are about, for the hashes by
// which code scanning recognises an alert whose line has moved. Which files those
// are is known when the reports are prepared, so it prepares them once for it.
func (o *observer) sources() {
	if len(o.need.reports) == 0 || o.deps.Source == nil && o.deps.GitHub == nil {
		return
	}
	o.s.sources = map[string]string{}
	commit, _ := analysed(o.ev, o.s.pulls[o.ev.Number].pull.Head.SHA)
	asked, refused := 0, 0
	failed := map[string]bool{}
	_, _ = prepare(o.cfg, o.need.reports, func(path string) ([]byte, error) {
		if text, ok := o.s.sources[path]; ok {
			return []byte(text), nil
		}
		if failed[path] {
			return nil, errNoSource
		}
		data, err := []byte(nil), errNoSource
		if o.deps.Source != nil && commit != "" {
			data, err = o.deps.Source.ReadFile(commit, path)
		}
		if err != nil && o.deps.GitHub != nil && commit != "" {
			if asked++; asked > maxSourceReads {
				refused++
				failed[path] = true
				return nil, errNoSource
			}
			data, err = o.deps.GitHub.GetFile(o.ctx, o.repo, path, commit)
		}
		if failed[path] = err != nil; err == nil {
			o.s.sources[path] = string(data)
		}
		return data, err
	})
	if refused > 0 {
		o.s.unchecked = append(o.s.unchecked, fmt.Sprintf("the lines of alerts in %d files: only %d files are asked of GitHub, so those alerts may appear anew when lines move", refused, maxSourceReads))
	}
}

var errNoSource = errors.New("the file was not read")

// lookAgain reads the lists of a later attempt once more where something is
// missing: the attempt before may have been killed right after a write that GitHub
// did not list yet. After the wait everything that was written before this
// attempt began is listed.
func (o *observer) lookAgain(begun time.Time, entries []*entry) error {
	if o.cfg.Run.Attempt <= 1 || !createsSomething(o.cfg, o.ev, entries, o.s) {
		return nil
	}
	if wait := begun.Add(listLag).Sub(o.deps.Clock.Now()); wait > 0 {
		o.deps.log(fmt.Sprintf("waiting %v for GitHub's lists, since an earlier attempt may just have written something", wait.Round(time.Second)))
		if err := o.deps.Clock.Sleep(o.ctx, wait); err != nil {
			return err
		}
	}
	return o.lists()
}

// createsSomething reports whether the plan for a snapshot would create an object
// that it found nowhere.
func createsSomething(cfg Config, ev event.Event, entries []*entry, s *Snapshot) bool {
	trial := make([]*entry, len(entries))
	for i, e := range entries {
		c := *e
		trial[i] = &c
	}
	for _, op := range planEntries(cfg, ev, trial, s).Operations {
		creates := false
		switch w := op.work.(type) {
		case *createWork, *violationWork:
			creates = true
		case *reviewWork:
			creates = w.comments() > 0
		case *checkWork: // or it adds annotations, which are there twice when they are added twice
			creates = true
		case *pullWork: // an issue, where GitHub lets no pull request be opened
			creates = w.st.pull == nil && w.e.settings.Changes.FallbackIssue
		}
		if creates && !op.Staged {
			return true
		}
	}
	return false
}
