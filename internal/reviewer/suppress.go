package reviewer

import (
	"strings"

	"github.com/agent-airlock/airlock/internal/finding"
)

// ignoreWord begins a comment that suppresses a finding:
//
//	airlock:ignore go/sql-injection the table's name is a constant of ours
//
// It applies to its own line, and to the next one if no code stands before it. Without a
// reason it does not count.
const ignoreWord = "airlock:ignore"

// ignore is a comment that suppresses a finding.
type ignore struct {
	reason string
	line   int // the comment's
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

// addIgnore reads one comment, which ends on a line; alone means that no code stands before it.
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
