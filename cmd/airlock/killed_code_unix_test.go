//go:build unix

package main_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const codePolicy = `
create-pull-request:
push-to-branch:
create-issue:
`

const codeLines = `{"type":"push-to-branch","message":"Add a page"}
{"type":"create-pull-request","title":"Add a page","body":"It was missing."}
{"type":"create-issue","title":"Told","body":"A page is there."}
`

// TestKilledWithCode kills the program at random moments while it pushes commits
// and opens a pull request, and runs it again. What git does in that moment may end
// after the program, as it may on a runner.
func TestKilledWithCode(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{"lines.ndjson": codeLines, "policy.yml": codePolicy} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	start := func(t *testing.T) (h hosted, env, args []string) {
		h = newHosted(t)
		workspace := h.checkout(t, "changes")
		h.write(t, workspace, "docs/new.md", "New.\n")
		return h, h.env(t), []string{"apply", "--input", "lines.ndjson", "--config", "policy.yml", "--pace=0s", "--dir", workspace}
	}
	calm, env, args := start(t)
	if res := run(t, dir, env, "", args...); res.code != 0 {
		t.Fatalf("without a kill it ended with %d:\n%s", res.code, res.stderr)
	}
	wanted, requests := calm.outcome(), len(calm.server.Requests())
	for seed := range uint64(8) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(seed, 11))
			h, env, args := start(t)
			runKilled(t, h.server, dir, env, 1+r.IntN(requests), r.IntN(3), args)
			h.server.SetFault(nil)
			// Whether a later attempt waits for GitHub's lists is tested elsewhere.
			if res := run(t, dir, env, "", args...); res.code != 0 {
				t.Errorf("the second run ended with %d:\n%s", res.code, res.stderr)
			}
			if diff := cmp.Diff(wanted, h.outcome()); diff != "" {
				t.Errorf("the repository (-not killed +killed):\n%s", diff)
			}
		})
	}
}

// outcome is what the items led to: the branches with their messages and files, and
// all texts. Ids of commits and names of branches follow from the run and are not
// compared.
func (h hosted) outcome() []string {
	out := texts(h.server.State())
	for _, branch := range strings.Fields(h.git.Run("for-each-ref", "--format=%(refname:lstrip=2)", "refs/heads")) {
		kind, _, _ := strings.Cut(branch, "/")
		out = append(out, fmt.Sprint(kind, "\n", h.git.Run("log", "--format=%s%n%an", "master.."+branch), "\n", h.git.Run("ls-tree", "-r", branch)))
	}
	return out
}
