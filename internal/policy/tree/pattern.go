package tree

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/bmatcuk/doublestar/v4"
)

// Bounds of a pattern. Matching a path costs at most the product of its length,
// the pattern's, and what the braces unfold into.
const (
	maxPattern = 500 // characters
	maxChoices = 256 // what braces unfold into
)

// CheckPattern says what is wrong with a pattern of paths or branches, nil if
// nothing is. The error's text continues a sentence that names the pattern.
// Patterns know
//
//   - any text within a name          ?       one character of a name
//     **     any folders, or all that lies in one
//     [a-z]  one of these             [!a-z]  none of these
//     {a,b}  one of these             \*      the character itself
//
// and are written from the repository's root with "/" between names.
func CheckPattern(pattern string) error {
	switch {
	case pattern == "":
		return errors.New("is empty; write for example docs/**")
	case !utf8.ValidString(pattern) || strings.ContainsFunc(pattern, unicode.IsControl):
		return errors.New("is not a pattern of paths, such as docs/**")
	case utf8.RuneCountInString(pattern) > maxPattern:
		return fmt.Errorf("has more than %d characters", maxPattern)
	case pattern[0] == '!':
		return errors.New("begins with \"!\"; there is no negation: list what is meant, or write \\! for the character")
	case !doublestar.ValidatePattern(pattern):
		return errors.New("holds \"[\", \"{\", \"}\" or \"\\\" without what belongs to it; write \\ before a character that stands for itself")
	}
	for name := range strings.SplitSeq(strings.TrimSuffix(strings.TrimPrefix(strings.TrimPrefix(pattern, "./"), "/"), "/"), "/") {
		switch name {
		case "":
			return errors.New("holds an empty name: two slashes in a row, or nothing but a slash")
		case ".", "..":
			return fmt.Errorf("holds %q; patterns are written from the repository's root", name)
		}
	}
	return checkSyntax(pattern)
}

// checkSyntax refuses what doublestar takes, but would read in another way than
// its writer most likely means, and braces that unfold into too much.
func checkSyntax(s string) error {
	choices, commas := 1, []int{}
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '[':
			length, err := checkClass(s[i:])
			if err != nil {
				return err
			}
			i += length - 1
		case '*':
			end := i + len(s[i:]) - len(strings.TrimLeft(s[i:], "*"))
			if end-i > 1 && (end-i > 2 || i > 0 && s[i-1] != '/' || end < len(s) && s[end] != '/') {
				return errors.New("holds \"**\" beside other text; it stands for whole folders: write docs/** or docs/**/*.md")
			}
			i = end - 1
		case '{':
			commas = append(commas, 0)
		case ',':
			if len(commas) > 0 {
				commas[len(commas)-1]++
			}
		case '}':
			if last := len(commas) - 1; last >= 0 {
				choices = min(choices*(commas[last]+1), maxChoices+1)
				commas = commas[:last]
			}
		}
	}
	if choices > maxChoices {
		return fmt.Errorf("means more than %d patterns; divide it", maxChoices)
	}
	return nil
}

// checkClass checks a class that begins s and returns its length. No class may
// match a slash, so that a name stays a name.
func checkClass(s string) (length int, err error) {
	before := rune(-1) // what a "-" would begin a range with
	for i := 1; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		if r == ']' {
			return i + 1, nil
		}
		if r == '-' && before >= 0 && i+1 < len(s) && s[i+1] != ']' {
			i++
			if s[i] == '\\' {
				i++
			}
			r, size = utf8.DecodeRuneInString(s[i:])
			if before > r {
				return 0, fmt.Errorf("holds the range %c-%c, which is the wrong way round", before, r)
			}
			if before <= '/' && '/' <= r {
				return 0, fmt.Errorf("holds the range %c-%c, in which a slash lies; a class stands for one character of a name", before, r)
			}
			before, i = -1, i+size
			continue
		}
		if r == '\\' {
			i++
			r, size = utf8.DecodeRuneInString(s[i:])
		}
		if strings.ContainsRune("/{},", r) {
			return 0, fmt.Errorf("holds %q in a class; write {a,b} to choose between texts", r)
		}
		before, i = r, i+size
	}
	return len(s), nil
}

// nameClasses writes negated classes so that they match no slash either.
func nameClasses(pattern string) string {
	var b strings.Builder
	for i := 0; i < len(pattern); i++ {
		b.WriteByte(pattern[i])
		switch {
		case pattern[i] == '\\' && i+1 < len(pattern):
			i++
			b.WriteByte(pattern[i])
		case pattern[i] == '[' && i+1 < len(pattern) && (pattern[i+1] == '!' || pattern[i+1] == '^'):
			b.WriteByte(pattern[i+1])
			b.WriteByte('/')
			i++
		}
	}
	return b.String()
}

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

// MatchesAny reports whether one of the patterns matches a path or a branch's name as a
// whole. A pattern that cannot be read matches nothing.
func MatchesAny(patterns []string, path string) bool {
	_, ok := newPatternSet(whole, patterns).find(path)
	return ok
}

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
