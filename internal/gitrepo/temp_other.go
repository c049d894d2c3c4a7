//go:build !unix

package gitrepo

import "os"

// makeTemp makes a private directory for a repository. Here it stays if this process is killed.
func makeTemp(parent string) (dir string, lock *os.File, err error) {
	dir, err = os.MkdirTemp(parent, "airlock-git-")
	return dir, nil, err
}
