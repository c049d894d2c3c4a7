package phase

import "strings"

// String describes the sign in Markdown.
func (s sign) String() string {
	described := "`" + s.file + "`"
	switch {
	case s.runs != "":
		return "a command `" + s.runs + "`"
	case s.plugin != "":
		return "`pom.xml`, or that of a module or parent, with the plugin `" + s.plugin + "` in use"
	case s.key != "":
		return "`package.json` with " + code(s.key)
	case s.unlessFile != "":
		return described + " without a `" + s.unlessFile + "`"
	case s.text != "":
		described += " with " + code(s.shown)
	}
	if s.without != "" {
		described += " without " + s.withoutShown
	}
	if s.unless != "" {
		described += ", unless a command `" + s.unless + "`"
	}
	return described
}

// code describes what a sign looks for. "dependency NAME" stands for a dependency in package.json.
// Any other text is quoted, even that of a gemspec with quotation marks around the NAME.
func code(text string) string {
	if rest, ok := strings.CutPrefix(text, "dependency "); ok && !strings.HasPrefix(rest, `"`) {
		return "the dependency `" + rest + "`"
	}
	return "`" + text + "`"
}
