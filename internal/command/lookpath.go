package command

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

// ErrNotFound is wrapped by the error about a program that is in no directory of PATH.
var ErrNotFound = exec.ErrNotFound

// LookPath finds a program as Run does: a name in the absolute directories of
// pathList, anything with a separator as the path that it is.
func LookPath(program, pathList string) (string, error) {
	if program == "" {
		return "", errors.New("command: no program is given")
	}
	if strings.ContainsAny(program, `/`+string(filepath.Separator)) {
		abs, err := filepath.Abs(program)
		if err == nil {
			err = executable(abs)
		}
		if err != nil {
			return "", fmt.Errorf("cannot run %s: %w", program, err)
		}
		return abs, nil
	}
	for _, dir := range filepath.SplitList(pathList) {
		if !filepath.IsAbs(dir) {
			continue // the working directory may be the pull request's
		}
		for _, ext := range extensions {
			if p := filepath.Join(dir, program+ext); executable(p) == nil {
				return p, nil
			}
		}
	}
	return "", fmt.Errorf("%s: %w: install it, or extend PATH", program, ErrNotFound)
}

func executable(path string) error {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return err
	case info.IsDir():
		return errors.New("it is a directory")
	case runtime.GOOS != "windows" && info.Mode()&0o111 == 0:
		return errors.New("it is not executable")
	}
	return nil
}
