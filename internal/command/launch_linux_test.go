package command

import (
	"os/exec"
	"testing"

	"golang.org/x/sys/unix"
)

// TestLimitMemoryRaisesNoLimit asserts that a limit that is lower already stays.
func TestLimitMemoryRaisesNoLimit(t *testing.T) {
	t.Parallel()
	cmd := exec.Command("sleep", "600")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	pid := cmd.Process.Pid
	low := unix.Rlimit{Cur: 1 << 30, Max: 2 << 30}
	if err := unix.Prlimit(pid, unix.RLIMIT_DATA, &low, nil); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		most int64
		want unix.Rlimit
	}{
		{4 << 30, low},
		{3 << 29, unix.Rlimit{Cur: 1 << 30, Max: 3 << 29}},
		{1 << 29, unix.Rlimit{Cur: 1 << 29, Max: 1 << 29}},
	} {
		limitMemory(pid, c.most)
		var got unix.Rlimit
		if err := unix.Prlimit(pid, unix.RLIMIT_DATA, nil, &got); err != nil || got != c.want {
			t.Errorf("after limitMemory(%d): %+v, %v, want %+v", c.most, got, err, c.want)
		}
	}
}
