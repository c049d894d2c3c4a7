//go:build !unix

package action

import (
	"errors"
	"io/fs"
	"os"
)

// openNofollow is 0 where only Lstat finds links.
const openNofollow = 0

var errNotDir = errors.ErrUnsupported

func giveTo(*os.File, fs.FileInfo) error { return nil }
