package pages

import (
	"bytes"
	"encoding/json"
	"fmt"
	"html/template"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/agent-airlock/airlock/internal/sanitize"
	"github.com/agent-airlock/airlock/internal/text"
)

// coordinatorFuncs are what the templates of the coordinator call.
var coordinatorFuncs = template.FuncMap{
	"line":     text.OneLine,
	"short":    func(s string) string { return text.Truncate(text.OneLine(s), 120) },
	"shown":    shown,
	"time":     func(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05") + " UTC" },
	"iso":      func(t time.Time) string { return t.UTC().Format(time.RFC3339) },
	"clock":    func(t time.Time) string { return t.UTC().Format("15:04:05") },
	"since":    since,
	"count":    text.Count,
	"state":    stateClass,
	"sentence": sentence,
	"pair":     func(at any, now time.Time) any { return moment{at, now} },
	"rows":     func(runs []runRecord, now time.Time) any { return runRows{runs, now} },
	"add":      func(a, b int) int { return a + b },
	"half":     func(n int) int { return n / 2 },
}

// moment is a time that a page shows, and the present time. At is a time.Time or a pointer to one.
type moment struct {
	At  any
	Now time.Time
}

type runRows struct {
	Runs []runRecord
	Now  time.Time
}

// shown returns a stranger's text as a page shows it: without escape sequences, invisible
// characters and others that would make it look like something else.
func shown(s string) string {
	clean, _ := new(sanitize.Sanitizer).Characters(s)
	return clean
}

// since returns how far t is from now, in the largest unit that fits at least twice, or in seconds.
// Less than two seconds ago is "just now".
func since(t, now time.Time) string {
	d, word := now.Sub(t), "ago"
	if d < 0 {
		d, word = -d, "from now"
	}
	switch {
	case d < 2*time.Second && word == "ago":
		return "just now"
	case d < 2*time.Minute:
		return fmt.Sprintf("%d s %s", d/time.Second, word)
	case d < 2*time.Hour:
		return fmt.Sprintf("%d min %s", d/time.Minute, word)
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h %s", d/time.Hour, word)
	}
	return fmt.Sprintf("%d days %s", d/(24*time.Hour), word)
}

// stateClass returns the class of a badge with a run's or a loop's status.
func stateClass(status string) string {
	switch status {
	case "completed", "PASS", "COMPLETED", "success":
		return "ok"
	case "failed", "FAIL", "ESCALATED":
		return "bad"
	case "running", "stopping", "IN_PROGRESS", "FIXING", "AWAITING_FIX", "RE_CHECKING":
		return "warn"
	}
	return "idle"
}

// sentence returns a message of the API, which begins with a small letter, as a sentence.
func sentence(s string) string {
	s = text.OneLine(s)
	r, size := utf8.DecodeRuneInString(s)
	if size == 0 {
		return s
	}
	s = string(unicode.ToUpper(r)) + s[size:]
	if !strings.ContainsRune(".!?", rune(s[len(s)-1])) {
		s += "."
	}
	return s
}

// maxIndent is the greatest depth of JSON that is indented. Deeper JSON would be mostly indentation.
const maxIndent = 64

// indented returns JSON as people read it.
func indented(raw json.RawMessage) string { return shown(indent(raw)) }

// indent returns JSON indented, or as it is if it is deeper than maxIndent or larger than maxShown:
// the indentation could be a hundred times as large as the rest.
func indent(raw json.RawMessage) string {
	if len(raw) > maxShown {
		return string(raw)
	}
	dec := jsontext.NewDecoder(bytes.NewReader(raw), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	for _, err := dec.ReadToken(); err == nil; _, err = dec.ReadToken() {
		if dec.StackDepth() > maxIndent {
			return string(raw)
		}
	}
	var b bytes.Buffer
	if json.Indent(&b, raw, "", "  ") != nil {
		return string(raw)
	}
	return b.String()
}

// compact returns JSON on one line, for a list.
func compact(raw json.RawMessage) string { return text.OneLine(compactJSON(raw)) }
