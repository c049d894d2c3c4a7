package reviewer

import (
	"regexp"
	"strings"
)

var (
	licensed  = regexp.MustCompile(`(?i)\blicen[cs]e|\bcopyright\b|\(c\)`)
	published = regexp.MustCompile(`\b\d+\.\d+`)
	// compiled matches what compilers write at the beginning of a module.
	compiled = regexp.MustCompile(`Object\.defineProperty\(exports, ["']__esModule["']`)
)

// copied reports whether a file is a library of somebody else that was copied into the
// repository, or what a compiler made, which nobody here will mend: a very long script that begins with the comment
// of published ones, "/*!" or one with a version, and with a licence. Its weaknesses count
// all the same.
func (c *codeFile) copied() bool {
	if c.lang.name == "javascript" && compiled.MatchString(c.text[:min(len(c.text), longestSource)]) {
		return true
	}
	if c.lang.name != "javascript" || len(c.lines) <= longestFile || len(c.source.comments) == 0 || len(c.tokens) == 0 {
		return false
	}
	first := c.source.comments[0]
	said := c.text[first.start:min(first.end, first.start+longestSource)]
	return first.start < c.tokens[0].start && licensed.MatchString(said) && (strings.HasPrefix(said, "/*!") || published.MatchString(said))
}
