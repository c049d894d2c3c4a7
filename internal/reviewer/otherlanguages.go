package reviewer

import (
	"path"
	"strings"
)

// otherLanguages are languages of programs for which there are no rules, by the endings of their
// files in lower case.
var otherLanguages = map[string]string{
	".c": "C", ".h": "C", ".cc": "C++", ".cpp": "C++", ".cxx": "C++", ".hpp": "C++", ".mm": "Objective-C",
	".cs": "C#", ".fs": "F#", ".vb": "Visual Basic", ".kt": "Kotlin", ".scala": "Scala", ".groovy": "Groovy", ".clj": "Clojure",
	".swift": "Swift", ".dart": "Dart", ".php": "PHP", ".pl": "Perl", ".pm": "Perl", ".lua": "Lua", ".r": "R", ".jl": "Julia",
	".ex": "Elixir", ".exs": "Elixir", ".erl": "Erlang", ".hs": "Haskell", ".ml": "OCaml", ".zig": "Zig", ".sol": "Solidity",
	".sh": "the shell", ".bash": "the shell", ".ps1": "PowerShell",
}

// withoutRules returns a message if a file is in a known language without rules, otherwise "". A
// review that passes must not seem to have read such a file.
func withoutRules(f File) string {
	if name := LanguageWithoutRules(f.Path); name != "" && f.language() == nil {
		return "there are no rules for " + name + ": only secrets were looked for"
	}
	return ""
}

// LanguageWithoutRules returns the language of a file by the ending of its name, if it is a
// programming language without rules; otherwise "".
func LanguageWithoutRules(name string) string { return otherLanguages[strings.ToLower(path.Ext(name))] }
