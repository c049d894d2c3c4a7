package doors

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/agent-airlock/airlock/internal/action"
	"github.com/agent-airlock/airlock/internal/apply"
	"github.com/agent-airlock/airlock/internal/intake"
	"github.com/agent-airlock/airlock/internal/safeoutput"
)

// Asking lets an agent ask for one thing at a time and hear at once what becomes of it. Items that
// the gate would accept are appended to a file of lines. Collect and apply judge them again,
// because an answer does not consider what only GitHub knows. The methods of an Asking may be called
// by one goroutine at a time.
type Asking struct {
	gate  *Gate
	lines *action.Lines
	known Rehearsal
	// counts are the items in the lines that Update has shown without an error.
	counts map[safeoutput.Kind]int
}

// Asking returns an Asking of the gate. lines is the file that accepted lines are appended to.
func (g *Gate) Asking(lines *action.Lines, known Rehearsal) *Asking {
	return &Asking{gate: g, lines: lines, known: known, counts: map[safeoutput.Kind]int{}}
}

// Answer is what becomes of what an agent asked for.
type Answer struct {
	Accepted bool            `json:"accepted"`
	Kind     safeoutput.Kind `json:"kind"`
	// Problems are the reasons why it is not accepted: all those of intake or, if it passes intake,
	// one of the owner's rules.
	Problems []Problem `json:"problems,omitempty"`
	// Cleaned lists text that will be made inert or removed. Repaired lists text that is read in
	// another form than it was written in. Ignored lists fields that mean nothing and are left out.
	Cleaned  []intake.Redaction `json:"cleaned,omitempty"`
	Repaired []intake.Repair    `json:"repaired,omitempty"`
	Ignored  []string           `json:"ignored,omitempty"`
	// Notes list what else will differ from what was asked for.
	Notes []string `json:"notes,omitempty"`
	// Remaining is how many more of the kind may be asked for; nil for any number, and for what is
	// not accepted.
	Remaining *int `json:"remaining,omitempty"`
}

// Problem is one reason why something is not accepted.
type Problem struct {
	// Path is the place in the arguments, such as "$.labels[2]"; "$" for all of them.
	Path    string `json:"path"`
	Message string `json:"message"`
	// SchemaPath is the violated keyword's place in the kind's schema, "" where the schema
	// does not contain the rule.
	SchemaPath string `json:"schema_path"`
	// Rule is the owner's rule that refuses it, "" for a rule of every configuration.
	Rule string `json:"rule,omitempty"`
}

// RuleLimit is the Rule of a Problem if no further item of a kind is allowed. The other rules are
// those of packages policy and apply.
const RuleLimit = "max"

// Ask judges what an agent asks for, and appends it to the file if it is accepted. The
// arguments are a JSON object, the kind's fields without "type". The error is one of the
// file or the workspace, not of what was asked.
func (a *Asking) Ask(ctx context.Context, kind safeoutput.Kind, arguments json.RawMessage) (Answer, error) {
	var answer Answer
	err := a.lines.Update(ctx, func(lines io.Reader, fromStart bool) (line []byte, err error) {
		before, done := maps.Clone(a.counts), false
		defer func() {
			if !done { // the next call gets the same lines again
				a.counts = before
			}
		}()
		answer, line, err = a.judgeAfter(ctx, lines, fromStart, kind, arguments)
		done = err == nil
		return line, err
	})
	return answer, err
}

// judgeAfter counts the items that lines ask for, and judges what an agent asks for after them. The
// line is what is appended to the file, nil if it is not accepted.
func (a *Asking) judgeAfter(ctx context.Context, lines io.Reader, fromStart bool, kind safeoutput.Kind, arguments json.RawMessage) (Answer, []byte, error) {
	if err := a.count(ctx, lines, fromStart); err != nil {
		return Answer{}, nil, err
	}
	line, err := lineOf(kind, arguments)
	if err != nil {
		return refused(kind, Problem{Path: "$", Message: err.Error()}), nil, nil
	}
	answer, err := a.judge(ctx, kind, line)
	if err != nil || !answer.Accepted {
		return answer, nil, err
	}
	return answer, line, nil
}

// count counts the items that the lines in the file ask for. lines are those that it has not counted
// yet; fromStart is set if they are all lines of the file.
func (a *Asking) count(ctx context.Context, lines io.Reader, fromStart bool) error {
	if fromStart {
		clear(a.counts)
	}
	res, err := intake.Collect(ctx, lines, a.intake())
	if err != nil {
		return err
	}
	if res.Input.Document {
		return fmt.Errorf("%s is a document of items, not a file of lines: name another file", a.lines.Path())
	}
	for _, acc := range res.Accepted {
		a.counts[acc.Item().Kind()]++
	}
	return nil
}

// intake returns the settings of intake, where the items so far count towards the limits.
func (a *Asking) intake() intake.Config {
	cfg := a.gate.intake(true)
	cfg.Min, cfg.Counted = nil, a.counts
	return cfg
}

// lineOf returns the line that asks for an item: one line, however the arguments are
// written.
func lineOf(kind safeoutput.Kind, arguments json.RawMessage) ([]byte, error) {
	arguments = bytes.TrimSpace(arguments)
	if len(arguments) == 0 || string(arguments) == "null" {
		arguments = []byte("{}")
	}
	if arguments[0] != '{' {
		return nil, errors.New("the arguments must be an object")
	}
	var named struct{ Type json.RawMessage } // "Type" as well
	if err := json.Unmarshal(arguments, &named); err == nil && named.Type != nil {
		return nil, errors.New("'type' is not an argument, because the tool's name says what is asked for; leave it out")
	}
	line := []byte(`{"type":"` + string(kind) + `"`)
	if rest := bytes.TrimSpace(arguments[1:]); len(rest) > 0 && rest[0] != '}' {
		line = append(line, ',')
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, append(line, arguments[1:]...)); err != nil {
		return nil, fmt.Errorf("the arguments are not JSON: %w", err)
	}
	return compact.Bytes(), nil
}

// judge judges one line by intake and by the owner's rules, without any effect.
func (a *Asking) judge(ctx context.Context, kind safeoutput.Kind, line []byte) (Answer, error) {
	res, err := intake.Collect(ctx, bytes.NewReader(line), a.intake())
	if err != nil {
		return Answer{}, err
	}
	switch {
	case len(res.Rejected) > 0:
		answer := refused(kind)
		for _, v := range res.Rejected[0].Violations {
			answer.Problems = append(answer.Problems, Problem{Path: v.Path, Message: v.Message, SchemaPath: v.SchemaPath})
		}
		return answer, nil
	case len(res.Dropped) > 0:
		return refused(kind, Problem{Path: "$", Rule: RuleLimit, Message: limitReached(res.Dropped[0].Limit)}), nil
	case len(res.Accepted) != 1:
		return refused(kind, Problem{Path: "$", Message: "the arguments must be one object"}), nil
	}
	accepted := res.Accepted[0]
	notes := accepted.Notes()
	answer := Answer{Accepted: true, Kind: kind, Cleaned: notes.Redactions, Repaired: notes.Repairs, Ignored: notes.UnknownFields, Remaining: a.remaining(kind)}
	if len(notes.DroppedLabels) > 0 {
		answer.Notes = append(answer.Notes, fmt.Sprintf("more labels than the limit of %d: %q will be left out", notes.LabelLimit, notes.DroppedLabels))
	}
	refusals, further, err := a.gate.ownersRefusals(ctx, res, a.known)
	if err != nil {
		return Answer{}, err
	}
	if len(refusals) > 0 {
		return refused(kind, refusals[0].Problem), nil
	}
	for _, said := range apply.LeftOut(notes.UnknownFields, notes.DroppedLabels) { // the answer has it already, in its own words
		further = slices.DeleteFunc(further, func(n string) bool { return n == a.gate.OneLine(said) })
	}
	answer.Notes = append(answer.Notes, further...)
	return answer, nil
}

// remaining returns how many more items of a kind may be asked for after one more; nil for
// any number.
func (a *Asking) remaining(kind safeoutput.Kind) *int {
	limit, ok := a.intake().Max[kind]
	if !ok {
		limit = safeoutput.SpecOf(kind).DefaultMax
	}
	if limit < 0 {
		return nil
	}
	return new(max(0, limit-a.counts[kind]-1))
}

func refused(kind safeoutput.Kind, problems ...Problem) Answer {
	return Answer{Kind: kind, Problems: problems}
}

func limitReached(limit int) string {
	if limit == 0 {
		return "none of this kind is allowed; do without it"
	}
	return fmt.Sprintf("at most %d of this kind may be asked for, and as many were already; do without this one", limit)
}
