//go:build unix

package apply

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/agent-airlock/airlock/internal/policy"
)

// TestManyFilesTakeFewRunsOfGit asserts that reading, searching and keeping changes takes at most ten
// git processes more for 400 files than for 101. A shell script counts the processes.
func TestManyFilesTakeFewRunsOfGit(t *testing.T) {
	t.Parallel()
	git, err := exec.LookPath("git")
	if err != nil {
		t.Fatal(err)
	}
	for _, limit := range []int{100, -1} {
		runs := map[int]int{}
		for _, files := range []int{101, 400} {
			b := newCodeBench(t)
			bin := t.TempDir()
			list := filepath.Join(bin, "runs")
			script := fmt.Sprintf("#!/bin/sh\necho >>'%s'\nexec '%s' \"$@\"\n", list, git)
			if err := os.WriteFile(filepath.Join(bin, "git"), []byte(script), 0o755); err != nil {
				t.Fatal(err)
			}
			b.pathList = bin + string(os.PathListSeparator) + os.Getenv("PATH")
			b.checkout(b.base)
			b.pull(func(s *policy.ChangeSettings) { s.Files.MaxFiles = limit })
			changed := map[string]string{}
			for i := range files {
				changed[fmt.Sprintf("docs/%d.md", i)] = fmt.Sprint(i)
			}
			b.write(changed).commit("Add something")
			want(t, b.run(aPull), map[int]string{100: "denied(max-patch-files)", -1: "applied"}[limit])
			data, err := os.ReadFile(list)
			if err != nil {
				t.Fatal(err)
			}
			runs[files] = len(data)
		}
		if runs[400] > runs[101]+10 {
			t.Errorf("limit %d: the runs of git for so many files are %v", limit, runs)
		}
	}
}
