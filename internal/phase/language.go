package phase

import (
	"path"
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

// LanguageNamed returns the language of a name, which may be one of the spec's
// short forms, such as "js". ok is false for any other word.
func LanguageNamed(name string) (language Language, ok bool) {
	switch l := languageOf(name); l {
	case JavaScript, TypeScript, Python, Go, Rust, Ruby, Java:
		return l, true
	}
	return "", false
}

// CheckNamed returns the check of a name, in which "-" stands for "_" as well.
func CheckNamed(name string) (check Check, ok bool) {
	switch c := Check(strings.ReplaceAll(name, "-", "_")); c {
	case Formatter, Linter, Build, Tests, CodeReview, SecurityReview:
		return c, true
	}
	return "", false
}

// languageOf resolves the spec's aliases.
func languageOf(name string) Language {
	switch name {
	case "js":
		return JavaScript
	case "ts":
		return TypeScript
	case "py":
		return Python
	case "golang":
		return Go
	case "rs":
		return Rust
	case "rb":
		return Ruby
	}
	return Language(name)
}

// languageOfFile returns the language that a file's ending says it is written
// in, "" for none of ours.
func languageOfFile(name string) Language {
	switch strings.ToLower(path.Ext(name)) {
	case ".js", ".jsx", ".mjs", ".cjs":
		return JavaScript
	case ".ts", ".tsx", ".mts", ".cts":
		return TypeScript
	case ".py", ".pyi":
		return Python
	case ".go":
		return Go
	case ".rs":
		return Rust
	case ".rb", ".rake", ".gemspec":
		return Ruby
	case ".java":
		return Java
	}
	return ""
}

// family returns one language for those that share their tools and their marker:
// a package.json is for JavaScript as much as for TypeScript.
func (l Language) family() Language {
	if l == TypeScript {
		return JavaScript
	}
	return l
}
