package changes

import (
	"cmp"
	"path"
	"strconv"
	"strings"
)

// The name of the files that are read, and limits of what is read of them.
const (
	attributesName    = ".gitattributes"
	maxAttributesFile = 100 << 10 // bytes of one file; git reads larger ones
	maxAttributeRules = 500       // of all files together
)

// attributeState is what a line of .gitattributes does to an attribute.
type attributeState int

const (
	unspecified attributeState = iota
	set
	unset
	reset // "!name": what earlier lines did no longer counts
)

// attributes are the two that are read: linguist-generated and linguist-vendored.
type attributes struct{ generated, vendored attributeState }

// overriddenBy returns the attributes after a later line.
func (a attributes) overriddenBy(line attributes) attributes {
	return attributes{cmp.Or(line.generated, a.generated), cmp.Or(line.vendored, a.vendored)}
}

// attributeRule is a line of a .gitattributes file.
type attributeRule struct {
	base     string   // a pattern without a slash, for the name of a file at any depth
	segments []string // any other pattern, for the path of a file: its parts between slashes
	attributes
}

// attributeRules are the rules of each directory, in the order of its file. They are
// data: no filter or driver that they name is ever run.
type attributeRules map[string][]attributeRule

// forPath returns the attributes of a path: deeper directories and later lines win.
func (rules attributeRules) forPath(name string) attributes {
	var result attributes
	segments := strings.Split(name, "/")
	dirEnd := 0 // name[:dirEnd] is the directory that contains segments[i:]
	for i, segment := range segments {
		for _, r := range rules[name[:dirEnd]] {
			if r.matches(segments[i:]) {
				result = result.overriddenBy(r.attributes)
			}
		}
		if i > 0 {
			dirEnd++ // the slash
		}
		dirEnd += len(segment)
	}
	return result
}

// parseAttributes reads the lines about generated and vendored files.
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
		var found attributes
		for word := range strings.FieldsSeq(rest) {
			found = found.overriddenBy(parseAttribute(word))
		}
		if found == (attributes{}) {
			continue
		}
		if r, ok := newRule(pattern, found); ok {
			rules = append(rules, r)
		}
	}
	return rules
}

// cutPattern returns the pattern at the start of a line; one in quotes may contain
// spaces.
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

// parseAttribute reads one attribute: "name", "-name", "!name", "name=value". The result is
// zero for an attribute that is neither linguist-generated nor linguist-vendored.
func parseAttribute(word string) attributes {
	state := set
	if rest, ok := strings.CutPrefix(word, "-"); ok {
		word, state = rest, unset
	} else if rest, ok := strings.CutPrefix(word, "!"); ok {
		word, state = rest, reset
	}
	name, value, hasValue := strings.Cut(word, "=")
	if hasValue && (value == "false" || value == "0") {
		state = unset
	}
	switch name {
	case "linguist-generated":
		return attributes{generated: state}
	case "linguist-vendored":
		return attributes{vendored: state}
	}
	return attributes{}
}

// newRule prepares a pattern. The result is false for a pattern that matches no file: a negative
// one, which git does not have here, one that names a directory, or an invalid one.
func newRule(pattern string, a attributes) (attributeRule, bool) {
	if pattern == "" || strings.HasPrefix(pattern, "!") || strings.HasSuffix(pattern, "/") {
		return attributeRule{}, false
	}
	pattern = strings.ReplaceAll(pattern, "[!", "[^")
	if _, err := path.Match(pattern, ""); err != nil {
		return attributeRule{}, false
	}
	if !strings.Contains(pattern, "/") {
		return attributeRule{base: pattern, attributes: a}, true
	}
	return attributeRule{segments: strings.Split(strings.TrimPrefix(pattern, "/"), "/"), attributes: a}, true
}

// matches reports whether the rule is about a path below its directory.
func (r attributeRule) matches(name []string) bool {
	if r.base != "" {
		return matchName(r.base, name[len(name)-1])
	}
	return matchSegments(r.segments, name)
}

func matchName(pattern, name string) bool {
	ok, err := path.Match(pattern, name)
	return ok && err == nil
}

// matchSegments matches a path against a pattern in which "**" stands for any number of
// directories, and at the pattern's end for at least one name. After a mismatch only the last "**"
// before it has to be tried again, so the time is at most the product of the lengths.
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
		case p < len(pattern) && matchName(pattern[p], name[n]):
			p++
			n++
		case star < 0:
			return false
		default:
			resume++
			p, n = star+1, resume
		}
	}
	return p == len(pattern)
}
