package acceptance

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/agent-airlock/airlock/internal/text"
)

// Limits of evidence.
const (
	maxSnippet = 500     // characters, as the spec has it
	maxKept    = 1 << 20 // bytes of one file, of which the beginning and the end are kept
)

func (e *Evidence) isEmpty() bool {
	return len(e.Screenshots)+len(e.Tests)+len(e.Answers)+len(e.FileChecks)+len(e.Files) == 0
}

func (v *verification) addFileCheck(f FileCheck) {
	f.Note = v.deps.Mask(f.Note)
	v.mu.Lock()
	defer v.mu.Unlock()
	v.evidence.FileChecks = append(v.evidence.FileChecks, f)
}

func (v *verification) addTest(t TestResult) {
	t.Command = v.deps.Mask(t.Command)
	v.mu.Lock()
	defer v.mu.Unlock()
	v.evidence.Tests = append(v.evidence.Tests, t)
}

func (v *verification) addAnswer(a APIResponse) {
	a.Endpoint = v.deps.Mask(a.Endpoint)
	v.mu.Lock()
	defer v.mu.Unlock()
	v.evidence.Answers = append(v.evidence.Answers, a)
}

// end returns the end of an output as a snippet, without secrets.
func (v *verification) end(output string) string {
	s := v.deps.Mask(strings.TrimSpace(strings.ToValidUTF8(output, "")))
	if n := utf8.RuneCountInString(s) - maxSnippet; n > 0 {
		runes := []rune(s)
		s = "…" + string(runes[n+1:])
	}
	return s
}

// begin returns the beginning of an output as a snippet, without secrets.
func (v *verification) begin(output string) string {
	return text.Truncate(v.deps.Mask(strings.TrimSpace(strings.ToValidUTF8(output, ""))), maxSnippet)
}

// fileName returns the name of a criterion's next file of evidence: the same one each
// time that the same request is verified.
func (v *verification) fileName(c *criterion, what, ending string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.files++
	return fmt.Sprintf("criterion-%s/%d-%s.%s", text.Slug(c.ID, 60), c.files, what, ending)
}

// keep saves a text as a file of evidence, without secrets. A file that cannot be saved is
// told in its description: the verdict does not depend on it.
func (v *verification) keep(name, criterionID, description string, data []byte) {
	if v.deps.Save == nil || data == nil {
		return
	}
	s := string(data)
	if over := len(s) - maxKept; over > 0 {
		s = s[:maxKept/2] + fmt.Sprintf("\n[... %s left out ...]\n", text.Bytes(over)) + s[len(s)-maxKept/2:]
	}
	description = v.deps.Mask(description)
	if err := v.deps.Save(name, []byte(v.deps.Mask(strings.ToValidUTF8(s, "\uFFFD")))); err != nil {
		description += "; it could not be kept: " + err.Error()
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.evidence.Files = append(v.evidence.Files, File{Path: name, CriterionID: criterionID, Description: description})
}
