package apply

import (
	"cmp"
	"fmt"
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
		if !sameSeries(b.Name, name, prefix) {
			continue
		}
		found, err := c.earlier(e, st, b)
		if err != nil || found {
			return err
		}
	}
	freeName(st, name, there)
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
// opened. A branch to which somebody else pushed is theirs too, and stays as it is.
func (c *coder) earlier(e *entry, st *codeState, b githubapi.Branch) (bool, error) {
	gh, ctx := c.o.w.GitHub, c.o.ctx
	cmp, err := gh.Compare(ctx, c.o.repo, st.base, b.Name)
	if isKind(err, githubapi.NotFound) {
		return false, nil // gone meanwhile, or without a common history
	}
	if err != nil {
		return false, err
	}
	if cmp.AheadBy != len(cmp.Commits) || !allOfSeries(cmp.Commits, st.stable) {
		return false, nil
	}
	var open *githubapi.Pull
	closed := false
	err = each(gh.ListPulls(ctx, c.o.repo, githubapi.PullFilter{State: "all", Head: c.o.repo.Owner + ":" + b.Name}), func(p githubapi.Pull) {
		switch {
		case p.State != "open":
			closed = true
		case open == nil && p.Base.Ref == st.base:
			open = &p
		}
	})
	if err != nil || open == nil && closed {
		return false, err
	}
	st.branch, st.expect, st.replace, st.pull = b.Name, b.SHA, true, open
	switch {
	case e.settings.Changes.SignedCommits:
		// The API adds commits and takes none away: the changes go onto the commit
		// that the branch began at, so that only they differ.
		st.onto, st.replace = cmp.MergeBase, false
	case ofItem(cmp.Commits, st.stable, e.key): // a push is whole or not at all
		st.pushed, st.carried.Tip = true, b.SHA
		st.note("an earlier attempt of this workflow run pushed the branch already")
	}
	return true, c.fetch(b.SHA)
}

// freeName takes the name, or the first with a suffix that nobody has.
func freeName(st *codeState, name string, there []githubapi.Branch) {
	taken := map[string]bool{st.base: true}
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
		st.note(fmt.Sprintf("the branch %q is somebody else's, so the name got a suffix", name))
	}
}
