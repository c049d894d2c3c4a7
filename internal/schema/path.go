package schema

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

var unescapePointer = strings.NewReplacer("~1", "/", "~0", "~")

func escapePointer(name string) string {
	return strings.NewReplacer("~", "~0", "/", "~1").Replace(name)
}

// pointerTokens takes a JSON pointer apart.
func pointerTokens(ptr string) []string {
	if ptr == "" {
		return nil
	}
	tokens := strings.Split(strings.TrimPrefix(ptr, "/"), "/")
	for i, t := range tokens {
		tokens[i] = unescapePointer.Replace(t)
	}
	return tokens
}

// instancePath writes a JSON pointer as "$.tags[1].e". Which tokens are indexes
// is read from the value, where there is one, else from their form.
func instancePath(ptr string, value any) string {
	var b strings.Builder
	b.WriteByte('$')
	for _, tok := range pointerTokens(ptr) {
		_, isMap := value.(map[string]any)
		if _, err := strconv.Atoi(tok); err == nil && !isMap {
			b.WriteString("[" + tok + "]")
		} else {
			b.WriteString(member(tok))
		}
		value = child(value, tok)
	}
	return b.String()
}

// member writes a property's name as a path's next step: ".name", or
// "['odd name']" where the name is not a plain word.
func member(name string) string {
	plain := name != ""
	for _, r := range name {
		plain = plain && (r == '_' || r == '-' || r == '$' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z')
	}
	if plain {
		return "." + name
	}
	return "[" + show(name) + "]"
}

func child(value any, tok string) any {
	switch v := value.(type) {
	case map[string]any:
		return v[tok]
	case []any:
		if i, err := strconv.Atoi(tok); err == nil && i >= 0 && i < len(v) {
			return v[i]
		}
	}
	return nil
}

func resolve(value any, ptr string) any {
	for _, tok := range pointerTokens(ptr) {
		value = child(value, tok)
	}
	return value
}

// dotted writes a keyword's JSON pointer as "properties.url.format", without
// the references it passes through.
func dotted(ptr string) string {
	tokens := slices.DeleteFunc(pointerTokens(ptr), func(t string) bool { return t == "$ref" })
	return strings.Join(tokens, ".")
}

// ComparePaths orders the paths of violations so that elements come in the order of their
// indexes: "$.a[2]" before "$.a[10]".
func ComparePaths(a, b string) int {
	as, bs := steps(a), steps(b)
	for i := range min(len(as), len(bs)) {
		an, aerr := strconv.Atoi(as[i])
		bn, berr := strconv.Atoi(bs[i])
		c := cmp.Compare(as[i], bs[i])
		if aerr == nil && berr == nil {
			c = cmp.Compare(an, bn)
		}
		if c != 0 {
			return c
		}
	}
	return cmp.Compare(len(as), len(bs))
}

func steps(path string) []string {
	return strings.FieldsFunc(path, func(r rune) bool { return r == '.' || r == '[' || r == ']' })
}
