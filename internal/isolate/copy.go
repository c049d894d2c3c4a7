package isolate

import (
	"path"

	"github.com/agent-airlock/airlock/internal/command"
)

// CopyLimits bound the copy of a workspace. Zero values stand for the defaults.
type CopyLimits struct {
	Entries int64    // files, directories and links; default 500,000
	Bytes   int64    // of all files together; default 8 GiB
	Exclude []string // patterns of names to leave out (path.Match), anywhere in the tree
}

// copyOptions are how copyTree copies.
type copyOptions struct {
	limits CopyLimits
	owner  *command.Identity   // of the copies; nil: this process's user
	copied func(entries int64) // called with how many entries have been copied; may be nil
	// retarget returns what a link in the directory dir points to in the copy. dir is relative
	// to the top. If retarget is nil, links keep what they point to.
	retarget func(dir, target string) string
}

// withDefaults returns the limits with the defaults filled in.
func (l CopyLimits) withDefaults() CopyLimits {
	if l.Entries <= 0 {
		l.Entries = 500_000
	}
	if l.Bytes <= 0 {
		l.Bytes = 8 << 30
	}
	return l
}

// leaveOut returns why a name is not copied, or "".
func (l CopyLimits) leaveOut(name string) string {
	if name == ".git" {
		return "git's directory may contain credentials, and programs in its configuration"
	}
	if ok, _ := path.Match("gha-creds-*.json", name); ok {
		return "it contains credentials of a cloud"
	}
	for _, pattern := range l.Exclude {
		if ok, _ := path.Match(pattern, name); ok {
			return "excluded"
		}
	}
	return ""
}
