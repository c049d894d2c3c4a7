package apply

import (
	"errors"
	"fmt"
	"strings"

	"github.com/agent-airlock/airlock/internal/gitrepo"
	"github.com/agent-airlock/airlock/internal/secrets"
)

// maxScanned is how large a file is looked through for secrets, in bytes. The
// rules about size refuse far less, unless the owner lifts them.
const maxScanned = 64 << 20

// secret looks for a secret in everything that would be pushed: each commit's
// message, names and files, since a later commit does not take away what an
// earlier one shows. It returns what was found in words, without the secret.
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
		words := strings.Join([]string{info.Message, info.Author.Name, info.Author.Email}, "\n")
		if hits := scanner.Scan(words); len(hits) > 0 {
			return fmt.Sprintf("nothing was pushed: the message of commit %d %s", i+1, secretWords(hits[0])), nil
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

// secretIn looks into one changed file. What the file held before is no news, and
// would keep everybody from mending it.
func (c *coder) secretIn(scanner *secrets.Scanner, ch gitrepo.TreeChange) (string, error) {
	if ch.NewMode == "" || ch.NewMode == "160000" {
		return "", nil
	}
	if hits := scanner.Scan(ch.Path); len(hits) > 0 {
		return "nothing was pushed: the name of a file " + secretWords(hits[0]), nil
	}
	if ch.NewOID == ch.OldOID {
		return "", nil
	}
	data, err := c.code.Repo.Blob(c.o.ctx, ch.NewOID, maxScanned)
	if err != nil {
		return "", fmt.Errorf("the file %q: %w", ch.Path, err)
	}
	text := string(data)
	hits := scanner.ScanFile(ch.Path, text)
	if len(hits) == 0 {
		return "", nil
	}
	before := ""
	if ch.OldMode != "" && ch.OldMode != "160000" {
		old, err := c.code.Repo.Blob(c.o.ctx, ch.OldOID, maxScanned)
		if err != nil && !errors.Is(err, gitrepo.ErrTooLarge) {
			return "", err
		}
		before = string(old)
	}
	for _, h := range hits {
		if !strings.Contains(before, text[h.Start:h.End]) {
			return fmt.Sprintf("nothing was pushed: the file %q %s", ch.Path, secretWords(h)), nil
		}
	}
	return "", nil
}

// secretWords say what was found where, and what to do, without showing it.
func secretWords(h secrets.Hit) string {
	return fmt.Sprintf("holds a secret in line %d, column %d (%s, rule %s); if it is a real one, revoke it, since the agent knows it, and take it out", h.Line, h.Column, h.Name, h.Rule)
}
