package cli

import (
	"slices"
	"strings"
)

// code returns what tells lines of the changed files that have a text.
func (c *changeset) code() func(path string, start, end int) string {
	texts, split := map[string][]byte{}, map[string][]string{}
	for i := range c.Files {
		texts[c.Files[i].Path] = c.Files[i].Text
	}
	return func(path string, start, end int) string {
		lines, done := split[path]
		if !done {
			lines = slices.Collect(strings.Lines(string(texts[path])))
			split[path] = lines
		}
		if start < 1 || start > len(lines) {
			return ""
		}
		return strings.Join(lines[start-1:min(max(end, start), len(lines))], "")
	}
}
