package apply

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/agent-airlock/airlock/internal/githubapi"
	"github.com/agent-airlock/airlock/internal/gitrepo"
	"github.com/agent-airlock/airlock/internal/policy"
	"github.com/agent-airlock/airlock/internal/policy/tree"
	"github.com/agent-airlock/airlock/internal/secrets"
	"github.com/agent-airlock/airlock/internal/text"
)

// check checks the result of an item's changes against the rules about files, looks for
// secrets in every commit, and keeps the patch unless it contains one.
func (c *coder) check(e *entry, st *codeState) error {
	ctx, repo, settings := c.o.ctx, c.code.Repo, e.settings.Changes
	paths, err := repo.TreePaths(ctx, st.tip())
	if err != nil {
		return err
	}
	links, err := repo.TreeLinks(ctx, st.tip())
	if err != nil {
		return err
	}
	resulting := tree.Tree{Changes: make([]tree.Change, len(st.changes)), Paths: paths, Links: links}
	for i, ch := range st.changes {
		resulting.Changes[i] = tree.Change(ch)
	}
	broken := tree.Judge(settings.Files, resulting)
	if settings.SignedCommits {
		signed := st.changes
		if st.expect != "" && st.expect != st.onto { // the changes of the commit on top of it
			if signed, err = repo.TreeChanges(ctx, st.expect, st.tip()); err != nil {
				return err
			}
		}
		broken = append(broken, unsignable(signed)...)
	}
	for _, n := range tree.Notes(resulting) {
		st.note(n)
	}
	hit, err := c.secret(st)
	unread := errors.Is(err, gitrepo.ErrTooLarge)
	if err != nil && !unread {
		return err
	}
	switch {
	case hit != "":
		st.refuse(Denied, CodeSecret, hit)
	case len(broken) > 0:
		st.refuse(Denied, broken[0].Rule, listViolations(broken))
		st.asIssue = settings.OnViolation == policy.ViolationIssue
	case unread:
		st.refuse(Denied, CodeSecret, fmt.Sprintf("nothing was pushed, because it cannot be scanned for secrets: %v", err))
	}
	if hit == "" && !unread {
		data, err := repo.Patch(ctx, st.onto, st.tip(), maxPatch)
		st.patch = c.keepable(st, data, err)
	}
	return nil
}

// maxViolations is how many violations one message lists.
const maxViolations = 10

// nothingPushed begins a message about changes that broke a rule.
const nothingPushed = "nothing was pushed: "

// listViolations lists what is wrong with the changes.
func listViolations(broken []tree.Violation) string {
	text := ""
	for i, v := range broken {
		if i == maxViolations {
			return nothingPushed + text + fmt.Sprintf("; and %d more", len(broken)-i)
		}
		if i > 0 {
			text += "; "
		}
		text += strings.TrimPrefix(v.Message, broken[0].Rule+": ") // the result's code names that rule
	}
	return nothingPushed + text
}

// RuleSignedCommits is the rule that nothing is pushed which GitHub cannot sign, where the
// owner wants signed commits.
const RuleSignedCommits = "signed-commits"

// unsignable returns what a commit through the API cannot contain: GitHub's
// createCommitOnBranch writes plain files only.
func unsignable(changes []gitrepo.TreeChange) []tree.Violation {
	var found []tree.Violation
	var size int64
	for _, ch := range changes {
		if ch.NewMode != "" && ch.NewMode != "100644" {
			found = append(found, tree.Violation{Rule: RuleSignedCommits, Path: ch.Path,
				Message: fmt.Sprintf("%s: %s has the mode %s, and a signed commit through the API can only contain plain files (100644)", RuleSignedCommits, strconv.Quote(ch.Path), ch.NewMode)})
		}
		if ch.NewMode != "" {
			size += ch.Size
		}
	}
	if size > githubapi.MaxCommitBytes {
		found = append(found, tree.Violation{Rule: RuleSignedCommits,
			Message: fmt.Sprintf("%s: the changed files have %s, and a signed commit through the API can contain at most %s", RuleSignedCommits, text.Bytes(size), text.Bytes(githubapi.MaxCommitBytes))})
	}
	return found
}

// submoduleMode is git's mode of a submodule.
const submoduleMode = "160000"

// maxScanned is the largest file that is scanned for secrets, in bytes. The rules about size
// refuse far smaller ones, unless the owner lifts them.
const maxScanned = 64 << 20

// secret looks for a secret in everything that would be pushed: the message, names and files
// of each commit, because a later commit does not hide what an earlier one shows. It describes
// what it finds, without the secret.
func (c *coder) secret(st *codeState) (hit string, err error) {
	scanner := c.o.cfg.Secrets
	if scanner == nil {
		return "", nil
	}
	from := st.onto
	for i, commit := range st.carried.Commits {
		info, err := c.code.Repo.Commit(c.o.ctx, commit)
		if err != nil {
			return "", err
		}
		if hits := scanner.Scan(info.Message + "\n" + info.Author.Name + "\n" + info.Author.Email); len(hits) > 0 {
			return fmt.Sprintf("%sthe message of commit %d %s", nothingPushed, i+1, describeSecret(hits[0])), nil
		}
		changes := st.changes
		if len(st.carried.Commits) > 1 {
			if changes, err = c.code.Repo.TreeChanges(c.o.ctx, from, commit); err != nil {
				return "", err
			}
		}
		for _, ch := range changes {
			if hit, err := c.secretIn(scanner, ch); hit != "" || err != nil {
				return hit, err
			}
		}
		from = commit
	}
	return "", nil
}

// secretIn looks into one changed file. It ignores what the file contained before, which would
// keep everybody from fixing it.
func (c *coder) secretIn(scanner *secrets.Scanner, ch gitrepo.TreeChange) (string, error) {
	if ch.NewMode == "" || ch.NewMode == submoduleMode {
		return "", nil
	}
	if hits := scanner.Scan(ch.Path); len(hits) > 0 {
		return nothingPushed + "the name of a file " + describeSecret(hits[0]), nil
	}
	if ch.NewOID == ch.OldOID {
		return "", nil
	}
	data, err := c.code.Repo.Blob(c.o.ctx, ch.NewOID, maxScanned)
	if err != nil {
		return "", fmt.Errorf("the file %q: %w", ch.Path, err)
	}
	content := string(data)
	hits := scanner.ScanFile(ch.Path, content)
	if len(hits) == 0 {
		return "", nil
	}
	before := ""
	if ch.OldMode != "" && ch.OldMode != submoduleMode {
		old, err := c.code.Repo.Blob(c.o.ctx, ch.OldOID, maxScanned)
		if err != nil && !errors.Is(err, gitrepo.ErrTooLarge) {
			return "", err
		}
		before = string(old)
	}
	for _, h := range hits {
		if !strings.Contains(before, content[h.Start:h.End]) {
			return fmt.Sprintf("%sthe file %q %s", nothingPushed, ch.Path, describeSecret(h)), nil
		}
	}
	return "", nil
}
