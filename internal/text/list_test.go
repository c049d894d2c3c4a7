package text_test

import (
	"testing"

	"github.com/agent-airlock/airlock/internal/text"
)

func TestQuotedList(t *testing.T) {
	names := []string{"a", "b\x1b", "c"}
	for limit, want := range map[int]string{3: `"a", "b\x1b", "c"`, 2: `"a", "b\x1b" and 1 more`, 1: `"a" and 2 more`} {
		if got := text.QuotedList(names, limit); got != want {
			t.Errorf("%d: %s, want %s", limit, got, want)
		}
	}
	if got := text.QuotedList(nil, 1); got != "" {
		t.Errorf("no names: %q", got)
	}
}
