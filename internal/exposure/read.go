package exposure

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"

	"github.com/agent-airlock/airlock/internal/text"
)

// maxCredentialFile is how large a file may be to be judged, in bytes.
const maxCredentialFile = 1 << 20

// read returns what is in a file. Links are followed, as git and other programs
// follow them. An unjudged file is one that a program could read and this one does
// not: then why says so. What is not there, may not be read or holds no text of its
// own (a directory) is neither.
func read(path string) (content, why string) {
	info, err := os.Stat(path)
	if err != nil || info.IsDir() {
		return "", ""
	}
	if !info.Mode().IsRegular() { // which opening could wait for, or wake
		return "", "it is a " + text.FileKind(info.Mode())
	}
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return "", ""
	}
	defer f.Close()
	if info, err = f.Stat(); err != nil || !info.Mode().IsRegular() { // it has just been put there
		return "", "it changes while it is read"
	}
	raw, err := io.ReadAll(io.LimitReader(f, maxCredentialFile+1))
	switch {
	case err != nil:
		return "", "reading it failed"
	case len(raw) > maxCredentialFile:
		return "", fmt.Sprintf("it is larger than %s", text.Bytes(maxCredentialFile))
	}
	return string(raw), ""
}

// regular reports whether an ordinary file that may be read is at the path.
func regular(path string) bool {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return false
	}
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return false
	}
	return f.Close() == nil
}

// socket reports whether a socket is at the path.
func socket(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode()&fs.ModeSocket != 0
}
