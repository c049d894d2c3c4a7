package text_test

import (
	"strings"
	"testing"

	"github.com/agent-airlock/airlock/internal/text"
)

// TestSlug asserts how each slug begins, that it has only the characters that Slug promises, and
// that no two texts share one.
func TestSlug(t *testing.T) {
	seen := map[string]string{}
	for s, prefix := range map[string]string{"gate": "gate", "": "", "api / gate": "api---gate-", "api---gate": "api---gate", "Grüße": "Gr--e-", "a\nb": "a-b-",
		strings.Repeat("x", 30) + "1": strings.Repeat("x", 20), strings.Repeat("x", 30) + "2": strings.Repeat("x", 20), strings.Repeat("x", 20) + "-": strings.Repeat("x", 20) + "--"} {
		got := text.Slug(s, 20)
		if !strings.HasPrefix(got, prefix) || strings.Trim(got, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-") != "" {
			t.Errorf("Slug(%q) = %q, want one that begins with %q", s, got, prefix)
		}
		if other, ok := seen[got]; ok {
			t.Errorf("%q and %q both become %q", other, s, got)
		}
		seen[got] = s
	}
}
