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
	"github.com/agent-airlock/airlock/internal/text"
)

// check checks an item's changes against the rules about files, and looks for secrets in every
// commit. It also prepares the patch of the changes, and makes it at once if it refuses them.
func (c *codePreparer) check(e *entry, st *codeState) error {
	ctx, repo, settings := c.o.ctx, c.code.Repo, e.settings.Changes
	paths, links, err := repo.TreePaths(ctx, st.tip())
	if err != nil {
		return err
	}
	resulting := tree.Tree{Changes: treeChanges(st.changes), Paths: paths, Links: links}
	broken := tree.Judge(settings.Files, resulting)
	if settings.SignedCommits {
		signed := st.changes
		if st.expect != "" && st.expect != st.onto { // the commit goes onto what was pushed earlier
			if signed, err = repo.TreeChanges(ctx, st.expect, st.tip()); err != nil {
				return err
			}
		}
		broken = append(broken, unsignable(signed)...)
	}
	for _, n := range tree.Notes(resulting) {
		st.note(n)
	}
	hit, unread, err := c.scan(st)
	if err != nil {
		return err
	}
	if hit == "" && len(broken) == 0 {
		squashed := false
		if broken, squashed, err = c.checkSeries(e, st); err != nil {
			return err
		}
		if squashed { // the one commit may lack what was too large to be scanned
			if hit, unread, err = c.scan(st); err != nil {
				return err
			}
		}
	}
	st.broken = broken
	switch {
	case hit != "":
		st.refuse(Denied, CodeSecret, hit)
	case len(broken) > 0:
		st.refuse(Denied, broken[0].Rule, listViolations(broken))
		st.asIssue = settings.OnViolation == policy.ViolationIssue
	case unread != nil:
		st.refuse(Denied, CodeSecret, fmt.Sprintf("nothing was pushed, because it cannot be scanned for secrets: %v", unread))
	}
	isSearched := st.steps != nil && unread == nil // otherwise the series was too large, or a file was
	return c.preparePatch(st, hit == "" && isSearched)
}

// scan calls secret. If something is too large to be scanned, it returns that error as unread and
// not as err, because check decides later what follows from it.
func (c *codePreparer) scan(st *codeState) (hit string, unread, err error) {
	hit, err = c.secret(st)
	if errors.Is(err, gitrepo.ErrTooLarge) {
		return hit, err, nil
	}
	return hit, nil, err
}

// treeChanges returns changes as package tree judges them.
func treeChanges(changes []gitrepo.TreeChange) []tree.Change {
	converted := make([]tree.Change, len(changes))
	for i, ch := range changes {
		converted[i] = tree.Change(ch)
	}
	return converted
}

// maxViolations is how many violations one message lists.
const maxViolations = 10

// nothingPushed begins a message about changes that broke a rule.
const nothingPushed = "nothing was pushed: "

// listViolations lists what is wrong with the changes.
func listViolations(broken []tree.Violation) string {
	var list []string
	for _, v := range broken[:min(len(broken), maxViolations)] {
		list = append(list, strings.TrimPrefix(v.Message, broken[0].Rule+": ")) // the result's code names that rule
	}
	if more := len(broken) - maxViolations; more > 0 {
		list = append(list, fmt.Sprintf("and %d more", more))
	}
	return nothingPushed + strings.Join(list, "; ")
}

// RuleSignedCommits is the rule that, where the owner wants signed commits, changes that GitHub
// cannot sign are not pushed.
const RuleSignedCommits = "signed-commits"

// unsignable returns what a commit through the API cannot contain: GitHub's
// createCommitOnBranch writes plain files only, of a limited size together.
func unsignable(changes []gitrepo.TreeChange) []tree.Violation {
	var found []tree.Violation
	var size int64
	for _, ch := range changes {
		if ch.NewMode == "" { // removed
			continue
		}
		size += ch.Size
		if ch.NewMode != plainMode {
			found = append(found, tree.Violation{Rule: RuleSignedCommits, Path: ch.Path,
				Message: fmt.Sprintf("%s: %s has the mode %s, and a signed commit through the API can only contain plain files (100644)", RuleSignedCommits, strconv.Quote(ch.Path), ch.NewMode)})
		}
	}
	if size > githubapi.MaxCommitBytes {
		found = append(found, tree.Violation{Rule: RuleSignedCommits,
			Message: fmt.Sprintf("%s: the changed files have %s, and a signed commit through the API can contain at most %s", RuleSignedCommits, text.Bytes(size), text.Bytes(githubapi.MaxCommitBytes))})
	}
	return found
}
