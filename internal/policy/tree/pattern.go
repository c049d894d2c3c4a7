package tree

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/bmatcuk/doublestar/v4"
)

// Bounds of a pattern. Matching a path costs at most the product of its length, the
// pattern's length, and the number of choices.
const (
	maxPattern = 500 // characters
	maxChoices = 256 // patterns that the braces stand for
)

// CheckPattern checks a pattern of paths or branches. The error's text continues a
// sentence that names the pattern. A pattern is written from the repository's root with "/"
// between names, and may contain
//
//	?       one character of a name
//	*       any text within a name
//	**      any directories, or everything in one
//	[a-z]   one of these characters
//	[!a-z]  any other character
//	{a,b}   one of these texts
//	\*      the character itself
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
		return errors.New("contains an unpaired \"[\", \"{\", \"}\" or \"\\\"; write \\ before a character that stands for itself")
	}
	for name := range strings.SplitSeq(strings.TrimSuffix(strings.TrimPrefix(strings.TrimPrefix(pattern, "./"), "/"), "/"), "/") {
		switch name {
		case "":
			return errors.New("contains an empty name: two slashes in a row, or only a slash")
		case ".", "..":
			return fmt.Errorf("contains %q; patterns are written from the repository's root", name)
		}
	}
	return checkSyntax(pattern)
}

// checkSyntax refuses syntax that doublestar accepts but understands in another way than the
// writer most likely means. It also refuses braces with too many choices.
func checkSyntax(s string) error {
	// count is for the pattern as a whole, and then for each brace that is open: how many patterns its
	// texts up to the last comma stand for together, and how many the text after that.
	type count struct{ before, last int }
	open := []count{{last: 1}}
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '[':
			_, length, err := readClass(s[i:])
			if err != nil {
				return err
			}
			i += length - 1
		case '*':
			rest := strings.TrimLeft(s[i:], "*")
			stars := len(s[i:]) - len(rest)
			isName := (i == 0 || s[i-1] == '/') && (rest == "" || rest[0] == '/')
			if stars > 2 || stars == 2 && !isName {
				return errors.New("contains \"**\" next to other text; it stands for entire directories: write docs/** or docs/**/*.md")
			}
			i += stars - 1
		case '{':
			open = append(open, count{last: 1})
		case ',':
			if in := &open[len(open)-1]; len(open) > 1 {
				in.before, in.last = min(in.before+in.last, maxChoices+1), 1
			}
		case '}':
			if n := len(open) - 1; n > 0 {
				open[n-1].last = min(open[n-1].last*(open[n].before+open[n].last), maxChoices+1)
				open = open[:n]
			}
		}
	}
	if open[0].last > maxChoices {
		return fmt.Errorf("stands for more than %d patterns; divide it", maxChoices)
	}
	return nil
}

// charRange is the characters from lo to hi, both of them too.
type charRange struct{ lo, hi rune }

// readClass reads the class at the beginning of s. It returns the characters between its brackets,
// a single one as a range of its own, and the class's length. A class must not match a slash,
// because it stands for one character of a name. Nor may it contain a brace or a comma, which
// expandBraces would take for part of a choice.
func readClass(s string) (ranges []charRange, length int, err error) {
	complete := true // whether the last of ranges cannot become longer
	i := 1
	if isNegated(s) {
		i++
	}
	for i < len(s) {
		r, size := utf8.DecodeRuneInString(s[i:])
		if r == ']' {
			return ranges, i + 1, nil
		}
		if r == '-' && !complete && i+1 < len(s) && s[i+1] != ']' {
			i++
			if s[i] == '\\' {
				i++
			}
			r, size = utf8.DecodeRuneInString(s[i:])
			if strings.ContainsRune("{},", r) {
				return nil, 0, notInClass(r)
			}
			last := &ranges[len(ranges)-1]
			if last.lo > r {
				return nil, 0, fmt.Errorf("contains the range %c-%c, which is the wrong way round", last.lo, r)
			}
			if last.lo <= '/' && '/' <= r {
				return nil, 0, fmt.Errorf("contains the range %c-%c, which includes a slash; a class stands for one character of a name", last.lo, r)
			}
			last.hi, complete, i = r, true, i+size
			continue
		}
		if r == '\\' {
			i++
			r, size = utf8.DecodeRuneInString(s[i:])
		}
		if strings.ContainsRune("/{},", r) {
			return nil, 0, notInClass(r)
		}
		ranges, complete, i = append(ranges, charRange{r, r}), false, i+size
	}
	return ranges, len(s), nil
}

// isNegated reports whether the class at the beginning of s stands for any other character.
func isNegated(s string) bool {
	return strings.HasPrefix(s, "[!") || strings.HasPrefix(s, "[^")
}

// notInClass returns the error about a character that a class must not contain.
func notInClass(r rune) error {
	return fmt.Errorf("contains %q in a class; write {a,b} to choose between texts", r)
}

// excludeSlash rewrites negated classes so that they do not match a slash either.
func excludeSlash(pattern string) string {
	var b strings.Builder
	for i := 0; i < len(pattern); i++ {
		b.WriteByte(pattern[i])
		switch {
		case pattern[i] == '\\' && i+1 < len(pattern):
			i++
			b.WriteByte(pattern[i])
		case pattern[i] == '[': // another one in the class is a character
			_, length, err := readClass(pattern[i:])
			if err != nil {
				continue
			}
			class := pattern[i+1 : i+length]
			if class != "" && (class[0] == '!' || class[0] == '^') {
				slash := "/"
				if strings.HasPrefix(class[1:], "-") {
					slash = `/\` // otherwise a range would begin with the slash
				}
				class = class[:1] + slash + class[1:]
			}
			b.WriteString(class)
			i += length - 1
		}
	}
	return b.String()
}

// plainText returns the text that a pattern without braces stands for. It returns false if the
// pattern contains wildcards. A "\" at the end, which was before a slash, is left out.
func plainText(pattern string) (text string, ok bool) {
	var b strings.Builder
	for i := 0; i < len(pattern); i++ {
		switch pattern[i] {
		case '*', '?', '[':
			return "", false
		case '\\':
			i++
		}
		if i < len(pattern) {
			b.WriteByte(pattern[i])
		}
	}
	return b.String(), true
}

// foldPattern returns a pattern without braces in the form for folded paths: it folds the texts
// between the wildcards and the classes. The result does not match where a wildcard stands for one
// character, or for the end of a text, but the folded form is not divided there: "?" for "ß", which
// folds to "ss".
func foldPattern(pattern string) string {
	var b strings.Builder
	for pattern != "" {
		n := 0 // bytes of the text before the next wildcard
		for n < len(pattern) && strings.IndexByte("*?[", pattern[n]) < 0 {
			if pattern[n] == '\\' {
				n++
			}
			n = min(n+1, len(pattern))
		}
		text, _ := plainText(pattern[:n])
		b.WriteString(quoteWildcards.Replace(foldProtected(text)))
		pattern = pattern[n:]
		switch {
		case strings.HasPrefix(pattern, "["):
			ranges, length, _ := readClass(pattern)
			b.WriteString(foldClass(pattern[:length], ranges))
			pattern = pattern[length:]
		case pattern != "":
			b.WriteByte(pattern[0])
			pattern = pattern[1:]
		}
	}
	return b.String()
}

// foldClass returns a class to which the folded forms of its characters are added, other than a
// slash; ranges are the characters. It excludes a slash from a negated class.
func foldClass(class string, ranges []charRange) string {
	var b strings.Builder
	begin := 1
	if isNegated(class) {
		begin++
	}
	b.WriteString(class[:begin])
	// What is added are ranges, before the class's own text: if that begins with a "-", the "-" is a
	// character there, too.
	if begin > 1 {
		b.WriteString("/-/")
	}
	for _, r := range foldRanges(ranges) {
		fmt.Fprintf(&b, `\%c-\%c`, r.lo, r.hi)
	}
	b.WriteString(class[begin:])
	return b.String()
}

// join returns the pattern followed by next. Where two stars would meet, it leaves one, because
// two mean entire directories.
func join(pattern, next string) string {
	if strings.HasSuffix(pattern, "*") && !strings.HasSuffix(pattern, `\*`) {
		next = strings.TrimPrefix(next, "*")
	}
	return pattern + next
}

// use is what a list of patterns is for, which decides how they are read.
type use int

const (
	// allowing: the pattern must match the path from its beginning to its end.
	allowing use = iota
	// protecting: a pattern without a slash is a name in any directory; a pattern that
	// matches a directory matches everything in it; case does not count. A pattern matches what
	// it matches with case, too: [!a] matches an A.
	protecting
	// freeing: a pattern without a slash is a name in any directory; a directory needs
	// its slash or "/**".
	freeing
)

// MatchesAny reports whether one of the patterns matches a path or a branch's name from
// its beginning to its end. A pattern that cannot be read matches nothing.
func MatchesAny(patterns []string, path string) bool {
	_, ok := newPatternSet(allowing, patterns).find(path)
	return ok
}

// Matcher returns a function that reports whether one of the patterns matches a path, in the way
// of protected files: case does not count, a name without a slash is meant in every directory, and
// a directory stands for everything in it. A pattern that cannot be read matches nothing.
func Matcher(patterns []string) func(path string) bool {
	set := newPatternSet(protecting, patterns)
	return func(path string) bool {
		_, ok := set.find(path)
		return ok
	}
}

// patternSet is a list of patterns, ready to match many paths.
type patternSet struct {
	use use
	// names are the protecting patterns that are a plain name in any directory, paths
	// those that are a plain path; both with their index in the list.
	names, paths map[string]int
	longest      int // bytes of the longest of paths
	// globs are the other patterns. If they are protecting, folded are the same, for folded paths.
	globs, folded []compiledGlob
	hasClass      bool // whether one of globs contains a class
	// broken is the first pattern that cannot be read, and why.
	broken, why string
}

// compiledGlob is a pattern for doublestar and its index in the list.
type compiledGlob struct {
	text  string
	index int
}

// newPatternSet compiles a list. A pattern that cannot be read makes the set
// broken; the others still count.
func newPatternSet(use use, patterns []string) *patternSet {
	s := &patternSet{use: use, names: map[string]int{}, paths: map[string]int{}}
	for i, p := range patterns {
		if err := CheckPattern(p); err != nil {
			if s.why == "" {
				s.broken, s.why = p, err.Error()
			}
			continue
		}
		for _, choice := range expandBraces(p) {
			// "docs/{,a.md}" does not allow all of docs, although its first choice ends in a slash.
			widens := use != protecting && strings.Trim(choice, "/") != choice && strings.Trim(p, "/") == p
			if choice != "" && !widens {
				s.add(choice, i)
			}
		}
	}
	return s
}

// expandBraces returns the patterns without braces that a valid pattern stands for.
func expandBraces(pattern string) []string {
	open, depth := -1, 0
	var ends []int // of the texts to choose from
	for i := 0; i < len(pattern); i++ {
		switch c := pattern[i]; {
		case c == '\\':
			i++
		case c == '{':
			if depth++; depth == 1 {
				open = i
			}
		case c == ',' && depth == 1:
			ends = append(ends, i)
		case c == '}':
			if depth--; depth > 0 {
				continue
			}
			var all []string
			start := open + 1
			for _, end := range append(ends, i) {
				all = append(all, expandBraces(join(join(pattern[:open], pattern[start:end]), pattern[i+1:]))...)
				start = end + 1
			}
			return all
		}
	}
	return []string{pattern}
}

func (s *patternSet) add(pattern string, index int) {
	text := strings.TrimPrefix(pattern, "./")
	text, rooted := strings.CutPrefix(text, "/")
	text, dir := strings.CutSuffix(text, "/")
	for strings.HasSuffix(text, "/**") {
		// Everything in the directory: doublestar would also match a file of its name.
		text, dir, rooted = strings.TrimSuffix(text, "/**"), true, true
	}
	rooted = rooted || strings.Contains(text, "/")
	if plain, ok := plainText(text); ok && s.use == protecting {
		// A name that has a slash in its folded form is for doublestar.
		if plain = foldProtected(plain); rooted || !strings.Contains(plain, "/") {
			s.addPlain(plain, rooted, index)
			return
		}
	}
	begin := ""
	if !rooted && s.use != allowing {
		begin = "**/"
	}
	exact := begin + excludeSlash(text)
	s.hasClass = s.hasClass || strings.Contains(exact, "[")
	switch {
	case s.use == protecting:
		folded := begin + foldPattern(text)
		// The patterns themselves, too: with "/**" after it, "docs*" does not match "docs".
		s.globs = append(s.globs, compiledGlob{exact, index}, compiledGlob{exact + "/**", index})
		s.folded = append(s.folded, compiledGlob{folded, index}, compiledGlob{folded + "/**", index})
	case dir:
		s.globs = append(s.globs, compiledGlob{exact + "/**/*", index})
	default:
		s.globs = append(s.globs, compiledGlob{exact, index})
	}
}

func (s *patternSet) addPlain(text string, rooted bool, index int) {
	into := s.names
	if rooted {
		into = s.paths
		s.longest = max(s.longest, len(text))
	}
	if _, known := into[text]; !known {
		into[text] = index
	}
}

// find returns the index of a pattern that matches a path.
func (s *patternSet) find(path string) (index int, ok bool) {
	if s.use == protecting {
		folded := foldProtected(path)
		if i, ok := s.findPlain(folded); ok {
			return i, true
		}
		if i, ok := findGlob(s.folded, folded); ok {
			return i, true
		}
		if isASCII(path) && !s.hasClass {
			return 0, false // globs match no ASCII path that folded does not match
		}
	}
	return findGlob(s.globs, path)
}

func findGlob(globs []compiledGlob, path string) (index int, ok bool) {
	for _, g := range globs {
		if doublestar.MatchUnvalidated(g.text, path) {
			return g.index, true
		}
	}
	return 0, false
}

// findPlain looks up each name in a path, each directory above it, and the path itself.
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
			if i, ok := s.paths[path[:end]]; ok {
				return i, true
			}
		}
		start = end + 1
	}
	return 0, false
}
