package isolate

import "path"

// CopyLimits bound the copy of the workspace. Zero values are the defaults.
type CopyLimits struct {
	Entries int64    // files, directories and links; default 500,000
	Bytes   int64    // of all files; default 8 GiB
	Exclude []string // patterns of names to leave out (path.Match), anywhere in the tree
}

// withDefaults fills in what is not set.
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
	switch ok, _ := path.Match("gha-creds-*.json", name); {
	case name == ".git":
		return "git's folder may hold credentials, and programs in its configuration"
	case ok:
		return "it holds credentials of a cloud"
	}
	for _, pattern := range l.Exclude {
		if ok, _ := path.Match(pattern, name); ok {
			return "excluded"
		}
	}
	return ""
}
