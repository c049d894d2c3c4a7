package safeoutput

import (
	"maps"
	"sync"
)

// fieldNames maps, for each kind, every name of a field to its canonical name: the canonical
// name itself, also in snake_case, and the aliases.
var fieldNames = sync.OnceValue(func() map[Kind]map[string]string {
	all := map[Kind]map[string]string{}
	for _, s := range kinds() {
		m := map[string]string{}
		maps.Copy(m, s.FieldAliases)
		for _, field := range FieldNames(s.Kind) {
			m[field], m[SnakeCase(field)] = field, field
		}
		all[s.Kind] = m
	}
	return all
})

// CanonicalField returns the canonical name of the kind's field that name stands for: the
// canonical name itself or an alias, in snake_case, kebab-case or camelCase. It returns any other
// name as it is.
func CanonicalField(kind Kind, name string) string {
	known := fieldNames()[kind]
	if field, ok := known[name]; ok {
		return field
	}
	if snake := SnakeCase(name); snake != name {
		if field, ok := known[snake]; ok {
			return field
		}
	}
	return name
}

// FieldAliases returns every name in snake_case that CanonicalField knows for a kind, and every
// canonical name, each with the canonical one. Callers do not change it.
func FieldAliases(kind Kind) map[string]string { return fieldNames()[kind] }

// SnakeCase returns a name in kebab-case or camelCase in snake_case. A name that is neither,
// such as one that begins with a capital letter, is returned as it is.
func SnakeCase(name string) string {
	if isSnakeCase(name) {
		return name
	}
	out := make([]byte, 0, len(name)+4)
	for i := range len(name) {
		c := name[i]
		switch lower := c | 0x20; {
		case c == '-':
			out = append(out, '_')
		case c < 'A' || c > 'Z':
			out = append(out, c)
		case i == 0 || name[i-1] == '_' || name[i-1] == '-':
			return name
		case isCapital(name[i-1]) && (i+1 == len(name) || !isLower(name[i+1])): // within a run: the D of "ID"
			out = append(out, lower)
		default:
			out = append(out, '_', lower)
		}
	}
	return string(out)
}

func isSnakeCase(name string) bool {
	for i := range len(name) {
		if name[i] == '-' || isCapital(name[i]) {
			return false
		}
	}
	return true
}

func isCapital(c byte) bool { return c >= 'A' && c <= 'Z' }

func isLower(c byte) bool { return c >= 'a' && c <= 'z' }
