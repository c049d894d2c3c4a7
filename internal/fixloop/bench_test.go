package fixloop

import (
	"fmt"
	"testing"
	"time"
)

// BenchmarkStep plays a loop of two iterations with 50 failures: 7 steps.
func BenchmarkStep(b *testing.B) {
	var list []Failure
	for i := range 50 {
		list = append(list, Failure{Tool: "lint", Rule: "unused", Path: fmt.Sprintf("pkg/file%d.go", i), Line: i + 1, Message: fmt.Sprintf("variable number %d is declared and not used", i), Fingerprint: fmt.Sprintf("%032x", i)})
	}
	first, err := New(Loop{Repository: "octo/shop", Issue: 7, Ordinal: 1})
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	steps := 0
	for b.Loop() {
		s, now := first, began
		send := func(e Event) {
			now = now.Add(time.Second)
			next, _, _, err := Step(s, e, now)
			if err != nil {
				b.Fatal(err)
			}
			s = next
			steps++
		}
		results := func(failing Check) {
			e := Event{Type: EventResult, Op: s.doc.Op.N}
			for _, c := range s.doc.Op.Checks {
				r := Result{Check: c, Status: ResultPass}
				if c == failing {
					r.Status, r.Failures = ResultFail, list
				}
				e.Results = append(e.Results, r)
			}
			send(e)
		}
		send(Event{Type: EventStart})
		results(Linter)
		send(Event{Type: EventFixStarted, Iteration: 1})
		send(Event{Type: EventTimer})
		send(Event{Type: EventFixDone, Iteration: 1, Fixes: []string{"removed"}})
		results("")
		results("")
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(steps), "ns/step")
}
