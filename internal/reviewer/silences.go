package reviewer

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/agent-airlock/airlock/internal/lazyregexp"
	"github.com/agent-airlock/airlock/internal/text"
)

// Silence is a place where the change tells a tool to be silent, by a comment, an attribute, or a
// line of the tool's configuration. Or the change takes out a test, or a setting that asks a tool
// to do something. It is not a finding: whoever reads the change judges it.
type Silence struct {
	Tool  string // for people
	Path  string
	Line  int
	Text  string // what the change adds, on one line, cut to 120 characters
	Scope Scope
	// TakesOut reports that the change takes out something that the base has, and Text says what. Line
	// is then where it stood, 0 if the file is gone.
	TakesOut bool
	last     int // the last line of the comment, attribute or setting
}

// Scope is how much a silence covers.
type Scope string

// The scopes of silences.
const (
	ScopeLine    Scope = "line" // a line or a block
	ScopeFile    Scope = "file"
	ScopeProject Scope = "project" // a line of configuration
)

// silencer is a way to tell a tool to be silent: an entry of rules/suppressions.yaml, whose beginning
// explains the keys. An expression that an entry does not have is nil.
type silencer struct {
	Tool                                                   string
	Comment, Anywhere, Code, Wide, Path, Line, Keys, Watch *regexp.Regexp
}

// silencers reads the ways to tell tools to be silent, once a process.
var silencers = sync.OnceValues(func() (*silencerTable, error) {
	var all []silencer
	if err := decode("suppressions", &all); err != nil {
		return nil, err
	}
	t := &silencerTable{all: all}
	var comments []string
	for _, s := range all {
		if s.Comment != nil {
			comments = append(comments, s.Comment.String())
		}
		if s.Anywhere != nil {
			begin, _ := s.Anywhere.LiteralPrefix()
			t.anywhere = append(t.anywhere, wordSilencer{s, begin})
		}
	}
	var err error
	t.comment, err = regexp.Compile(`^(?:` + strings.Join(comments, "|") + `)`)
	return t, err
})

type silencerTable struct {
	all      []silencer
	comment  *regexp.Regexp // matches the beginning of a comment of any of them
	anywhere []wordSilencer
}

// wordSilencer is a silencer whose words may stand anywhere in a comment.
type wordSilencer struct {
	silencer
	begin string // what each match begins with: looking for it costs less than the expression
}

// silencingWords are parts of words. Each silence in a file's comments or code contains one of
// them, or "noqa" in other capitals. Looking for them costs less than an expression.
var silencingWords = []string{"gnore", "isable", "nolint", "NOLINT", "noqa", "nosec", "nosem", "NOSONAR", "NOPMD", "uppress", "SUPPRESS", "IGNORE", "DISABLE", "rubocop", "allow", "whitelist", "expect", "nocheck", "skip", "off", "OFF", "Flow", "noflow", "reek:", "typed:", "noinspection", "pyright", "mypy", "pyre-", "lgtm", "codeql", "coverity", "todo", "jshint", "eslint"}

func maySilence(text string) bool {
	return slices.ContainsFunc(silencingWords, func(w string) bool { return strings.Contains(text, w) }) || containsNoqa(text)
}

// containsNoqa reports whether a text contains "noqa", in capitals or not: the tools that obey the
// word accept both.
func containsNoqa(text string) bool {
	for i := 2; i+1 < len(text); i++ {
		next := strings.IndexAny(text[i:], "qQ")
		if next < 0 {
			return false
		}
		if i += next; i+1 < len(text) && strings.EqualFold(text[i-2:i+2], "noqa") {
			return true
		}
	}
	return false
}

// silences returns where the change of a file tells tools to be silent. s is nil where the file's
// language is not known.
func (t *silencerTable) silences(f *File, s *source) []Silence {
	found := t.inConfiguration(f)
	if len(found) == 0 && maySilence(f.Text) {
		inFile := *t
		inFile.anywhere = slices.DeleteFunc(slices.Clone(t.anywhere), func(s wordSilencer) bool { return !strings.Contains(f.Text, s.begin) })
		t = &inFile
		if s != nil {
			found = t.inTokens(s)
			if s.lang.name == "javascript" && hasMarkup.MatchString(f.Text) {
				found = t.inMarkup(f.Text, found)
			}
		} else {
			found = t.inLines(f.Text)
		}
	}
	if len(found) == 0 {
		return nil
	}
	base := newBaseLines(f)
	found = slices.DeleteFunc(found, func(one Silence) bool {
		for line := one.Line; line <= one.last; line++ {
			if !f.hadLines(line, line) && !base.had(line, line) { // if it was there, the change only moves or indents it
				return false
			}
		}
		return true
	})
	for i := range found {
		found[i].Path = f.Path
	}
	slices.SortStableFunc(found, func(a, b Silence) int { return cmp.Compare(a.Line, b.Line) })
	return found
}

// silence returns the Silence that some words on a line mean to the tool.
func (s silencer) silence(line int, words string, scope Scope) Silence {
	const longest = 120
	if s.Wide != nil && s.Wide.MatchString(words) {
		scope = ScopeFile
	}
	return Silence{Tool: s.Tool, Line: line, Text: text.Truncate(text.OneLine(strings.TrimSpace(words)), longest), Scope: scope, last: line}
}

// longestDirective is how many bytes a directive in a comment may have, also over several lines.
const longestDirective = 300

// mostInLine is how many of the directives that begin comments are listed for one line.
const mostInLine = 8

// inComment returns what a comment, or a line that begins with one, tells tools. first is the number
// of its first line.
func (t *silencerTable) inComment(comment string, first int) []Silence {
	var found []Silence
	end := 0 // of the line
	for line := range strings.Lines(comment) {
		end += len(line)
		for _, s := range t.anywhere {
			if !strings.Contains(line, s.begin) {
				continue
			}
			if at := s.Anywhere.FindStringIndex(line); at != nil {
				found = append(found, s.silence(first, strings.TrimSuffix(strings.TrimSpace(line[at[0]:]), "*/"), ScopeLine))
			}
		}
		before := len(found)
		for _, words := range beginnings(line) {
			if len(found)-before == mostInLine {
				break
			}
			if strings.HasPrefix(words, "eslint") { // its rules may stand on lines of their own
				words = comment[end-len(words):]
			}
			words = words[:min(len(words), longestDirective)]
			if !t.comment.MatchString(words) {
				continue
			}
			words, _, _ = strings.Cut(words, "*/")
			words = strings.TrimSpace(words)
			i := slices.IndexFunc(t.all, func(s silencer) bool {
				if s.Comment == nil {
					return false
				}
				at := s.Comment.FindStringIndex(words)
				return at != nil && at[0] == 0
			})
			if i >= 0 {
				one := t.all[i].silence(first, words, ScopeLine)
				one.last += strings.Count(t.all[i].Comment.FindString(words), "\n")
				found = append(found, one)
			}
		}
		first++
	}
	return found
}

// beginning returns a comment from its first word on, without its sign.
func beginning(comment string) string {
	return strings.TrimLeftFunc(comment, func(r rune) bool {
		return r != '@' && r != '$' && r != ':' && r != '_' && (r|0x20 < 'a' || r|0x20 > 'z')
	})
}

// beginnings returns a line of a comment without the sign that begins it, and what follows
// further signs in it: # type: ignore # noqa
func beginnings(line string) []string {
	var all []string
	for {
		if line = beginning(line); line == "" {
			return all
		}
		all = append(all, line)
		next := 0
		for next < len(line) && line[next] != '#' && !strings.HasPrefix(line[next:], "//") {
			next++
		}
		line = line[next:]
	}
}

// inTokens looks into the comments of a file, and for attributes in its code.
func (t *silencerTable) inTokens(s *source) []Silence {
	var found []Silence
	annotations := strings.Contains(s.text, "Suppress")
	for _, c := range s.comments {
		found = append(found, t.inComment(s.text[c.start:c.end], s.line(c.start))...)
	}
	for i := range s.tokens {
		if !(annotations && s.text[s.tokens[i].start] == '@') && !(s.is(i, "#") && s.isOneOf(i+1, "[", "!")) {
			continue
		}
		attribute, end := s.attribute(i)
		start := int(s.tokens[i].start)
		line, _, _ := strings.Cut(s.text[start:min(len(s.text), start+longestSource)], "\n")
		if written := s.text[start:min(int(end), start+longestSource)]; len(written) > len(line) {
			line = written
		}
		for _, one := range t.inCode(attribute, line, s.line(s.tokens[i].start)) {
			one.last = s.line(end - 1)
			found = append(found, one)
		}
	}
	return found
}

// attribute returns the tokens of an attribute or an annotation, which begins at index i, without
// the white space between them, and where it ends.
func (s *source) attribute(i int) (written string, end int32) {
	const most = 60 // tokens
	var b strings.Builder
	depth := 0
	for n := i; n < min(len(s.tokens), i+most); n++ {
		b.WriteString(s.written(n))
		end = s.tokens[n].end
		switch s.tokens[n].kind {
		case opening:
			depth++
		case closing:
			if depth--; depth <= 0 {
				return b.String(), end
			}
		case word:
			if depth == 0 && !s.is(n, "@") && !s.isOneOf(n+1, ".", ":", "(") {
				return b.String(), end // an annotation's name
			}
		}
	}
	return b.String(), end
}

// inCode returns the silence that a piece of code begins with, if there is one. code may lack white
// space; source is the same as the file has it, for people.
func (t *silencerTable) inCode(code, source string, line int) []Silence {
	for _, s := range t.all {
		if s.Code == nil {
			continue
		}
		if at := s.Code.FindStringIndex(code); at != nil && strings.TrimSpace(code[:at[0]]) == "" {
			return []Silence{s.silence(line, source, ScopeLine)}
		}
	}
	return nil
}

// commentSign matches what may begin a comment, in languages that are not known.
var commentSign = lazyregexp.New("(?:^|\\s)(#|--|;|%|\\(\\*)|(?:^|[^\"'`:\\\\])(//|/\\*|<!--|\\{#|\\{\\{!)")

// inLines looks into the lines of a file whose language is not known.
func (t *silencerTable) inLines(code string) []Silence {
	var found []Silence
	number := 0
	for line := range strings.Lines(code) {
		number++
		if len(line) > longestLine || !maySilence(line) {
			continue
		}
		found = append(found, t.inLine(line, number)...)
		code := strings.TrimSpace(line)
		found = append(found, t.inCode(code, code, number)...)
	}
	return found
}

// inLine looks into the first comment of a line that tells tools anything, if it has any.
func (t *silencerTable) inLine(line string, number int) []Silence {
	line = strings.TrimRight(line, "\r\n")
	for i, at := range commentSign.FindAllStringSubmatchIndex(line, -1) {
		comment := line[max(at[2], at[4]):]
		// Reading the first comment covers the rest of the line. It can miss only a directive that begins
		// a later comment.
		if i > 0 && !t.comment.MatchString(beginning(comment[:min(len(comment), longestDirective)])) {
			continue
		}
		if found := t.inComment(comment, number); len(found) > 0 {
			return found
		}
	}
	return nil
}

// inMarkup looks into comments of JSX that were not recognized, because the text before them looks
// like the beginning of a string. It skips the lines on which something was found.
func (t *silencerTable) inMarkup(code string, found []Silence) []Silence {
	has := map[int]bool{}
	for _, s := range found {
		has[s.Line] = true
	}
	number := 0
	for line := range strings.Lines(code) {
		if number++; len(line) > longestLine || !maySilence(line) || has[number] {
			continue
		}
		found = append(found, t.inLine(line, number)...)
	}
	return found
}

// hasMarkup matches the end of an element, as it is in a file with JSX.
var hasMarkup = lazyregexp.New(`</[A-Za-z>]|/>`)

// key matches the key of a line of TOML, YAML, JSON or an INI file, or a call that takes a list.
var key = lazyregexp.New(`^\s*(?:- |\{\s*)?["']?(?:[\w-]+\.)*([\w-]+)["']?\s*(?:[:=]|\()`)

// section matches a section of TOML or an INI file, and the last part of its name.
var section = lazyregexp.New(`^\[+(?:.*[.:])?["']?([\w -]+?)["']?\s*\]+$`)

// inConfiguration looks into the configuration of tools: for lines that switch something off, and
// for those below keys that do.
func (t *silencerTable) inConfiguration(f *File) []Silence {
	var found []Silence
	for _, s := range t.all {
		if s.Path == nil || s.Line == nil && s.Keys == nil || !s.Path.MatchString(f.Path) {
			continue
		}
		for _, set := range s.settings(f.Text) {
			if set.silences {
				found = append(found, s.silence(set.line, set.text, ScopeProject))
			}
		}
		if len(found) > 0 {
			return found
		}
	}
	return found
}

// setting is a line of a tool's configuration. A line of brackets alone is left out, and so is a key
// alone, unless the silencer's Line matches it.
type setting struct {
	line     int
	text     string // trimmed
	keys     string // the keys that it stands below, its own as the last, joined with points
	silences bool
}

// settings reads a configuration.
func (s silencer) settings(code string) []setting {
	var found []setting
	var below []openKey      // the keys that are open, by their indentation
	sectionSilences := false // the section that is open
	sectionName := ""
	inText := "" // what ends the string of several lines that is open
	number := 0
	for line := range strings.Lines(code) {
		number++
		trimmed := strings.TrimSpace(line)
		if trimmed == "" || strings.HasPrefix(trimmed, "#") || strings.HasPrefix(trimmed, "//") || len(line) > longestLine {
			continue
		}
		indent := len(line) - len(strings.TrimLeft(line, " \t"))
		isItem := strings.HasPrefix(trimmed, "-")
		if m := section.FindStringSubmatch(trimmed); m != nil && indent == 0 && inText == "" {
			below, sectionSilences, sectionName = nil, s.Keys != nil && s.Keys.MatchString(m[1]), strings.Trim(trimmed, "[] ")
			continue
		}
		for inText == "" && len(below) > 0 && below[len(below)-1].endsBefore(indent, isItem, strings.HasPrefix(trimmed, "]")) {
			below = below[:len(below)-1]
		}
		m := key.FindStringSubmatch(line)
		if inText != "" {
			m = nil
		}
		if m != nil {
			below = append(below, openKey{m[1], indent, isItem, s.Keys != nil && s.Keys.MatchString(m[1])})
		}
		silences := sectionSilences || slices.ContainsFunc(below, func(k openKey) bool { return k.silences })
		isOnlyKey := m != nil && slices.ContainsFunc([]string{":", "[", "{", "=", "(", `'''`, `"""`}, func(end string) bool { return strings.HasSuffix(trimmed, end) })
		isEnd := strings.Trim(trimmed, "[]{}(),;'\" ") == ""
		for _, quotes := range []string{`'''`, `"""`} {
			switch odd := strings.Count(line, quotes)%2 == 1; {
			case odd && inText == "":
				inText = quotes
			case odd && inText == quotes:
				inText = ""
			}
		}
		switches := s.Line != nil && s.Line.MatchString(line)
		if isEnd || isOnlyKey && !switches {
			continue
		}
		found = append(found, setting{number, trimmed, joinKeys(sectionName, below), switches || silences})
	}
	return found
}

// joinKeys returns the names of a section and of the keys below it, joined with points. Each
// setting keeps a copy, so joinKeys returns at most the last longestKeys bytes.
func joinKeys(section string, below []openKey) string {
	const longestKeys = 200
	from := len(below)
	for length := 0; from > 0 && length < longestKeys; from-- {
		length += len(below[from-1].name) + 1
	}
	var names []string
	if from == 0 && section != "" {
		names = append(names, section)
	}
	for _, k := range below[from:] {
		names = append(names, k.name)
	}
	joined := strings.Join(names, ".")
	return strings.Clone(joined[max(0, len(joined)-longestKeys):])
}

// openKey is a key of a configuration that the current line belongs to.
type openKey struct {
	name     string
	indent   int
	isItem   bool // it is the first of an item of a list
	silences bool
}

// endsBefore reports whether a line with an indentation no longer belongs to the key. A list may be
// indented as little as the key that it belongs to, and so may the bracket that closes one.
func (k openKey) endsBefore(indent int, isItem, isCloser bool) bool {
	return indent < k.indent || indent == k.indent && (!isItem || k.isItem) && !isCloser
}

// rank orders silences: what covers more first.
func (s Silence) rank() int {
	return slices.Index([]Scope{ScopeProject, ScopeFile, ScopeLine}, s.Scope)
}
