package changes

import (
	"path"
	"strconv"
	"strings"
)

// Limits of what is read of a repository's .gitattributes files.
const (
	attributesName  = ".gitattributes"
	maxAttributes   = 100 << 10 // bytes of one file; git reads larger ones
	maxAttributeSet = 500       // lines, of all files together, that say something of interest
)

// state is what a line says of an attribute.
type state int

const (
	unspecified state = iota
	set
	unset
	taken // a "!name" takes back what earlier lines said
)

func (s state) final() state {
	if s == taken {
		return unspecified
	}
	return s
}

// attributes are the two that are of interest here.
type attributes struct{ generated, vendored state }

// over lays what a later line says over what earlier ones said.
func (a attributes) over(earlier attributes) attributes {
	if a.generated == unspecified {
		a.generated = earlier.generated
	}
	if a.vendored == unspecified {
		a.vendored = earlier.vendored
	}
	return a
}

// attributeRule is a line of a .gitattributes file.
type attributeRule struct {
	base     string   // of a pattern without a slash: the name of a file anywhere below
	segments []string // of every other pattern: the path below the file's directory
	says     attributes
}

// attributeRules are the rules of each directory, in the order of its file. They are
// data: no filter or driver that they name is ever run.
type attributeRules map[string][]attributeRule

// of returns what the rules say of a path: deeper directories and later lines win.
func (rules attributeRules) of(name string) attributes {
	var said attributes
	segments := strings.Split(name, "/")
	for i, at := 0, 0; i < len(segments); i++ {
		for _, r := range rules[strings.TrimSuffix(name[:at], "/")] {
			if r.matches(segments[i:]) {
				said = r.says.over(said)
			}
		}
		at = min(at+len(segments[i])+1, len(name))
	}
	return attributes{said.generated.final(), said.vendored.final()}
}

// parseAttributes reads the lines that speak of generated and vendored files.
func parseAttributes(text string) []attributeRule {
	var rules []attributeRule
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") || strings.HasPrefix(line, "[attr]") {
			continue
		}
		pattern, rest, ok := cutPattern(line)
		if !ok {
			continue
		}
		var says attributes
		for word := range strings.FieldsSeq(rest) {
			says = saysOf(word).over(says)
		}
		if says == (attributes{}) {
			continue
		}
		if r, ok := newRule(pattern, says); ok {
			rules = append(rules, r)
		}
	}
	return rules
}

// cutPattern takes the pattern from the start of a line; one in quotes may hold
// blanks.
func cutPattern(line string) (pattern, rest string, ok bool) {
	if !strings.HasPrefix(line, `"`) {
		i := strings.IndexAny(line, " \t")
		if i < 0 {
			return "", "", false
		}
		return line[:i], line[i:], true
	}
	quoted, err := strconv.QuotedPrefix(line)
	if err != nil {
		return "", "", false
	}
	pattern, ok = unquoteName(quoted)
	return pattern, line[len(quoted):], ok
}

// saysOf reads one attribute: "name", "-name", "!name", "name=value".
func saysOf(word string) attributes {
	is := set
	if rest, ok := strings.CutPrefix(word, "-"); ok {
		word, is = rest, unset
	} else if rest, ok := strings.CutPrefix(word, "!"); ok {
		word, is = rest, taken
	}
	name, value, valued := strings.Cut(word, "=")
	if valued && (value == "false" || value == "0") {
		is = unset
	}
	switch name {
	case "linguist-generated":
		return attributes{generated: is}
	case "linguist-vendored":
		return attributes{vendored: is}
	}
	return attributes{}
}

// newRule prepares a pattern. Git knows no negative patterns here, and one that
// names a directory matches no file.
func newRule(pattern string, says attributes) (attributeRule, bool) {
	if pattern == "" || strings.HasPrefix(pattern, "!") || strings.HasSuffix(pattern, "/") {
		return attributeRule{}, false
	}
	pattern = strings.ReplaceAll(pattern, "[!", "[^")
	if _, err := path.Match(pattern, ""); err != nil {
		return attributeRule{}, false
	}
	if !strings.Contains(pattern, "/") {
		return attributeRule{base: pattern, says: says}, true
	}
	return attributeRule{segments: strings.Split(strings.TrimPrefix(pattern, "/"), "/"), says: says}, true
}

// matches reports whether the rule speaks of a path below its directory.
func (r attributeRule) matches(name []string) bool {
	if r.base != "" {
		ok, err := path.Match(r.base, name[len(name)-1])
		return ok && err == nil
	}
	return matchSegments(r.segments, name)
}

// matchSegments matches a path against a pattern in which "**" stands for any
// number of directories, at its end for at least one name. As with "*" in a name,
// only the last "**" before a mismatch has to be tried again: so the time is at most
// the product of the lengths.
func matchSegments(pattern, name []string) bool {
	p, n := 0, 0
	star, resume := -1, 0
	for n < len(name) {
		switch {
		case p < len(pattern) && pattern[p] == "**":
			if p == len(pattern)-1 {
				return true
			}
			star, resume = p, n
			p++
			continue
		case p < len(pattern):
			if ok, err := path.Match(pattern[p], name[n]); ok && err == nil {
				p++
				n++
				continue
			}
		}
		if star < 0 {
			return false
		}
		resume++
		p, n = star+1, resume
	}
	return p == len(pattern)
}
