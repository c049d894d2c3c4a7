package toolreport

import (
	"strconv"
	"strings"
)

// placeIn returns where a line number seems to begin: behind a ":", "(" or "[",
// with what every form has behind it. It is -1 where there is none, so that most
// lines are not matched at all.
func placeIn(line string) int {
	for i := 1; i+1 < len(line); i++ {
		c := line[i]
		if c != ':' && c != '(' && c != '[' {
			continue
		}
		end := digits(line, i+1)
		if end > i+1 && end < len(line) && placeEnds(line, c, end) {
			return i
		}
	}
	return -1
}

// placeEnds reports whether what follows the line number's digits fits: "3: ",
// "3:14: ", "3:14 - ", "(3,14)" and "[3]".
func placeEnds(line string, opening byte, end int) bool {
	rest := line[end:]
	if opening != ':' {
		return rest[0] == ',' || rest[0] == ')' || rest[0] == ']'
	}
	if rest[0] != ':' || len(rest) == 1 {
		return false
	}
	column := digits(rest, 1)
	if column == 1 {
		return rest[1] == ' '
	}
	return strings.HasPrefix(rest[column:], ":") || strings.HasPrefix(rest[column:], " - ")
}

// digits returns where the digits that begin at i end.
func digits(s string, i int) int {
	for i < len(s) && s[i] >= '0' && s[i] <= '9' {
		i++
	}
	return i
}

// number reads digits; 0 for none and for what is no line number.
func number(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil || n < 0 {
		return 0
	}
	return n
}
