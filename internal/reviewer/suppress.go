package reviewer

import (
	"slices"
	"strings"

	"github.com/agent-airlock/airlock/internal/finding"
)

// ignoreWord, in a comment, suppresses a finding:
//
//	airlock:ignore go/sql-injection the table's name is a constant of ours
//
// It applies to its own line, and to the next one if no code stands before it. Without a
// reason it does not count.
const ignoreWord = "airlock:ignore"

// ignore is a comment that suppresses a finding.
type ignore struct {
	reason string
	line   int // the comment's last
}

// ignored is what such a comment suppresses: findings of a rule on a line.
type ignored struct {
	rule string
	line int // the finding's
}

// ignores returns the comments of a file that suppress findings. In a file whose
// comments are not known (s is nil) the word has to follow the sign of a comment.
func ignores(text string, s *source) map[ignored]ignore {
	if !strings.Contains(text, ignoreWord) {
		return nil
	}
	list := map[ignored]ignore{}
	if s != nil {
		for _, c := range s.comments {
			line := s.line(max(c.start, c.end-1))
			addIgnore(list, s.text[c.start:c.end], line, c.first)
		}
		return list
	}
	number := 0
	for line := range strings.Lines(text) {
		number++
		at := strings.Index(line, ignoreWord)
		if at < 0 {
			continue
		}
		before := strings.TrimSpace(line[:at])
		for _, sign := range []string{"#", "//", "--", "/*", "<!--", ";", "%"} {
			if code, ok := strings.CutSuffix(before, sign); ok {
				addIgnore(list, line[at:], number, strings.TrimSpace(code) == "")
				break
			}
		}
	}
	return list
}

// addIgnore adds to list what a comment suppresses. line is the comment's last line; alone means
// that no code stands before the comment.
func addIgnore(list map[ignored]ignore, comment string, line int, alone bool) {
	_, text, found := strings.Cut(comment, ignoreWord)
	if !found {
		return
	}
	text, _, _ = strings.Cut(text, "\n")
	text = strings.TrimSpace(strings.TrimSuffix(strings.TrimSuffix(strings.TrimSpace(text), "*/"), "-->"))
	rule, reason, _ := strings.Cut(text, " ")
	if reason = strings.TrimSpace(reason); rule == "" || reason == "" {
		return
	}
	list[ignored{rule, line}] = ignore{reason, line}
	if alone {
		list[ignored{rule, line + 1}] = ignore{reason, line}
	}
}

// counts reports whether a comment suppresses a finding, and whether the change adds the
// comment. Whoever is judged must not silence the judge: only a comment that the base has
// counts, unless Config.NewSuppressions is set. For secrets and findings of high or critical
// severity the base must have the comment in any case, and also the lines of the finding, because
// new code below an old comment is another weakness. A line that the change only indents or moves
// counts as one of the base if its comment, or the finding's line before it, came along.
func (r *Reviewer) counts(file *baseLines, f finding.Finding, by ignore) (counts, isNew bool) {
	line, last := f.Lines()
	movedTogether := file.had(by.line, line)
	hadLines, hadComment := file.hadLines(line, line) || movedTogether, file.hadLines(by.line, by.line) || movedTogether
	for line++; line <= last; line++ {
		hadLines = hadLines && (file.hadLines(line, line) || file.had(line-1, line))
	}
	if strings.HasPrefix(f.Rule, secretRule) || f.Severity == finding.High || f.Severity == finding.Critical {
		return hadComment && hadLines, !hadComment
	}
	return hadComment || r.config.NewSuppressions, !hadComment
}

// baseLines knows which lines of a file the base has.
type baseLines struct {
	*File
	lines []string // of the new file
	// removed contains twice each line that the change removes: as {"", line}, and with the line before
	// it in the base. White space at both ends of a line is removed.
	removed map[[2]string]bool
	moved   map[[2]int]bool // the results of had
}

func newBaseLines(f *File) *baseLines {
	b := &baseLines{f, slices.Collect(strings.Lines(f.Text)), map[[2]string]bool{}, map[[2]int]bool{}}
	before := ""
	for line := range strings.Lines(f.Patch) {
		text := strings.TrimSpace(line[1:])
		switch line[0] {
		case '-':
			b.removed[[2]string{"", text}], b.removed[[2]string{before, text}] = true, true
			before = text
		case ' ':
			before = text
		case '@':
			before = ""
		}
	}
	return b
}

// had reports whether the change only moves or indents a line. A comment on a line of its own must
// have moved with it.
func (b *baseLines) had(comment, line int) bool {
	if line < 1 || line > len(b.lines) {
		return false
	}
	had, known := b.moved[[2]int{comment, line}]
	if !known { // a line is read once, however much is in it
		before := ""
		if comment != line {
			before = strings.TrimSpace(b.lines[comment-1])
		}
		had = b.removed[[2]string{before, strings.TrimSpace(b.lines[line-1])}]
		b.moved[[2]int{comment, line}] = had
	}
	return had
}

// Accepted are findings that the owner accepts: those of a rule in files.
type Accepted struct {
	Rule    string // the rule's ID
	Pattern string // of paths, as Config.Matches reads it
}

// accepts reports whether the owner accepts the findings of a rule in a file.
func (r *Reviewer) accepts(rule, path string) bool {
	return slices.ContainsFunc(r.config.Accepted, func(a Accepted) bool {
		return a.Rule == rule && r.config.Matches(a.Pattern, path)
	})
}

// ignoring returns the comment that suppresses a finding, if there is one. It names the
// finding's rule, with or without the language.
func ignoring(list map[ignored]ignore, f finding.Finding) (ignore, bool) {
	if by, ok := list[ignored{f.Rule, f.Range.StartLine}]; ok {
		return by, true
	}
	_, short, _ := strings.Cut(f.Rule, "/")
	by, ok := list[ignored{short, f.Range.StartLine}]
	return by, ok && short != ""
}
