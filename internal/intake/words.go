package intake

import (
	"fmt"
	"strconv"
	"strings"
)

// maxQuoted is how many characters of what an agent wrote a message shows.
const maxQuoted = 80

// quote puts a text in single quotes, shortened and with what does not print
// escaped, so that it stays on one line.
func quote(s string) string {
	n := 0
	for i := range s {
		if n == maxQuoted {
			s = s[:i] + "…"
			break
		}
		n++
	}
	q := strconv.QuoteToGraphic(s)
	return "'" + strings.ReplaceAll(q[1:len(q)-1], `\"`, `"`) + "'"
}

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
