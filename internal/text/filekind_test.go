package text_test

import (
	"io/fs"
	"testing"

	"github.com/agent-airlock/airlock/internal/text"
)

func TestFileKind(t *testing.T) {
	for mode, want := range map[fs.FileMode]string{
		fs.ModeDir | 0o755: "directory", fs.ModeSymlink | 0o777: "symbolic link", fs.ModeNamedPipe: "FIFO", fs.ModeSocket: "socket",
		fs.ModeDevice: "device", fs.ModeDevice | fs.ModeCharDevice: "device", fs.ModeIrregular: "device",
	} {
		if got := text.FileKind(mode); got != want {
			t.Errorf("%v: %q, want %q", mode, got, want)
		}
	}
}
