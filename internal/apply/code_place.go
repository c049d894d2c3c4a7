package apply

import (
	"fmt"
	"slices"
	"strings"

	"github.com/agent-airlock/airlock/internal/githubapi"
	"github.com/agent-airlock/airlock/internal/policy"
	"github.com/agent-airlock/airlock/internal/safeoutput"
)

// place finds out where an item's changes go. Without a token it stays at what
// the event and the configuration say.
func (c *coder) place(e *entry, st *codeState) error {
	if e.kind == safeoutput.KindCreatePullRequest {
		return c.placePull(e, st)
	}
	return c.placePush(e, st)
}

// placePull finds a pull request's base and a branch for it.
func (c *coder) placePull(e *entry, st *codeState) error {
	st.base = baseBranch(e.settings.Changes, c.o.ev.Base.Ref, c.defaultBranch())
	if st.base == "" {
		st.refuse(Failed, CodeNoBase, "the branch to open the pull request against is not known; set base in the configuration of create-pull-request")
		return nil
	}
	gh := c.o.w.GitHub
	if gh == nil {
		st.branch, _ = branchName(e, st.stable)
		return nil
	}
	head, err := gh.GetBranch(c.o.ctx, c.o.repo, st.base)
	if isKind(err, githubapi.NotFound) {
		st.refuse(Failed, CodeNoBase, fmt.Sprintf("the branch %q to open the pull request against is not there; set base in the configuration of create-pull-request", st.base))
		return nil
	}
	if err != nil {
		return err
	}
	st.onto = head
	return c.placeBranch(e, st)
}

// defaultBranch is GitHub's word, else the event's.
func (c *coder) defaultBranch() string {
	if c.o.s.defaultBranch != "" {
		return c.o.s.defaultBranch
	}
	return c.o.ev.Repo.DefaultBranch
}

// baseBranch is what a pull request is opened against.
func baseBranch(s policy.ChangeSettings, event, byDefault string) string {
	for _, name := range []string{s.Base, event, byDefault} {
		if name != "" {
			return name
		}
	}
	return ""
}

// placePush finds the branch that push-to-branch pushes to, and where it is.
func (c *coder) placePush(e *entry, st *codeState) error {
	st.branch = e.settings.Changes.Branch
	gh := c.o.w.GitHub
	switch {
	case st.branch == "" && gh == nil:
		st.branch = eventBranch(c.o, e)
		return nil
	case gh == nil:
		return nil
	case st.branch == "":
		return c.placeOnPull(e, st)
	}
	head, err := gh.GetBranch(c.o.ctx, c.o.repo, st.branch)
	if isKind(err, githubapi.NotFound) {
		st.refuse(Failed, CodeNoBase, fmt.Sprintf("the branch %q that the configuration names is not there; create it, or correct branch below push-to-branch", st.branch))
		return nil
	}
	if err != nil {
		return err
	}
	st.onto, st.expect = head, head
	return c.pushedBefore(e, st)
}

// eventBranch is the branch of the event's pull request where nothing can be read.
func eventBranch(o *observer, e *entry) string {
	if e.target.FromEvent && o.ev.Head.Ref != "" {
		return o.ev.Head.Ref
	}
	return fmt.Sprintf("<head of #%d>", e.target.Number)
}

// placeOnPull finds the head branch of the pull request that is pushed to, unless
// the configuration or GitHub does not let it be.
func (c *coder) placeOnPull(e *entry, st *codeState) error {
	n := e.target.Number
	pull, err := c.o.w.GitHub.GetPull(c.o.ctx, c.o.repo, n)
	if isKind(err, githubapi.NotFound) {
		st.refuse(Denied, policy.RuleTargetKind, fmt.Sprintf("#%d is no pull request, and push-to-branch acts only on those", n))
		return nil
	}
	if err != nil {
		return err
	}
	st.pull, st.branch = &pull, pull.Head.Ref
	st.onto, st.expect = pull.Head.SHA, pull.Head.SHA
	if why := forbiddenPull(e.settings.Changes, c.defaultBranch(), pull); why != nil {
		st.refusal = why
		return nil
	}
	if pull.Head.RepoID != c.o.ev.Repo.ID && c.o.ev.Repo.ID != 0 {
		st.refuse(Skipped, CodeForkHead, fmt.Sprintf("the branch of pull request #%d lies in a fork, which this repository's token cannot write to; let the agent ask for review comments with suggestions, or for a pull request of its own (create-pull-request)", n))
		return nil
	}
	if pull.State != "open" {
		st.refuse(Skipped, CodeClosed, fmt.Sprintf("pull request #%d is closed, and nobody would see what is pushed to its branch; reopen it, or let the agent ask for a new one (create-pull-request)", n))
		return nil
	}
	return c.pushedBefore(e, st)
}

// The rules about which pull request may be pushed to.
const (
	RuleRequiredTitle  = "required-title-prefix"
	RuleRequiredLabels = "required-labels"
	RuleDefaultBranch  = "default-branch"
)

// forbiddenPull holds a pull request against the owner's rules on what may be
// pushed to.
func forbiddenPull(s policy.ChangeSettings, defaultBranch string, pull githubapi.Pull) *refusal {
	if !strings.HasPrefix(pull.Title, s.RequiredTitlePrefix) {
		return &refusal{state: Denied, code: RuleRequiredTitle,
			message: fmt.Sprintf("the title of pull request #%d does not begin with %q, as title-prefix requires", pull.Number, s.RequiredTitlePrefix)}
	}
	for _, want := range s.RequiredLabels {
		if !slices.ContainsFunc(pull.Labels, func(have string) bool { return strings.EqualFold(have, want) }) {
			return &refusal{state: Denied, code: RuleRequiredLabels,
				message: fmt.Sprintf("pull request #%d does not have the label %q, as labels requires", pull.Number, want)}
		}
	}
	if pull.Head.Ref == defaultBranch && defaultBranch != "" {
		return &refusal{state: Denied, code: RuleDefaultBranch,
			message: fmt.Sprintf("pull request #%d is made from the default branch %q, which is pushed to only where branch below push-to-branch names it", pull.Number, defaultBranch)}
	}
	return nil
}

// pushedBefore recognises what an earlier attempt pushed. Commits through the API
// are made one by one; those that are there are told by what they change.
func (c *coder) pushedBefore(e *entry, st *codeState) error {
	if c.o.cfg.Run.Attempt <= 1 || e.settings.Changes.SignedCommits {
		return nil
	}
	commits, err := c.o.w.GitHub.ListCommits(c.o.ctx, c.o.repo, st.expect, maxLookedBack)
	if err != nil {
		return err
	}
	for i := range commits {
		if ofItem(commits[i:i+1], st.stable, e.key) {
			st.pushed, st.carried.Tip = true, commits[i].SHA
			st.refuse(Adopted, "", "an earlier attempt of this workflow run pushed it already").refusal.unchanged = true
			return nil
		}
	}
	return nil
}

// maxLookedBack is how many commits of a branch are read to find those of an
// earlier attempt: one page.
const maxLookedBack = 100
