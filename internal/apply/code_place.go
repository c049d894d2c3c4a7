package apply

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/agent-airlock/airlock/internal/branchname"
	"github.com/agent-airlock/airlock/internal/githubapi"
	"github.com/agent-airlock/airlock/internal/policy"
	"github.com/agent-airlock/airlock/internal/safeoutput"
)

// place finds out where an item's changes go. Without a token it knows only the event and the
// configuration.
func (c *coder) place(e *entry, st *codeState) error {
	if e.kind == safeoutput.KindCreatePullRequest {
		return c.placePull(e, st)
	}
	return c.placePush(e, st)
}

// placePull finds a pull request's base and a branch for it.
func (c *coder) placePull(e *entry, st *codeState) error {
	st.base = cmp.Or(e.settings.Changes.Base, c.o.ev.Base.Ref, c.defaultBranch())
	if st.base == "" {
		st.refuse(Failed, CodeNoBase, "the branch to open the pull request against is not known; set base in the configuration of create-pull-request")
		return nil
	}
	if named := branchOf(e.item.(*safeoutput.CreatePullRequest).Base); named != "" && named != st.base {
		st.refuse(Denied, RuleBase, fmt.Sprintf("the item names the base branch %q, but pull requests are opened against %q; set base in the configuration of create-pull-request, or let the agent leave it out", named, st.base))
		return nil
	}
	gh := c.o.deps.GitHub
	if gh == nil {
		st.branch, _ = branchName(e, st.key)
		return nil
	}
	head, err := gh.GetBranch(c.o.ctx, c.o.repo, st.base)
	if isKind(err, githubapi.NotFound) {
		st.refuse(Failed, CodeNoBase, fmt.Sprintf("the branch %q to open the pull request against does not exist; set base in the configuration of create-pull-request", st.base))
		return nil
	}
	if err != nil {
		return err
	}
	st.onto = head
	return c.placeBranch(e, st)
}

// defaultBranch is the repository's default branch as GitHub or, without a token, the event
// names it.
func (c *coder) defaultBranch() string {
	return cmp.Or(c.o.s.defaultBranch, c.o.ev.Repo.DefaultBranch)
}

// placePush finds the branch that push-to-branch pushes to, and where it is.
func (c *coder) placePush(e *entry, st *codeState) error {
	st.branch = e.settings.Changes.Branch
	if st.branch != "" && !c.namesBranch(e, st) {
		return nil
	}
	gh := c.o.deps.GitHub
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
		st.refuse(Failed, CodeNoBase, fmt.Sprintf("the branch %q that the configuration names does not exist; create it, or correct branch below push-to-branch", st.branch))
		return nil
	}
	if err != nil {
		return err
	}
	st.onto, st.expect = head, head
	return c.pushedBefore(e, st)
}

// namesBranch reports whether the item names the branch that is pushed to, or none. It
// refuses one that names another.
func (c *coder) namesBranch(e *entry, st *codeState) bool {
	named := branchOf(e.item.(*safeoutput.PushToBranch).Branch)
	if named == "" || named == st.branch {
		return true
	}
	st.refuse(Denied, policy.RuleBranch, fmt.Sprintf("the item names the branch %q, but it would be pushed to %q; let the agent name the pull request of its branch, or leave it out", named, st.branch))
	return false
}

// branchOf returns the name of a branch that may be written as a ref.
func branchOf(name string) string { return strings.TrimPrefix(strings.TrimSpace(name), "refs/heads/") }

// eventBranch is the branch of the event's pull request, where nothing can be read.
func eventBranch(o *observer, e *entry) string {
	if e.target.FromEvent && o.ev.Head.Ref != "" {
		return o.ev.Head.Ref
	}
	return fmt.Sprintf("<head of #%d>", e.target.Number)
}

// placeOnPull finds the head branch of the pull request that is pushed to, unless the
// configuration or GitHub does not allow it.
func (c *coder) placeOnPull(e *entry, st *codeState) error {
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
	if why := forbiddenPull(e.settings.Changes, c.defaultBranch(), pull); why != nil {
		st.refusal = why
		return nil
	}
	if pull.Head.RepoID != c.o.ev.Repo.ID && c.o.ev.Repo.ID != 0 {
		st.refuse(Skipped, CodeForkHead, fmt.Sprintf("the branch of pull request #%d is in a fork, which this repository's token cannot write to; let the agent ask for review comments with suggestions, or for a pull request of its own (create-pull-request)", n))
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

// RuleBase is the rule about the base branch of a new pull request.
const RuleBase = "base"

// forbiddenPull returns why the owner's rules do not allow to push to a pull request; nil
// where they do.
func forbiddenPull(s policy.ChangeSettings, defaultBranch string, pull githubapi.Pull) *refusal {
	if !strings.HasPrefix(pull.Title, s.RequiredTitlePrefix) {
		return &refusal{state: Denied, code: RuleRequiredTitle,
			message: fmt.Sprintf("the title of pull request #%d does not begin with %q, as title-prefix requires", pull.Number, s.RequiredTitlePrefix)}
	}
	if missing := missingNames(pull.Labels, s.RequiredLabels); len(missing) > 0 {
		return &refusal{state: Denied, code: RuleRequiredLabels,
			message: fmt.Sprintf("pull request #%d does not have the label %q, as labels requires", pull.Number, missing[0])}
	}
	if pull.Head.Ref == defaultBranch && defaultBranch != "" {
		return &refusal{state: Denied, code: RuleDefaultBranch,
			message: fmt.Sprintf("pull request #%d comes from the default branch %q, which is pushed to only if branch below push-to-branch names it", pull.Number, defaultBranch)}
	}
	return nil
}

// pushedBefore recognises what an earlier attempt pushed. It is not needed for commits through
// the API, which are made one by one: those that are there leave nothing to change.
func (c *coder) pushedBefore(e *entry, st *codeState) error {
	if c.o.cfg.Run.Attempt <= 1 || e.settings.Changes.SignedCommits {
		return nil
	}
	commits, err := c.o.deps.GitHub.ListCommits(c.o.ctx, c.o.repo, st.expect, maxLookedBack)
	if err != nil {
		return err
	}
	for i := range commits {
		if ofItem(commits[i:i+1], st.key, e.key) {
			st.pushed, st.carried.Tip = true, commits[i].SHA
			st.refuse(Adopted, "", "an earlier attempt of this workflow run pushed it already").refusal.unchanged = true
			return nil
		}
	}
	return nil
}

// maxLookedBack is how many commits of a branch are read to find those of an earlier attempt:
// one page.
const maxLookedBack = 100

// maxSuffix is the largest number that is appended to a branch name that is taken.
const maxSuffix = 20

// maxSlug is the largest number of letters and digits of a title in a branch name.
const maxSlug = 40

// branchName returns the name of the branch that an item asks for, or the default one. Default
// names of one series share the prefix, whatever the title.
func branchName(e *entry, key string) (name, prefix string) {
	if b := e.settings.Changes.Branch; b != "" {
		return b, ""
	}
	it := e.item.(*safeoutput.CreatePullRequest)
	if it.Branch != "" {
		return it.Branch, ""
	}
	prefix = cmp.Or(e.settings.Changes.BranchPrefix, policy.DefaultBranchPrefix) + key[:8] + "-"
	return prefix + branchname.Slug(it.Title, maxSlug), prefix
}

// placeBranch finds the branch for a pull request: an earlier one of the same series, or a name
// that is free.
func (c *coder) placeBranch(e *entry, st *codeState) error {
	name, prefix := branchName(e, st.key)
	if err := branchname.Check(name); err != nil {
		st.refuse(Failed, CodeInvalid, fmt.Sprintf("the branch cannot have this name: %v", err))
		return nil
	}
	if prefix == "" {
		prefix = name
	}
	there, err := c.o.deps.GitHub.ListBranches(c.o.ctx, c.o.repo, prefix)
	if err != nil {
		return err
	}
	reasons := map[string]string{}
	for _, b := range there {
		if !sameSeries(b.Name, name, prefix) || slices.Contains(c.taken, b.Name) || b.Name == st.base || b.Name == c.defaultBranch() {
			continue
		}
		why, err := c.earlier(e, st, b)
		if err != nil || why == "" {
			c.taken = append(c.taken, st.branch)
			return err
		}
		reasons[b.Name] = why
	}
	c.freeName(st, name, there, reasons)
	c.taken = append(c.taken, st.branch)
	// A suffix does not get around the owner's list.
	if s := e.settings.Changes; st.branch != name && s.Branch == "" && prefix == name && !policy.BranchAllowed(s, st.branch) {
		st.refuse(Denied, policy.RuleAllowedBranches, fmt.Sprintf("the branch %q belongs to somebody else, and %q is not among the allowed-branches", name, st.branch))
	}
	return nil
}

// sameSeries reports whether a branch can be an earlier one of the series: any with the prefix
// of a default name, otherwise the name itself, or the name with a suffix of ours.
func sameSeries(branch, name, prefix string) bool {
	if prefix != name {
		return true
	}
	rest := strings.TrimPrefix(branch, name)
	if rest == "" {
		return true
	}
	n, err := strconv.Atoi(strings.TrimPrefix(rest, "-"))
	return strings.HasPrefix(rest, "-") && err == nil && n >= 2 && n <= maxSuffix
}

// earlier takes over a branch if it is ours, and otherwise returns why it is not. A branch is
// ours if this series has a commit on it, and its pull request is open or was never opened.
// Where all of its commits are as we made them, they are replaced. Where somebody else has
// committed to it too, the changes go on top. A branch whose pull request somebody has changed
// to another base is left alone.
func (c *coder) earlier(e *entry, st *codeState, b githubapi.Branch) (why string, err error) {
	gh, ctx := c.o.deps.GitHub, c.o.ctx
	// The commit that is compared is the one that the push expects there.
	diff, err := gh.Compare(ctx, c.o.repo, st.onto, b.SHA)
	if isKind(err, githubapi.NotFound) {
		return "has no history in common with the base branch", nil // or was deleted just now
	}
	if err != nil {
		return "", err
	}
	own := ofSeries(diff.Commits, st.key, committerOf(c.o.s.viewer.Actor))
	complete := diff.AheadBy == len(diff.Commits) && len(own) == diff.AheadBy && (len(own) > 0 || c.begun(e, st, b.Name))
	if !complete && !hasTrailer(diff.Commits, st.key) {
		return "contains no commit that this workflow made for this subject", nil
	}
	var open *githubapi.Pull
	used := ""
	err = each(gh.ListPulls(ctx, c.o.repo, githubapi.PullFilter{State: "all", Head: c.o.repo.Owner + ":" + b.Name}), func(p githubapi.Pull) {
		switch {
		case p.State != "open":
			used = cmp.Or(used, fmt.Sprintf("belongs to pull request #%d, which is closed", p.Number))
		case p.Base.Ref != st.base:
			used = cmp.Or(used, fmt.Sprintf("belongs to pull request #%d, which goes to %q now", p.Number, p.Base.Ref))
		case open == nil:
			open = &p
		}
	})
	if err != nil || open == nil && used != "" {
		return used, err
	}
	if open == nil && len(own) == 0 && !complete {
		return "has no pull request, and somebody else has changed the commits that this workflow made", nil
	}
	st.branch, st.expect, st.replace, st.pull = b.Name, b.SHA, true, open
	switch {
	case !complete:
		// The push adds to the commits of others, and never replaces them.
		st.onto, st.replace, st.shared = diff.MergeBase, false, &sharedBranch{own: own}
	case e.settings.Changes.SignedCommits:
		// The API can add commits but not remove any: the changes go onto the commit that
		// the branch began at, so that only they differ.
		st.onto, st.replace = diff.MergeBase, false
	case ofItem(diff.Commits, st.key, e.key):
		// An earlier attempt pushed it, or somebody else copied our trailer. Either way, the
		// same changes on the same commit result in the same files again.
		st.onto = diff.MergeBase
	}
	return "", c.fetch(b.SHA)
}

// begun reports whether a branch without a commit of its own can be one that we created and
// then could not commit to: through the API, the branch is created first.
func (c *coder) begun(e *entry, st *codeState, branch string) bool {
	_, prefix := branchName(e, st.key)
	return e.settings.Changes.SignedCommits && (prefix != "" || c.o.cfg.Run.Attempt > 1) && strings.HasPrefix(branch, prefix)
}

// freeName chooses the name, or the first with a suffix that is not taken. The reasons say why
// a branch that could be of the series is not ours.
func (c *coder) freeName(st *codeState, name string, there []githubapi.Branch, reasons map[string]string) {
	taken := func(name string) bool {
		return name == st.base || slices.Contains(c.taken, name) || slices.ContainsFunc(there, func(b githubapi.Branch) bool { return b.Name == name })
	}
	st.branch = name
	for i := 2; taken(st.branch); i++ {
		if i > maxSuffix {
			st.refuse(Failed, CodeInvalid, fmt.Sprintf("the branch %q and those with a suffix up to -%d are taken; delete some of them, or configure another name (branch)", name, maxSuffix))
			return
		}
		st.branch = name + "-" + strconv.Itoa(i)
	}
	if st.branch != name {
		why := cmp.Or(reasons[name], "is taken")
		st.note(fmt.Sprintf("the branch %q %s; so the changes go to %q", name, why, st.branch))
	}
}
