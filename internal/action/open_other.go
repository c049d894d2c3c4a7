//go:build !unix

package action

import (
	"errors"
	"io/fs"
	"os"
)

// Files cannot block on these systems, and Lstat finds links.
const (
	openNonblock = 0
	openNofollow = 0
)

var errNotDir = errors.ErrUnsupported

func giveTo(*os.File, fs.FileInfo) error { return nil }
