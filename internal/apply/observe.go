package apply

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/agent-airlock/airlock/internal/changes"
	"github.com/agent-airlock/airlock/internal/crash"
	"github.com/agent-airlock/airlock/internal/event"
	"github.com/agent-airlock/airlock/internal/githubapi"
	"github.com/agent-airlock/airlock/internal/policy"
	"github.com/agent-airlock/airlock/internal/text"
)

// Observe reads what planning the items requires: see the table of requests in the package's
// documentation. It never writes. Without a token it reads only what the caller provides.
//
// A failed read that concerns single items makes those items fail, unless it only leaves something
// about them unchecked, such as the lines of review comments. An error means that nothing can be
// decided: for example, GitHub cannot be reached, does not accept the token or limits the rate, ctx
// ended, or Airlock itself failed (see the package crash).
func Observe(ctx context.Context, deps Deps, cfg Config, ev event.Event, approved []policy.Approved) (snap *Snapshot, err error) {
	defer crash.Recover(&err)
	entries, err := entriesOf(cfg, ev, approved)
	if err != nil {
		return nil, err
	}
	return observeEntries(ctx, deps, cfg, ev, entries)
}

func observeEntries(ctx context.Context, deps Deps, cfg Config, ev event.Event, entries []*entry) (*Snapshot, error) {
	if deps.GitHub != nil && deps.Clock == nil {
		return nil, errors.New("apply: Deps.Clock is required")
	}
	o := &observer{ctx: ctx, deps: deps, ev: ev, cfg: cfg, repo: repoOf(ev), s: &Snapshot{secrets: screen(cfg.Secrets, entries)}}
	var clean []*entry // without a secret
	for _, e := range entries {
		if o.s.secrets[e.index] == "" {
			clean = append(clean, e)
		} else if e.carriesCode() {
			o.withheld = append(o.withheld, e)
		}
	}
	o.need = needsOf(ev, clean)
	o.localDiff()
	if deps.GitHub == nil {
		o.sources()
		return o.s, o.code()
	}
	begun := deps.Clock.Now()
	o.s.connected = true
	o.s.since = earliest(cfg.Run, ev, begun)
	for _, step := range []func() error{
		o.viewer, o.lists, o.issues,
		func() error { return readEach(o, &o.s.texts, o.need.texts, deps.GitHub.IssueText) },
		func() error { return readEach(o, &o.s.labels, o.need.labels, deps.GitHub.ListLabelsOfIssue) },
		func() error { return readEach(o, &o.s.pulls, o.need.pulls, deps.GitHub.GetPull) },
		o.diffs,
		func() error { return readEach(o, &o.s.discussions, o.need.discussions, deps.GitHub.GetDiscussion) },
		o.categories, o.code,
	} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	o.sources()
	if err := o.lookAgain(begun, entries); err != nil {
		return nil, err
	}
	if err := claimed(o.cfg, o.ev, entries, o.s); err != nil {
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

	withheld []*entry // items with code whose texts contain a secret: only a patch is kept
}

// fatal returns an error if err means that no further request can succeed.
func (o *observer) fatal(err error) error {
	if o.ctx.Err() != nil {
		return o.ctx.Err()
	}
	e, ok := errors.AsType[*githubapi.Error](err)
	if ok && gitLimit(err) == nil && slices.Contains([]githubapi.Kind{githubapi.Unauthorized, githubapi.Unreachable, githubapi.RateLimited}, e.Kind) {
		return err
	}
	return nil
}

// uncheckedf adds to Snapshot.unchecked: what could not be looked up.
func (o *observer) uncheckedf(format string, args ...any) {
	o.s.unchecked = append(o.s.unchecked, fmt.Sprintf(format, args...))
}

// viewer finds out whose token this is, where that is needed to recognise our own objects
// and our own edits.
func (o *observer) viewer() (err error) {
	if len(o.need.lists.all) == 0 && len(o.need.issues.all) == 0 && len(o.need.texts.all) == 0 && len(o.need.code) == 0 {
		return nil
	}
	if o.s.viewer.Actor, err = o.deps.GitHub.Viewer(o.ctx); err != nil {
		return err
	}
	if o.s.viewer.DatabaseID <= 0 {
		return errors.New("GitHub does not name the account of this token, so what an earlier attempt wrote cannot be distinguished from what others wrote; use a token of a user or an app")
	}
	if o.s.viewer.DatabaseID == actionsBot {
		o.s.viewer.login = actionsLogin
	} else if o.need.lists.seen[listID{what: listIssues}] || o.need.lists.seen[listID{what: listEarlierIssues}] {
		// Without the name the issues of all authors are listed, which only takes longer.
		o.s.viewer.login, err = o.deps.GitHub.Login(o.ctx, o.s.viewer.DatabaseID)
	}
	return o.fatal(err)
}

// lists reads the lists and keeps what is ours.
func (o *observer) lists() error {
	o.s.lists, o.s.own, o.s.pending = map[listID]error{}, map[string][]Object{}, map[int]Object{}
	for _, id := range o.need.lists.all {
		found, err := ownObjects(o.ctx, o.deps.GitHub, o.repo, id, o.s.viewer, o.s.since)
		o.s.lists[id] = err
		if err != nil {
			if err := o.fatal(err); err != nil {
				return err
			}
			continue
		}
		for _, obj := range found {
			o.s.add(obj)
		}
	}
	return nil
}

func (o *observer) issues() error {
	since := started(o.cfg.Run, o.ev, o.deps.Clock.Now())
	if len(o.need.issues.all) > 0 && o.ev.Time.IsZero() && o.cfg.Run.StartedAt.IsZero() {
		o.uncheckedf("edits of the issues by others before now: when the workflow run started is not known")
	}
	return readEach(o, &o.s.issues, o.need.issues, func(ctx context.Context, r githubapi.Repo, n int) (st issueState, err error) {
		st.since = since
		if st.issue, err = o.deps.GitHub.GetIssue(ctx, r, n); err == nil {
			st.edits, err = o.deps.GitHub.IssueEdits(ctx, r, n, since)
		}
		st.edits = byOthers(st.edits, since, o.s.viewer.Actor)
		return st, err
	})
}

// readEach reads one object for each number.
func readEach[T any](o *observer, answers *map[int]answer[T], numbers set[int], read func(ctx context.Context, r githubapi.Repo, number int) (T, error)) error {
	*answers = map[int]answer[T]{}
	for _, n := range numbers.all {
		value, err := read(o.ctx, o.repo, n)
		(*answers)[n] = answer[T]{value, err}
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
	o.s.categories = &answer[[]githubapi.DiscussionCategory]{all, err}
	return o.fatal(err)
}

// localDiff uses the caller's diff for the event's own pull request.
func (o *observer) localDiff() {
	o.s.diffs = map[int]diffState{}
	if o.deps.Diff != nil && o.ev.IsPull && o.need.diffs.seen[o.ev.Number] {
		o.s.diffs[o.ev.Number] = newDiff(o.deps.Diff)
	}
}

func newDiff(files []changes.ChangedFile) diffState {
	d := diffState{anchors: changes.NewAnchors(files), files: make(map[string]bool, len(files))}
	for _, f := range files {
		d.files[f.Path] = true
	}
	return d
}

// diffs reads the diffs that the caller does not have. A diff that cannot be read leaves
// the lines of the review comments unchecked.
func (o *observer) diffs() error {
	for _, n := range o.need.diffs.all {
		pull := o.s.pulls[n]
		if _, have := o.s.diffs[n]; have || pull.err != nil {
			continue
		}
		if asked := askedCommit(o.ev, n); asked != "" && asked != pull.value.Head.SHA {
			// GitHub shows the diff of the newer commit, which has other lines.
			o.uncheckedf("the lines of the review comments: pull request #%d has moved on since the workflow run started, and GitHub shows the newer diff only", n)
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
			o.uncheckedf("the lines of the review comments: the diff of pull request #%d could not be read: %v", n, err)
			continue
		}
		if all := pull.value.ChangedFiles; all > len(files) {
			o.uncheckedf("the review comments on %d of %d files: GitHub lists only the first %d of pull request #%d", all-len(files), all, len(files), n)
		}
		o.s.diffs[n] = newDiff(files)
	}
	return nil
}

// maxSourceReads is the largest number of files to read from GitHub for line hashes: a workflow's
// token has 1,000 requests an hour for everything.
const maxSourceReads = 50

var errNoSource = errors.New("the file was not read")

// sources reads the files that security reports are about, for the hashes by which code
// scanning recognises an alert when its line moves. To find out which files these are, it
// prepares the reports and discards the result.
func (o *observer) sources() {
	if len(o.need.reports) == 0 || o.deps.Source == nil && o.deps.GitHub == nil {
		return
	}
	commit, _ := analysed(o.ev, o.s.pulls[o.ev.Number].value.Head.SHA)
	r := sourceReader{o: o, commit: commit, files: map[string]answer[[]byte]{}}
	_, _ = prepare(o.cfg, o.need.reports, r.read)
	o.s.sources = r.files
	if r.refused > 0 {
		o.uncheckedf("the lines of alerts in %s: only %d files are asked of GitHub, so those alerts may appear anew when lines move", text.Count(r.refused, "file"), maxSourceReads)
	}
}

// sourceReader reads files of a commit, each once.
type sourceReader struct {
	o       *observer
	commit  string                    // "" where it is not known
	files   map[string]answer[[]byte] // by path
	asked   int                       // files that were asked of GitHub
	refused int                       // files that were not asked of GitHub, as there are too many
}

func (r *sourceReader) read(path string) ([]byte, error) {
	file, known := r.files[path]
	if !known {
		file.value, file.err = r.fetch(path)
		r.files[path] = file
	}
	return file.value, file.err
}

// fetch reads a file where it is at hand, otherwise from GitHub.
func (r *sourceReader) fetch(path string) ([]byte, error) {
	if r.commit == "" {
		return nil, errNoSource
	}
	err := errNoSource
	if r.o.deps.Source != nil {
		var data []byte
		if data, err = r.o.deps.Source.ReadFile(r.commit, path); err == nil {
			return data, nil
		}
	}
	switch {
	case r.o.deps.GitHub == nil:
		return nil, err
	case r.asked == maxSourceReads:
		r.refused++
		return nil, errNoSource
	}
	r.asked++
	return r.o.deps.GitHub.GetFile(r.o.ctx, r.o.repo, path, r.commit)
}

// lookAgain makes a later attempt read the lists again where something is missing: the
// attempt before may have been killed right after a write that GitHub did not list yet.
// After the wait, everything that was written before this attempt began is listed.
func (o *observer) lookAgain(begun time.Time, entries []*entry) error {
	if !o.cfg.Run.Again() || !createsSomething(o.cfg, o.ev, entries, o.s) {
		return nil
	}
	if wait := begun.Add(listLag).Sub(o.deps.Clock.Now()); wait > 0 {
		o.deps.log(fmt.Sprintf("waiting %v for GitHub's lists, because an earlier attempt may just have written something", wait.Round(time.Second)))
		if err := o.deps.Clock.Sleep(o.ctx, wait); err != nil {
			return err
		}
	}
	return o.lists()
}

// trialPlan returns the plan for a snapshot and leaves the entries as they are.
func trialPlan(cfg Config, ev event.Event, entries []*entry, s *Snapshot) *Plan {
	trial := make([]*entry, len(entries))
	for i, e := range entries {
		c := *e
		trial[i] = &c
	}
	return planEntries(cfg, ev, trial, s)
}

// createsSomething reports whether the plan for a snapshot would create an object that was
// not found.
func createsSomething(cfg Config, ev event.Event, entries []*entry, s *Snapshot) bool {
	for _, op := range trialPlan(cfg, ev, entries, s).Operations {
		creates := false
		switch w := op.work.(type) {
		case *createWork, *issueWork:
			creates = true
		case *reviewWork:
			creates = w.comments() > 0
		case *checkWork: // which may also add annotations that exist already
			creates = true
		case *pullWork: // an issue, where GitHub does not let a pull request be opened
			creates = w.st.pull == nil && w.e.settings.Changes.FallbackIssue
		}
		if creates && !op.Staged {
			return true
		}
	}
	return false
}
