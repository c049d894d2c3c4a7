//go:build tools

package isolate_test

import (
	"crypto/rand"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// TestClonedFiles asserts that on a file system that can share contents a copy takes little room,
// and that writing to it changes only the copy. It needs root, Debian's btrfs-progs and a loop
// device.
func TestClonedFiles(t *testing.T) {
	r := newRunner(t)
	image, dir := filepath.Join(r.base, "image"), filepath.Join(r.base, "btrfs")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	run := func(args ...string) {
		t.Helper()
		if out, err := exec.Command(args[0], args[1:]...).CombinedOutput(); err != nil {
			t.Fatalf("%q: %v: %s", args, err, out)
		}
	}
	run("truncate", "--size=256M", image)
	run("mkfs.btrfs", "--quiet", image)
	run("mount", "-o", "loop", image, dir)
	t.Cleanup(func() { run("umount", dir) })

	cfg := r.config()
	cfg.Workspace, cfg.TempDir = filepath.Join(dir, "workspace"), dir
	data := make([]byte, 60<<20)
	_, _ = rand.Read(data) // it never fails
	files := map[string]string{"large.bin": string(data), "small.txt": "theirs\n", "odd.bin": string(data[:10_001])}
	writeFiles(t, cfg.Workspace, files)
	free := func() int64 {
		t.Helper()
		run("sync", "--file-system", dir)
		var st unix.Statfs_t
		if err := unix.Statfs(dir, &st); err != nil {
			t.Fatal(err)
		}
		return int64(st.Bfree) * st.Bsize
	}
	before := free()
	s := open(t, cfg)
	defer s.Close()
	if taken := before - free(); taken > 5<<20 {
		t.Errorf("the copy of %d bytes takes %d", len(data), taken)
	}
	assertFiles := func(dir string) {
		t.Helper()
		for name, want := range files {
			if got, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(got) != want {
				t.Errorf("%s in %s is not as it was written: %d bytes, %v", name, dir, len(got), err)
			}
		}
	}
	assertFiles(s.Dir())
	if got := mustRun(t, s.Run, sh("echo mine >large.bin && echo mine >>small.txt && cat large.bin small.txt")); got != "mine\ntheirs\nmine" {
		t.Errorf("the copy has %q", got)
	}
	assertFiles(cfg.Workspace)
}
