package checkreport

import (
	"slices"

	"github.com/agent-airlock/airlock/internal/phase"
)

// told is a finding that is told at its lines, once.
type told struct {
	Finding
	name  string        // by which its comment is found again
	also  []phase.Check // other checks that say the same of the same line
	lines []int         // of a comment that tells of several lines: all of them
}

// distinct returns the findings that count, in their order. What several checks say
// in the same words of the same line is there once, where it is most severe: a file
// that does not compile fails the linter, the build and the tests alike.
func (d *Document) distinct() []told {
	type words struct {
		path, message string
		line          int
	}
	var out []told
	first := map[words]int{}
	names := d.names()
	for at, f := range d.Findings {
		if !f.Gating {
			continue
		}
		key := words{f.Path, f.Message, f.StartLine}
		i, known := first[key]
		switch {
		case f.Path == "" || f.StartLine == 0 || !known:
			first[key] = len(out)
			out = append(out, told{Finding: f, name: names[at]})
		case out[i].Check == f.Check: // the same word at another column
			out = append(out, told{Finding: f, name: names[at]})
		case !slices.Contains(out[i].also, f.Check):
			out[i].also = append(out[i].also, f.Check)
		}
	}
	return out
}
