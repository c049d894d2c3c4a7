package text

import (
	"strconv"
	"strings"
)

// QuoteList returns a list as a message writes it, such as `"a", "b"`: each element
// quoted, at most ten of them, followed by how many more there are.
func QuoteList(list []string) string {
	const most = 10
	quoted := make([]string, 0, most+1)
	for i, s := range list {
		if i == most {
			quoted = append(quoted, "and "+strconv.Itoa(len(list)-most)+" more")
			break
		}
		quoted = append(quoted, strconv.Quote(s))
	}
	return strings.Join(quoted, ", ")
}
