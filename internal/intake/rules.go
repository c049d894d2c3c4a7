package intake

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode"

	"github.com/agent-airlock/airlock/internal/jsonrepair"
	"github.com/agent-airlock/airlock/internal/safeoutput"
	"github.com/agent-airlock/airlock/internal/sarif"
	"github.com/agent-airlock/airlock/internal/schema"
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
	refuse := func(why string) { j.refuse("$."+field, quote(field)+" ("+quote(p)+") "+why) }
	switch {
	case isBlank(p):
		refuse("must not be blank")
	case strings.ContainsFunc(p, unicode.IsControl):
		refuse("must not hold control characters")
	case strings.ContainsFunc(p, func(r rune) bool { return unicode.In(r, unicode.Bidi_Control, unicode.Zl, unicode.Zp) }):
		refuse("must not hold characters that change how it is displayed")
	case strings.Contains(p, "://"):
		refuse("must be a path in the repository, not a URL")
	case strings.HasPrefix(p, "/"), len(p) > 1 && p[1] == ':' && unicode.IsLetter(rune(p[0])):
		refuse("must be relative to the repository's root")
	case strings.Contains(p, `\`):
		refuse(`must have '/' between folders, not '\'`)
	case slices.Contains(strings.Split(p, "/"), ".."):
		refuse("must not contain '..'")
	case path.Clean(p) == "." || strings.HasSuffix(p, "/"):
		refuse("must name a file")
	default:
		return path.Clean(p)
	}
	return p
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

// parseSARIF checks a SARIF log as far as later readers rely on it, and turns
// its string form into the object that it holds.
func (j *judging) parseSARIF(raw []byte) []byte {
	text, what := raw, "'sarif'"
	var err error
	if raw[0] == '"' {
		what = "'sarif' is a string that holds no SARIF log: it"
		text, err = j.unquoteSARIF(raw)
	}
	if err == nil {
		err = checkLog(text)
	}
	if err != nil {
		j.refuse("$.sarif", what+" "+err.Error())
		return []byte("{}")
	}
	return text
}

// unquoteSARIF takes a log out of the string that holds it. A log that is not
// strict JSON is repaired as a record is.
func (j *judging) unquoteSARIF(raw []byte) ([]byte, error) {
	text, err := jsontext.AppendUnquote(nil, raw)
	if err != nil {
		return nil, errors.New("is not valid JSON")
	}
	if isJSON(text) {
		return text, nil
	}
	fixed, repairs, err := jsonrepair.Fix(text)
	if err != nil {
		return nil, errors.New("is not valid JSON, and it cannot be repaired: " + err.Error())
	}
	for _, r := range repairs {
		j.notes.Repairs = append(j.notes.Repairs, Repair{Kind: r.Kind, Field: "sarif", Offset: r.Offset, Count: r.Count})
	}
	return fixed, nil
}

func isJSON(text []byte) bool {
	return jsontext.Value(text).IsValid(jsontext.AllowDuplicateNames(true))
}

// maxSARIFViolations is how many violations of a SARIF log are told.
const maxSARIFViolations = 20

// checkSARIF holds a log to the SARIF schema, and to what code scanning needs
// beside it.
func (j *judging) checkSARIF(log []byte) {
	found, err := sarif.Validate(log)
	if err != nil {
		j.refuse("$.sarif", "'sarif' cannot be checked: "+err.Error())
	}
	for i, f := range found {
		if i == maxSARIFViolations {
			j.refuse("$.sarif", fmt.Sprintf("'sarif': there are %d more violations", len(found)-i))
			break
		}
		j.refuse("$.sarif"+strings.TrimPrefix(f.Path, "$"), f.Message)
	}
}

// checkLog walks a log. In a string it can be anything; in an object it is
// valid JSON, but numbers are not bounded yet.
func checkLog(text []byte) error {
	dec := jsontext.NewDecoder(bytes.NewBuffer(text), jsontext.AllowDuplicateNames(true))
	if dec.PeekKind() != '{' {
		return errors.New("is not a JSON object")
	}
	for {
		tok, err := dec.ReadToken()
		if err != nil {
			return errors.New("is not valid JSON")
		}
		if tok.Kind() == '0' && !schema.BoundedNumber(tok.String()) {
			return errors.New("holds the number " + value([]byte(tok.String())) + ", which is out of range")
		}
		if dec.StackDepth() > safeoutput.MaxDepth {
			return fmt.Errorf("is nested more than %d deep", safeoutput.MaxDepth)
		}
		if dec.StackDepth() == 0 {
			break
		}
	}
	if len(bytes.TrimSpace(text[dec.InputOffset():])) > 0 {
		return errors.New("goes on after its object")
	}
	return nil
}

// value writes a raw value for a message: strings quoted, the rest shortened.
func value(raw []byte) string {
	if raw[0] == '"' {
		if text, err := jsontext.AppendUnquote(nil, raw); err == nil {
			return quote(string(text))
		}
	}
	switch raw[0] {
	case '{':
		return "an object"
	case '[':
		return "an array"
	}
	if len(raw) > 40 {
		return string(raw[:40]) + "…"
	}
	return string(raw)
}
