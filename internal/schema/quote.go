package schema

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// maxShown is how many characters of a value a message shows.
const maxShown = 80

// show writes a value for a message: on one line, shortened, strings in single
// quotes with what does not print escaped.
func show(v any) string {
	switch v := v.(type) {
	case string:
		return Quote(v)
	case json.Number:
		return shorten(v.String())
	case []any:
		return shorten(showAll(v))
	case map[string]any:
		if len(v) == 0 {
			return "{}"
		}
		return "{…}"
	case nil:
		return "null"
	}
	return fmt.Sprint(v)
}

func showAll(v any) string {
	list, _ := v.([]any)
	var parts []string
	for i, e := range list {
		if i == 12 {
			parts = append(parts, "…")
			break
		}
		parts = append(parts, show(e))
	}
	return "[" + strings.Join(parts, ", ") + "]"
}

// Quote puts a text in single quotes for a message: shortened to 80 characters,
// and with what does not print escaped, so that it stays on one line.
func Quote(s string) string {
	s = shorten(s)
	q := strconv.QuoteToGraphic(s)
	q = strings.ReplaceAll(q[1:len(q)-1], `\"`, `"`)
	return "'" + q + "'"
}

func quoteAll(names []string) []string {
	out := make([]string, len(names))
	for i, n := range names {
		out[i] = Quote(n)
	}
	return out
}

// words quotes the one or several names of a "type" keyword.
func words(v any) []string {
	if s, ok := v.(string); ok {
		return []string{Quote(s)}
	}
	var out []string
	list, _ := v.([]any)
	for _, e := range list {
		out = append(out, show(e))
	}
	return out
}

func shorten(s string) string {
	n := 0
	for i := range s {
		if n == maxShown {
			return s[:i] + "…"
		}
		n++
	}
	return s
}
