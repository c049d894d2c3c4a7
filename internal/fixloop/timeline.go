package fixloop

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/agent-airlock/airlock/internal/text"
)

// marks are how the timeline draws each status.
var marks = map[Status]rune{
	Pending: ' ', InProgress: '░', ReChecking: '░', Fail: '✗', AwaitingFix: '·', Fixing: '▓', Pass: '─', Escalated: '!', Completed: '─',
}

// Timeline writes the log for a terminal: the bars of lanes, then the messages, without the changes
// of status. width is the terminal's, in characters; bars are 20 to 100 of them.
func (l Log) Timeline(w io.Writer, width int, now time.Time) error {
	var b strings.Builder
	b.WriteString(l.Headline() + "\n\n")
	cells := min(max(width-len(SecurityReview)-2, 20), 100)
	for _, name := range l.lanes() {
		fmt.Fprintf(&b, "%-*s  %s\n", len(SecurityReview), name, l.bar(name, cells, now))
	}
	fmt.Fprintf(&b, "%-*s  0%*s\n\n", len(SecurityReview), "", cells-1, l.Duration.clock())
	b.WriteString("░ checking  · awaiting a fix  ▓ fixing  ✗ failed  ! escalated  ─ passed\n\n")
	for _, m := range l.Messages {
		if m.Counts() {
			at := seconds(m.Time.Sub(l.Started.Truncate(time.Second))).clock()
			fmt.Fprintf(&b, "%s  %d/%d  %s → %s: %s\n               %s  %s\n", at, m.Iteration, m.Max, shortName(m.From), shortName(m.To), m.kind(), m.ID, text.OneLine(m.Summary))
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// lanes returns the names of the timeline's bars: the loop, and the checks that failed or were
// escalated, in the order in which they run.
func (l Log) lanes() []string {
	eventful := map[string]bool{}
	for _, m := range l.Messages {
		if m.Type == StatusChange && (m.New == Fail || m.New == Escalated) {
			eventful[m.Entity] = true
		}
	}
	lanes := []string{loopEntity}
	for _, c := range allChecks() {
		if eventful[string(c)] {
			lanes = append(lanes, string(c))
		}
	}
	return lanes
}

// bar draws the status of one lane over time. Of several statuses within one cell, the last one is
// drawn; but a failure keeps its cell, except the last cell, which shows how it ended.
func (l Log) bar(lane string, cells int, now time.Time) string {
	total := l.end(now).Sub(l.Started)
	if total <= 0 {
		total = time.Second
	}
	row := []rune(strings.Repeat(" ", cells))
	cellOf := func(t time.Time) int {
		return min(max(int(int64(t.Sub(l.Started))*int64(cells)/int64(total)), 0), cells-1)
	}
	for _, m := range l.Messages {
		if m.Type != StatusChange || m.Entity != lane {
			continue
		}
		begin := cellOf(m.Time)
		if row[begin] == marks[Fail] { // a failure lasts only a moment, and must stay visible
			begin = min(begin+1, cells-1)
		}
		for i := begin; i < cells; i++ {
			row[i] = marks[m.New]
		}
	}
	return strings.TrimRight(string(row), " ")
}

// shortName returns a participant as a terminal shows it.
func shortName(who string) string {
	switch who {
	case Orchestrator:
		return "orchestrator"
	case Fixer:
		return "fixer"
	}
	return strings.ReplaceAll(strings.ToLower(who), "@", "")
}
