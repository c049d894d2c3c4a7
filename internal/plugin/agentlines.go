package plugin

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/agent-airlock/airlock/internal/crash"
	"github.com/agent-airlock/airlock/internal/jsonrepair"
	"github.com/agent-airlock/airlock/internal/safeoutput"
	"github.com/agent-airlock/airlock/internal/text"
)

// agentLines is a writer for what an agent prints. It finds the safe outputs in that text, frames
// and repairs them as for any agent, and passes them on, one a line. It drops other text.
type agentLines struct {
	*io.PipeWriter
	done chan struct{}
	// problems describe the first maxProblems lines that look like safe outputs but are invalid.
	problems []string
	unlisted int // how many problems there are after those
}

// newAgentLines returns an agentLines that passes on the safe outputs to a writer. Its method end
// must be called.
func newAgentLines(to io.Writer) *agentLines {
	from, w := io.Pipe()
	a := &agentLines{PipeWriter: w, done: make(chan struct{})}
	go func() {
		defer close(a.done)
		if err := crash.Try(func() error { return a.read(safeoutput.NewReader(from), to) }); err != nil {
			a.problem("the rest was not read: %v", err)
		}
		_, _ = io.Copy(io.Discard, from) // otherwise the agent would block
	}()
	return a
}

// end waits until everything is read. It returns the problems and, in one more text, how many are not
// listed.
func (a *agentLines) end() []string {
	_ = a.Close() // it never fails
	<-a.done
	if a.unlisted > 0 {
		return append(a.problems, text.ThereAre(a.unlisted, "more line")+" that could not be read")
	}
	return a.problems
}

func (a *agentLines) read(r *safeoutput.Reader, to io.Writer) error {
	var batch safeoutput.Batch
	for {
		err := r.ReadBatch(&batch)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		for _, l := range batch.Lines {
			if err := a.passOn(l, to); err != nil {
				return err
			}
		}
	}
}

// passOn writes the safe output of a line, if there is one. The error is that of the writer.
func (a *agentLines) passOn(l safeoutput.Line, to io.Writer) error {
	if l.Err != nil {
		a.problem("line %d was not read: %v", l.No, l.Err)
		return nil
	}
	fixed, repairs, err := jsonrepair.Fix(l.Raw)
	var unfixed *jsonrepair.Error
	switch {
	case errors.As(err, &unfixed) && (unfixed.Code == jsonrepair.NoObject || !bytes.HasPrefix(l.Raw, []byte("{"))):
		return nil // prose
	case err != nil:
		a.problem("line %d is not a safe output: %v", l.No, err)
		return nil
	case fixed[0] == '[':
		a.problem("line %d is a list; a safe output is one object a line", l.No)
		return nil
	case fixed[0] != '{':
		return nil
	case slices.ContainsFunc(repairs, func(r jsonrepair.Repair) bool { return r.Kind == jsonrepair.ProseAround }):
		a.problem("line %d was not read: %v", l.No, safeoutput.ErrInText)
		return nil
	}
	var object bytes.Buffer
	if err := json.Compact(&object, fixed); err != nil {
		return err
	}
	object.WriteByte('\n')
	_, err = to.Write(object.Bytes())
	return err
}

// maxProblems bounds the problems that are listed.
const maxProblems = 20

func (a *agentLines) problem(format string, args ...any) {
	if len(a.problems) == maxProblems {
		a.unlisted++
		return
	}
	a.problems = append(a.problems, fmt.Sprintf(format, args...))
}
