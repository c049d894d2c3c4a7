package apply

import (
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestBisectFindsExactlyTheBadOnes(t *testing.T) {
	refusal := errors.New("refused")
	for _, tt := range []struct {
		name string
		n    int
		bad  []int
		most int // tries
	}{
		{"one alone", 1, []int{0}, 0},
		{"one of two", 2, []int{1}, 2},
		{"one of thirty", 30, []int{17}, 12},
		{"two of thirty", 30, []int{0, 29}, 20},
		{"all of five", 5, []int{0, 1, 2, 3, 4}, 8},
	} {
		t.Run(tt.name, func(t *testing.T) {
			items := make([]int, tt.n)
			for i := range items {
				items[i] = i
			}
			var done []int
			tries := 0
			bad, err := bisect(items, func(some []int) error {
				tries++
				if slices.ContainsFunc(some, func(i int) bool { return slices.Contains(tt.bad, i) }) {
					return refusal
				}
				done = append(done, some...)
				return nil
			}, func(err error) bool { return err == refusal })
			if err != nil {
				t.Fatalf("ended early: %v", err)
			}
			if diff := cmp.Diff(tt.bad, bad); diff != "" {
				t.Errorf("bad (-want +got):\n%s", diff)
			}
			want := slices.DeleteFunc(items, func(i int) bool { return slices.Contains(tt.bad, i) })
			if !slices.Equal(want, done) {
				t.Errorf("done %v, want %v in order", done, want)
			}
			if tries > tt.most {
				t.Errorf("%d tries, want at most %d", tries, tt.most)
			}
		})
	}
}

func TestBisectStopsAtAnotherError(t *testing.T) {
	refusal, broken := errors.New("refused"), errors.New("broken")
	tries := 0
	bad, err := bisect([]int{0, 1, 2, 3}, func(some []int) error {
		tries++
		if tries == 1 {
			return refusal
		}
		if tries == 2 { // the item 0
			return refusal
		}
		return broken
	}, func(err error) bool { return err == refusal })
	if err != broken {
		t.Fatalf("error %v", err)
	}
	if diff := cmp.Diff([]int{0}, bad); diff != "" {
		t.Errorf("bad: %s", diff)
	}
	if tries != 3 {
		t.Errorf("%d tries: it went on after the error", tries)
	}
}
