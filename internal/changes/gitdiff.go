package changes

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// ParseGit reads what git prints for one and the same diff in two forms: raw is
// the output of `diff-tree -r -z --raw`, which holds every name as it is, and
// patch that of `diff-tree -r -p` with quoted names, the prefixes a/ and b/ and
// the same options. The two list the files in the same order, so the names come
// from raw and only the hunks from patch: nothing in a file's name or text can
// pass for another file.
func ParseGit(raw, patch []byte) ([]ChangedFile, error) {
	entries, err := parseRaw(raw)
	if err != nil {
		return nil, err
	}
	sections := splitSections(string(patch))
	files := make([]ChangedFile, 0, len(entries))
	for _, e := range entries {
		n := 1
		if e.file.Status == TypeChanged && e.typeChange {
			n = 2 // git prints the removal of the old and the creation of the new
		}
		if len(sections) < n {
			return nil, fmt.Errorf("git's patch ends before %q: its output was cut off", e.file.Path)
		}
		f := e.file
		if err := f.fill(sections[n-1]); err != nil {
			return nil, err
		}
		files, sections = append(files, f), sections[n:]
	}
	if len(sections) > 0 {
		return nil, fmt.Errorf("git's patch has %d files more than its list of files", len(sections))
	}
	return files, nil
}

type rawEntry struct {
	file       ChangedFile
	typeChange bool
}

var errRaw = errors.New("git's list of changed files cannot be read")

// parseRaw reads records such as ":100644 100644 abc def M\x00path\x00"; renames
// and copies have two paths.
func parseRaw(raw []byte) ([]rawEntry, error) {
	var entries []rawEntry
	next := func() (string, bool) {
		field, rest, ok := bytes.Cut(raw, []byte{0})
		raw = rest
		return string(field), ok
	}
	for len(raw) > 0 {
		head, ok := next()
		fields := strings.Fields(head)
		if !ok || len(fields) != 5 || !strings.HasPrefix(head, ":") {
			return nil, fmt.Errorf("%w: %q", errRaw, clip(head))
		}
		path, ok := next()
		if !ok || path == "" {
			return nil, fmt.Errorf("%w: a name is missing", errRaw)
		}
		e := rawEntry{file: ChangedFile{Path: path}}
		switch letter := fields[4][0]; letter {
		case 'A':
			e.file.Status = Added
		case 'D':
			e.file.Status = Deleted
		case 'M':
			e.file.Status = Modified
			if fields[2] == fields[3] {
				e.file.Status = TypeChanged // only the mode
			}
		case 'T':
			e.file.Status, e.typeChange = TypeChanged, true
		case 'R', 'C':
			e.file.Status = Renamed
			if letter == 'C' {
				e.file.Status = Copied
			}
			e.file.PreviousPath = path
			if e.file.Path, ok = next(); !ok || e.file.Path == "" {
				return nil, fmt.Errorf("%w: a renamed file has one name", errRaw)
			}
		default:
			return nil, fmt.Errorf("%w: the status %q is not known", errRaw, clip(fields[4]))
		}
		entries = append(entries, e)
	}
	return entries, nil
}

// splitSections cuts a patch before each "diff --git" line. A line of a file's
// text starts with a blank, +, - or \, and a quoted name holds no line break:
// so nothing else can start with these words.
func splitSections(patch string) []string {
	const mark = "diff --git "
	var sections []string
	start := -1
	for at := 0; at < len(patch); {
		if strings.HasPrefix(patch[at:], mark) {
			if start >= 0 {
				sections = append(sections, patch[start:at])
			}
			start = at
		}
		n := strings.IndexByte(patch[at:], '\n')
		if n < 0 {
			break
		}
		at += n + 1
	}
	if start >= 0 {
		sections = append(sections, patch[start:])
	}
	return sections
}

// fill takes the hunks of the file's section and checks that it is this file's.
// Of a file whose type changed the second of two sections shows the new one.
func (f *ChangedFile) fill(section string) error {
	header, hunks := section, ""
	switch {
	case strings.HasPrefix(section, "@@"):
		header, hunks = "", section
	default:
		if i := strings.Index(section, "\n@@ "); i >= 0 {
			header, hunks = section[:i+1], section[i+1:]
		}
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
			if name != "/dev/null" && name != "a/"+f.oldPath() && name != "b/"+f.Path {
				return fmt.Errorf("git's patch and its list of files disagree: %q in the place of %q", clip(name), clip(f.Path))
			}
		}
	}
	f.Patch = strings.TrimSuffix(hunks, "\n")
	return nil
}

func (f *ChangedFile) oldPath() string {
	if f.PreviousPath != "" {
		return f.PreviousPath
	}
	return f.Path
}

// unquoteName reads a name as git prints it: as it is, or in double quotes with
// C's escapes and three octal digits for every other byte.
func unquoteName(s string) (string, bool) {
	if !strings.HasPrefix(s, `"`) {
		return s, true
	}
	if len(s) < 2 || !strings.HasSuffix(s, `"`) {
		return "", false
	}
	s = s[1 : len(s)-1]
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' {
			b.WriteByte(s[i])
			continue
		}
		if i++; i == len(s) {
			return "", false
		}
		if at := strings.IndexByte(`abtnvfr"\`, s[i]); at >= 0 {
			b.WriteByte("\a\b\t\n\v\f\r\"\\"[at])
			continue
		}
		if i+3 > len(s) {
			return "", false
		}
		n, err := strconv.ParseUint(s[i:i+3], 8, 8)
		if err != nil {
			return "", false
		}
		b.WriteByte(byte(n))
		i += 2
	}
	return b.String(), true
}
