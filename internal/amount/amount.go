// Package amount writes numbers of bytes and of things as people read them.
package amount

import "strconv"

// Of returns a number of things, such as "1 item" or "2 items". The plural of thing has
// an s.
func Of(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return strconv.Itoa(n) + " " + thing + "s"
}
