//go:build !unix

package gitrepo

// DefaultPath is where git is looked for when Options names no directories: where
// its installer for Windows puts it. A runner's PATH may begin with a directory of the
// workspace.
const DefaultPath = `C:\Program Files\Git\cmd;C:\Program Files\Git\bin`
