package gitrepo

import "strings"

// isDotGit reports whether some file system takes a name for ".git": git lets no
// tree have one.
func isDotGit(name string) bool {
	name, _, _ = strings.Cut(name, ":") // NTFS: a stream of the file
	name = strings.Map(func(r rune) rune {
		switch { // HFS+: passed over in names
		case r >= 0x200c && r <= 0x200f, r >= 0x202a && r <= 0x202e, r >= 0x206a && r <= 0x206f, r == 0xfeff:
			return -1
		}
		return r
	}, name)
	name = strings.ToLower(strings.TrimRight(name, " ."))
	return name == ".git" || name == "git~1"
}
