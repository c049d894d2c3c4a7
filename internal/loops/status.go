package loops

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/agent-airlock/airlock/internal/engine"
	"github.com/agent-airlock/airlock/internal/fixloop"
)

// Status is where a loop is.
type Status struct {
	Loop
	Driven bool // a process drives it
}

// Status returns where a loop is. One that has ended is not driven.
func (b *Book) Status(ctx context.Context, l Loop) (Status, error) {
	s := Status{Loop: l}
	if l.State.Outcome() != fixloop.Running {
		return s, nil
	}
	var err error
	s.Driven, err = engine.IsRunning(ctx, b.store, OfOne(l.ID))
	return s, err
}

// Statuses is like List, but returns the status of each loop.
func (b *Book) Statuses(ctx context.Context, f Filter) ([]Status, error) {
	list, err := b.List(ctx, f)
	if err != nil {
		return nil, err
	}
	all := make([]Status, len(list))
	for i, l := range list {
		if all[i], err = b.Status(ctx, l); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// Headline describes the loop on one line.
func (s Status) Headline() string { return fixloop.NewLog(s.State, nil, time.Now()).Headline() }

// Text describes the loop to a person: the state first, then the next step.
func (s Status) Text(w io.Writer) error {
	var b strings.Builder
	b.WriteString(s.Headline() + "\n")
	for _, c := range s.State.Checks() {
		fmt.Fprintf(&b, "  %-16s %s", c.Check, c.Status)
		switch {
		case c.Like != "":
			b.WriteString(": like " + string(c.Like))
		case c.Error != "":
			b.WriteString(": " + c.Error)
		case c.Count > 0:
			fmt.Fprintf(&b, ": %d failing", c.Count)
		}
		b.WriteString("\n")
	}
	b.WriteString(s.NextStep() + "\n")
	_, err := io.WriteString(w, b.String())
	return err
}

// NextStep describes whose turn it is, until when, and what a person can do.
func (s Status) NextStep() string {
	work := s.State.Work()
	issue := strconv.Itoa(s.State.Loop().Issue)
	deadline := ""
	if due := s.State.Deadline(); !due.IsZero() {
		deadline = " until " + due.Local().Format("15:04:05")
	}
	goesOn := "'airlock loop start --issue " + issue + "' goes on"
	driver := "nobody drives it: " + goesOn
	if s.Driven {
		goesOn, driver = "a process drives it", "a process drives it"
	}
	switch work.Kind {
	case fixloop.WorkDecide:
		var words []string
		for _, d := range s.State.Decisions() {
			words = append(words, string(d))
		}
		decide := "'airlock loop decide --issue " + issue + " " + words[0] + "', or " + strings.Join(words[1:], ", ")
		return s.State.Why() + " A person decides: " + decide + "; then " + goesOn
	case fixloop.WorkNone:
		return "It has ended: 'airlock loop log --issue " + issue + "' shows how."
	case fixloop.WorkFix:
		return "The fixer mends " + work.Request.ID + deadline + "; " + driver
	case fixloop.WorkAcceptance:
		return "The acceptance criteria are verified" + deadline + "; " + driver
	}
	return "The checks run" + deadline + "; " + driver
}
