package apply

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/agent-airlock/airlock/internal/gitrepo"
	"github.com/agent-airlock/airlock/internal/policy"
	"github.com/agent-airlock/airlock/internal/policy/tree"
	"github.com/agent-airlock/airlock/internal/text"
)

// RuleCommits is the rule that several commits are pushed as they are, where the owner wants
// that.
const RuleCommits = "commits"

// divide finds out what each commit changes, or makes one commit of all if the owner wants that. It
// refuses commits that could not be kept apart if the owner wants them as they are. Through the
// API, a branch that has commits already gets one commit, with the message of the last one.
func (c *codePreparer) divide(e *entry, st *codeState) (err error) {
	commits, settings := st.carried.Commits, e.settings.Changes
	switch {
	case st.series.Joined && settings.Commits == policy.CommitsKeep:
		st.refuse(Denied, RuleCommits, nothingPushed+"the commits cannot be pushed as they are, which commits: keep requires (see the notes); let the agent make fewer commits, or remove commits: keep")
		return c.preparePatch(st, false)
	case len(commits) == 1:
		st.steps = [][]gitrepo.TreeChange{st.changes}
	case settings.Commits == policy.CommitsSquash:
		st.note(fmt.Sprintf("the configuration makes one commit of the %d (commits: squash)", len(commits)))
		return c.squash(e, st)
	case settings.SignedCommits && st.expect != "" && st.expect != st.onto:
		st.carried.Commits = commits[len(commits)-1:]
		st.steps = [][]gitrepo.TreeChange{st.changes}
	default:
		st.steps, err = c.code.Repo.SeriesChanges(c.o.ctx, append([]string{st.onto}, commits...)...)
		if errors.Is(err, gitrepo.ErrTooLarge) {
			return nil // checkSeries decides on it
		}
	}
	return err
}

// checkSeries checks the commits before the last one; the tree of the last one keeps all rules. If
// one commit breaks a rule, or all together do, they become one commit. If the owner wants them as
// they are, checkSeries returns the broken rules instead.
func (c *codePreparer) checkSeries(e *entry, st *codeState) (broken []tree.Violation, squashed bool, err error) {
	if len(st.carried.Commits) == 1 {
		return nil, false, nil
	}
	culprit, broken, err := c.judgeSeries(e, st)
	if err != nil || len(broken) == 0 {
		return nil, false, err
	}
	if e.settings.Changes.Commits == policy.CommitsKeep {
		for i := range broken {
			broken[i].Message = fmt.Sprintf("%s: %s breaks the rule, although the result does not: %s", broken[i].Rule, culprit, strings.TrimPrefix(broken[i].Message, broken[i].Rule+": "))
		}
		broken[len(broken)-1].Message += "; without commits: keep in the configuration they become one commit"
		return broken, false, nil
	}
	more := ""
	if n := len(broken) - 1; n > 0 {
		more = fmt.Sprintf("; and %d more", n)
	}
	st.note(fmt.Sprintf("the %d commits were squashed into one, because %s breaks a rule that the result keeps: %s%s", len(st.carried.Commits), culprit, broken[0].Message, more))
	return nil, true, c.squash(e, st)
}

// judgeSeries judges each commit that would be pushed, and all together. culprit describes what
// breaks a rule: one of them, or all together.
func (c *codePreparer) judgeSeries(e *entry, st *codeState) (culprit string, broken []tree.Violation, err error) {
	commits := st.carried.Commits
	if st.steps == nil {
		return "the series", []tree.Violation{{Rule: tree.RuleMaxFiles, Message: tree.RuleMaxFiles + ": its commits change too many paths to be checked one by one"}}, nil
	}
	s := tree.Series{Commits: make([][]tree.Change, len(commits))}
	titles := make([]string, len(commits))
	for i, commit := range commits {
		info, err := c.code.Repo.Commit(c.o.ctx, commit)
		if err != nil {
			return "", nil, err
		}
		s.Commits[i] = treeChanges(st.steps[i])
		s.Messages += int64(len(info.Message))
		titles[i] = firstLine(info.Message)
	}
	if s.Paths, s.Links, err = c.code.Repo.TreePaths(c.o.ctx, st.onto); err != nil {
		return "", nil, err
	}
	commit, broken := tree.JudgeSeries(e.settings.Changes.Files, s)
	if e.settings.Changes.SignedCommits {
		before := st.steps // the commits before the one that breaks a rule
		if len(broken) > 0 && commit != tree.Together {
			before = st.steps[:commit]
		}
		for i, changes := range before {
			if found := unsignable(changes); len(found) > 0 {
				commit, broken = i, found
				break
			}
		}
	}
	if len(broken) > 0 && commit != tree.Together {
		return fmt.Sprintf("commit %d of %d (%q)", commit+1, len(commits), shortTitle(titles[commit])), broken, nil
	}
	return fmt.Sprintf("the sum of the %d commits", len(commits)), broken, nil
}

// maxTitles is how many titles a commit that was made of several commits lists in its message.
const maxTitles = 50

// listTitles returns the titles of commits as a list in a commit's message.
func listTitles(titles []string) string {
	var list strings.Builder
	for _, title := range titles[:min(len(titles), maxTitles)] {
		list.WriteString("- " + title + "\n")
	}
	if more := len(titles) - maxTitles; more > 0 {
		fmt.Fprintf(&list, "- %d more\n", more)
	}
	return list.String()
}

// firstLine returns the first line of a commit's message.
func firstLine(message string) string {
	line, _, _ := strings.Cut(message, "\n")
	return line
}

// squash makes one commit of all.
func (c *codePreparer) squash(e *entry, st *codeState) error {
	one, err := c.summary(e, st.onto, st.carried.Commits)
	if err != nil {
		return err
	}
	squashed, err := c.code.Repo.Transplant(c.o.ctx, gitrepo.Series{Base: st.onto, Changes: []gitrepo.Change{one}}, st.onto, c.style(e, st))
	if err != nil {
		return err
	}
	st.carried.Tip, st.carried.Commits = squashed.Tip, squashed.Commits
	st.steps = [][]gitrepo.TreeChange{st.changes}
	return nil
}

// summary returns one change that does what several commits on top of onto do. Its message is the
// item's or, if that is blank, the first title; the titles of all commits follow. It has an author
// if all commits have the same one.
func (c *codePreparer) summary(e *entry, onto string, commits []string) (one gitrepo.Change, err error) {
	ctx, repo := c.o.ctx, c.code.Repo
	titles := make([]string, len(commits))
	for i, commit := range commits {
		info, err := repo.Commit(ctx, commit)
		if err != nil {
			return one, err
		}
		if i == 0 {
			one.Author = info.Author
		} else if one.Author != info.Author {
			one.Author = gitrepo.Person{}
		}
		one.After = info.Tree
		titles[i] = firstLine(c.o.cfg.mask(info.Message))
	}
	one.Message = fallbackMessage(e.item)
	if text.IsBlank(one.Message) {
		one.Message = cmp.Or(titles...)
	}
	one.Message = strings.TrimSpace(one.Message) + "\n\n" + listTitles(titles)
	base, err := repo.Commit(ctx, onto)
	one.Before = base.Tree
	return one, err
}
