package reviewer

import (
	"path"
	"slices"
	"strings"
)

// language describes how a language writes comments and strings, and the little that
// rules need to know of its grammar.
type language struct {
	name       string
	extensions []string
	line       []string // what begins a comment to the end of the line
	block      [2]string
	nested     bool // block comments may stand in each other
	quotes     []quote
	prefixes   string   // letters that may stand before a quote
	regexes    bool     // a slash may begin a regular expression
	indented   bool     // indentation or "end" shows where blocks end, not braces
	ruby       bool     // here-documents, literals such as %w[a b], names such as empty?
	functions  []string // keywords that begin a function
}

// quote is a way to write a string.
type quote struct {
	open, close string
	raw         bool   // a backslash escapes nothing
	lines       bool   // it may span lines
	hole        string // what begins an expression in it, which a brace ends: ${
	prefix      string // only after one of these letters: f"{a}"
}

// languages lists the languages that are reviewed. Quotes are tried in order, so longer
// ones stand first.
var languages = []*language{
	{name: "javascript", extensions: []string{".js", ".jsx", ".mjs", ".cjs", ".ts", ".tsx", ".mts", ".cts"},
		line: []string{"//"}, block: [2]string{"/*", "*/"}, regexes: true, functions: []string{"function"},
		quotes: []quote{{open: "`", close: "`", lines: true, hole: "${"}, {open: `"`, close: `"`}, {open: "'", close: "'"}}},
	{name: "python", extensions: []string{".py", ".pyi"}, line: []string{"#"}, prefixes: "rbfuRBFU", indented: true, functions: []string{"def", "lambda"},
		quotes: []quote{
			{open: `"""`, close: `"""`, lines: true, hole: "{", prefix: "fF"}, {open: `'''`, close: `'''`, lines: true, hole: "{", prefix: "fF"},
			{open: `"`, close: `"`, hole: "{", prefix: "fF"}, {open: `'`, close: `'`, hole: "{", prefix: "fF"},
			{open: `"""`, close: `"""`, lines: true}, {open: `'''`, close: `'''`, lines: true}, {open: `"`, close: `"`}, {open: `'`, close: `'`}}},
	{name: "go", extensions: []string{".go"}, line: []string{"//"}, block: [2]string{"/*", "*/"}, functions: []string{"func"},
		quotes: []quote{{open: "`", close: "`", raw: true, lines: true}, {open: `"`, close: `"`}, {open: "'", close: "'"}}},
	{name: "ruby", extensions: []string{".rb", ".rake", ".gemspec"}, line: []string{"#"}, block: [2]string{"\n=begin", "\n=end"}, regexes: true, indented: true, ruby: true,
		functions: []string{"def"}, quotes: []quote{{open: `"`, close: `"`, lines: true, hole: "#{"}, {open: "'", close: "'", lines: true}, {open: "`", close: "`", lines: true, hole: "#{"}}},
	{name: "java", extensions: []string{".java"}, line: []string{"//"}, block: [2]string{"/*", "*/"},
		quotes: []quote{{open: `"""`, close: `"""`, lines: true}, {open: `"`, close: `"`}, {open: "'", close: "'"}}},
	{name: "rust", extensions: []string{".rs"}, line: []string{"//"}, block: [2]string{"/*", "*/"}, nested: true, functions: []string{"fn"}, prefixes: "br",
		quotes: []quote{{open: `##"`, close: `"##`, raw: true, lines: true, prefix: "r"}, {open: `#"`, close: `"#`, raw: true, lines: true, prefix: "r"}, {open: `"`, close: `"`, raw: true, lines: true, prefix: "r"}, {open: `"`, close: `"`, lines: true}}},
}

// languageOf returns the language of a path, by its extension, or nil.
func languageOf(name string) *language {
	extension := path.Ext(name)
	for _, l := range languages {
		if slices.ContainsFunc(l.extensions, func(e string) bool { return strings.EqualFold(extension, e) }) {
			return l
		}
	}
	return nil
}

// language returns the language of a file, by its name or else as the caller gives it, or nil.
func (f File) language() *language {
	if l := languageOf(f.Path); l != nil {
		return l
	}
	return languageNamed(f.Language)
}

// languageNamed returns the language of that name, or nil.
func languageNamed(name string) *language {
	for _, l := range languages {
		if l.name == name {
			return l
		}
	}
	return nil
}
