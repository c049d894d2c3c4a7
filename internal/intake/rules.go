package intake

import (
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode"

	"github.com/agent-airlock/airlock/internal/safeoutput"
	"github.com/agent-airlock/airlock/internal/text"
	"github.com/go-json-experiment/json/jsontext"
)

// rules checks what a schema cannot express, in the fields that are valid by the
// schema.
func (j *recordJudge) rules() {
	j.checkTarget()
	j.checkRepository()
	switch it := j.accepted.item.(type) {
	case *safeoutput.CreateReviewComment:
		it.Path = j.checkPath("path", it.Path)
		if it.StartLine > 0 && it.Line > 0 && it.StartLine > it.Line {
			j.refuse("$.start_line", fmt.Sprintf("'start_line' (%d) must not be after 'line' (%d)", it.StartLine, it.Line))
		}
	case *safeoutput.CreateSecurityReport:
		it.File = j.checkPath("file", it.File)
		if it.SARIF != nil && !j.refused("sarif") {
			if j.log = j.readSARIF(it.SARIF); j.log != nil {
				j.checkSARIF(j.log)
			}
		}
	case *safeoutput.AddIssueLabel:
		it.Labels = j.checkLabels(it.Labels)
	case *safeoutput.CreateIssue:
		it.Labels = j.checkLabels(it.Labels)
	case *safeoutput.CreatePullRequest:
		it.Labels = j.checkLabels(it.Labels)
	}
	for _, t := range j.accepted.item.Texts() {
		if isStoredElsewhere(*t.Value) && !j.refused(t.Field) {
			j.refuse("$."+t.Field, quote(t.Field)+" says that its text was stored in a file; write the text itself here, shorter if it is too long")
		}
		// The schema's \S matches space that is not ASCII.
		if *t.Value != "" && t.Mode != safeoutput.Label && text.IsBlank(*t.Value) && !j.refused(t.Field) {
			if j.mayBeEmpty(t.Field) {
				j.notes.repair(RepairBlankField, t.Field)
				*t.Value = ""
				continue
			}
			j.refuse("$."+t.Field, quote(t.Field)+" must not be blank")
		}
	}
}

// mayBeEmpty reports whether a text may be missing and an empty one means the same. The two differ
// where the item has a pointer to the text, because the pointer is nil if the text is missing.
func (j *recordJudge) mayBeEmpty(field string) bool {
	_, isPointer := safeoutput.Field(j.accepted.item, field).(**string)
	return j.optional(field) && !isPointer
}

// checkPath checks a path, which may be "", and returns it in its simplest form.
func (j *recordJudge) checkPath(field, p string) string {
	if p == "" {
		return p
	}
	clean, problem := relativePath(p)
	if problem != "" {
		j.refuse("$."+field, quote(field)+" ("+quote(p)+") "+problem)
	}
	return clean
}

// IsFilePath reports whether an item may name a file by this path.
func IsFilePath(path string) bool {
	_, problem := relativePath(path)
	return problem == ""
}

// relativePath returns a path without "." elements and doubled slashes, or why it is
// not that of a file in the repository.
func relativePath(p string) (clean, problem string) {
	switch {
	case text.IsBlank(p):
		return p, "must not be blank"
	case strings.ContainsFunc(p, unicode.IsControl):
		return p, "must not contain control characters"
	case strings.ContainsFunc(p, func(r rune) bool { return unicode.In(r, unicode.Bidi_Control, unicode.Zl, unicode.Zp) }):
		return p, "must not contain characters that change how it is displayed"
	case strings.Contains(p, "://"):
		return p, "must be a path in the repository, not a URL"
	case strings.HasPrefix(p, "/"), len(p) > 1 && p[1] == ':' && unicode.IsLetter(rune(p[0])):
		return p, "must be relative to the repository's root"
	case strings.Contains(p, `\`):
		return p, `must have '/' between directories, not '\'`
	case slices.Contains(strings.Split(p, "/"), ".."):
		return p, "must not contain '..'"
	case path.Clean(p) == "." || strings.HasSuffix(p, "/"):
		return p, "must name a file"
	}
	return path.Clean(p), ""
}

// trimLabels removes the space around labels before the schema counts their
// characters. A value that is longer than 64 KiB or not an array of strings does not change.
func (j *recordJudge) trimLabels(raw []byte) []byte {
	var list []*string // nil for null
	if len(raw) > 1<<16 || !needsTrim(raw) || json.Unmarshal(raw, &list) != nil || slices.Contains(list, nil) {
		return raw
	}
	changed := false
	for _, l := range list {
		trimmed := strings.TrimSpace(*l)
		changed = changed || trimmed != *l
		*l = trimmed
	}
	if !changed {
		return raw
	}
	j.notes.repair(RepairLabel, "labels")
	out := []byte{'['}
	for i, l := range list {
		if i > 0 {
			out = append(out, ',')
		}
		out, _ = jsontext.AppendQuote(out, *l)
	}
	return append(out, ']')
}

// needsTrim reports whether a label may have space around it: in a string there is a
// space next to its quote, an escape, or a character that is not ASCII.
func needsTrim(raw []byte) bool {
	inString := false
	for i, c := range raw {
		switch {
		case c == '"':
			inString = !inString
		case inString && (c == '\\' || c >= 0x80 || c == ' ' && (raw[i-1] == '"' || raw[i+1] == '"')):
			return true
		}
	}
	return false
}

// checkLabels returns the cleaned labels. It leaves out repetitions, which GitHub ignores too, and
// the labels beyond the limit. It cleans the labels at once, because a label may be invalid after
// it is cleaned. Other texts are cleaned later, if no limit drops the item.
func (j *recordJudge) checkLabels(labels []string) []string {
	if j.labels != nil && labels == nil { // the schema refused the field
		j.checkRefusedLabels()
		return nil
	}
	out := labels[:0]
	var few [8]string
	folded := few[:0]          // the labels of out, to compare
	for i, l := range labels { // at most a hundred, by the schema
		clean, ok := j.checkLabel(i, l)
		if !ok {
			continue
		}
		fold := text.FoldCase(clean)
		if slices.Contains(folded, fold) {
			j.notes.repair(RepairLabel, "labels")
			continue
		}
		out, folded = append(out, clean), append(folded, fold)
	}
	if n := j.cfg.maxLabels(&j.form.spec); n >= 0 && len(out) > n && len(j.violations) == 0 {
		j.notes.DroppedLabels, j.notes.LabelLimit = out[n:], n
		out = out[:n:n]
		if n == 0 {
			j.refuse("$.labels", "'labels': no label is accepted")
		}
	}
	return out
}

// checkLabel returns the cleaned label with the index i. ok is false if it is not valid.
func (j *recordJudge) checkLabel(i int, label string) (clean string, ok bool) {
	field := safeoutput.LabelField(i)
	clean, notes, err := j.sanitizer.Label(label)
	if err != nil {
		if !j.refused(field) {
			j.refuse("$."+field, quote(field)+" ("+quote(label)+"): "+err.Error())
		}
		return "", false
	}
	if clean != label {
		j.redacted(field, notes)
	}
	return clean, true
}

// checkRefusedLabels checks the elements of labels if the schema refused the field, so that their
// violations are reported, too.
func (j *recordJudge) checkRefusedLabels() {
	var list []any
	if json.Unmarshal(j.labels, &list) != nil {
		return
	}
	for i, l := range list[:min(len(list), maxLabelsChecked)] {
		if s, ok := l.(string); ok {
			j.checkLabel(i, s)
		}
	}
}

// maxLabelsChecked is how many labels the schema allows.
const maxLabelsChecked = 100
