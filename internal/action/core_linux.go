package action

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// NoCoreFiles keeps this process's memory, and that of the programs that it starts, out of core
// files: GOTRACEBACK=crash, which an earlier step can set, makes a program that crashes leave one.
// Where Linux passes core files on to a program whatever the limit is, it closes this process's
// memory as CloseToOthers does. It can do nothing there for the programs that this process starts.
func NoCoreFiles() error { return noCoreFiles("/proc/sys/kernel/core_pattern") }

// noCoreFiles is NoCoreFiles for a file that says what becomes of core files.
func noCoreFiles(patternFile string) error {
	limit := uint64(1)
	err := limitCore(limit)
	if errors.Is(err, unix.EPERM) { // the limit is 0, and this process may not raise it
		limit = 0
		err = limitCore(limit)
	}
	if err != nil {
		return fmt.Errorf("keeping memory out of core files: %w", err)
	}
	pattern, err := os.ReadFile(patternFile)
	if err != nil {
		pattern = []byte("|")
	}
	if isCollected(string(pattern), limit) {
		return CloseToOthers()
	}
	return nil
}

func limitCore(most uint64) error {
	return unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{Cur: most, Max: most})
}

// isCollected reports whether a program that collects core files gets the memory of a process with
// this limit, 0 or 1. The limits are not enforced for such a program (core(5)). But one that reads
// core files from a pipe gets none at a limit of exactly one byte, by which Linux recognizes
// the program itself (fs/coredump.c). One that listens to a socket gets all of them.
func isCollected(pattern string, limit uint64) bool {
	return strings.HasPrefix(pattern, "@") || strings.HasPrefix(pattern, "|") && limit != 1
}
