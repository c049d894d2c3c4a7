package intake

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/agent-airlock/airlock/internal/safeoutput"
	"github.com/agent-airlock/airlock/internal/sanitize"
)

// OwnItem is an item that Airlock itself made, from checks or loops.
type OwnItem struct {
	Item safeoutput.Item
	// Stable is the name by which later workflow runs find the item again, such as
	// "finding/<fingerprint>"; "" where none needs to.
	Stable string
}

// Own takes Airlock's own items through the door. They quote tools that a pull
// request's code may have made say anything, so they are held against the same
// schemas and cleaned by the same rules as an agent's; they may be of the internal
// kinds too. cfg's limits do not apply to them. The given items stay as they are.
//
// Every item ends in one of the lists, in order, with line 0. The error is that of
// a setting of cfg.Sanitize.
func Own(items []OwnItem, cfg Config) (accepted []Accepted, rejected []Rejected, err error) {
	cfg.Strict, cfg.Enabled, cfg.MaxLabels = false, nil, -1
	cfg.Max = map[safeoutput.Kind]int{}
	for _, spec := range safeoutput.Kinds() {
		cfg.Max[spec.Kind] = -1
	}
	d, err := newDoor(cfg)
	if err != nil {
		return nil, nil, err
	}
	parse := newParser()
	for _, o := range items {
		v := d.judgeOwn(parse, o.Item)
		if len(v.violations) > 0 {
			kind := v.spec.Kind
			if o.Item != nil {
				kind = o.Item.Kind()
			}
			rejected = append(rejected, Rejected{Kind: kind, Violations: sortViolations(v.violations), Notes: v.accepted.notes})
			continue
		}
		v.accepted.own, v.accepted.stable = true, o.Stable
		accepted = append(accepted, v.accepted)
	}
	return accepted, rejected, nil
}

// judgeOwn judges and cleans one own item. Those of the union take an agent's way,
// as the line that an agent would have written.
func (d *door) judgeOwn(parse *parser, it safeoutput.Item) verdict {
	var v verdict
	j := judging{door: d, verdict: &v, notes: &v.accepted.notes}
	if it == nil {
		j.refuse("$", "there is no item")
		return v
	}
	v.spec.Kind = it.Kind()
	it = safeoutput.Clone(it)
	for _, t := range it.Texts() {
		*t.Value = strings.ToValidUTF8(*t.Value, string(utf8.RuneError))
	}
	if safeoutput.IsInternal(it.Kind()) {
		v.accepted.item = it
		j.internal(it)
		return v
	}
	raw, err := safeoutput.Encode(it)
	if err != nil {
		j.refuse("$", "the item cannot be written: "+err.Error())
		return v
	}
	return d.judge(parse, safeoutput.Line{Raw: raw})
}

// The longest texts of a check run that GitHub takes, with some room.
const (
	maxCheckLine  = 255    // characters of a name or title
	maxAnnotation = 60_000 // bytes of an annotation's message; GitHub's limit is 64 KiB
)

// RuleAnnotation is the rule of the notes about annotations that were left out.
const RuleAnnotation = "annotation"

// internal checks and cleans an item of an internal kind.
func (j *judging) internal(it safeoutput.Item) {
	required := map[string]bool{"name": true, "title": true, "summary": true, "body": true}
	for _, t := range it.Texts() {
		out, notes := j.door.cleanText(t)
		if out != *t.Value {
			j.redacted(t.Field, notes)
			*t.Value = out
		}
		if required[t.Field] && isBlank(out) {
			j.refuse("$."+t.Field, quote(t.Field)+" must not be blank")
		}
	}
	switch it := it.(type) {
	case *safeoutput.CheckRun:
		j.checkRun(it)
	case *safeoutput.StickyComment:
		if isBlank(it.Name) {
			j.refuse("$.name", "'name' must not be blank")
		}
	case *safeoutput.MinimiseComments:
		for i, s := range it.Scopes {
			if !isBlank(s) && !strings.Contains(s, "/") {
				continue
			}
			j.refuse(fmt.Sprintf("$.scopes[%d]", i), fmt.Sprintf("'scopes[%d]' (", i)+quote(s)+") must be what stable names have before their first '/'")
		}
	}
}

func (j *judging) checkRun(it *safeoutput.CheckRun) {
	j.oneLine("name", &it.Name)
	j.oneLine("title", &it.Title)
	if !isCommit(it.HeadSHA) {
		j.refuse("$.head_sha", "'head_sha' ("+quote(it.HeadSHA)+") must be a commit's full id")
	}
	switch it.Conclusion {
	case "success", "failure", "neutral":
	default:
		j.refuse("$.conclusion", "'conclusion' ("+quote(it.Conclusion)+") must be success, failure or neutral")
	}
	kept := it.Annotations[:0]
	for n, a := range it.Annotations {
		field := fmt.Sprintf("annotations[%d]", n)
		clean, why := annotationProblem(a)
		if why != "" { // one odd annotation does not take the whole check run away
			j.notes.Redactions = append(j.notes.Redactions, Redaction{field, RuleAnnotation, why, 1})
			continue
		}
		a.Path = clean
		j.oneLine(field+".title", &a.Title)
		j.cut(field+".message", &a.Message, maxAnnotation)
		kept = append(kept, a)
	}
	it.Annotations = kept
}

// annotationProblem returns an annotation's path in its simplest form, or says why
// GitHub would not take the annotation.
func annotationProblem(a safeoutput.CheckAnnotation) (clean, why string) {
	clean, why = relativePath(a.Path)
	switch {
	case why != "":
		return "", "its path " + why
	case !utf8.ValidString(a.Path):
		return "", "its path is not valid UTF-8"
	case a.StartLine < 1 || a.EndLine < a.StartLine:
		return "", fmt.Sprintf("its lines (%d to %d) are none", a.StartLine, a.EndLine)
	case a.Level != "notice" && a.Level != "warning" && a.Level != "failure":
		return "", "its level must be notice, warning or failure"
	case isBlank(a.Message):
		return "", "it has no message"
	}
	return clean, ""
}

// oneLine makes a text one line of bounded length.
func (j *judging) oneLine(field string, s *string) {
	*s = strings.Join(strings.Fields(*s), " ")
	for n, count := 0, 0; n < len(*s); count++ {
		if count == maxCheckLine {
			j.cut(field, s, n)
			return
		}
		_, size := utf8.DecodeRuneInString((*s)[n:])
		n += size
	}
}

// cut shortens a text to at most n bytes of whole characters, and notes it.
func (j *judging) cut(field string, s *string, n int) {
	const mark = "…"
	if len(*s) <= n {
		return
	}
	at := n - len(mark)
	for at > 0 && !utf8.RuneStart((*s)[at]) {
		at--
	}
	*s = (*s)[:at] + mark
	j.notes.Redactions = append(j.notes.Redactions, Redaction{field, sanitize.RuleSize, "cut", 1})
}

func isCommit(sha string) bool {
	return (len(sha) == 40 || len(sha) == 64) && strings.Trim(sha, "0123456789abcdef") == ""
}
