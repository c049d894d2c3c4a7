package phase

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

// languageOf resolves the spec's aliases; the schema has refused any other word.
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
