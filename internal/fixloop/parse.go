package fixloop

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/agent-airlock/airlock/internal/finding"
	"github.com/agent-airlock/airlock/internal/lazyregexp"
)

// maxText is how long a text may be that ParseAll reads, in bytes.
const maxText = 4 << 20

// ParseError is why a text is not a message of the protocol.
type ParseError struct{ Problems []string }

func (e *ParseError) Error() string {
	return "this is not a message of the protocol: " + strings.Join(e.Problems, "; ")
}

// ParseAll reads all messages in a text, at least one. The Markdown of a message may differ from
// what Message.Markdown writes: in line ends, list marks and line breaks, by escaped characters and
// inert mentions, a quote or a fence around it, and text before it. What Markdown does not contain,
// such as the log entry, is empty. Fix completions may also be JSON, see readJSON; they come after
// the others. The error is a *ParseError.
func ParseAll(src string) ([]Message, error) {
	if len(src) > maxText {
		return nil, &ParseError{[]string{fmt.Sprintf("it is longer than %d bytes", maxText)}}
	}
	out, err := readMessages(src, newJSONReader(src), 0)
	if err == nil && len(out) == 0 {
		err = &ParseError{[]string{`it has no heading of a message, such as "## Fix Completion"`}}
	}
	return out, err
}

// readMessages returns the messages in a text. depth is how many values of JSON the text is in.
func readMessages(src string, r *jsonReader, depth int) (out []Message, err error) {
	for _, f := range readForms(src) {
		m, err := f.message()
		if err != nil {
			return nil, err
		}
		out = append(out, m)
	}
	completions, err := r.readJSON(src, depth)
	return append(out, completions...), err
}

// interpreter makes a message of a form, and collects what is wrong with the form.
type interpreter struct {
	form
	problems []string
}

func (in *interpreter) fail(format string, args ...any) {
	in.problems = append(in.problems, fmt.Sprintf(format, args...))
}

func (f form) message() (Message, error) {
	in := &interpreter{form: f}
	t, _ := titled(f.title)
	m := Message{Type: t}
	in.header(&m)
	if m.ID != "" {
		in.identifier(&m)
	}
	in.contents(&m)
	if len(in.problems) > 0 {
		return Message{}, &ParseError{in.problems}
	}
	return m, nil
}

// header reads the fields above the first section.
func (in *interpreter) header(m *Message) {
	head := fields(in.head)
	need := func(name string) string {
		v := head[strings.ToLower(name)]
		if v == "" {
			in.fail("%s: the field %q is missing", in.title, name)
		}
		return v
	}
	timestamp := func() {
		var err error
		m.Time, err = time.ParseInLocation(TimeLayout, need("Timestamp"), time.UTC)
		if err != nil && head["timestamp"] != "" {
			in.fail("%s: the timestamp %q does not have the form YYYY-MM-DD HH:MM:SS", in.title, head["timestamp"])
		}
	}
	switch m.Type {
	case StatusChange:
		m.Entity, m.Previous, m.New, m.Why = need("Entity"), Status(need("Previous Status")), Status(need("New Status")), head["reason"]
		for _, s := range []Status{m.Previous, m.New} {
			if _, known := transitions[s]; !known && s != "" {
				in.fail("there is no status %q", s)
			}
		}
		timestamp()
	case TimeoutReminder:
		m.ID, m.To = need("Message ID"), head["to"]
		m.Elapsed, m.Limit = in.clock(need("Elapsed")), in.clock(need("Timeout"))
	case ErrorNotification:
		m.ID, m.From, m.Context = need("Error ID"), head["from"], head["context"]
		m.Error = errorNamed(need("Error Type"))
		if m.Error == "" && head["error type"] != "" {
			in.fail("there is no error type %q", head["error type"])
		}
		timestamp()
	default:
		m.ID, m.From, m.To = need("Message ID"), need("From"), need("To")
		m.Priority = Priority(need("Priority"))
		switch m.Priority {
		case PriorityCritical, PriorityHigh, PriorityMedium, PriorityLow, "":
		default:
			in.fail("there is no priority %q", m.Priority)
		}
		timestamp()
	}
}

func errorNamed(title string) ErrorType {
	for e, known := range errorTitles {
		if strings.EqualFold(known, title) {
			return e
		}
	}
	return ""
}

var identifier = lazyregexp.New(`^([A-Z]+)-([0-9]{1,10})(?:-([a-z-]+))?-([0-9]{1,4}|[0-9]{8}T[0-9]{6}Z)$`)

// identifier reads the issue, the check or operation, and the iteration out of the message's
// identifier.
func (in *interpreter) identifier(m *Message) {
	parts, prefix := identifier.FindStringSubmatch(m.ID), spelling[m.Type].prefix
	if parts == nil || parts[1] != prefix {
		in.fail("%q is not an identifier of a %s, which begins with %s-", m.ID, in.title, prefix)
		return
	}
	m.Issue, _ = strconv.Atoi(parts[2])
	timed := len(parts[4]) > 4 // it ends with a time, not with an iteration
	if !timed {
		m.Iteration, _ = strconv.Atoi(parts[4])
	}
	switch m.Type {
	case TimeoutReminder:
		m.Operation = Operation(parts[3])
		if m.Operation != OpFix && m.Operation != OpValidation && m.Operation != OpRevalidation {
			in.fail("there is no operation %q", parts[3])
		}
	case ErrorNotification:
		if parts[3] != string(m.Error) {
			in.fail("the identifier %q is not that of an error of type %q", m.ID, m.Error.title())
		}
	case FixRequest, FixCompletion:
		if parts[3] != "" {
			in.fail("the identifier %q names a check, which a %s does not", m.ID, in.title)
		}
	default:
		m.Check = Check(parts[3])
		if !m.Check.known() {
			in.fail("there is no check %q", parts[3])
		}
	}
	switch m.Type {
	case Escalation, TimeoutReminder, ErrorNotification:
		if !timed {
			in.fail("the identifier %q does not end with a time", m.ID)
		}
	default:
		if timed {
			in.fail("the identifier %q does not end with an iteration", m.ID)
		}
	}
}

// section returns the parts of the section with a title, nil if there is none. Those of the last
// section include the signature.
func (in *interpreter) section(title string) []part {
	for _, s := range in.sections {
		if strings.EqualFold(s.title, title) {
			return s.parts
		}
	}
	return nil
}

// texts returns the paragraphs of a section, without those that begin with a field, such as the
// message's signature.
func (in *interpreter) texts(title string) []string {
	var out []string
	for _, p := range in.section(title) {
		if p.kind != paragraph {
			continue
		}
		if _, _, n := fieldAt(p.words, 0); n == 0 {
			out = append(out, flat(p.words))
		}
	}
	return out
}

// list returns the items of a section.
func (in *interpreter) list(title string) []string {
	var out []string
	for _, p := range in.section(title) {
		if p.kind == item {
			if s := flat(p.words); s != "" {
				out = append(out, s)
			}
		}
	}
	return out
}

// contents reads the sections.
func (in *interpreter) contents(m *Message) {
	switch m.Type {
	case FailureReport:
		m.Summary = strings.Join(in.texts("Failure Summary"), " ")
		m.Failures, m.Omitted = in.failures("Detailed Failures")
		m.Suggestions, m.Actions = in.list("Suggested Fixes"), in.list("Actions Required")
	case FixRequest:
		m.Failures, m.Omitted = in.failures("Failures to Fix")
		m.Suggestions, m.Expected = in.list("Suggested Approach"), in.texts("Expected Outcome")
	case FixCompletion:
		m.Fixes, m.Files = in.list("Fixes Applied"), in.list("Files Modified")
		in.ready(m)
		if len(m.Fixes) > 0 {
			m.Summary = m.Fixes[0]
		}
	case RevalidationTrigger:
		if n := pairOf.FindStringSubmatch(strings.Join(in.texts("Iteration"), " ")); n != nil {
			m.Max, _ = strconv.Atoi(n[2])
		}
		m.Failures, m.Omitted = in.failures("Previous Failures")
		for _, s := range in.texts("Previous Failures") {
			if why, ok := strings.CutPrefix(s, "None is known: "); ok {
				m.Why = why
			}
		}
		m.Fixes = in.list("Fixes Applied")
	case RevalidationResult:
		m.Result = Status(strings.ToUpper(fields(in.section("Result Summary"))["status"]))
		if m.Result != Pass && m.Result != Fail {
			in.fail("the result has the status %q; it is PASS or FAIL", m.Result)
		}
		m.Failures, m.Omitted = in.failures("Failure Details")
		m.Next = strings.Join(in.texts("Next Action"), " ")
	case Success:
		for _, s := range in.list("Final Status") {
			if total, ok := strings.CutPrefix(s, "Total time: "); ok {
				m.Elapsed = in.clock(total)
			}
		}
		m.Next, _ = strings.CutPrefix(strings.Join(in.texts("Next Phase"), " "), "Proceeding to: ")
	case Escalation:
		summary := fields(in.section("Escalation Summary"))
		m.Reason, m.Elapsed = Reason(summary["reason"]), in.clock(summary["time"])
		m.Iteration, _ = strconv.Atoi(leadingDigits.FindString(summary["iterations"]))
		m.Failures, m.Omitted = in.failures("Persistent Failures")
		m.History = in.history()
		m.Actions = in.list("Recommended Actions")
	case TimeoutReminder:
		reminder := fields(in.section("Reminder"))
		m.Result = Status(reminder["current status"])
		m.Grace = graceOf(reminder["escalation"])
	case ErrorNotification:
		details, status := fields(in.section("Error Details")), fields(in.section("Current Status"))
		m.ErrorText = details["error message"]
		for _, p := range in.section("Error Details") {
			if p.kind == fence {
				m.Stack = p.code
			}
		}
		m.Recovery = in.list("Recovery Actions Attempted")
		m.Recovered, m.Next = strings.EqualFold(status["recovered"], "yes"), status["next action"]
	}
}

var (
	pairOf        = lazyregexp.New(`Current: *([0-9]{1,4}) */ *Max: *([0-9]{1,4})`)
	leadingDigits = lazyregexp.New(`^[0-9]{1,4}`)
	graceWords    = lazyregexp.New(`within ([0-9]{1,8}) (second|minute)`)
	moreFailures  = lazyregexp.New(`^And ([0-9]{1,9}) more failures?\.$`)
)

func graceOf(s string) Duration {
	parts := graceWords.FindStringSubmatch(s)
	if parts == nil {
		return 0
	}
	n, _ := strconv.Atoi(parts[1])
	if parts[2] == "minute" {
		n *= 60
	}
	return Duration(n)
}

// ready reads that the fixer wants its fix to be checked, and by which checks.
func (in *interpreter) ready(m *Message) {
	answer := strings.Join(in.texts("Ready for Re-validation"), " ")
	if !strings.HasPrefix(strings.ToLower(answer), "yes") {
		in.fail(`%s: the section "Ready for Re-validation" has to say "Yes"`, in.title)
		return
	}
	_, list, _ := strings.Cut(answer, "re-run ")
	for name := range strings.SplitSeq(strings.TrimSuffix(list, "."), ", ") {
		if c := Check(strings.TrimPrefix(name, "@")); c.known() {
			m.Checks = append(m.Checks, c)
		}
	}
}

// clock reads MM:SS or HH:MM:SS.
func (in *interpreter) clock(s string) Duration {
	if s == "" {
		return 0
	}
	parts := strings.Split(s, ":")
	valid := len(parts) == 2 || len(parts) == 3
	total := 0
	for _, p := range parts {
		n, err := strconv.Atoi(p)
		valid = valid && err == nil && n >= 0 && n <= 1e9
		total = total*60 + n
	}
	if !valid {
		in.fail("%q is not a time such as 30:00 or 01:30:00", s)
		return 0
	}
	return Duration(total)
}

// failures reads a list of failures.
func (in *interpreter) failures(title string) (list []Failure, omitted int) {
	for _, p := range in.section(title) {
		switch p.kind {
		case item:
			f, others := failureOf(p)
			list = append(list, f)
			for _, other := range others {
				f.Check = other
				list = append(list, f)
			}
		case paragraph:
			if n := moreFailures.FindStringSubmatch(flat(p.words)); n != nil {
				omitted, _ = strconv.Atoi(n[1])
			}
		}
	}
	return list, omitted
}

// failureOf reads an item of a list of failures. others are the further checks that report the same.
// The text of an item that does not begin with a check is only a message.
func failureOf(p part) (f Failure, others []Check) {
	for _, inner := range p.inner {
		switch {
		case strings.HasPrefix(inner.info, replacement):
			f.Suggestion = inner.code
		case inner.kind == fence:
			f.Details = inner.code
		}
	}
	var checks []Check
	if len(p.words) > 0 && p.words[0].style == strong {
		checks = checksOf(p.words[0].text)
	}
	if len(checks) == 0 {
		f.Message = flat(p.words)
		return f, nil
	}
	f.Check = checks[0]
	rest := f.readOrigin(p.words[1:])
	f.Message = strings.TrimSpace(strings.TrimPrefix(flat(rest), ":"))
	return f, checks[1:]
}

// readOrigin reads "(severity)", "at `path:line`" and "by `tool/rule`", as far as they are there,
// and returns the words after them.
func (f *Failure) readOrigin(words []word) (rest []word) {
	for len(words) > 0 && words[0].style == plain {
		lead := strings.Join(strings.Fields(words[0].text), " ")
		if severity, after, ok := cutSeverity(lead); ok {
			f.Severity = severity
			words = append([]word{{after, plain}}, words[1:]...)
			continue
		}
		beforeCode := len(words) > 1 && words[1].style == code
		switch {
		case beforeCode && lead == "at":
			f.Path, f.Line = placeOf(words[1].text)
		case beforeCode && lead == "by":
			f.Tool, f.Rule, _ = strings.Cut(words[1].text, "/")
		default:
			return words
		}
		words = words[2:]
	}
	return words
}

// cutSeverity splits a text after a severity in parentheses, and reports whether it begins with one.
func cutSeverity(s string) (severity finding.Severity, after string, ok bool) {
	s, opened := strings.CutPrefix(s, "(")
	name, after, closed := strings.Cut(s, ")")
	severity = finding.Severity(name)
	return severity, after, opened && closed && severity.Rank() > 0
}

// checksOf reads a list of checks; nil if it has anything else.
func checksOf(s string) (out []Check) {
	for name := range strings.SplitSeq(s, ",") {
		c := Check(strings.TrimSpace(name))
		if !c.known() {
			return nil
		}
		out = append(out, c)
	}
	return out
}

// placeOf splits path:line.
func placeOf(s string) (path string, line int) {
	if i := strings.LastIndexByte(s, ':'); i > 0 {
		if n, err := strconv.Atoi(s[i+1:]); err == nil && n > 0 {
			return s[:i], n
		}
	}
	return s, 0
}

// history reads the table of iterations.
func (in *interpreter) history() []Round {
	var out []Round
	for _, p := range in.section("Iteration History") {
		if p.kind != row || len(p.cells) < 4 {
			continue
		}
		n, err := strconv.Atoi(p.cells[0])
		if err != nil {
			continue // the header
		}
		r := Round{Iteration: n, Fix: p.cells[3]}
		r.Resolved, _ = strconv.Atoi(p.cells[2])
		for entry := range strings.SplitSeq(p.cells[1], ", ") {
			name, count, _ := strings.Cut(entry, ": ")
			if k, err := strconv.Atoi(count); err == nil && Check(name).known() {
				r.Failing = append(r.Failing, CheckCount{Check(name), k})
			}
		}
		out = append(out, r)
	}
	return out
}
