package reviewer

import (
	"slices"
	"testing"
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
