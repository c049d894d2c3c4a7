package intake

import (
	"context"
	"strings"
	"testing"
)

// TestSources asserts that each outcome keeps as many bytes of its record as the
// configuration says, which may be none.
func TestSources(t *testing.T) {
	lines := `{"type": "noop", "message": "a"}` + "\n" + `{"type": "noop", "message": "b"}` + "\n" + `{'type': 'noop'}` + "\n" + `[{"type": "create-issue"}, {"type": "noop", "message": "c"}]` + "\n"
	for _, c := range []struct {
		keep int
		want []string // of the accepted records, then of the others
	}{
		{0, []string{"", "", "", "", ""}},
		{9, []string{`{"type": `, `{"type": `, `{"type": `, `{'type': `, `{"type": `}},
		{1000, []string{`{"type": "noop", "message": "a"}`, `{"type": "noop", "message": "b"}`, `{"type": "noop", "message": "c"}`, `{'type': 'noop'}`, `{"type": "create-issue"}`}},
	} {
		res, err := Collect(context.Background(), strings.NewReader(lines), Config{KeepSource: c.keep})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, a := range res.Accepted {
			got = append(got, a.Source())
		}
		for _, d := range res.Dropped {
			got = append(got, d.Source)
		}
		for _, r := range res.Rejected {
			got = append(got, r.Source)
		}
		if strings.Join(got, "\n") != strings.Join(c.want, "\n") {
			t.Errorf("keeping %d: %q, want %q", c.keep, got, c.want)
		}
	}
}
