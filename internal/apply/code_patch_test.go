package apply

import (
	"bytes"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/agent-airlock/airlock/internal/githubtest"
	"github.com/agent-airlock/airlock/internal/policy"
	"github.com/agent-airlock/airlock/internal/shorttest"
)

// TestDeniedChangesKeepTheirPatch asserts that, whatever keeps changes from being pushed, a patch
// of them is kept. git am applies it, and the commits that result have no secret in any file,
// name or message.
func TestDeniedChangesKeepTheirPatch(t *testing.T) {
	t.Parallel()
	const known = "correct-horse-battery"
	const withLittle = 6 // number of cases, from the first one, with little data
	noise := sync.OnceValue(func() []byte {
		data := make([]byte, 66<<20)
		_, _ = rand.NewChaCha8([32]byte{}).Read(data)
		return data
	})
	cases := []struct {
		name, state string
		make        func(b *codeBench)
		lacks       bool // the patch lacks the content of the large file
	}{
		{"text", "denied(secret)", func(b *codeBench) { b.write(map[string]string{"x.txt": "a\nkey " + known + "\nb\n"}) }, false},
		{"binary", "denied(secret)", func(b *codeBench) { b.write(map[string]string{"x.bin": "\x00\x01" + known + "\x00"}) }, false},
		{"CRLF", "denied(secret)", func(b *codeBench) { b.write(map[string]string{"x.txt": "a\r\nkey " + known + "\r\n"}) }, false},
		{"message", "denied(secret)", func(b *codeBench) { b.write(map[string]string{"x": "1"}).commit("Add " + known) }, false},
		{"conflict", "failed(merge-conflict)", func(b *codeBench) {
			b.write(map[string]string{"docs/a.md": "mine\n", "x.bin": "\x00" + known}).commit("Add " + known)
			b.write(map[string]string{"y": "2\n"}).commit("More")
			b.git.Commit("main", map[string]string{"docs/a.md": "theirs\n"}, "Elsewhere")
		}, false},
		{"rule", "denied(protected-files)", func(b *codeBench) { b.write(map[string]string{".github/x.yml": "x\n"}) }, false},
		{"large", "denied(max-patch-size)", func(b *codeBench) { b.write(map[string]string{"x": strings.Repeat("many words\n", 4<<20)}) }, false},
		{"added and removed", "denied(max-patch-size)", func(b *codeBench) {
			b.pull(func(s *policy.ChangeSettings) { s.Commits = policy.CommitsKeep })
			b.write(map[string]string{"x": string(noise())}).commit("One")
			_ = os.Remove(filepath.Join(b.dir, "x"))
			b.commit("Two")
		}, false},
		{"too large for a patch", "denied(max-patch-size)", func(b *codeBench) { b.write(map[string]string{"x": string(noise())}) }, true},
	}
	if !shorttest.AtLimits() {
		cases = cases[:withLittle]
	}
	for _, tt := range cases {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			b := newCodeBench(t)
			b.write(map[string]string{"docs/kept.md": "the work\n"})
			tt.make(b)
			r := b.run(aPull)
			want(t, r, tt.state)
			patch := b.files[filepath.Base(r[0].File)]
			if len(patch) == 0 {
				t.Fatalf("no patch is kept: %q", r[0].Notes)
			}
			dir := filepath.Join(t.TempDir(), "reader")
			clone(t, b.git.Dir(), dir, b.base)
			cmd := exec.Command("git", "am", "--3way", "-q")
			cmd.Dir, cmd.Stdin = dir, bytes.NewReader(patch)
			cmd.Env = append(os.Environ(), "GIT_COMMITTER_NAME=R", "GIT_COMMITTER_EMAIL=r@example.com", "GIT_CONFIG_GLOBAL=/dev/null")
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("git am: %v: %s\n%.2000s", err, out, patch)
			}
			if got, err := os.ReadFile(filepath.Join(dir, "docs", "kept.md")); string(got) != "the work\n" {
				t.Errorf("kept.md is %q, %v", got, err)
			}
			if shown := sh(t, dir, "log", "-p", "--text", "--format=%an %ae %B", b.base+".."); strings.Contains(shown, known) {
				t.Errorf("the secret is in the patch: %.3000s", shown)
			}
			if notes := strings.Join(r[0].Notes, "; "); strings.Contains(notes, "lacks the contents of large files: \"x\"") != tt.lacks {
				t.Errorf("notes: %q", notes)
			}
		})
	}
}

// TestPatchOfAFailedPush asserts that changes whose push fails are kept as a patch.
func TestPatchOfAFailedPush(t *testing.T) {
	t.Parallel()
	b := newCodeBench(t)
	b.write(map[string]string{"docs/kept.md": "the work\n"})
	b.srv.SetFault(always("git-http/receive-pack", githubtest.Fault{Status: 403}))
	r := b.run(aPull)
	if r[0].State != Failed || !strings.Contains(string(b.files[filepath.Base(r[0].File)]), "+the work") {
		t.Errorf("%s, %q: %q", states(r), r[0].Message, r[0].Notes)
	}
}
