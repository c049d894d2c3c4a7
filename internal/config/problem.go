package config

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/agent-airlock/airlock/internal/text"
)

// Problem is what is wrong, or has no effect, at a place of a configuration.
type Problem struct {
	// Source names the configuration: a file, an input, an environment variable.
	Source string
	// Line and Column count from 1; Column counts characters. 0 means unknown.
	Line, Column int
	// Message is one line: what is wrong and what to do about it.
	Message string
}

// String returns "source:line:column: message".
func (p Problem) String() string {
	switch {
	case p.Line == 0:
		return fmt.Sprintf("%s: %s", p.Source, p.Message)
	case p.Column == 0:
		return fmt.Sprintf("%s:%d: %s", p.Source, p.Line, p.Message)
	}
	return fmt.Sprintf("%s:%d:%d: %s", p.Source, p.Line, p.Column, p.Message)
}

// Problems are the problems of a configuration, by place. It is the type of the errors of Load,
// Parse, ParseSettings and CheckInputs.
type Problems []Problem

// Error returns one line for each problem.
func (p Problems) Error() string {
	lines := make([]string, len(p))
	for i, one := range p {
		lines[i] = one.String()
	}
	return strings.Join(lines, "\n")
}

// maxProblems is how many problems are listed at most.
const maxProblems = 50

// err returns the problems sorted by place, or nil when there are none. If there are more than
// maxProblems, the last entry says how many are left out.
func (p Problems) err() error {
	if len(p) == 0 {
		return nil
	}
	p.sort()
	if more := len(p) - maxProblems; more > 0 {
		p = append(p[:maxProblems:maxProblems], Problem{Source: p[0].Source, Message: "and " + text.Count(more, "more problem")})
	}
	return p
}

func (p Problems) sort() {
	slices.SortStableFunc(p, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
}

// oneProblem returns an error with a single problem.
func oneProblem(source string, line, column int, format string, args ...any) error {
	return Problems{problem(source, line, column, format, args...)}
}

// problem makes a Problem whose message is one line and safe on a terminal.
func problem(source string, line, column int, format string, args ...any) Problem {
	message := strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return '?'
		}
		return r
	}, fmt.Sprintf(format, args...))
	return Problem{source, line, column, message}
}
