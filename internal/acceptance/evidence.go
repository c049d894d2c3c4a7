package acceptance

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/agent-airlock/airlock/internal/schema"
	"github.com/agent-airlock/airlock/internal/text"
)

// Limits of evidence.
const (
	maxSnippet = 500     // characters, as the spec has it
	maxKept    = 1 << 20 // bytes of one file; of a larger one, the beginning and the end are kept
)

func (e *Evidence) isEmpty() bool {
	return len(e.Screenshots)+len(e.Tests)+len(e.Answers)+len(e.FileChecks)+len(e.Files) == 0
}

func (v *verification) addFileCheck(f FileCheck) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.evidence.FileChecks = append(v.evidence.FileChecks, f)
}

func (v *verification) addTest(t TestResult) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.evidence.Tests = append(v.evidence.Tests, t)
}

func (v *verification) addAnswer(a APIResponse) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.evidence.Answers = append(v.evidence.Answers, a)
}

// maskCut masks secrets in a text and then cuts it after n characters. It does not cut first,
// because a part of a secret might not be recognised.
func (v *verification) maskCut(s string, n int) string { return text.Truncate(v.deps.Mask(s), n) }

// maskLine returns a text as one line, without secrets.
func (v *verification) maskLine(s string) string { return text.OneLine(v.deps.Mask(s)) }

// quote masks secrets in a text and then quotes it with schema.Quote, which cuts it.
func (v *verification) quote(s string) string { return schema.Quote(v.deps.Mask(s)) }

// end returns the end of a masked output as a snippet.
func end(s string) string {
	s = strings.TrimSpace(s)
	if n := utf8.RuneCountInString(s) - maxSnippet; n > 0 {
		runes := []rune(s)
		s = "…" + string(runes[n+1:])
	}
	return s
}

// begin returns the beginning of an output as a snippet, without secrets.
func (v *verification) begin(output string) string {
	s := v.deps.Mask(strings.TrimSpace(strings.ToValidUTF8(output, "")))
	if utf8.RuneCountInString(s) > maxSnippet {
		s = text.Truncate(s, maxSnippet-1)
	}
	return s
}

// fileName returns the name of a criterion's next file of evidence. When the same request is
// verified again, its files get the same names.
func (v *verification) fileName(c *criterion, what, ending string) string {
	id := v.deps.Mask(c.ID)
	if id != c.ID {
		id = fmt.Sprintf("%s-%d", id, c.index+1) // two ids may be the same, once masked
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.files++
	return fmt.Sprintf("criterion-%s/%d-%s.%s", text.Slug(id, 60), c.files, what, ending)
}

// lost is evidence that could not be kept, for one reason.
type lost struct {
	reason string
	names  []string
}

// noteLoss notes that a file could not be kept, and returns the reason.
func (v *verification) noteLoss(name string, err error) string {
	reason := v.maskLine(err.Error())
	v.mu.Lock()
	defer v.mu.Unlock()
	i := slices.IndexFunc(v.lost, func(l lost) bool { return l.reason == reason })
	if i < 0 {
		i = len(v.lost)
		v.lost = append(v.lost, lost{reason: reason})
	}
	v.lost[i].names = append(v.lost[i].names, name)
	return reason
}

// reportLost reports to the caller which evidence could not be kept.
func (v *verification) reportLost() {
	for _, l := range v.lost {
		names := strings.Join(firstOf(l.names, 3), ", ")
		if more := len(l.names) - 3; more > 0 {
			names += fmt.Sprintf(" and %s", text.Count(more, "more file"))
		}
		v.progress(Step{Text: fmt.Sprintf("evidence: %s could not be kept: %s; the verdict does not depend on it", names, l.reason)})
	}
}

// keep saves data as a file of evidence, without secrets. It does nothing if data is nil, or if
// evidence is not to be saved. Where a file cannot be saved, its description gives the reason: the
// verdict does not depend on the file.
func (v *verification) keep(name, criterionID, description string, data []byte) {
	if v.deps.Save == nil || data == nil {
		return
	}
	s := v.deps.Mask(strings.ToValidUTF8(string(data), "\uFFFD")) // before the cut, which could divide a secret
	if over := len(s) - maxKept; over > 0 {
		s = s[:maxKept/2] + fmt.Sprintf("\n[... %s left out ...]\n", text.Bytes(over)) + s[len(s)-maxKept/2:]
	}
	if err := v.deps.Save(name, []byte(strings.ToValidUTF8(s, ""))); err != nil {
		description += "; it could not be kept: " + v.noteLoss(name, err)
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.evidence.Files = append(v.evidence.Files, File{Path: name, CriterionID: criterionID, Description: description})
}
