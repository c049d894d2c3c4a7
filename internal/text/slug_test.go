package text_test

import (
	"strings"
	"testing"

	"github.com/agent-airlock/airlock/internal/text"
)

func TestSlug(t *testing.T) {
	seen := map[string]string{}
	for s, want := range map[string]string{"gate": "gate", "": "", "api / gate": "api---gate-", "api---gate": "api---gate", "Grüße": "Gr--e-", "a\nb": "a-b-",
		strings.Repeat("x", 30) + "1": strings.Repeat("x", 20), strings.Repeat("x", 30) + "2": strings.Repeat("x", 20)} {
		got := text.Slug(s, 20)
		if !strings.HasPrefix(got, want) || strings.Trim(got, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-") != "" || seen[got] != "" {
			t.Errorf("%q becomes %q, as does %q", s, got, seen[got])
		}
		seen[got] = s
	}
}
