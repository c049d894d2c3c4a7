package fixloop

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// Limits bound a loop. A member that is zero means its default, the spec's.
type Limits struct {
	Iterations   int           // 5: a failure in the last one escalates
	Validation   time.Duration // 30 minutes for the first validation
	Fix          time.Duration // 30 minutes for a fix
	Revalidation time.Duration // 30 minutes for each later validation
	Grace        time.Duration // 5 minutes from a reminder to the time-out
	// Round is 30 minutes of validating in one iteration. It is judged when a validation
	// ends with failures; waiting for a fix does not count.
	Round  time.Duration
	Stuck  int // 3 iterations in which nothing is resolved
	Extend int // 3 more iterations, if a decision names no number
}

// maxIterations is how far a loop can be extended, and the largest number that a limit can be.
const maxIterations = 1000

// maxTime is the longest that a time limit can be.
const maxTime = 365 * 24 * time.Hour

// limit is one of the limits.
type limit[T int | time.Duration] struct {
	name  string
	value *T // the member of a Limits
	spec  T  // the default
}

// counts returns the limits that are numbers.
func (l *Limits) counts() []limit[int] {
	return []limit[int]{{"iterations", &l.Iterations, 5}, {"stuck", &l.Stuck, 3}, {"extend", &l.Extend, 3}}
}

// times returns the limits of time.
func (l *Limits) times() []limit[time.Duration] {
	return []limit[time.Duration]{
		{"validation", &l.Validation, 30 * time.Minute}, {"fix", &l.Fix, 30 * time.Minute}, {"revalidation", &l.Revalidation, 30 * time.Minute},
		{"grace", &l.Grace, 5 * time.Minute}, {"round", &l.Round, 30 * time.Minute},
	}
}

// MarshalJSON writes durations as time.ParseDuration reads them.
func (l Limits) MarshalJSON() ([]byte, error) {
	d := map[string]any{}
	for _, c := range l.counts() {
		d[c.name] = *c.value
	}
	for _, t := range l.times() {
		d[t.name] = t.value.String()
	}
	return json.Marshal(d)
}

// UnmarshalJSON reads what MarshalJSON writes.
func (l *Limits) UnmarshalJSON(raw []byte) error {
	var d map[string]any
	if err := json.Unmarshal(raw, &d); err != nil {
		return err
	}
	*l = Limits{}
	for name, value := range d {
		if _, err := l.set(name, fmt.Sprint(value)); err != nil {
			return err
		}
	}
	return nil
}

// ParseLimits reads limits such as "iterations=3 fix=45m": names and values in any order, with
// spaces or commas between them. Those that are not named are zero, which means their defaults.
func ParseLimits(text string) (Limits, error) {
	var l Limits
	complete := l.withDefaults()
	given := map[string]bool{}
	for _, pair := range strings.FieldsFunc(text, func(r rune) bool { return r == ',' || unicode.IsSpace(r) }) {
		name, value, _ := strings.Cut(pair, "=")
		known, err := l.set(name, value)
		_, _ = complete.set(name, value) // a zero of l means the default, but one of complete is an error
		switch {
		case given[name]:
			return Limits{}, fmt.Errorf("limit %q is given twice", name)
		case !known:
			return Limits{}, fmt.Errorf("there is no limit %q; the limits are iterations, stuck, extend, validation, fix, revalidation, grace and round", name)
		case err != nil:
			return Limits{}, fmt.Errorf("limit %q: %q is not a number, or a time such as 45m", name, value)
		}
		given[name] = true
	}
	return l, complete.check()
}

// set sets the limit with a name, and reports whether there is one.
func (l *Limits) set(name, value string) (known bool, err error) {
	for _, c := range l.counts() {
		if c.name == name {
			*c.value, err = strconv.Atoi(value)
			return true, err
		}
	}
	for _, d := range l.times() {
		if d.name == name {
			*d.value, err = time.ParseDuration(value)
			return true, err
		}
	}
	return false, nil
}

// withDefaults returns the limits, with the spec's limit in place of each one that is zero.
func (l Limits) withDefaults() Limits {
	for _, c := range l.counts() {
		*c.value = cmp.Or(*c.value, c.spec)
	}
	for _, d := range l.times() {
		*d.value = cmp.Or(*d.value, d.spec)
	}
	return l
}

// check returns an error about the first limit that makes no sense.
func (l *Limits) check() error {
	for _, c := range l.counts() {
		least := 1
		if c.name == "stuck" { // one iteration cannot show that nothing is resolved
			least = 2
		}
		if *c.value < least || *c.value > maxIterations {
			return fmt.Errorf("limit %q is %d; use a number from %d to %d", c.name, *c.value, least, maxIterations)
		}
	}
	for _, d := range l.times() {
		if *d.value < time.Second || *d.value > maxTime {
			return fmt.Errorf("limit %q is %s; use a time from 1s to %s", d.name, *d.value, maxTime)
		}
	}
	return nil
}
