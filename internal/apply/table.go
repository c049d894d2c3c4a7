package apply

import (
	"fmt"
	"strconv"
	"strings"
)

// Table returns the plan as a table for people: plain text, which whoever shows
// it escapes.
func (p *Plan) Table() (header []string, rows [][]string) {
	header = []string{"#", "kind", "what", "lines", "requests", "permissions", "notes"}
	for _, op := range p.Operations {
		reqs := make([]string, len(op.Requests))
		for i, r := range op.Requests {
			reqs[i] = r.Method + " " + r.Path
		}
		rows = append(rows, []string{strconv.Itoa(op.Number), string(op.Kind), op.Summary, op.lines(),
			strings.Join(reqs, "\n"), permissionWords(op.Permissions), strings.Join(op.remarks(), "\n")})
	}
	return header, rows
}

// lines names the lines of the agent's file that an operation comes from.
func (op *Operation) lines() string {
	var words []string
	for _, m := range op.Items {
		if m.Line > 0 {
			words = append(words, strconv.Itoa(m.Line))
		}
	}
	return strings.Join(words, ", ")
}

// remarks are the notes and the expected outcomes that are not "apply".
func (op *Operation) remarks() []string {
	var out []string
	if op.Staged {
		out = append(out, "staged: nothing is written")
	}
	for _, m := range op.Items {
		if m.Outcome != outcomeApply {
			out = append(out, fmt.Sprintf("%s: %s", m.Outcome, m.Reason))
		}
	}
	return append(out, op.Notes...)
}
