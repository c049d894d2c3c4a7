package gitrepo

import (
	"bytes"
	"errors"
	"strings"
)

var errMixed = errors.New("paths with and without a prefix (a/ and b/) are mixed: write the whole patch with one 'git diff'")

// stripOf finds out how many elements git apply has to strip from the paths of
// a patch: 1 for a/ and b/ and whatever else a configuration puts there, 0 for
// --no-prefix. Guessing wrong would put a new file in another directory. The line
// is that of the error.
func stripOf(text []byte) (strip, line int, err error) {
	strip = -1
	lines := bytes.Split(text, []byte{'\n'})
	for i, l := range lines {
		head, ok := strings.CutPrefix(string(l), "diff --git ")
		if !ok {
			continue
		}
		here := 1
		if bare(head, lines[i+1:]) {
			here = 0
		}
		if strip >= 0 && strip != here {
			return 0, i + 1, errMixed
		}
		strip = here
	}
	if strip >= 0 {
		return strip, 0, nil
	}
	for i, l := range lines {
		if old, ok := bytes.CutPrefix(l, []byte("--- ")); ok && i+1 < len(lines) && bytes.HasPrefix(lines[i+1], []byte("+++ ")) {
			return stripOfPair(nameOf(old), nameOf(lines[i+1][len("+++ "):])), 0, nil
		}
	}
	return 1, 0, nil
}

// bare reports whether the two names that stand after "diff --git" have no
// prefix: then they are the same, or those of the rename lines that follow.
func bare(names string, after [][]byte) bool {
	if half := len(names) / 2; len(names)%2 == 1 && names[half] == ' ' && names[:half] == names[half+1:] {
		return true
	}
	for _, l := range after {
		line := string(l)
		switch {
		case strings.HasPrefix(line, "diff --git "), strings.HasPrefix(line, "@@ "), strings.HasPrefix(line, "--- "):
			return false
		}
		for _, word := range []string{"rename from ", "copy from "} {
			if old, ok := strings.CutPrefix(line, word); ok {
				return strings.HasPrefix(names, old+" ")
			}
		}
	}
	return false
}

// stripOfPair is for diffs that are not git's.
func stripOfPair(before, after string) int {
	if before == "/dev/null" {
		before = after
	}
	if after == "/dev/null" {
		after = before
	}
	if before != after { // a/x and b/x, old/x and new/x
		return 1
	}
	if strings.HasPrefix(before, "a/") || strings.HasPrefix(before, "b/") {
		return 1
	}
	return 0
}

// nameOf cuts the time that diff -u writes behind a name.
func nameOf(line []byte) string {
	name, _, _ := strings.Cut(string(line), "\t")
	return strings.TrimSpace(name)
}
