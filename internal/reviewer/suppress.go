package reviewer

import (
	"strings"

	"github.com/agent-airlock/airlock/internal/finding"
)

// ignoreWord begins what a comment says to suppress a finding:
//
//	airlock:ignore go/sql-injection the table's name is a constant of ours
//
// It holds for its own line, or for the next one if it has its line for itself. It
// needs a reason: without one it does not count.
const ignoreWord = "airlock:ignore"

// ignore is such a comment.
type ignore struct {
	reason string
	line   int
}

// ignored is what a comment speaks about.
type ignored struct {
	rule string
	line int
}

// ignores returns the comments of a file that suppress findings. In a file whose
// comments are not known (s is nil) the word must stand behind a comment's sign.
func ignores(t string, s *source) map[ignored]ignore {
	if !strings.Contains(t, ignoreWord) {
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
	for line := range strings.Lines(t) {
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

// addIgnore reads one comment; alone says that no code stands before it.
func addIgnore(list map[ignored]ignore, written string, line int, alone bool) {
	at := strings.Index(written, ignoreWord)
	if at < 0 {
		return
	}
	said, _, _ := strings.Cut(written[at+len(ignoreWord):], "\n")
	said = strings.TrimSpace(strings.TrimSuffix(strings.TrimSuffix(strings.TrimSpace(said), "*/"), "-->"))
	rule, reason, _ := strings.Cut(said, " ")
	if reason = strings.TrimSpace(reason); rule == "" || reason == "" {
		return
	}
	list[ignored{rule, line}] = ignore{reason, line}
	if alone {
		list[ignored{rule, line + 1}] = ignore{reason, line}
	}
}

// ignoring returns the comment that suppresses a finding. It names the finding's
// rule, with or without the language.
func ignoring(list map[ignored]ignore, f finding.Finding) (ignore, bool) {
	if g, ok := list[ignored{f.Rule, f.Range.StartLine}]; ok {
		return g, true
	}
	_, short, _ := strings.Cut(f.Rule, "/")
	g, ok := list[ignored{short, f.Range.StartLine}]
	return g, ok && short != ""
}
