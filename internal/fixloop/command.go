package fixloop

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/agent-airlock/airlock/internal/text"
)

// CommandWord begins a command in a comment.
const CommandWord = "/airlock"

// ParseCommand reads the decision in the first nonblank line of a comment, such as
// "/airlock extend 3". found reports whether the line is addressed to Airlock; the error is that of
// an invalid command.
func ParseCommand(comment string) (e Event, found bool, err error) {
	first, _, _ := strings.Cut(strings.TrimLeft(comment, " \t\r\n"), "\n")
	words := strings.Fields(first)
	if len(words) == 0 || words[0] != CommandWord {
		return Event{}, false, nil
	}
	help := fmt.Sprintf("write %s followed by fixed, extend (and a number), skip, abort or retry", CommandWord)
	if len(words) < 2 {
		return Event{}, true, fmt.Errorf("the command names no decision: %s", help)
	}
	e = Event{Type: EventDecision, Decision: Decision(words[1])}
	switch e.Decision {
	case DecideExtend:
		if len(words) == 2 {
			return e, true, nil
		}
		if e.N, err = strconv.Atoi(words[2]); err != nil || e.N < 1 || len(words) > 3 {
			return Event{}, true, fmt.Errorf("%q is not a number of iterations: %s", text.Truncate(strings.Join(words[2:], " "), 40), help)
		}
		return e, true, nil
	case DecideFixed, DecideSkip, DecideAbort, DecideRetry:
		if len(words) > 2 {
			return Event{}, true, fmt.Errorf("%s takes no more words: %s", e.Decision, help)
		}
		return e, true, nil
	}
	return Event{}, true, fmt.Errorf("there is no command %q: %s", text.Truncate(words[1], 40), help)
}
