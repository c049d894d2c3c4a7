package fixer

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/agent-airlock/airlock/internal/config"
	"github.com/agent-airlock/airlock/internal/gitrepo"
	"github.com/agent-airlock/airlock/internal/policy/tree"
	"github.com/agent-airlock/airlock/internal/safeoutput"
	"github.com/agent-airlock/airlock/internal/secrets"
	"github.com/agent-airlock/airlock/internal/text"
)

// Rules are what a fix may change: what the owner allows an agent to push.
type Rules struct {
	Files tree.Config
	// Secrets finds what no file may contain; nil: nothing is looked for.
	Secrets *secrets.Scanner
}

// RulesOf returns the rules of a configuration: those of push-to-branch.
func RulesOf(owner config.SafeOutputs, scanner *secrets.Scanner) Rules {
	kind, _ := owner.Policy.Kind(safeoutput.KindPushToBranch)
	return Rules{Files: kind.Changes.Files, Secrets: scanner}
}

// maxScanned is the largest file that is scanned for secrets, in bytes: GitHub takes no larger one.
const maxScanned = 100 << 20

// Judge returns the reasons why the changes that lead from one commit (or tree) to another are
// not taken, none if they are: rules about files that they break, and secrets that they add.
func Judge(ctx context.Context, repo *gitrepo.Repo, from, to string, rules Rules) (reasons []string, err error) {
	changes, err := repo.TreeChanges(ctx, from, to)
	if err != nil {
		return nil, err
	}
	result := tree.Tree{Changes: make([]tree.Change, len(changes))}
	for i, ch := range changes {
		result.Changes[i] = tree.Change(ch)
	}
	if result.Paths, result.Links, err = repo.TreePaths(ctx, to); err != nil {
		return nil, err
	}
	for _, v := range tree.Judge(rules.Files, result) {
		reasons = append(reasons, v.Message)
	}
	if rules.Secrets == nil || len(reasons) > 0 { // changes over a limit may be too large to read
		return reasons, nil
	}
	return addedSecrets(ctx, repo, from, changes, rules.Secrets)
}

// addedSecrets returns reasons for the added and changed files: one for each name that contains a
// secret, one for each secret in their contents that is new, and one for each file that is too large
// to scan. A known value is new if the file did not contain it before, any other secret if no file
// did. Only known values count in files that the owner allows to have secrets, and where the path of
// the file explains the secret: a test, or documentation.
func addedSecrets(ctx context.Context, repo *gitrepo.Repo, from string, changes []gitrepo.TreeChange, scanner *secrets.Scanner) (reasons []string, err error) {
	var files []gitrepo.TreeChange
	var oids []string
	for _, ch := range changes {
		if ch.NewMode == "" {
			continue
		}
		if hits := scanner.Scan(ch.Path); len(hits) > 0 {
			reasons = append(reasons, "secret: the name of a file contains one ("+hits[0].Name+"); give it another name")
		}
		if ch.NewMode == fileMode || ch.NewMode == execMode {
			files, oids = append(files, ch), append(oids, ch.NewOID)
		}
	}
	type suspect struct{ value, reason string }
	var suspects []suspect
	next := 0
	for data, err := range repo.Blobs(ctx, oids, maxScanned) {
		ch := files[next]
		next++
		if errors.Is(err, gitrepo.ErrTooLarge) {
			reasons = append(reasons, fmt.Sprintf("secret: %q is too large to be scanned for secrets; leave it out", ch.Path))
			continue
		}
		if err != nil {
			return nil, err
		}
		content, allowed := string(data), tree.MatchesAny(scanner.Allowed().Files, ch.Path)
		for _, h := range scanner.ScanFile(ch.Path, content) {
			value := content[h.Start:h.End]
			reason := fmt.Sprintf("secret: %q contains one in line %d (%s, rule %s); take it out, and read it from the environment", ch.Path, h.Line, h.Name, h.Rule)
			switch known := h.Rule == secrets.KnownRule; {
			case !known && (allowed || h.Explained != ""):
			case !known:
				suspects = append(suspects, suspect{value, reason})
			default:
				if before, err := contentBefore(ctx, repo, ch); err != nil {
					return nil, err
				} else if !strings.Contains(before, value) {
					reasons = append(reasons, reason)
				}
			}
		}
	}
	if len(suspects) == 0 {
		return reasons, nil
	}
	values := make([]string, len(suspects))
	for i, s := range suspects {
		values[i] = s.value
	}
	known, err := repo.Contained(ctx, from, values)
	if err != nil {
		return nil, err
	}
	for _, s := range suspects {
		if !known[s.value] {
			reasons = append(reasons, s.reason)
		}
	}
	return reasons, nil
}

// contentBefore returns what a changed file contained, "" if it did not exist or was too large.
func contentBefore(ctx context.Context, repo *gitrepo.Repo, ch gitrepo.TreeChange) (string, error) {
	if ch.OldMode != fileMode && ch.OldMode != execMode {
		return "", nil
	}
	data, err := repo.Blob(ctx, ch.OldOID, maxScanned)
	if errors.Is(err, gitrepo.ErrTooLarge) {
		return "", nil
	}
	return string(data), err
}

// judge returns the reasons why the files of a fix are not taken. It puts the files into the tree of
// the copy's beginning, and judges the tree that results.
func (c *workCopy) judge(ctx context.Context, files []File, rules Rules) ([]string, error) {
	if most := rules.Files.FileLimit(); most > 0 && len(files) > most {
		return []string{fmt.Sprintf("%s: %s changed, at most %d may; change fewer, or let the owner set max-patch-files", tree.RuleMaxFiles, text.Count(len(files), "file"), most)}, nil
	}
	edits := make([]gitrepo.TreeEdit, len(files))
	for i, f := range files {
		edits[i] = gitrepo.TreeEdit{Path: f.Path, Mode: f.Mode}
		if f.Mode == "" {
			continue
		}
		var err error
		if edits[i].OID, err = c.repo.WriteBlob(ctx, string(f.Content)); err != nil {
			return nil, err
		}
	}
	after, err := c.repo.EditTree(ctx, c.before.tree, edits)
	if err != nil {
		return nil, err
	}
	reasons, err := Judge(ctx, c.repo, c.before.tree, after, rules)
	for i, s := range reasons {
		reasons[i] = strings.TrimSpace(s)
	}
	return reasons, err
}
