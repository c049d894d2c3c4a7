package intake

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/agent-airlock/airlock/internal/safeoutput"
	"github.com/agent-airlock/airlock/internal/sanitize"
	"github.com/agent-airlock/airlock/internal/text"
)

// OwnItem is an item that Airlock itself made.
type OwnItem struct {
	Item safeoutput.Item
	// Stable is the name by which later workflow runs find the item again, such as
	// "finding/<fingerprint>"; "" if no run needs to find it.
	Stable string
}

// Own judges Airlock's own items. They quote tools, whose output a pull request's code
// may control, so they are validated by the same schemas and cleaned by the same rules
// as an agent's. They may also be of the internal kinds, and cfg's limits do not apply
// to them. The given items do not change.
//
// Each item is in one of the lists, in order, with line 0. The error is about an
// invalid setting in cfg.Sanitize.
func Own(items []OwnItem, cfg Config) (accepted []Accepted, rejected []Rejected, err error) {
	cfg.Strict, cfg.Enabled, cfg.MaxLabels = false, nil, -1
	d, err := newDoor(cfg)
	if err != nil {
		return nil, nil, err
	}
	parse := newParser()
	for _, o := range items {
		v := d.judgeOwn(parse, o.Item)
		if len(v.violations) > 0 {
			var kind safeoutput.Kind
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

// judgeOwn judges and cleans one own item. One of a kind that agents can name is judged
// as the line that an agent would have written.
func (d *door) judgeOwn(parse *parser, it safeoutput.Item) verdict {
	var v verdict
	j := d.judgeOf(&v)
	if it == nil {
		j.refuse("$", "there is no item")
		return v
	}
	v.kind = it.Kind()
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
	if v = d.judge(parse, safeoutput.Line{Raw: raw}); len(v.violations) == 0 {
		d.judgeOf(&v).clean()
	}
	return v
}

// The greatest lengths of a check run's texts, which are within GitHub's limits.
const (
	maxCheckLine  = 255    // characters of a name or title
	maxAnnotation = 60_000 // bytes of an annotation's message; GitHub's limit is 64 KiB
)

// RuleAnnotation is the rule of notes about annotations that were left out.
const RuleAnnotation = "annotation"

// internal checks and cleans an item of an internal kind.
func (j *recordJudge) internal(it safeoutput.Item) {
	required := map[string]bool{"name": true, "title": true, "summary": true, "body": true}
	for _, t := range it.Texts() {
		out, notes := j.cleanText(t)
		if out != *t.Value {
			j.redacted(t.Field, notes)
			*t.Value = out
		}
		if required[t.Field] && text.IsBlank(out) {
			j.refuse("$."+t.Field, quote(t.Field)+" must not be blank")
		}
	}
	switch it := it.(type) {
	case *safeoutput.CheckRun:
		j.checkRun(it)
	case *safeoutput.StickyComment:
		if text.IsBlank(it.Name) {
			j.refuse("$.name", "'name' must not be blank")
		}
	case *safeoutput.TickBoxes:
		j.tickBoxes(it)
	case *safeoutput.MinimiseComments:
		for i, s := range it.Scopes {
			if text.IsBlank(s) || strings.Contains(s, "/") {
				j.refuse(fmt.Sprintf("$.scopes[%d]", i), fmt.Sprintf("'scopes[%d]' (%s) must be the part of stable names before their first '/'", i, quote(s)))
			}
		}
	}
}

func (j *recordJudge) tickBoxes(it *safeoutput.TickBoxes) {
	if it.Issue < 1 {
		j.refuse("$.issue", fmt.Sprintf("'issue' (%d) must be an issue's number", it.Issue))
	}
	if len(it.Boxes) == 0 {
		j.refuse("$.boxes", "'boxes' must not be empty")
	}
	for i, digest := range it.Boxes {
		if len(digest) != 32 || strings.Trim(digest, "0123456789abcdef") != "" {
			j.refuse(fmt.Sprintf("$.boxes[%d]", i), fmt.Sprintf("'boxes[%d]' (%s) must be the digest of a criterion's text", i, quote(digest)))
		}
	}
}

func (j *recordJudge) checkRun(it *safeoutput.CheckRun) {
	j.limitLine("name", &it.Name)
	j.limitLine("title", &it.Title)
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
		clean, problem := checkAnnotation(a)
		if problem != "" { // leave out the annotation instead of rejecting the check run
			j.notes.Redactions = append(j.notes.Redactions, Redaction{field, RuleAnnotation, problem, 1})
			continue
		}
		a.Path = clean
		j.limitLine(field+".title", &a.Title)
		j.limitBytes(field+".message", &a.Message, maxAnnotation)
		kept = append(kept, a)
	}
	it.Annotations = kept
}

// checkAnnotation returns an annotation's path in its simplest form, or why GitHub
// would reject the annotation.
func checkAnnotation(a safeoutput.CheckAnnotation) (path, problem string) {
	path, problem = relativePath(a.Path)
	switch {
	case problem != "":
		return "", "its path " + problem
	case !utf8.ValidString(a.Path):
		return "", "its path is not valid UTF-8"
	case a.StartLine < 1 || a.EndLine < a.StartLine:
		return "", fmt.Sprintf("its lines (%d to %d) are not a range", a.StartLine, a.EndLine)
	case a.Level != "notice" && a.Level != "warning" && a.Level != "failure":
		return "", "its level must be notice, warning or failure"
	case text.IsBlank(a.Message):
		return "", "it has no message"
	}
	return path, ""
}

// limitLine makes a text one line of at most maxCheckLine characters.
func (j *recordJudge) limitLine(field string, s *string) {
	*s = strings.Join(strings.Fields(*s), " ")
	if utf8.RuneCountInString(*s) > maxCheckLine {
		kept := string([]rune(*s)[:maxCheckLine])
		j.limitBytes(field, s, len(kept))
	}
}

// limitBytes cuts a text that is longer than n bytes, and notes it.
func (j *recordJudge) limitBytes(field string, s *string, n int) {
	if len(*s) > n {
		*s = text.TruncateBytes(*s, n)
		j.notes.Redactions = append(j.notes.Redactions, Redaction{field, sanitize.RuleSize, "cut", 1})
	}
}

func isCommit(sha string) bool {
	return (len(sha) == 40 || len(sha) == 64) && strings.Trim(sha, "0123456789abcdef") == ""
}
