package text

import (
	"strconv"
	"strings"
)

// Bytes returns a number of bytes with the largest unit of which there is one at least,
// such as "64 MiB", "1.5 KiB" or "12 bytes". It is rounded up to a tenth, so that what
// is over a limit never reads as the limit itself.
func Bytes[T int | int64](n T) string {
	unit, name := int64(1), ""
	for _, next := range []string{"KiB", "MiB", "GiB", "TiB"} {
		if int64(n)/unit < 1<<10 {
			break
		}
		unit, name = unit<<10, next
	}
	switch {
	case n == 1:
		return "1 byte"
	case name == "":
		return strconv.FormatInt(int64(n), 10) + " bytes"
	}
	whole, rest := int64(n)/unit, int64(n)%unit
	tenths := whole*10 + (rest*10+unit-1)/unit
	text := strconv.FormatInt(tenths/10, 10) + "." + strconv.FormatInt(tenths%10, 10)
	return strings.TrimSuffix(text, ".0") + " " + name
}
