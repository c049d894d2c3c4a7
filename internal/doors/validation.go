package doors

import (
	"context"
	"fmt"
	"io"

	"github.com/agent-airlock/airlock/internal/intake"
)

// Validation is what is wrong with agent output, in its documented JSON form.
type Validation struct {
	Version  int           `json:"version"`
	Valid    bool          `json:"valid"`
	Accepted int           `json:"accepted"` // lines without a problem
	Problems []LineProblem `json:"problems"`

	collected intake.Result
}

// Validate passes agent output through intake, and applies the owner's rules that need no GitHub.
// Its errors carry their exit code, except for those about the workspace.
func (g *Gate) Validate(ctx context.Context, in io.Reader, docs intake.Documents, known Rehearsal) (Validation, error) {
	v := Validation{Version: 1}
	var err error
	if v.collected, err = g.CollectAndWrite(ctx, in, docs, true); err != nil {
		return v, err
	}
	if v.Problems, err = g.problems(ctx, v.collected, known); err != nil {
		return v, err
	}
	v.Valid = len(v.Problems) == 0
	bad := map[int]bool{}
	for _, p := range v.Problems {
		bad[p.Line] = true
	}
	for _, a := range v.collected.Accepted {
		if !bad[a.Line()] {
			v.Accepted++
		}
	}
	return v, nil
}

// Counts returns how many lines ended in which way, for people.
func (v Validation) Counts() string {
	return fmt.Sprintf("%d accepted, %d rejected, %d over a limit, %d refused by the owner's rules",
		v.Accepted, len(v.collected.Rejected), len(v.collected.Dropped), len(v.collected.Accepted)-v.Accepted)
}
