package changes

import (
	"bytes"
	"path"
	"strings"
)

// languages has the language of a file by its extension or its complete name.
var languages = map[string]string{
	".js": "javascript", ".mjs": "javascript", ".cjs": "javascript", ".jsx": "javascript",
	".ts": "typescript", ".mts": "typescript", ".cts": "typescript", ".tsx": "typescript",
	".py": "python", ".pyi": "python", ".pyw": "python",
	".go": "go", ".rs": "rust", ".java": "java",
	".rb": "ruby", ".rake": "ruby", ".gemspec": "ruby", ".ru": "ruby", ".podspec": "ruby",
	"Gemfile": "ruby", "Rakefile": "ruby", "Guardfile": "ruby", "Podfile": "ruby", "Vagrantfile": "ruby", "Capfile": "ruby", "Brewfile": "ruby",
	"SConstruct": "python", "SConscript": "python", "wscript": "python", "Jakefile": "javascript",
}

// interpreters has the language of a script by the program that runs it.
var interpreters = map[string]string{
	"node": "javascript", "nodejs": "javascript", "bun": "javascript", "deno": "typescript", "ts-node": "typescript", "tsx": "typescript",
	"python": "python", "pypy": "python", "ruby": "ruby", "jruby": "ruby", "rust-script": "rust", "java": "java",
}

// LanguageOf names the language of a file, by its name or else by the "#!" line at
// the start of its text: javascript, typescript, python, go, rust, ruby, java, or
// "" for every other. These are the names of phase validation's input.
func LanguageOf(name string, text []byte) string {
	base := path.Base(name)
	ext := path.Ext(base)
	for _, key := range []string{ext, strings.ToLower(ext), base} {
		if l, ok := languages[key]; ok {
			return l
		}
	}
	return interpreters[interpreter(text)]
}

// interpreter returns the program that a "#!" line names, without directory and
// version; "" without such a line.
func interpreter(text []byte) string {
	rest, ok := bytes.CutPrefix(text[:min(len(text), 256)], []byte("#!"))
	if !ok {
		return ""
	}
	line, _, _ := bytes.Cut(rest, []byte{'\n'})
	words := strings.Fields(string(line))
	if len(words) > 0 && path.Base(words[0]) == "env" {
		words = words[1:]
		for len(words) > 0 && (strings.HasPrefix(words[0], "-") || strings.Contains(words[0], "=")) {
			words = words[1:]
		}
	}
	if len(words) == 0 {
		return ""
	}
	return strings.TrimRight(path.Base(words[0]), "0123456789.")
}
