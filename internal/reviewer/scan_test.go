package reviewer

import (
	"iter"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"
)

func TestRubyTokens(t *testing.T) {
	for name, c := range map[string]struct {
		code string
		want []string // the tokens as they are written
	}{
		"names with a sign":        {"a.empty? ? save! : b!=c", []string{"a", ".", "empty?", "?", "save!", ":", "b", "!=", "c"}},
		"globals that are a quote": {"x = $' + y", []string{"x", "=", "$'", "+", "y"}},
		"words with an apostrophe": {"x = %w[it's [a] b] + y", []string{"x", "=", "%w[it's [a] b]", "+", "y"}},
		"a text with a hole":       {"puts %(it's #{a} (b)) + y", []string{"puts", "%(", "it's ", "#{", "a", "}", " (b)", ")", "+", "y"}},
		"a text without holes":     {"x = %q{#{a}}", []string{"x", "=", "%q{#{a}}"}},
		"a remainder":              {"a % (b)", []string{"a", "%", "(", "b", ")"}},
		"a remainder of a call":    {"f(a) %(b)", []string{"f", "(", "a", ")", "%", "(", "b", ")"}},
		"a text that has no end":   {"x = %w[a\nb", []string{"x", "=", "%w[a\nb"}},
		"a text that begins a line": {"f(a)\n%x(ls)\n",
			[]string{"f", "(", "a", ")", "%x(", "ls", ")"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := scan("a.rb", c.code, languageNamed("ruby"))
			var got []string
			for i := range s.tokens {
				got = append(got, s.written(i))
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

// TestHereDocumentsOfOneLine asserts that each of several here-documents which begin on one line has
// its own text, whatever their names are.
func TestHereDocumentsOfOneLine(t *testing.T) {
	for code, want := range map[string][]string{
		"f(<<~A, <<~AB)\nx\nA\ny\nAB\n":        {"x\n", "y\n"},
		"f(<<~SQL, <<-'SQL')\nx\nSQL\n\nSQL\n": {"x\n", "\n"},
		"f(<<~A, \"<<~A\", <<~B)\nA\ny\nB\n":   {"", "<<~A", "y\n"},
	} {
		s := scan("a.rb", code, languageNamed("ruby"))
		var got []string
		for i := range s.tokens {
			if s.tokens[i].kind == stringText {
				got = append(got, s.content(i))
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", code, got, want)
		}
	}
}

// TestRegularExpressionsEndOnTheirLine asserts, for all short texts of the characters that matter,
// that a slash where a regular expression may begin begins one if and only if the line has its end.
func TestRegularExpressionsEndOnTheirLine(t *testing.T) {
	for text := range textsOf("/[]\\\na", 6) {
		s := scan("a.js", text, languageNamed("javascript"))
		for i, token := range s.tokens {
			if text[token.start] != '/' {
				continue
			}
			want := -1
			before := scanner{source: &source{text: text, lang: s.lang, tokens: s.tokens[:i]}, at: int(token.start), first: token.first}
			if before.regexMayBegin() {
				want = regexEnd(text, int(token.start))
			}
			if got := int(token.to); token.kind == stringText && got != want || token.kind != stringText && want >= 0 {
				t.Fatalf("%q: the slash at %d is %q; want an expression that ends at %d", text, token.start, s.written(i), want)
			}
		}
	}
}

// regexEnd returns the offset of the slash that ends the regular expression at an offset, -1 if its
// line has none.
func regexEnd(text string, begin int) int {
	class := false
	for i := begin + 1; i < len(text) && text[i] != '\n'; i++ {
		switch {
		case text[i] == '\\' && i+1 < len(text) && text[i+1] != '\n':
			i++
		case text[i] == '[' || text[i] == ']':
			class = text[i] == '['
		case text[i] == '/' && !class:
			return i
		}
	}
	return -1
}

// textsOf yields all texts of at most length characters.
func textsOf(characters string, length int) iter.Seq[string] {
	return func(yield func(string) bool) {
		var more func(text string) bool
		more = func(text string) bool {
			if !yield(text) {
				return false
			}
			if len(text) == length {
				return true
			}
			for _, c := range characters {
				if !more(text + string(c)) {
					return false
				}
			}
			return true
		}
		more("")
	}
}

// TestScannerReadsAheadOnce asserts that the scanner does not read a line again and again for regular
// expressions that have no end, in hostile texts and whatever short text is repeated.
func TestScannerReadsAheadOnce(t *testing.T) {
	check := func(path, text string) {
		t.Helper()
		s := newScanner(path, text, languageOf(path))
		for s.at < len(s.text) {
			s.next()
		}
		if s.readInVain > 2*len(text) {
			t.Errorf("%s: of %d bytes, %d are read in vain: %.20q …", path, len(text), s.readInVain, text)
		}
	}
	for name := range hostile {
		f := hostileText(name, 25_000)
		check(f.Path, f.Text)
	}
	for path, characters := range map[string]string{"a.js": "/[]\\\"'`$({}*<a \n", "a.rb": "/[]\\\"'`#{}(%<~A \n="} {
		for unit := range textsOf(characters, 3) {
			if unit != "" {
				check(path, strings.Repeat(unit, 300/len(unit)))
			}
		}
	}
}

// TestColumnsOfLongLines asserts that a column is the number of UTF-16 code units before it, also far
// from the beginning of its line.
func TestColumnsOfLongLines(t *testing.T) {
	line := strings.Repeat("aé€😀\xff\xf0\x9f", 500)
	text := "first\n" + line + "\n" + line
	s := scan("a.js", text, languageNamed("javascript"))
	begin := 0
	for offset := range len(text) {
		want := 1
		for _, r := range text[begin:offset] {
			want += max(1, utf16.RuneLen(r))
		}
		if got := s.column(int32(offset)); got != want {
			t.Fatalf("the byte %d is in column %d, want %d", offset-begin, got, want)
		}
		if text[offset] == '\n' {
			begin = offset + 1
		}
	}
}

// TestHereDocumentsHaveHoles asserts that an expression in a here-document becomes a hole, and that
// the name of a constant stays.
func TestHereDocumentsHaveHoles(t *testing.T) {
	for text, want := range map[string]value{
		"a":                 {text: "a"},
		"a #{BB} c":         {text: "a BB c"},
		"a #{b} c #{DD} #{": {text: "a \x00 c DD \x00", changing: true},
		"#{b}#{c}":          {text: "\x00\x00", changing: true},
	} {
		if got, changes := fillHoles(text); got != want.text || changes != want.changing {
			t.Errorf("%q: %q, %v", text, got, changes)
		}
	}
}
