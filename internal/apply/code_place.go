package apply

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/agent-airlock/airlock/internal/githubapi"
	"github.com/agent-airlock/airlock/internal/markdown"
	"github.com/agent-airlock/airlock/internal/policy"
	"github.com/agent-airlock/airlock/internal/safeoutput"
)

// placePull finds a pull request's base and a branch for it. Without a token it knows only the event
// and the configuration, as does placePush.
func (c *codePreparer) placePull(e *entry, st *codeState) error {
	st.base = cmp.Or(e.settings.Changes.Base, c.o.ev.Base.Ref, c.defaultBranch())
	if st.base == "" {
		st.refuse(Failed, CodeNoBase, "the branch to open the pull request against is not known; set base-branch in the configuration of create-pull-request")
		return nil
	}
	if named := branchOf(e.item.(*safeoutput.CreatePullRequest).Base); named != "" && named != st.base {
		st.refuse(Denied, RuleBase, fmt.Sprintf("the item names the base branch %q, but pull requests are opened against %q; set base-branch in the configuration of create-pull-request, or let the agent leave it out", named, st.base))
		return nil
	}
	gh := c.o.deps.GitHub
	if gh == nil {
		st.branch = namesOf(e, st.key).wanted[0]
		return nil
	}
	head, err := gh.GetBranch(c.o.ctx, c.o.repo, st.base)
	if isKind(err, githubapi.NotFound) {
		remedy := "set base-branch in the configuration of create-pull-request"
		if st.base == c.defaultBranch() {
			remedy = "if the repository is empty, push a first commit to it; otherwise " + remedy
		}
		st.refuse(Failed, CodeNoBase, fmt.Sprintf("the branch %q to open the pull request against does not exist; %s", st.base, remedy))
		return nil
	}
	if err != nil {
		return err
	}
	st.onto = head
	return c.placeBranch(e, st)
}

// defaultBranch returns the repository's default branch as GitHub or, without a token, the event
// names it.
func (c *codePreparer) defaultBranch() string {
	return cmp.Or(c.o.s.defaultBranch, c.o.ev.Repo.DefaultBranch)
}

// placePush finds the branch that push-to-branch pushes to, and where it is.
func (c *codePreparer) placePush(e *entry, st *codeState) error {
	st.branch = e.settings.Changes.Branch
	if st.branch != "" && !c.namesBranch(e, st) {
		return nil
	}
	gh := c.o.deps.GitHub
	switch {
	case st.branch == "" && gh == nil:
		c.placeOnEvent(e, st)
		return nil
	case gh == nil:
		return nil
	case st.branch == "":
		return c.placeOnPull(e, st)
	}
	head, err := gh.GetBranch(c.o.ctx, c.o.repo, st.branch)
	if isKind(err, githubapi.NotFound) {
		st.refuse(Failed, CodeNoBase, fmt.Sprintf("the branch %q that the configuration names does not exist; create it, or correct branch below push-to-branch", st.branch))
		return nil
	}
	if err != nil {
		return err
	}
	st.onto, st.expect = head, head
	return c.pushedBefore(e, st)
}

// namesBranch reports whether the item names no branch, or the one that is pushed to. If the item
// names another branch, namesBranch refuses it.
func (c *codePreparer) namesBranch(e *entry, st *codeState) bool {
	named := branchOf(e.item.(*safeoutput.PushToBranch).Branch)
	if named == "" || named == st.branch {
		return true
	}
	st.refuse(Denied, policy.RuleBranch, fmt.Sprintf("the item names the branch %q, but it would be pushed to %q; let the agent name the pull request of its branch, or leave it out", named, st.branch))
	return false
}

// branchOf returns the name of a branch that may be written as a ref.
func branchOf(name string) string { return strings.TrimPrefix(strings.TrimSpace(name), "refs/heads/") }

// placeOnEvent places an item for a run that cannot read GitHub: on the head branch that the event
// names, unless the event shows that nothing may be pushed there. Where the event names no head
// branch, or is not about the item's pull request, the branch is a placeholder with the number of
// the pull request.
func (c *codePreparer) placeOnEvent(e *entry, st *codeState) {
	n, head := e.target.Number, c.o.ev.Head.Ref
	if !e.target.FromEvent || head == "" {
		st.branch = fmt.Sprintf("<head of #%d>", n)
		return
	}
	st.branch = head
	if !c.namesBranch(e, st) {
		return
	}
	if c.o.ev.Fork {
		st.refuseFork(n)
		return
	}
	if why := forbiddenHead(n, head, c.defaultBranch(), c.o.ev.Base.Ref); why != nil {
		st.refusal = why
	}
}

// refuseFork refuses to push to a pull request from a fork.
func (st *codeState) refuseFork(number int) {
	st.refuse(Skipped, CodeForkHead, fmt.Sprintf("the branch of pull request #%d is in a fork, which this repository's token cannot write to; let the agent ask for review comments with suggestions, or for a pull request of its own (create-pull-request)", number))
}

// placeOnPull finds the head branch of the pull request that is pushed to, unless the
// configuration or GitHub does not allow it.
func (c *codePreparer) placeOnPull(e *entry, st *codeState) error {
	n := e.target.Number
	pull, err := c.o.deps.GitHub.GetPull(c.o.ctx, c.o.repo, n)
	if isKind(err, githubapi.NotFound) {
		st.refuse(Denied, policy.RuleTargetKind, fmt.Sprintf("#%d is not a pull request, and push-to-branch acts only on those", n))
		return nil
	}
	if err != nil {
		return err
	}
	st.pull, st.branch = &pull, pull.Head.Ref
	st.onto, st.expect = pull.Head.SHA, pull.Head.SHA
	if !c.namesBranch(e, st) {
		return nil
	}
	if pull.Head.RepoID != pull.Base.RepoID { // its branch may have the same name as one of this repository's
		st.refuseFork(n)
		return nil
	}
	if why := forbiddenPull(e.settings.Changes, c.defaultBranch(), c.o.ev.Base.Ref, pull); why != nil {
		st.refusal = why
		return nil
	}
	if pull.State != "open" {
		st.refuse(Skipped, CodeClosed, fmt.Sprintf("pull request #%d is closed, and nobody would see what is pushed to its branch; reopen it, or let the agent ask for a new one (create-pull-request)", n))
		return nil
	}
	why, err := c.protected(pull.Head.Ref)
	if err != nil {
		return err
	}
	if why != "" {
		st.refuse(Denied, RuleProtectedBranch, fmt.Sprintf("the branch %q of pull request #%d %s, and push-to-branch leaves such branches alone; let the agent ask for a pull request of its own (create-pull-request), "+
			"or name the branch in the configuration (branch below push-to-branch)", st.branch, n, why))
		return nil
	}
	return c.pushedBefore(e, st)
}

// protected returns why a rule of the repository may refuse a push to a branch, such as
// "is protected"; "" where the token can read no such rule.
func (c *codePreparer) protected(branch string) (why string, err error) {
	isProtected, err := c.o.deps.GitHub.BranchProtected(c.o.ctx, c.o.repo, branch)
	if err != nil && !unreadable(err) {
		return "", err
	}
	if why, err = c.ruled(branch); err == nil && why == "" && isProtected {
		why = "is protected"
	}
	return why, err
}

// The rules about which pull request may be pushed to.
const (
	RuleProtectedBranch = "protected-branch"
	RuleBaseBranch      = "base-branch"
	RuleRequiredTitle   = "required-title-prefix"
	RuleRequiredLabels  = "required-labels"
	RuleDefaultBranch   = "default-branch"
)

// RuleBase is the rule about the base branch of a new pull request.
const RuleBase = "base"

// forbiddenPull returns why the owner's rules do not allow to push to a pull request; nil
// where they do.
func forbiddenPull(s policy.ChangeSettings, defaultBranch, eventBase string, pull githubapi.Pull) *refusal {
	if !policy.BeginsWith(pull.Title, s.RequiredTitlePrefix) {
		return &refusal{state: Denied, code: RuleRequiredTitle,
			message: fmt.Sprintf("the title of pull request #%d does not begin with %q, as title-prefix requires", pull.Number, s.RequiredTitlePrefix)}
	}
	if missing := missingNames(pull.Labels, s.RequiredLabels); len(missing) > 0 {
		return &refusal{state: Denied, code: RuleRequiredLabels,
			message: fmt.Sprintf("pull request #%d does not have the label %q, as labels requires", pull.Number, missing[0])}
	}
	return forbiddenHead(pull.Number, pull.Head.Ref, defaultBranch, eventBase)
}

// forbiddenHead returns why the head branch of a pull request of this repository may not be pushed
// to; nil where it may.
func forbiddenHead(number int, head, defaultBranch, eventBase string) *refusal {
	if head == defaultBranch && defaultBranch != "" {
		return &refusal{state: Denied, code: RuleDefaultBranch,
			message: fmt.Sprintf("pull request #%d comes from the default branch %q, which is pushed to only if branch below push-to-branch names it", number, defaultBranch)}
	}
	if head == eventBase && eventBase != "" {
		return &refusal{state: Denied, code: RuleBaseBranch,
			message: fmt.Sprintf("pull request #%d comes from %q, which the pull request that triggered the workflow goes to; it is pushed to only if branch below push-to-branch names it", number, eventBase)}
	}
	return nil
}

// pushedBefore recognises what an earlier attempt pushed. It is not needed for commits through
// the API, which are made one by one: those that are there leave nothing to change.
func (c *codePreparer) pushedBefore(e *entry, st *codeState) error {
	if !c.o.cfg.Run.Again() || e.settings.Changes.SignedCommits {
		return nil
	}
	commits, err := c.o.deps.GitHub.ListCommits(c.o.ctx, c.o.repo, st.expect, maxLookedBack)
	if err != nil {
		return err
	}
	for _, commit := range commits {
		if ofItem(commit, st.key, e.key) {
			st.pushed, st.carried.Tip = true, commit.SHA
			st.refuse(Adopted, "", "an earlier attempt of this workflow run pushed it already")
			return nil
		}
	}
	return nil
}

// maxLookedBack is how many commits of a branch are read to find those of an earlier attempt:
// one page.
const maxLookedBack = 100

// compare compares two commits that exist. GitHub may not know a commit yet that was pushed a
// moment ago. It then answers as if the two had no history in common. So that answer counts only if
// GitHub repeats it.
func (c *codePreparer) compare(base, head string) (diff githubapi.Comparison, err error) {
	for i := 0; ; i++ {
		diff, err = c.o.deps.GitHub.Compare(c.o.ctx, c.o.repo, base, head)
		if i == len(lookWaits) || !isKind(err, githubapi.NotFound) {
			return diff, err
		}
		if err := c.o.deps.Clock.Sleep(c.o.ctx, lookWaits[i]); err != nil {
			return diff, err
		}
	}
}

// earlier takes over a branch if it is ours, and otherwise returns why it is not. A branch can be
// ours for three reasons: it has a commit that was made for this series, it has no commit of its
// own and we may have begun it, or the pull request that we opened for the series comes from it. If
// it has had a pull request, one must be open and go to the same base. If it has had none, and
// has commits, at least one of them must be as we made it.
//
// If all of its commits are as we made them, they are replaced, unless the API or a ruleset keeps
// us from that. If somebody else has committed to it too, the changes go on top.
func (c *codePreparer) earlier(e *entry, st *codeState, b githubapi.Branch) (why string, err error) {
	// Compare with the commit at which the push expects the branch.
	diff, err := c.compare(st.onto, b.SHA)
	if isKind(err, githubapi.NotFound) {
		return "has no history in common with the base branch", nil // or was deleted just now
	}
	if err != nil {
		return "", err
	}
	host := c.o.cfg.host()
	own := ofSeries(diff.Commits, st.key, committerOf(c.o.s.viewer.Actor, host), host)
	isListedInFull := len(diff.Commits) == diff.AheadBy
	isMadeByUs := len(own) > 0 || c.begun(e, st.names, b.Name)
	allOwn := isListedInFull && len(own) == len(diff.Commits) && isMadeByUs
	open, otherUse, err := c.pullsFrom(b.Name, st.base)
	if err != nil {
		return "", err
	}
	opened := open != nil && openedFor(*open, st.key, c.o.s.viewer.Actor)
	switch {
	case !allOwn && !opened && !hasTrailer(diff.Commits, st.key):
		return "contains no commit that this workflow made for this subject", nil
	case open == nil && otherUse != "":
		return otherUse, nil
	case open == nil && len(own) == 0 && !allOwn:
		return "has no pull request, and somebody else has changed the commits that this workflow made", nil
	}
	st.branch, st.expect, st.pull = b.Name, b.SHA, open
	if err := c.chooseReplaced(e, st, diff, own, allOwn); err != nil {
		return "", err
	}
	return "", c.fetch(b.SHA)
}

// openedBefore recognises the pull request that an earlier attempt opened, if it cannot be found by
// its branch any more: people have closed it, deleted or renamed its branch, or changed its base.
// Otherwise a repeated run would open another one.
func (c *codePreparer) openedBefore(e *entry, st *codeState) error {
	if !c.o.cfg.Run.Again() {
		return nil
	}
	number := 0
	filter := githubapi.IssueFilter{Since: c.o.s.since, CreatedFrom: c.o.s.since, Creator: c.o.s.viewer.login}
	err := each(c.o.deps.GitHub.ListIssues(c.o.ctx, c.o.repo, filter), func(i githubapi.Issue) {
		key, _ := markdown.LastLineMarker(i.Body)
		if i.IsPull && sameAccount(i.Author, c.o.s.viewer.Actor) && strings.HasPrefix(key, e.key) {
			number = i.Number
		}
	})
	if err != nil || number == 0 {
		return err
	}
	pull, err := c.o.deps.GitHub.GetPull(c.o.ctx, c.o.repo, number)
	if err != nil {
		return err
	}
	now := fmt.Sprintf("which goes from %q to %q now", pull.Head.Ref, pull.Base.Ref)
	switch {
	case pull.Merged:
		now = "which is merged now"
	case pull.State != "open":
		now = "which is closed now"
	}
	st.pull, st.branch = &pull, pull.Head.Ref
	st.refuse(Adopted, "", fmt.Sprintf("an earlier attempt of this workflow run opened pull request #%d already, %s", number, now))
	return nil
}

// pullsFrom returns the open pull request from a branch to a base, nil without one. otherUse says
// that the branch belongs to a pull request that is closed or goes to another base; "" without one.
func (c *codePreparer) pullsFrom(branch, base string) (open *githubapi.Pull, otherUse string, err error) {
	filter := githubapi.PullFilter{State: "all", Head: c.o.repo.Owner + ":" + branch}
	err = each(c.o.deps.GitHub.ListPulls(c.o.ctx, c.o.repo, filter), func(p githubapi.Pull) {
		switch {
		case p.State != "open":
			otherUse = cmp.Or(otherUse, fmt.Sprintf("belongs to pull request #%d, which is closed", p.Number))
		case p.Base.Ref != base:
			otherUse = cmp.Or(otherUse, fmt.Sprintf("belongs to pull request #%d, which goes to %q now", p.Number, p.Base.Ref))
		case open == nil:
			open = &p
		}
	})
	return open, otherUse, err
}

// chooseReplaced decides which commits of a branch of ours the changes replace, and which commit
// they go onto. own are the branch's commits that are as we made them. allOwn is set if the branch
// has no other commits.
func (c *codePreparer) chooseReplaced(e *entry, st *codeState, diff githubapi.Comparison, own []githubapi.Commit, allOwn bool) error {
	st.replace = true
	switch {
	case !allOwn:
		// The push adds to the commits of others, and never replaces them.
		st.onto, st.replace, st.shared = diff.MergeBase, false, &sharedBranch{own: own, why: othersCommitted(st.branch, st.pull)}
	case e.settings.Changes.SignedCommits:
		// The API can add commits but not remove any: the changes go onto the commit that the
		// branch began at, because a newer one would add changes of the base branch.
		st.onto, st.replace = diff.MergeBase, false
	case slices.ContainsFunc(diff.Commits, func(c githubapi.Commit) bool { return ofItem(c, st.key, e.key) }):
		// An earlier attempt pushed it, or somebody else copied our trailer. Either way, the
		// same changes on the same commit result in the same files again.
		st.onto = diff.MergeBase
	default:
		rules, err := c.o.deps.GitHub.BranchRules(c.o.ctx, c.o.repo, st.branch)
		if err != nil && !unreadable(err) {
			return err
		}
		if slices.Contains(rules, "non_fast_forward") {
			why := fmt.Sprintf("a ruleset does not let anybody replace the commits of the branch %q", st.branch)
			st.onto, st.replace, st.shared = diff.MergeBase, false, &sharedBranch{own: own, why: why}
		}
	}
	return nil
}
