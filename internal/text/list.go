package text

import (
	"fmt"
	"strings"
)

// QuotedList returns names for people: each quoted, so that no character of it acts on a
// terminal or a log, with commas between them. After the first limit of them it only says
// how many more there are.
func QuotedList(names []string, limit int) string {
	var b strings.Builder
	for i, name := range names {
		if i == limit {
			fmt.Fprintf(&b, " and %d more", len(names)-i)
			break
		}
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "%q", name)
	}
	return b.String()
}
