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
	there, err := c.o.w.GitHub.ListBranches(c.o.ctx, c.o.repo, prefix)
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
	gh, ctx := c.o.w.GitHub, c.o.ctx
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
