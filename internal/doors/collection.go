package doors

import (
	"context"
	"fmt"
	"io"

	"github.com/agent-airlock/airlock/internal/exitcode"
	"github.com/agent-airlock/airlock/internal/intake"
)

// Collection is where a user wants the results of a check of agent output. Errors name its settings
// as the flags of a command line.
type Collection struct {
	Output  string // the checked agent output; "" for standard output
	Report  string // the report; "" for none
	Schemas bool   // as in intake.Documents
}

// maxShown is how many problems a person sees; the report contains all.
const maxShown = 50

// Write lets agent output through intake and writes what the user has asked for. out is standard
// output, and people is the output that a person reads. The error carries its exit code.
func (c Collection) Write(ctx context.Context, g *Gate, in io.Reader, out, people io.Writer) (err error) {
	docs := intake.Documents{Schemas: c.Schemas}
	var files PendingFiles
	defer files.Abort()
	if docs.Output, err = files.Create(c.Output, out); err != nil {
		return exitcode.UsageError(fmt.Errorf("--output: %w", err))
	}
	if docs.Report, err = files.Create(c.Report, nil); err != nil {
		return exitcode.UsageError(fmt.Errorf("--report: %w", err))
	}
	problems, crashed := 0, false
	docs.Each = func(o intake.Outcome) {
		crashed = crashed || o.Rejected != nil && o.Rejected.Crashed()
		if problems >= maxShown { // nobody sees their sentences
			problems += o.Problems()
			return
		}
		for _, e := range o.Errors() {
			if problems++; problems <= maxShown {
				fmt.Fprintln(people, g.OneLine(e))
			}
		}
	}
	counts, err := g.Write(ctx, in, docs, true)
	if err != nil {
		return err
	}
	if err := files.Commit(); err != nil {
		return exitcode.FailedError(err)
	}
	if problems > maxShown {
		fmt.Fprintf(people, "… and %d more; --report lists them all\n", problems-maxShown)
	}
	fmt.Fprintf(people, "%d accepted, %d rejected, %d over a limit\n", counts.Accepted, counts.Rejected, counts.Dropped)
	switch {
	case crashed:
		return &exitcode.Error{Code: exitcode.Failed}
	case problems > 0:
		return exitcode.ErrFindings
	}
	return nil
}
