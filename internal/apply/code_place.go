package apply

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

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
	gh := c.o.deps.GitHub
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
	pull, err := c.o.deps.GitHub.GetPull(c.o.ctx, c.o.repo, n)
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
	commits, err := c.o.deps.GitHub.ListCommits(c.o.ctx, c.o.repo, st.expect, maxLookedBack)
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

// maxSuffix is up to which number a taken branch name is suffixed.
const maxSuffix = 20

// maxSlug is how long the words of a title are in a branch name.
const maxSlug = 40

// branchName is the name of the branch that an item asks for, or the default one,
// which other titles of the same series begin alike: prefix is what they share.
func branchName(e *entry, stable string) (name, prefix string) {
	if b := e.settings.Changes.Branch; b != "" {
		return b, ""
	}
	it := e.item.(*safeoutput.CreatePullRequest)
	if it.Branch != "" {
		return it.Branch, ""
	}
	prefix = cmp.Or(e.settings.Changes.BranchPrefix, "airlock/") + stable[:8] + "-"
	return prefix + slug(it.Title), prefix
}

// slug makes a part of a branch name of a title: its letters and digits, the rest
// as single hyphens.
func slug(title string) string {
	var b strings.Builder
	n := 0
	for _, r := range strings.ToLower(title) {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			if b.Len() > 0 && !strings.HasSuffix(b.String(), "-") {
				b.WriteByte('-')
			}
			continue
		}
		if n++; n > maxSlug {
			break
		}
		b.WriteRune(r)
	}
	if s := strings.Trim(b.String(), "-"); s != "" {
		return s
	}
	return "changes"
}

// placeBranch finds the branch for a pull request: an earlier one of the same
// series, or a name that is free.
func (c *coder) placeBranch(e *entry, st *codeState) error {
	name, prefix := branchName(e, st.stable)
	if err := c.code.Repo.CheckBranch(c.o.ctx, name); err != nil {
		st.refuse(Failed, CodeInvalid, fmt.Sprintf("the branch cannot be named so: %v", err))
		return nil
	}
	if prefix == "" {
		prefix = name
	}
	there, err := c.o.deps.GitHub.ListBranches(c.o.ctx, c.o.repo, prefix)
	if err != nil {
		return err
	}
	for _, b := range there {
		if !sameSeries(b.Name, name, prefix) || slices.Contains(c.given, b.Name) || b.Name == st.base || b.Name == c.defaultBranch() {
			continue
		}
		found, err := c.earlier(e, st, b)
		if err != nil || found {
			c.given = append(c.given, st.branch)
			return err
		}
	}
	c.freeName(st, name, there)
	c.given = append(c.given, st.branch)
	// A suffix does not lead around the owner's list.
	if s := e.settings.Changes; st.branch != name && s.Branch == "" && prefix == name && !policy.BranchAllowed(s, st.branch) {
		st.refuse(Denied, policy.RuleAllowedBranches, fmt.Sprintf("the branch %q is somebody else's, and %q is not among the allowed-branches", name, st.branch))
	}
	return nil
}

// sameSeries reports whether a branch can be an earlier one: with a default name,
// any title's; else the name itself, or the name with a suffix of ours.
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

// earlier takes a branch over if it is ours: every commit that it has beside its
// base was made for this series, and its pull request is open, or was never
// opened. A branch to which somebody else pushed is theirs too, and stays as it is;
// so does one whose pull request somebody has turned to another base.
func (c *coder) earlier(e *entry, st *codeState, b githubapi.Branch) (bool, error) {
	gh, ctx := c.o.deps.GitHub, c.o.ctx
	// The commit that is compared is the one that the push expects there.
	cmp, err := gh.Compare(ctx, c.o.repo, st.onto, b.SHA)
	if isKind(err, githubapi.NotFound) {
		return false, nil // gone meanwhile, or without a common history
	}
	if err != nil {
		return false, err
	}
	empty := cmp.AheadBy == 0 && c.begun(e, st, b.Name)
	if cmp.AheadBy != len(cmp.Commits) || !empty && !allOfSeries(cmp.Commits, st.stable, committerOf(c.o.s.viewer)) {
		return false, nil
	}
	var open *githubapi.Pull
	used := false
	err = each(gh.ListPulls(ctx, c.o.repo, githubapi.PullFilter{State: "all", Head: c.o.repo.Owner + ":" + b.Name}), func(p githubapi.Pull) {
		if p.State == "open" && p.Base.Ref == st.base && open == nil {
			open = &p
			return
		}
		used = used || p.State != "open" || p.Base.Ref != st.base
	})
	if err != nil || open == nil && used {
		return false, err
	}
	st.branch, st.expect, st.replace, st.pull = b.Name, b.SHA, true, open
	switch {
	case e.settings.Changes.SignedCommits:
		// The API adds commits and takes none away: the changes go onto the commit
		// that the branch began at, so that only they differ.
		st.onto, st.replace = cmp.MergeBase, false
	case ofItem(cmp.Commits, st.stable, e.key):
		// An earlier attempt pushed it, unless somebody wrote the line who is not us:
		// onto the same commit, the same changes make the same files again.
		st.onto = cmp.MergeBase
	}
	return true, c.fetch(b.SHA)
}

// begun reports whether a branch without any commit of its own can be one that we
// made and were then kept from committing to: the API makes the branch first.
func (c *coder) begun(e *entry, st *codeState, branch string) bool {
	_, prefix := branchName(e, st.stable)
	return e.settings.Changes.SignedCommits && (prefix != "" || c.o.cfg.Run.Attempt > 1) && strings.HasPrefix(branch, prefix)
}

// freeName takes the name, or the first with a suffix that nobody has.
func (c *coder) freeName(st *codeState, name string, there []githubapi.Branch) {
	taken := map[string]bool{st.base: true}
	for _, b := range c.given {
		taken[b] = true
	}
	for _, b := range there {
		taken[b.Name] = true
	}
	st.branch = name
	for i := 2; taken[st.branch]; i++ {
		if i > maxSuffix {
			st.refuse(Failed, CodeInvalid, fmt.Sprintf("the branch %q and those with a suffix up to -%d are taken; delete some of them, or name another one (branch)", name, maxSuffix))
			return
		}
		st.branch = name + "-" + strconv.Itoa(i)
	}
	if st.branch != name {
		st.note(fmt.Sprintf("the branch %q is taken, so the name got a suffix", name))
	}
}
