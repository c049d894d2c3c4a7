//go:build unix

package phase_test

import (
	"syscall"
	"testing"
)

// TestReportsThatNobodyWrites checks that a FIFO in a report's place is not waited for.
func TestReportsThatNobodyWrites(t *testing.T) {
	t.Parallel()
	got := testsOf(t, files(t, map[string]string{"pyproject.toml": "", "x.txt": ""}), nil, func(env map[string]string) (string, int) {
		if err := syscall.Mkfifo(pytestFile(t, env), 0o666); err != nil {
			t.Error(err)
		}
		return fiveFailed, 1
	})
	if got.Failing != 5 {
		t.Errorf("%d failing, want 5", got.Failing)
	}
}
