package schema

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/agent-airlock/airlock/internal/text"
)

// maxShown is how many characters of a value a message shows.
const maxShown = 80

// show writes a value for a message: on one line, shortened, and with strings in
// single quotes.
func show(v any) string {
	switch v := v.(type) {
	case string:
		return Quote(v)
	case json.Number:
		return text.Truncate(v.String(), maxShown)
	case []any:
		return text.Truncate(showList(v, maxShown), maxShown)
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

// showList writes the first items of a list, at most 12, and no more after most characters.
func showList(list []any, most int) string {
	var b strings.Builder
	b.WriteByte('[')
	for i, v := range list {
		if i > 0 {
			b.WriteString(", ")
		}
		if i == 12 || utf8.RuneCountInString(b.String()) > most {
			b.WriteString("…")
			break
		}
		b.WriteString(show(v))
	}
	b.WriteByte(']')
	return b.String()
}

func showEach[T any](list []T) []string {
	shown := make([]string, len(list))
	for i, v := range list {
		shown[i] = show(v)
	}
	return shown
}

// showTypes writes the name or the names that the keyword "type" has.
func showTypes(v any) string {
	if list, ok := v.([]any); ok {
		return strings.Join(showEach(list), ", ")
	}
	return show(v)
}

// Quote puts a text in single quotes for a message: shortened to 80 characters, and with
// backslashes and unprintable characters escaped, so that it is one line.
func Quote(s string) string {
	quoted := strconv.QuoteToGraphic(text.Truncate(s, maxShown))
	return "'" + strings.ReplaceAll(quoted[1:len(quoted)-1], `\"`, `"`) + "'"
}
