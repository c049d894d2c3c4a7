package gitrepo

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// maxPatch is how large a patch may be, in bytes, whatever limit is given.
const maxPatch = 128 << 20

// maxSeries is how many commits SeriesOf reads.
const maxSeries = 10_000

// maxScanned is how large a file may be, in bytes, to be searched for CRLF line ends.
const maxScanned = 16 << 20

// SeriesOf returns the commits after base up to tip as a series. The history between the two
// must be a line of at most 10,000 commits.
func (r *Repo) SeriesOf(ctx context.Context, base, tip string) (Series, error) {
	s := Series{Base: base}
	for oid := tip; oid != base; {
		c, err := r.Commit(ctx, oid)
		if err != nil {
			return s, err
		}
		if len(c.Parents) != 1 || len(s.Changes) == maxSeries {
			return s, fmt.Errorf("the history of %s is not a line of at most %d commits to %s", tip, maxSeries, base)
		}
		s.Changes = append(s.Changes, Change{After: c.Tree, Author: c.Author, Message: c.Message})
		oid = c.Parents[0]
	}
	slices.Reverse(s.Changes)
	before, err := r.verifiedTree(ctx, base)
	for i := range s.Changes {
		s.Changes[i].Before = before
		before = s.Changes[i].After
	}
	return s, err
}

// SeriesPatch writes a series as mails. "git am --3way" applies them to the base of the series and
// makes the same trees. Files that have CRLF line ends are written as binary ones, because git am
// would lose the CR. More than limit bytes are ErrTooLarge. Messages and authors are those of the
// series: clean them before.
//
// A mail cannot carry all of a message. Brackets at the beginning of the first line become
// parentheses; colons there and the colon of "Re:" are removed. The first paragraph becomes one
// line. A line that git am would take for a part of the mail begins with a space.
func (r *Repo) SeriesPatch(ctx context.Context, s Series, limit int64) ([]byte, error) {
	base, err := r.Commit(ctx, s.Base)
	if err != nil {
		return nil, err
	}
	commits := make([]newCommit, len(s.Changes))
	for i, c := range s.Changes {
		commits[i] = newCommit{tree: c.After, author: c.Author, message: c.Message, when: base.When}
	}
	return r.mails(ctx, s.Base, commits, limit)
}

// mails makes commits after base, with messages that a mail can carry, and has git write
// them as mails.
func (r *Repo) mails(ctx context.Context, base string, commits []newCommit, limit int64) ([]byte, error) {
	// A commit without a parent, with the tree of the base, stands for the base: in a shallow clone
	// the history may be cut off at the base, or at a commit after it, for example if an earlier
	// attempt was fetched alone.
	tree, err := r.verifiedTree(ctx, base)
	if err != nil {
		return nil, err
	}
	root, err := r.makeCommit(ctx, newCommit{tree: tree, when: time.Unix(0, 0), message: "\n"})
	if err != nil {
		return nil, err
	}
	tip := root
	for _, c := range commits {
		c.parents, c.committer, c.message = []string{tip}, c.author, mailMessage(cleanMessage(c.message))
		if tip, err = r.makeCommit(ctx, c); err != nil {
			return nil, err
		}
	}
	if tip == root {
		return nil, nil
	}
	mails, err := r.formatPatch(ctx, root, tip, "", limit)
	if err != nil {
		return nil, err
	}
	if bytes.Contains(mails, []byte("\r\n")) {
		asBinary, err := r.crlfAttributes(ctx, base, commits)
		if err != nil {
			return nil, err
		}
		if mails, err = r.formatPatch(ctx, root, tip, asBinary, limit); err != nil {
			return nil, err
		}
	}
	// The mails name the commit that stands for the base: put the base's id in its place.
	const name = "\nbase-commit: "
	if i := bytes.LastIndex(mails, []byte(name+root)); i >= 0 {
		copy(mails[i+len(name):], base)
	}
	return mails, nil
}

// formatPatch runs git format-patch. attributes is the content of a file of attributes, "" for none.
func (r *Repo) formatPatch(ctx context.Context, base, tip, attributes string, limit int64) ([]byte, error) {
	c := Call{Limit: int(min(limit, maxPatch))}
	if attributes != "" {
		file, remove, err := r.tempFile("attributes", attributes)
		if err != nil {
			return nil, err
		}
		defer remove()
		c.Env = []string{"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=core.attributesFile", "GIT_CONFIG_VALUE_0=" + file}
	}
	out, err := r.Run(ctx, c, "format-patch", "--stdout", "--binary", "--full-index", "--find-renames", "--no-ext-diff", "--no-textconv",
		"--no-signature", "--zero-commit", "--submodule=short", "--ignore-submodules=none", "--base="+base, base+".."+tip)
	return out.Stdout, err
}

// crlfAttributes returns attributes that mark changed files as binary: a file is marked if one of
// its versions has a CRLF line end, or is too large to be searched.
func (r *Repo) crlfAttributes(ctx context.Context, base string, commits []newCommit) (string, error) {
	var oids, paths []string
	from := base
	for _, commit := range commits {
		changes, err := r.TreeChanges(ctx, from, commit.tree)
		if err != nil {
			return "", err
		}
		for _, c := range changes {
			for _, e := range []entry{{c.OldMode, c.OldOID}, {c.NewMode, c.NewOID}} {
				if e.oid != "" && e.mode != modeSubmodule {
					oids, paths = append(oids, e.oid), append(paths, c.Path)
				}
			}
		}
		from = commit.tree
	}
	var lines strings.Builder
	marked := map[string]bool{}
	next := 0
	for data, err := range r.Blobs(ctx, oids, maxScanned) {
		path := paths[next]
		next++
		if err != nil && !errors.Is(err, ErrTooLarge) {
			return "", err
		}
		if !marked[path] && (err != nil || bytes.Contains(data, []byte("\r\n"))) {
			marked[path] = true
			lines.WriteString(attributePattern(path) + " -diff\n")
		}
	}
	return lines.String(), nil
}

// attributePattern returns the pattern of an attributes file that matches a path alone.
func attributePattern(path string) string {
	var b strings.Builder
	b.WriteString(`"/`)
	for _, c := range []byte(path) {
		switch {
		case strings.IndexByte(`*?[\`, c) >= 0:
			b.WriteString(`\\`) // in quotes this is one backslash, which escapes c in the pattern
			if c == '\\' {
				b.WriteByte('\\') // c, too, is written twice in quotes
			}
			b.WriteByte(c)
		case c < ' ' || c == '"' || c >= 0x7f:
			fmt.Fprintf(&b, `\%03o`, c)
		default:
			b.WriteByte(c)
		}
	}
	return b.String() + `"`
}

// mailMessage changes a commit's message so that git am takes all of it as text, although
// it recognises headers, the end of a message and a patch by their looks alone.
func mailMessage(message string) string {
	lines := strings.Split(strings.Trim(strings.ReplaceAll(message, "\r", ""), "\n"), "\n")
	lines[0] = mailSubject(lines[0])
	inBody := false // a blank line has ended the subject
	first := true   // no other line of the body has been seen
	for i, line := range lines[1:] {
		if strings.TrimSpace(line) == "" {
			inBody = true
			continue
		}
		if !inBody {
			continue
		}
		if endsMessage(line) || first && isMailHeader(line) {
			lines[i+1] = " " + line
		}
		first = false
	}
	return strings.Join(lines, "\n") + "\n"
}

// mailSubject changes what git am would remove from the beginning of a subject: brackets become
// parentheses, colons are removed, also that of "Re:". It returns noMessage if nothing is left.
func mailSubject(line string) string {
	line = strings.TrimLeft(line, " \t:")
	switch before, after, ok := strings.Cut(line, "]"); {
	case strings.HasPrefix(line, "[") && ok:
		line = "(" + before[1:] + ")" + after
	case len(line) > 2 && strings.EqualFold(line[:3], "re:"):
		line = line[:2] + line[3:]
	}
	if strings.TrimSpace(line) == "" {
		return noMessage
	}
	return line
}

// endsMessage reports whether git am takes a line for the end of a mail or of its message.
func endsMessage(line string) bool {
	if rest, ok := strings.CutPrefix(line, "---"); ok {
		return rest == "" || rest[0] == ' ' || rest[0] == '\t'
	}
	return strings.HasPrefix(line, "From ") || strings.HasPrefix(line, "diff -") || strings.HasPrefix(line, "Index: ")
}

// isMailHeader reports whether git am takes the first line of a message's body for a header,
// which could name another author.
func isMailHeader(line string) bool {
	line = strings.ToLower(line)
	for _, header := range []string{"from:", "subject:", "date:", "[patch]", ">from"} {
		if strings.HasPrefix(line, header) {
			return true
		}
	}
	return false
}
