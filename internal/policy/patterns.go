package policy

import (
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// reading is how a list of patterns is meant.
type reading int

const (
	// whole: the pattern is the whole path, as in allowed-files.
	whole reading = iota
	// protecting: a pattern without a slash is a name anywhere; a pattern that
	// matches a folder matches all that lies in it; case does not count.
	protecting
	// freeing: a pattern without a slash is a name anywhere, and a folder needs
	// its slash or "/**".
	freeing
)

// patternSet is a list of patterns, ready to match many paths.
type patternSet struct {
	how reading
	// names are protecting patterns that are one plain name anywhere, folders those
	// that are a plain path → index in the list.
	names, folders map[string]int
	longest        int // bytes of the longest of folders
	globs          []compiledGlob
	// broken is the first pattern that could not be read, and why.
	broken, why string
}

// compiledGlob is a pattern as doublestar takes it, and its index in the list.
type compiledGlob struct {
	text   string
	source int
}

// newPatternSet compiles a list. A pattern that cannot be read makes the set
// broken; the others still count.
func newPatternSet(how reading, patterns []string) *patternSet {
	s := &patternSet{how: how, names: map[string]int{}, folders: map[string]int{}}
	for i, p := range patterns {
		if err := CheckPattern(p); err != nil {
			if s.broken == "" {
				s.broken, s.why = p, err.Error()
			}
			continue
		}
		s.add(p, i)
	}
	return s
}

// add stores a pattern as the reading means it.
func (s *patternSet) add(pattern string, source int) {
	text := strings.TrimPrefix(pattern, "./")
	text, rooted := strings.CutPrefix(text, "/")
	text, folder := strings.CutSuffix(text, "/")
	if inner, ok := strings.CutSuffix(text, "/**"); ok {
		// What lies in the folder: doublestar would also match a file of its name.
		text, folder, rooted = inner, true, true
	}
	rooted = rooted || strings.Contains(text, "/")
	if s.how == protecting {
		text = foldPath(text)
		if !strings.ContainsAny(text, `*?[{\`) {
			s.addPlain(text, rooted, source)
			return
		}
	}
	text = nameClasses(text)
	if !rooted && s.how != whole {
		text = "**/" + text
	}
	switch {
	case s.how == protecting:
		text += "/**"
	case folder:
		text += "/**/*"
	}
	s.globs = append(s.globs, compiledGlob{text, source})
}

func (s *patternSet) addPlain(text string, rooted bool, source int) {
	into := s.names
	if rooted {
		into = s.folders
		s.longest = max(s.longest, len(text))
	}
	if _, known := into[text]; !known {
		into[text] = source
	}
}

// find returns the index of a pattern that matches a path.
func (s *patternSet) find(path string) (index int, ok bool) {
	if s.how == protecting {
		path = foldPath(path)
		if i, ok := s.findPlain(path); ok {
			return i, true
		}
	}
	for _, g := range s.globs {
		if doublestar.MatchUnvalidated(g.text, path) {
			return g.source, true
		}
	}
	return 0, false
}

// findPlain looks up each name of a path, and each folder above it.
func (s *patternSet) findPlain(path string) (index int, ok bool) {
	for start := 0; start <= len(path); {
		end := len(path)
		if i := strings.IndexByte(path[start:], '/'); i >= 0 {
			end = start + i
		}
		if i, ok := s.names[path[start:end]]; ok {
			return i, true
		}
		if end <= s.longest {
			if i, ok := s.folders[path[:end]]; ok {
				return i, true
			}
		}
		start = end + 1
	}
	return 0, false
}
