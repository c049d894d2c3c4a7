package schema

import (
	"bytes"
	"cmp"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/agent-airlock/airlock/internal/lazyregexp"
)

var unescapePointer = strings.NewReplacer("~1", "/", "~0", "~")

var escapePointer = strings.NewReplacer("~", "~0", "/", "~1")

// pointerTokens splits a JSON pointer.
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

// instancePath writes the JSON pointer of a place in value as a path: "$.tags[1].e".
func instancePath(ptr string, value any) string {
	var b strings.Builder
	b.WriteByte('$')
	for _, tok := range pointerTokens(ptr) {
		if _, isList := value.([]any); isList {
			b.WriteString(indexStep(tok))
		} else {
			b.WriteString(pathStep(tok))
		}
		value = child(value, tok)
	}
	return b.String()
}

var plainName = lazyregexp.New(`^[A-Za-z0-9_$-]{1,80}$`)

// PropertyPath returns the path of a property of the outermost object, as violations write it.
func PropertyPath(name string) string { return "$" + pathStep(name) }

// pathStep writes a property's name as the next step of a path: ".name", or
// "['odd name']", shortened, if the name is not a plain word of at most 80 characters.
func pathStep(name string) string {
	if plainName.MatchString(name) {
		return "." + name
	}
	return "[" + Quote(name) + "]"
}

// indexStep writes an index of an array as the next step of a path.
func indexStep(index string) string { return "[" + index + "]" }

// child returns the member or element of value that a token of a JSON pointer names, or nil.
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

// resolve returns the part of value that a JSON pointer names, or nil.
func resolve(value any, ptr string) any {
	for _, tok := range pointerTokens(ptr) {
		value = child(value, tok)
	}
	return value
}

// schemaPath writes a keyword's JSON pointer as "properties.url.format", without
// the references on the way.
func schemaPath(ptr string) string {
	tokens := slices.DeleteFunc(pointerTokens(ptr), func(t string) bool { return t == "$ref" })
	return strings.Join(tokens, ".")
}

// ComparePaths orders the paths of violations, with indexes by their values:
// "$.a[2]" before "$.a[10]".
func ComparePaths(a, b string) int {
	split := func(path string) []string {
		return strings.FieldsFunc(path, func(r rune) bool { return r == '.' || r == '[' || r == ']' })
	}
	return slices.CompareFunc(split(a), split(b), func(a, b string) int {
		i, errA := strconv.Atoi(a)
		j, errB := strconv.Atoi(b)
		if errA == nil && errB == nil { // two indexes
			return cmp.Compare(i, j)
		}
		return cmp.Compare(a, b)
	})
}

// Duplicate returns the place of the first member whose name an earlier member of the same
// object has as well, and whether there is one. If raw is not valid JSON, it is only read up
// to the error.
func Duplicate(raw []byte) (path string, found bool) {
	dec := jsontext.NewDecoder(bytes.NewReader(raw), jsontext.AllowInvalidUTF8(true))
	err := dec.SkipValue()
	syntactic, ok := errors.AsType[*jsontext.SyntacticError](err)
	if !ok || !errors.Is(err, jsontext.ErrDuplicateName) {
		return "", false
	}
	return decoderPath(dec, syntactic.JSONPointer), true
}

// LoneSurrogate returns the place of the first string of valid JSON that has half of a surrogate
// pair, such as \ud800, and whether there is one. Such a half stands for no character, and many
// readers of JSON refuse the whole document because of it.
func LoneSurrogate(raw []byte) (path string, found bool) {
	if !bytes.Contains(raw, []byte(`\u`)) {
		return "", false
	}
	dec := jsontext.NewDecoder(bytes.NewReader(raw), jsontext.AllowDuplicateNames(true))
	syntactic, ok := errors.AsType[*jsontext.SyntacticError](dec.SkipValue())
	if !ok {
		return "", false
	}
	return decoderPath(dec, syntactic.JSONPointer), true
}

// decoderPath writes a JSON pointer to where dec is, or to a member of the object or array in
// which it is, as "$.tags[1].e".
func decoderPath(dec *jsontext.Decoder, ptr jsontext.Pointer) string {
	var b strings.Builder
	b.WriteByte('$')
	for i, tok := range pointerTokens(string(ptr)) {
		if kind, _ := dec.StackIndex(i + 1); kind == '[' {
			b.WriteString(indexStep(tok))
		} else {
			b.WriteString(pathStep(tok))
		}
	}
	return b.String()
}
