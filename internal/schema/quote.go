package schema

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

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
		return text.Truncate(showList(v), maxShown)
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

func showList(v any) string {
	const most = 12
	list, _ := v.([]any)
	shown := showEach(list[:min(len(list), most)])
	if len(list) > most {
		shown = append(shown, "…")
	}
	return "[" + strings.Join(shown, ", ") + "]"
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
