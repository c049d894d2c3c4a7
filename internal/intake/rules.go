package intake

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode"

	"github.com/agent-airlock/airlock/internal/safeoutput"
	"github.com/go-json-experiment/json/jsontext"
)

// rules checks what a schema cannot state, of the fields that the schema has
// let pass.
func (j *judging) rules() {
	switch it := j.verdict.accepted.item.(type) {
	case *safeoutput.CreateReviewComment:
		it.Path = j.relative("path", it.Path)
		if it.StartLine > 0 && it.Line > 0 && it.StartLine > it.Line {
			j.refuse("$.start_line", fmt.Sprintf("'start_line' (%d) must not be after 'line' (%d)", it.StartLine, it.Line))
		}
	case *safeoutput.CreateSecurityReport:
		it.File = j.relative("file", it.File)
		if it.SARIF != nil && !j.refused("sarif") {
			j.checkSARIF(it.SARIF)
		}
	case *safeoutput.AddIssueLabel:
		it.Labels = j.checkLabels(it.Labels)
	case *safeoutput.CreateIssue:
		it.Labels = j.checkLabels(it.Labels)
	case *safeoutput.CreatePullRequest:
		it.Labels = j.checkLabels(it.Labels)
	}
	for _, t := range j.verdict.accepted.item.Texts() {
		// The schema's \S knows only ASCII space.
		if *t.Value != "" && t.Mode != safeoutput.Label && isBlank(*t.Value) && !j.refused(t.Field) {
			if j.mayBeEmpty(t.Field) {
				j.notes.repair(RepairBlankField, t.Field)
				*t.Value = ""
				continue
			}
			j.refuse("$."+t.Field, quote(t.Field)+" must not be blank")
		}
	}
}

// mayBeEmpty reports whether an empty text says the same as none.
func (j *judging) mayBeEmpty(field string) bool {
	_, isPointer := safeoutput.Field(j.verdict.accepted.item, field).(**string)
	return j.optional(field) && !isPointer
}

func isBlank(s string) bool { return strings.TrimSpace(s) == "" }

// relative checks a path and returns it without "." elements and doubled
// slashes.
func (j *judging) relative(field, p string) string {
	if p == "" {
		return p
	}
	clean, why := relativePath(p)
	if why != "" {
		j.refuse("$."+field, quote(field)+" ("+quote(p)+") "+why)
		return p
	}
	return clean
}

// relativePath returns a path without "." elements and doubled slashes, or says
// why it names no file of the repository.
func relativePath(p string) (clean, why string) {
	switch {
	case isBlank(p):
		return p, "must not be blank"
	case strings.ContainsFunc(p, unicode.IsControl):
		return p, "must not hold control characters"
	case strings.ContainsFunc(p, func(r rune) bool { return unicode.In(r, unicode.Bidi_Control, unicode.Zl, unicode.Zp) }):
		return p, "must not hold characters that change how it is displayed"
	case strings.Contains(p, "://"):
		return p, "must be a path in the repository, not a URL"
	case strings.HasPrefix(p, "/"), len(p) > 1 && p[1] == ':' && unicode.IsLetter(rune(p[0])):
		return p, "must be relative to the repository's root"
	case strings.Contains(p, `\`):
		return p, `must have '/' between folders, not '\'`
	case slices.Contains(strings.Split(p, "/"), ".."):
		return p, "must not contain '..'"
	case path.Clean(p) == "." || strings.HasSuffix(p, "/"):
		return p, "must name a file"
	}
	return path.Clean(p), ""
}

// trimLabels takes the space from around labels before the schema counts their
// characters. What is not an array of strings stays as it is.
func (j *judging) trimLabels(raw []byte) []byte {
	var list []string
	if len(raw) > 1<<16 || !needsTrim(raw) || json.Unmarshal(raw, &list) != nil || bytes.Contains(raw, []byte("null")) {
		return raw
	}
	changed := false
	for i, l := range list {
		list[i] = strings.TrimSpace(l)
		changed = changed || list[i] != l
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
		out, _ = jsontext.AppendQuote(out, l)
	}
	return append(out, ']')
}

// needsTrim reports whether a label could have space around it: a quote beside
// a space, or an escape or a character beyond ASCII anywhere.
func needsTrim(raw []byte) bool {
	for i, c := range raw {
		if c == '\\' || c >= 0x80 || c == ' ' && (raw[i-1] == '"' || i+1 < len(raw) && raw[i+1] == '"') {
			return true
		}
	}
	return false
}

// checkLabels cleans labels, which are short, before items are counted:
// whether one is valid is known only then. It leaves out repetitions, which
// GitHub ignores as well, and what is beyond the limit.
func (j *judging) checkLabels(labels []string) []string {
	if j.labels != nil && labels == nil {
		j.checkRefusedLabels()
		return nil
	}
	out := labels[:0]
	for i, l := range labels { // of which the schema allows a hundred
		clean, ok := j.checkLabel(i, l)
		if !ok {
			continue
		}
		if slices.ContainsFunc(out, func(o string) bool { return strings.EqualFold(o, clean) }) {
			j.notes.repair(RepairLabel, "labels")
			continue
		}
		out = append(out, clean)
	}
	if n := j.cfg.maxLabels(j.verdict.spec); n >= 0 && len(out) > n && len(j.verdict.violations) == 0 {
		j.notes.DroppedLabels, j.notes.LabelLimit = out[n:], n
		if out = out[:n:n]; n == 0 {
			j.refuse("$.labels", "'labels': no label is accepted")
		}
	}
	return out
}

func (j *judging) checkLabel(i int, label string) (clean string, ok bool) {
	field := safeoutput.LabelField(i)
	clean, notes, err := j.door.clean.Label(label)
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

// checkRefusedLabels looks for more to say about labels in which the schema
// has found something wrong.
func (j *judging) checkRefusedLabels() {
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
