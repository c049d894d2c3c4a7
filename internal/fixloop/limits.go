package fixloop

import (
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

// maxIterations is how far a loop can be extended.
const maxIterations = 1000

// maxTime is the longest that a time limit can be.
const maxTime = 365 * 24 * time.Hour

// limitsDocument is the JSON of Limits, with durations such as "30m0s".
type limitsDocument struct {
	Iterations   int    `json:"iterations"`
	Validation   string `json:"validation"`
	Fix          string `json:"fix"`
	Revalidation string `json:"revalidation"`
	Grace        string `json:"grace"`
	Round        string `json:"round"`
	Stuck        int    `json:"stuck"`
	Extend       int    `json:"extend"`
}

func (l *Limits) durations() []*time.Duration {
	return []*time.Duration{&l.Validation, &l.Fix, &l.Revalidation, &l.Grace, &l.Round}
}

func (d *limitsDocument) durations() []*string {
	return []*string{&d.Validation, &d.Fix, &d.Revalidation, &d.Grace, &d.Round}
}

// MarshalJSON writes durations as time.ParseDuration reads them.
func (l Limits) MarshalJSON() ([]byte, error) {
	d := limitsDocument{Iterations: l.Iterations, Stuck: l.Stuck, Extend: l.Extend}
	for i, to := range d.durations() {
		*to = l.durations()[i].String()
	}
	return json.Marshal(d)
}

// UnmarshalJSON reads what MarshalJSON writes.
func (l *Limits) UnmarshalJSON(raw []byte) error {
	var d limitsDocument
	if err := json.Unmarshal(raw, &d); err != nil {
		return err
	}
	*l = Limits{Iterations: d.Iterations, Stuck: d.Stuck, Extend: d.Extend}
	for i, from := range d.durations() {
		if *from == "" {
			continue
		}
		v, err := time.ParseDuration(*from)
		if err != nil {
			return err
		}
		*l.durations()[i] = v
	}
	return nil
}

// ParseLimits reads limits such as "iterations=3 fix=45m": names and values in any order, with
// spaces or commas between them. Those that are not named have their defaults.
func ParseLimits(text string) (Limits, error) {
	var l Limits
	counts := map[string]*int{"iterations": &l.Iterations, "stuck": &l.Stuck, "extend": &l.Extend}
	times := map[string]*time.Duration{"validation": &l.Validation, "fix": &l.Fix, "revalidation": &l.Revalidation, "grace": &l.Grace, "round": &l.Round}
	for _, pair := range strings.FieldsFunc(text, func(r rune) bool { return r == ',' || unicode.IsSpace(r) }) {
		name, value, _ := strings.Cut(pair, "=")
		var err error
		switch {
		case counts[name] != nil:
			*counts[name], err = strconv.Atoi(value)
		case times[name] != nil:
			*times[name], err = time.ParseDuration(value)
		default:
			return Limits{}, fmt.Errorf("there is no limit %q; the limits are iterations, stuck, extend, validation, fix, revalidation, grace and round", name)
		}
		if err != nil {
			return Limits{}, fmt.Errorf("limit %q: %q is not a number, or a time such as 45m", name, value)
		}
	}
	complete := l.withDefaults()
	return l, complete.check()
}

// withDefaults returns the limits with the spec's for those that are zero.
func (l Limits) withDefaults() Limits {
	spec := Limits{
		Iterations: 5, Validation: 30 * time.Minute, Fix: 30 * time.Minute, Revalidation: 30 * time.Minute,
		Grace: 5 * time.Minute, Round: 30 * time.Minute, Stuck: 3, Extend: 3,
	}
	for i, v := range []*int{&l.Iterations, &l.Stuck, &l.Extend} {
		if *v == 0 {
			*v = *[]*int{&spec.Iterations, &spec.Stuck, &spec.Extend}[i]
		}
	}
	for i, v := range l.durations() {
		if *v == 0 {
			*v = *spec.durations()[i]
		}
	}
	return l
}

// check returns an error about the first limit that makes no sense.
func (l *Limits) check() error {
	for _, c := range []struct {
		name  string
		value int
		least int
	}{{"iterations", l.Iterations, 1}, {"stuck", l.Stuck, 2}, {"extend", l.Extend, 1}} {
		if c.value < c.least || c.value > maxIterations {
			return fmt.Errorf("limit %q is %d; use a number from %d to %d", c.name, c.value, c.least, maxIterations)
		}
	}
	for i, name := range []string{"validation", "fix", "revalidation", "grace", "round"} {
		if v := *l.durations()[i]; v < time.Second || v > maxTime {
			return fmt.Errorf("limit %q is %s; use a time from 1s to %s", name, v, maxTime)
		}
	}
	return nil
}
