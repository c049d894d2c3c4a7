package apply

import (
	"fmt"

	"github.com/agent-airlock/airlock/internal/changes"
	"github.com/agent-airlock/airlock/internal/githubapi"
)

func (o *observer) issues() error {
	o.s.issues = map[int]issueState{}
	since := started(o.cfg.Run, o.ev, o.w.Clock.Now())
	if len(o.need.issues.all) > 0 && o.ev.Time.IsZero() && o.cfg.Run.StartedAt.IsZero() {
		o.s.unchecked = append(o.s.unchecked, "edits of the issues by others before now: when the workflow run started is not known")
	}
	for _, n := range o.need.issues.all {
		st := issueState{since: since}
		if st.issue, st.err = o.w.GitHub.GetIssue(o.ctx, o.repo, n); st.err == nil {
			st.edits, st.err = o.w.GitHub.IssueEdits(o.ctx, o.repo, n, since)
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
		st.err = each(o.w.GitHub.ListLabelsOfIssue(o.ctx, o.repo, n), func(name string) { st.names = append(st.names, name) })
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
		st.pull, st.err = o.w.GitHub.GetPull(o.ctx, o.repo, n)
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
	if o.w.Diff != nil && o.ev.IsPull && o.need.diffs.seen[o.ev.Number] {
		o.s.diff[o.ev.Number] = newDiff(o.w.Diff)
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
		err := each(o.w.GitHub.ListPullFiles(o.ctx, o.repo, n), func(f githubapi.PullFile) {
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
		d, err := o.w.GitHub.GetDiscussion(o.ctx, o.repo, n)
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
	all, err := o.w.GitHub.DiscussionCategories(o.ctx, o.repo)
	o.s.categories = categoryState{read: true, all: all, err: err}
	return o.fatal(err)
}
