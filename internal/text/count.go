package text

import "strconv"

// Count returns a number of things, such as "1 item" or "2 items". The plural of thing
// has an s.
func Count(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return strconv.Itoa(n) + " " + thing + "s"
}
