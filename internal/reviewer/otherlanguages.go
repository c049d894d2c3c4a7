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

// LanguageWithoutRules returns the language of a file by the ending of its name, if it is a
// programming language without rules; otherwise "".
func LanguageWithoutRules(name string) string { return otherLanguages[strings.ToLower(path.Ext(name))] }
