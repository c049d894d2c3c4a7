package phase

import "strings"

// String describes the sign in Markdown, for the documentation.
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

// code describes the text that a sign looks for. "dependency NAME" stands for a dependency in
// package.json. Any other text is shown as it is, such as a gemspec's, where the NAME is quoted.
func code(text string) string {
	if rest, ok := strings.CutPrefix(text, "dependency "); ok && !strings.HasPrefix(rest, `"`) {
		return "the dependency `" + rest + "`"
	}
	return "`" + text + "`"
}
