//go:build !unix

package tempdir

import "os"

// makeTemp makes a private directory. Here it stays if this process is killed.
func makeTemp(parent, prefix string, _ func(string) error) (dir string, lock *os.File, err error) {
	dir, err = os.MkdirTemp(parent, prefix)
	return dir, nil, err
}
