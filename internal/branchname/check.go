// Package branchname knows the names of branches: which ones git and GitHub take, which ones
// mean something to others, and what becomes of a name that an agent asks for.
package branchname

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// The longest names, in bytes. MaxNew is for a new branch, and suits the usual file systems; maxRef
// is for any ref that is read.
const (
	MaxNew = 244
	maxRef = 1000
)

// CheckRef returns an error with the reason if no existing branch can have this name. The rules
// are those of git check-ref-format, except that "@" alone, a name that is not UTF-8, and one of
// more than maxRef bytes are refused. They also keep a name from leading to another address of the
// API.
func CheckRef(name string) error {
	if name == "" {
		return errors.New("a branch needs a name")
	}
	if len(name) > maxRef {
		return fmt.Errorf("the name of a branch has %d bytes, more than %d", len(name), maxRef)
	}
	if why := whyNotRef(name); why != "" {
		return fmt.Errorf("invalid branch name %q: %s", name, why)
	}
	return nil
}

// whyNotRef returns the first rule that a name breaks, "" if it breaks none.
func whyNotRef(name string) string {
	switch {
	case !utf8.ValidString(name):
		return "it is not UTF-8"
	case name == "@" || strings.Contains(name, "@{"):
		return `"@" alone and "@{" have a meaning of their own`
	case strings.Contains(name, ".."):
		return `".." has a meaning of its own`
	case strings.HasSuffix(name, "."):
		return "it ends with a dot"
	}
	if i := strings.IndexFunc(name, notInRef); i >= 0 {
		r, _ := utf8.DecodeRuneInString(name[i:])
		return fmt.Sprintf(`it contains %q; git allows no spaces, no control characters and none of ~^:?*[\`, r)
	}
	for part := range strings.SplitSeq(name, "/") {
		if part == "" {
			return "it begins or ends with a slash, or has two in a row"
		}
		if part[0] == '.' || strings.HasSuffix(part, ".lock") {
			return `a part of it begins with a dot or ends with ".lock"`
		}
	}
	return ""
}

func notInRef(r rune) bool { return r <= ' ' || r == 0x7f || strings.ContainsRune(`~^:?*[\`, r) }

// Check returns an error with the reason if a new branch cannot have this name. In addition to
// what CheckRef refuses, it refuses names of more than MaxNew bytes, and what people or programs
// would take for something else: an option, HEAD, a complete ref, the id of a commit.
func Check(name string) error {
	if err := CheckRef(name); err != nil {
		return err
	}
	why := ""
	switch {
	case len(name) > MaxNew:
		return fmt.Errorf("the name of a branch is at most %d bytes long, this one has %d", MaxNew, len(name))
	case name[0] == '-':
		why = "it begins with a dash, as options do"
	case name == "HEAD":
		why = "git uses this name for the current commit"
	case IsObjectID(strings.ToLower(name)):
		why = "it reads as the id of a commit"
	case strings.HasPrefix(name, "refs/"):
		why = `leave out the "refs/heads/" of a full ref`
	}
	if why != "" {
		return fmt.Errorf("invalid branch name %q: %s", name, why)
	}
	return nil
}

// IsObjectID reports whether s is a complete SHA-1 or SHA-256 object id, in lower case.
func IsObjectID(s string) bool {
	return (len(s) == 40 || len(s) == 64) && strings.Trim(s, "0123456789abcdef") == ""
}
