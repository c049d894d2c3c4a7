//go:build !linux

package command

import "os"

// awaitExit reports that this system cannot wait without reaping: there the
// group is killed right after.
func awaitExit(*os.Process) bool { return false }
