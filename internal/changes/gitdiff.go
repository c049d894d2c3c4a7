package changes

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/agent-airlock/airlock/internal/text"
)

// ParseGit reads one diff as git prints it in two forms. raw is the output of `diff-tree -r -z
// --raw`, which contains every name as it is. patch is that of `diff-tree -r -p` with quoted names,
// the prefixes a/ and b/ and otherwise the same options. Both list the files in the same order. The
// names come from raw. Only the hunks, and whether a file is binary, come from patch, so nothing in a
// file's name or text can pass for another file.
func ParseGit(raw, patch []byte) ([]ChangedFile, error) {
	files, counts, err := parseRaw(raw)
	if err != nil {
		return nil, err
	}
	sections := splitSections(string(patch))
	for i := range files {
		n := counts[i]
		if len(sections) < n {
			return nil, fmt.Errorf("git's patch ends before %q: its output was cut off", files[i].Path)
		}
		// Where there are two sections, the second shows the new file.
		if err := files[i].readSection(sections[n-1]); err != nil {
			return nil, err
		}
		sections = sections[n:]
	}
	if len(sections) > 0 {
		return nil, fmt.Errorf("git's patch has %s more than its list of files", text.Count(len(sections), "file"))
	}
	return files, nil
}

var errRaw = errors.New("git's list of changed files cannot be read")

// parseRaw reads records such as ":100644 100644 abc def M\x00path\x00"; renames and copies have
// two paths. sections tells for each file how many sections git's patch has for it. If the type of
// a file changed, there are two: the old file is removed, and the new one is created.
func parseRaw(raw []byte) (files []ChangedFile, sections []int, err error) {
	next := func() (string, bool) {
		field, rest, ok := bytes.Cut(raw, []byte{0})
		raw = rest
		return string(field), ok
	}
	for len(raw) > 0 {
		head, ok := next()
		fields := strings.Fields(head)
		if !ok || len(fields) != 5 || !strings.HasPrefix(head, ":") {
			return nil, nil, fmt.Errorf("%w: %q", errRaw, clip(head))
		}
		path, ok := next()
		if !ok || path == "" {
			return nil, nil, fmt.Errorf("%w: a name is missing", errRaw)
		}
		f, n := ChangedFile{Path: path}, 1
		switch letter := fields[4][0]; letter {
		case 'A':
			f.Status = Added
		case 'D':
			f.Status = Deleted
		case 'M':
			f.Status = Modified
			if fields[2] == fields[3] {
				f.Status = TypeChanged // only the mode
			}
		case 'T':
			f.Status, n = TypeChanged, 2
		case 'R', 'C':
			f.Status = Renamed
			if letter == 'C' {
				f.Status = Copied
			}
			f.PreviousPath = path
			if f.Path, ok = next(); !ok || f.Path == "" {
				return nil, nil, fmt.Errorf("%w: a renamed file has one name", errRaw)
			}
		default:
			return nil, nil, fmt.Errorf("%w: the status %q is not known", errRaw, clip(fields[4]))
		}
		files, sections = append(files, f), append(sections, n)
	}
	return files, sections, nil
}

// splitSections cuts a patch at each "diff --git" line, and leaves these words out. A line of a
// file's text starts with a blank, +, - or \, and a quoted name contains no line break: so no other
// line can start like that.
func splitSections(patch string) []string {
	return strings.Split("\n"+strings.TrimSuffix(patch, "\n"), "\ndiff --git ")[1:]
}

// readSection reads the hunks of a section of a patch and whether the file is binary, and checks that
// the section is about this file.
func (f *ChangedFile) readSection(section string) error {
	header, hunks := section, ""
	if i := strings.Index(section, "\n@@ "); i >= 0 {
		header, hunks = section[:i+1], section[i+1:]
	}
	for line := range strings.Lines(header) {
		line = strings.TrimSuffix(line, "\n")
		switch {
		case strings.HasPrefix(line, "Binary files "), line == "GIT binary patch":
			f.Binary = true
		case strings.HasPrefix(line, "+++ "), strings.HasPrefix(line, "--- "):
			name, ok := unquoteName(strings.TrimSuffix(line[4:], "\t"))
			if !ok {
				return fmt.Errorf("git's patch has an unreadable name: %q", clip(line))
			}
			if name != "/dev/null" && name != "a/"+cmp.Or(f.PreviousPath, f.Path) && name != "b/"+f.Path {
				return fmt.Errorf("git's patch and its list of files disagree: %q instead of %q", clip(name), clip(f.Path))
			}
		}
	}
	f.Patch = hunks
	return nil
}

// unquoteName reads a name as git prints it: as it is, or in double quotes with C's escapes, which
// Go has as well.
func unquoteName(s string) (string, bool) {
	if !strings.HasPrefix(s, `"`) {
		return s, true
	}
	name, err := strconv.Unquote(s)
	return name, err == nil
}
