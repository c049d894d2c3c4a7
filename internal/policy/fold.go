package policy

import (
	"strings"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// foldPath returns a path as file systems compare it that do not tell upper and
// lower case apart (NTFS, APFS, HFS+) or forms of Unicode (APFS, HFS+), and that
// pass over some code points (HFS+): two paths with the same result may be one
// file there.
func foldPath(path string) string {
	for i := 0; i < len(path); i++ {
		if path[i] >= utf8.RuneSelf {
			return norm.NFC.String(cases.Fold().String(norm.NFD.String(withoutIgnored(path))))
		}
	}
	return strings.ToLower(path)
}

// withoutIgnored takes out the code points that HFS+ does not compare, the list
// that git has of them.
func withoutIgnored(path string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case 0x200c <= r && r <= 0x200f, 0x202a <= r && r <= 0x202e, 0x206a <= r && r <= 0x206f, r == 0xfeff:
			return -1
		}
		return r
	}, path)
}
