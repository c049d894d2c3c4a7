package intake

import (
	"fmt"
	"strings"

	"github.com/agent-airlock/airlock/internal/schema"
	"github.com/go-json-experiment/json/jsontext"
)

func quote(s string) string { return schema.Quote(s) }

// alike says which of names is the wanted one but for letter case and
// separators; "" if none is.
func alike(wanted string, names []string) string {
	plain := strings.NewReplacer("_", "", "-", "", " ", "")
	for _, n := range names {
		if len(n) < 64 && strings.EqualFold(plain.Replace(n), plain.Replace(wanted)) {
			return " (" + quote(n) + " is another name: names are matched exactly)"
		}
	}
	return ""
}

func quoteSome(list []string, most int) []string {
	var out []string
	for i, s := range list {
		if i == most {
			return append(out, fmt.Sprintf("and %d more", len(list)-most))
		}
		out = append(out, quote(s))
	}
	return out
}

// value writes a raw value for a message: strings quoted, the rest shortened.
func value(raw []byte) string {
	if raw[0] == '"' {
		if text, err := jsontext.AppendUnquote(nil, raw); err == nil {
			return quote(string(text))
		}
	}
	switch raw[0] {
	case '{':
		return "an object"
	case '[':
		return "an array"
	}
	if len(raw) > 40 {
		return string(raw[:40]) + "…"
	}
	return string(raw)
}
