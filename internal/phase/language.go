package phase

import (
	"path"
	"slices"
	"strings"
)

// Language is a programming language that the checks know.
type Language string

// The languages.
const (
	JavaScript Language = "javascript"
	TypeScript Language = "typescript"
	Python     Language = "python"
	Go         Language = "go"
	Rust       Language = "rust"
	Ruby       Language = "ruby"
	Java       Language = "java"
)

// languages has a row for each language, in the order in which their markers count.
var languages = []struct {
	language Language
	alias    string   // the spec's other name
	endings  []string // of its files
	markers  []string // files of a project in it; one may be a pattern of path.Match
	tools    func() []tool
}{
	{JavaScript, "js", []string{".js", ".jsx", ".mjs", ".cjs"}, []string{"package.json"}, nodeTools},
	{TypeScript, "ts", []string{".ts", ".tsx", ".mts", ".cts"}, nil, nodeTools}, // see project.languages
	{Go, "golang", []string{".go"}, []string{"go.mod"}, goTools},
	{Rust, "rs", []string{".rs"}, []string{"Cargo.toml"}, rustTools},
	{Python, "py", []string{".py", ".pyi"}, []string{"requirements.txt", "pyproject.toml", "setup.py", "Pipfile"}, pythonTools},
	{Ruby, "rb", []string{".rb", ".rake", ".gemspec"}, []string{"Gemfile", "*.gemspec"}, rubyTools},
	{Java, "java", []string{".java"}, []string{"pom.xml", "build.gradle", "build.gradle.kts", "settings.gradle", "settings.gradle.kts"}, javaTools},
}

// LanguageNamed returns the language of a name, which may be one of the spec's other
// names, such as "js".
func LanguageNamed(name string) (language Language, ok bool) {
	for _, l := range languages {
		if name == string(l.language) || name == l.alias {
			return l.language, true
		}
	}
	return "", false
}

// languageOfFile returns the language of a file by its ending, "" if that is not known.
func languageOfFile(name string) Language {
	ending := strings.ToLower(path.Ext(name))
	for _, l := range languages {
		if slices.Contains(l.endings, ending) {
			return l.language
		}
	}
	return ""
}

// isMarker reports whether a file of that name marks the directory of a project.
func isMarker(name string) bool {
	if slices.Contains(denoConfigs, name) {
		return true
	}
	for _, l := range languages {
		if slices.ContainsFunc(l.markers, func(m string) bool { ok, _ := path.Match(m, name); return ok }) {
			return true
		}
	}
	return false
}

// family returns one language for all that share their tools and a marker, as JavaScript and
// TypeScript share package.json.
func (l Language) family() Language {
	if l == TypeScript {
		return JavaScript
	}
	return l
}

// endingsOf returns the endings of the files of a language's family.
func endingsOf(l Language) (endings []string) {
	for _, row := range languages {
		if row.language.family() == l.family() {
			endings = append(endings, row.endings...)
		}
	}
	return endings
}
