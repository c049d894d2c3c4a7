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
	"github.com/agent-airlock/airlock/internal/policy/tree"
	"github.com/agent-airlock/airlock/internal/safeoutput"
)

// maxSuffix is the largest number that is appended to a branch name that is taken.
const maxSuffix = 20

// maxSlug is the largest number of letters and digits of a title in a branch name.
const maxSlug = 40

// branchNames are the names that the branch of an item may have.
type branchNames struct {
	// wanted are the names in the order of preference: first the one that was asked for, or a
	// default name made from the title; then the same name with fewer slashes, in case git
	// cannot have the first next to another branch. Each may get a number as its suffix.
	wanted []string
	// prefixes begin the default names of one series, whatever the title; nil for a branch
	// that somebody named.
	prefixes []string
	under    string // begins the names of all branches that could be in the way
	owners   bool   // the owner named the branch
}

// namesOf returns the names for an item's branch. The key is that of its series.
func namesOf(e *entry, key string) branchNames {
	s, it := e.settings.Changes, e.item.(*safeoutput.CreatePullRequest)
	if s.Branch != "" {
		under, _, _ := strings.Cut(s.Branch, "/")
		return branchNames{wanted: flatter(s.Branch, ""), under: under, owners: true}
	}
	stem := s.BranchPrefix
	if stem == "" && s.AllowedBranches == nil {
		stem = policy.DefaultBranchPrefix
	}
	under, _, _ := strings.Cut(stem, "/")
	if it.Branch != "" {
		return branchNames{wanted: flatter(it.Branch, stem), under: under}
	}
	prefix := stem + key[:8] + "-"
	return branchNames{wanted: flatter(prefix+branchname.Slug(it.Title, maxSlug), stem), prefixes: flatter(prefix, stem), under: under}
}

// flatter returns a name, the name with dashes instead of the slashes after the stem, and the
// name without any slash.
func flatter(name, stem string) []string {
	rest, found := strings.CutPrefix(name, stem)
	if !found {
		stem = ""
	}
	return slices.Compact([]string{name, stem + strings.ReplaceAll(rest, "/", "-"), strings.ReplaceAll(name, "/", "-")})
}

// inSeries reports whether a branch can be an earlier one of the series. Its name is then one of
// the wanted names, with or without a suffix of ours, or begins like a default name.
func (n branchNames) inSeries(branch string) bool {
	if slices.ContainsFunc(n.prefixes, func(prefix string) bool { return strings.HasPrefix(branch, prefix) }) {
		return true
	}
	for _, name := range n.wanted {
		rest, ok := strings.CutPrefix(branch, name)
		if !ok {
			continue
		}
		number, isSuffix := strings.CutPrefix(rest, "-")
		if i, err := strconv.Atoi(number); rest == "" || isSuffix && err == nil && i >= 2 && i <= maxSuffix {
			return true
		}
	}
	return false
}

// begun reports whether we may have created a branch that has no commit of its own, and then failed
// to commit to it. Through the API, a branch is created before its first commit.
func (c *codePreparer) begun(e *entry, names branchNames, branch string) bool {
	return e.settings.Changes.SignedCommits && (names.prefixes != nil || c.o.cfg.Run.Again()) && names.inSeries(branch)
}

// placeBranch finds the branch for a pull request: an earlier one of the same series, or a name
// that is free.
func (c *codePreparer) placeBranch(e *entry, st *codeState) error {
	st.names = namesOf(e, st.key)
	name := st.names.wanted[0]
	if err := branchname.Check(name); err != nil {
		st.refuse(Failed, CodeInvalid, fmt.Sprintf("the branch cannot have this name: %v", err))
		return nil
	}
	branches, err := c.o.deps.GitHub.ListBranches(c.o.ctx, c.o.repo, st.names.under)
	if err != nil {
		return err
	}
	n := &namer{c: c, st: st, there: branches, foreign: map[string]string{}}
	for _, b := range branches {
		if !st.names.inSeries(b.Name) || slices.Contains(c.taken, b.Name) || b.Name == st.base || b.Name == c.defaultBranch() {
			continue
		}
		why, err := c.earlier(e, st, b)
		if err != nil || why == "" { // if err is nil, the branch is ours, and its name is st.branch
			c.taken = append(c.taken, st.branch)
			return err
		}
		n.foreign[b.Name] = why
	}
	if err := c.openedBefore(e, st); err != nil || st.refusal != nil {
		return err
	}
	why, err := n.choose()
	if err != nil || st.refusal != nil {
		return err
	}
	c.taken = append(c.taken, st.branch)
	if st.branch == name {
		return nil
	}
	// Another name does not get around the owner's list.
	if s := e.settings.Changes; !st.names.owners && st.names.prefixes == nil && !policy.BranchAllowed(s, st.branch) {
		st.refuse(Denied, policy.RuleAllowedBranches, fmt.Sprintf("the branch %q %s, and %q is not among the allowed-branches", name, why, st.branch))
		return nil
	}
	st.note(fmt.Sprintf("the branch %q %s; so the changes go to %q", name, why, st.branch))
	return nil
}

// namer chooses the name of a new branch.
type namer struct {
	c        *codePreparer
	st       *codeState
	there    []githubapi.Branch
	foreign  map[string]string // why a branch that could be of the series is not ours
	patterns []string          // of branch protection rules
	read     bool              // patterns were read
}

// choose chooses the first of the names that is free and not protected. It returns why the
// first name was not chosen. If there is none, it chooses the first that is only protected, and
// GitHub decides. If all are taken, it refuses the item.
func (n *namer) choose() (why string, err error) {
	protected := "" // the first name against which there is only a rule of the repository
	for _, name := range n.st.names.wanted {
		for i := 1; i <= maxSuffix; i++ {
			candidate := name
			if i > 1 {
				candidate += "-" + strconv.Itoa(i)
			}
			found, err := n.objectionTo(candidate)
			if err != nil {
				return "", err
			}
			if found.why == "" {
				n.st.branch = candidate
				return why, nil
			}
			why = cmp.Or(why, found.why)
			if found.byRule {
				protected = cmp.Or(protected, candidate)
			}
			if found.everywhere {
				break
			}
		}
	}
	if protected != "" {
		n.st.branch = protected
		n.st.note(fmt.Sprintf("GitHub protects each name that this branch could have, and may refuse %q; set another branch-prefix, or let the token's account bypass the rule", protected))
		return why, nil
	}
	n.st.refuse(Failed, CodeInvalid, fmt.Sprintf("the branch %q and those with a suffix up to -%d are taken; delete some of them, or configure another name (branch)", n.st.names.wanted[0], maxSuffix))
	return why, nil
}

// objection is a reason against a name for a new branch.
type objection struct {
	why        string // "" for none
	everywhere bool   // a number at the end of the name does not help
	byRule     bool   // a rule of the repository protects branches of the name
}

// objectionTo returns the first reason against a name: other branches, a tag, or a rule.
func (n *namer) objectionTo(name string) (objection, error) {
	if found := n.obstacle(name); found.why != "" {
		return found, nil
	}
	// git could not distinguish the branch from the tag by the name alone.
	if isTag, err := n.c.o.deps.GitHub.HasTag(n.c.o.ctx, n.c.o.repo, name); isTag || err != nil {
		return objection{why: "has the name of a tag"}, err
	}
	why, err := n.isProtected(name)
	return objection{why: why, everywhere: true, byRule: true}, err
}

// obstacle returns which other branch is in the way of a name. That branch has the same name, or a
// name that differs only in case, which many file systems ignore. Or git cannot have both, because
// one name would be a directory and a file.
func (n *namer) obstacle(name string) objection {
	if why := n.foreign[name]; why != "" {
		return objection{why: why}
	}
	others := append([]string{n.st.base, n.c.defaultBranch()}, n.c.taken...)
	for _, b := range n.there {
		others = append(others, b.Name)
	}
	folded := strings.ToLower(name)
	for _, other := range others {
		switch otherFolded := strings.ToLower(other); {
		case other == "":
		case other == name:
			return objection{why: "is taken"}
		case otherFolded == folded:
			return objection{why: fmt.Sprintf("differs from %q only in case", other)}
		case strings.HasPrefix(folded, otherFolded+"/"):
			return objection{why: fmt.Sprintf("cannot exist next to the branch %q", other), everywhere: true}
		case strings.HasPrefix(otherFolded, folded+"/"):
			return objection{why: fmt.Sprintf("cannot exist next to the branch %q", other)}
		}
	}
	return objection{}
}

// isProtected returns why a new branch should not have a name: a rule of the repository protects
// it. Rules that the token may not read are ignored, and the owner may name any branch.
func (n *namer) isProtected(name string) (why string, err error) {
	if n.st.names.owners {
		return "", nil
	}
	if why, err = n.c.ruled(name); why != "" || err != nil {
		return why, err
	}
	if !n.read {
		n.read = true
		n.patterns, err = n.c.o.deps.GitHub.ProtectedPatterns(n.c.o.ctx, n.c.o.repo)
		if err != nil && !unreadable(err) {
			return "", err
		}
	}
	for _, pattern := range n.patterns {
		if tree.MatchesAny([]string{pattern}, name) {
			return fmt.Sprintf("matches the protected pattern %q", pattern), nil
		}
	}
	return "", nil
}

// ruled returns why a ruleset of the repository may refuse a push to a branch of a name; "" where
// none may.
func (c *codePreparer) ruled(name string) (why string, err error) {
	rules, err := c.o.deps.GitHub.BranchRules(c.o.ctx, c.o.repo, name)
	for _, rule := range rules {
		if slices.Contains([]string{"creation", "update", "pull_request", "merge_queue", "required_status_checks", "required_deployments"}, rule) {
			return fmt.Sprintf("is protected by a ruleset (%s)", rule), nil
		}
	}
	if unreadable(err) {
		err = nil
	}
	return "", err
}

// unreadable reports whether GitHub does not show something to this token, or does not have it
// on this server.
func unreadable(err error) bool {
	return isKind(err, githubapi.NotFound) || isKind(err, githubapi.Forbidden) || isKind(err, githubapi.Validation)
}
