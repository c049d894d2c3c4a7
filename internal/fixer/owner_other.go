//go:build !unix

package fixer

import "os"

// giveAway does nothing: a new file has the right owner.
func giveAway(*os.Root, string) {}
