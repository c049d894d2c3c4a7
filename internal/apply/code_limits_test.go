//go:build limits

package apply

import (
	"strings"
	"testing"

	"github.com/agent-airlock/airlock/internal/policy"
)

// TestLargestFile asserts that a file beyond Airlock's default limit is denied. If the owner lifts
// that limit, a file up to GitHub's limit is pushed, and a larger file is refused with its name and
// GitHub's limit.
func TestLargestFile(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		limit, size int // limit is in KiB: 0 is the default, -1 none; size is in bytes
		state       string
	}{{0, 65 << 20, "denied(max-patch-size)"}, {-1, 65 << 20, "applied"}, {-1, maxScanned + 1<<17, "failed(unreadable-changes)"}} {
		b := newCodeBench(t)
		b.pull(func(s *policy.ChangeSettings) { s.Files.MaxSizeKB = tt.limit })
		b.write(map[string]string{"large": strings.Repeat("many words\n", tt.size/11+1)})
		r := b.run(aPull)
		want(t, r, tt.state)
		if w := b.srv.Writes(); tt.state != "applied" && len(w) != 0 {
			t.Errorf("writes: %s", operations(w))
		}
		if tt.size > maxScanned && !strings.Contains(r[0].Message, `"large": too large: it has 100.2 MiB, and at most 100 MiB are read`) {
			t.Errorf("%q", r[0].Message)
		}
	}
}

// TestMoreCommitsThanAreKeptApart asserts that all commits are squashed into one if they are more
// than the limit, or denied where the owner wants them as they are.
func TestMoreCommitsThanAreKeptApart(t *testing.T) {
	t.Parallel()
	for _, form := range []string{"workspace", "mailbox"} {
		b := newCodeBench(t)
		b.commits(1001)
		b.handOver(form)
		r := b.run(aPull)
		want(t, r, "applied")
		if n := b.git.Run("rev-list", "--count", "main.."+b.pulls()[0].Pull.Head.Ref); n != "1" {
			t.Errorf("%s: %s commits were pushed", form, n)
		}
		if notes := strings.Join(r[0].Notes, "; "); !strings.Contains(notes, "put together as one") {
			t.Errorf("%s: notes: %q", form, notes)
		}
	}
	b := newCodeBench(t)
	b.pull(func(s *policy.ChangeSettings) { s.Commits = policy.CommitsKeep })
	b.commits(1001)
	r := b.run(aPull)
	want(t, r, "denied(commits)")
	if r[0].File == "" {
		t.Errorf("no patch is kept: %q", r[0].Notes)
	}
}
