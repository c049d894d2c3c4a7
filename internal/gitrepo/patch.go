package gitrepo

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
)

// maxPatchText is how large a patch may be, in bytes, whatever limit is given.
const maxPatchText = 128 << 20

// maxPatchCommits is how many commits a patch may be made of.
const maxPatchCommits = 10_000

// Patch writes the commits after base up to tip as mails that "git am --3way"
// applies to base, with the same trees as the result; files that have CRLF line
// ends are written as binary ones, as git am would lose the CR. More than limit
// bytes are ErrTooLarge. The history between the two must be a line.
//
// Not everything of a message survives the mail: brackets at the beginning of
// its first line become parentheses, the lines of its first paragraph one line,
// and lines that git am would take for a part of the mail begin with a space.
func (r *Repo) Patch(ctx context.Context, base, tip string, limit int64) ([]byte, error) {
	var steps []mailStep
	for oid := tip; oid != base; {
		c, err := r.Commit(ctx, oid)
		if err != nil {
			return nil, err
		}
		if len(c.Parents) != 1 || len(steps) == maxPatchCommits {
			return nil, fmt.Errorf("no patch can be made of %s: its history has no line of at most %d commits to %s", tip, maxPatchCommits, base)
		}
		steps = append(steps, mailStep{c.Tree, c.Author, c.Message, c.When})
		oid = c.Parents[0]
	}
	slices.Reverse(steps)
	return r.mails(ctx, base, steps, limit)
}

// SeriesPatch writes a series as Patch does, for people to apply where Transplant
// could not. Messages and authors are those of the series: clean them before.
func (r *Repo) SeriesPatch(ctx context.Context, s Series, limit int64) ([]byte, error) {
	base, err := r.Commit(ctx, s.Base)
	if err != nil {
		return nil, err
	}
	steps := make([]mailStep, len(s.Changes))
	for i, c := range s.Changes {
		steps[i] = mailStep{c.After, c.Author, c.Message, base.When}
	}
	return r.mails(ctx, s.Base, steps, limit)
}

// mailStep is what one mail is about.
type mailStep struct {
	tree    string
	author  Person
	message string
	when    time.Time
}

// mails lets git write the steps after base as mails. It is given commits whose
// messages a mail can carry.
func (r *Repo) mails(ctx context.Context, base string, steps []mailStep, limit int64) ([]byte, error) {
	tip := base
	for _, s := range steps {
		var err error
		c := newCommit{tree: s.tree, parents: []string{tip}, author: s.author, committer: s.author, when: s.when, message: mailMessage(Style{}.message(0, Change{Message: s.message}))}
		if tip, err = r.makeCommit(ctx, c); err != nil {
			return nil, err
		}
	}
	if tip == base {
		return nil, nil
	}
	text, err := r.formatPatch(ctx, base, tip, "", limit)
	if err != nil || !bytes.Contains(text, []byte("\r\n")) {
		return text, err
	}
	asBinary, err := r.crlfPaths(ctx, base, steps)
	if err != nil {
		return nil, err
	}
	return r.formatPatch(ctx, base, tip, asBinary, limit)
}

// formatPatch runs git format-patch with attributes of files.
func (r *Repo) formatPatch(ctx context.Context, base, tip, attributes string, limit int64) ([]byte, error) {
	c := Call{Limit: int(min(limit, maxPatchText))}
	if attributes != "" {
		file, remove, err := r.scratchFile("attributes", attributes)
		if err != nil {
			return nil, err
		}
		defer remove()
		c.Env = []string{"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=core.attributesFile", "GIT_CONFIG_VALUE_0=" + file}
	}
	a, err := r.Run(ctx, c, "format-patch", "--stdout", "--binary", "--full-index", "--find-renames", "--no-ext-diff", "--no-textconv",
		"--no-signature", "--zero-commit", "--submodule=short", "--ignore-submodules=none", "--base="+base, base+".."+tip)
	return a.Stdout, err
}

// crlfPaths returns attributes that make the files binary of which some version
// has a CRLF line end, or is too large to look.
func (r *Repo) crlfPaths(ctx context.Context, base string, steps []mailStep) (string, error) {
	const most = 16 << 20
	var lines strings.Builder
	from := base
	for _, s := range steps {
		changes, err := r.TreeChanges(ctx, from, s.tree)
		if err != nil {
			return "", err
		}
		for _, c := range changes {
			for _, side := range [][2]string{{c.OldMode, c.OldOID}, {c.NewMode, c.NewOID}} {
				if side[1] == "" || side[0] == modeSubmodule {
					continue
				}
				if data, err := r.Blob(ctx, side[1], most); err != nil || bytes.Contains(data, []byte("\r\n")) {
					lines.WriteString(attributePattern(c.Path) + " -diff\n")
					break
				}
			}
		}
		from = s.tree
	}
	return lines.String(), nil
}

// attributePattern writes a path so that an attributes file takes it as it is.
func attributePattern(path string) string {
	var b strings.Builder
	b.WriteString(`"/`)
	for _, c := range []byte(path) {
		switch {
		case strings.IndexByte(`*?[\`, c) >= 0:
			b.WriteString(`\\`) // for the pattern
			if c == '\\' {
				b.WriteByte('\\')
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

// mailMessage changes a commit's message so that git am, which finds headers,
// the end of the message and the patch by their looks, takes all of it as text.
func mailMessage(message string) string {
	lines := strings.Split(strings.Trim(strings.ReplaceAll(message, "\r", ""), "\n"), "\n")
	lines[0] = mailSubject(lines[0])
	first := true // of the lines that follow the subject and are not blank
	body := false
	for i, line := range lines[1:] {
		if strings.TrimSpace(line) == "" {
			body = true
			continue
		}
		if body && (endsMessage(line) || first && isMailHeader(line)) {
			lines[i+1] = " " + line
		}
		first = first && !body
	}
	return strings.Join(lines, "\n") + "\n"
}

// mailSubject keeps git am from removing the beginning of a subject: brackets,
// "Re:" and colons.
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

// endsMessage reports whether git am takes a line for the end of a mail or of
// its message.
func endsMessage(line string) bool {
	if rest, ok := strings.CutPrefix(line, "---"); ok {
		return rest == "" || rest[0] == ' ' || rest[0] == '\t'
	}
	return strings.HasPrefix(line, "From ") || strings.HasPrefix(line, "diff -") || strings.HasPrefix(line, "Index: ")
}

// isMailHeader reports whether git am takes the first line of a message's body
// for a header, which would name another author.
func isMailHeader(line string) bool {
	line = strings.ToLower(line)
	for _, header := range []string{"from:", "subject:", "date:", "[patch]", ">from"} {
		if strings.HasPrefix(line, header) {
			return true
		}
	}
	return false
}
