//go:build unix

package gitrepo

// DefaultPath is where git is looked for when Options names no directories: the
// system's own. A runner's PATH may begin with a directory of the workspace.
const DefaultPath = "/usr/local/bin:/usr/bin:/bin:/opt/homebrew/bin:/run/current-system/sw/bin"
