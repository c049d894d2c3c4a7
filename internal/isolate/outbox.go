package isolate

import (
	"os"
	"path/filepath"

	"github.com/agent-airlock/airlock/internal/tempdir"
)

// Outbox makes a directory outside of the workspace. The caller makes directories below it, and
// reads what programs of the sandbox write there. If the sandbox is apart, the Outbox is among the
// sandbox's own directories, and other users may enter it, but not list it. Otherwise it is made in
// tempDir, an existing directory, or if that is "", in the system's directory for temporary files.
// Close removes it.
func (s *Sandbox) Outbox(tempDir string) (string, error) {
	if s.apart {
		dir := filepath.Join(s.base, "outbox")
		if err := os.Mkdir(dir, 0o711); err != nil {
			return "", err
		}
		if err := os.Chmod(dir, 0o711); err != nil { // whatever the umask is
			return "", err
		}
		return dir, nil
	}
	made, err := tempdir.Make(tempDir, "airlock-outbox-", removeAll)
	if err != nil {
		return "", err
	}
	s.undo = append(s.undo, made.Close)
	return made.Path, nil
}
