package secrets

import "strconv"

// mostSeparators is the most bytes between two numbers of a list: a line end and an indentation.
const mostSeparators = 24

// scanNumbers returns the hits in the parts of a text that are lists of bytes, as programs print
// them: "67 68", "67:68" and "0x67, 0x68" in hexadecimal, "[103, 104]" in decimal.
func (s *Scanner) scanNumbers(path, text string, depth int) []Hit {
	var hits []Hit
	var list numbers
	var ends [2]int // of the last lists in hexadecimal and in decimal numbers
	for i := range len(text) {
		if !hexByte(text[i]) || i > 0 && wordByte(text[i-1]) {
			continue
		}
		for kind, number := range [...]func(string) (byte, int){hexNumber, decimalNumber} {
			if i < ends[kind] {
				continue
			}
			list.read(text, i, number)
			if len(list.bytes) < shortest {
				continue
			}
			ends[kind] = list.ends[len(list.ends)-1]
			for _, h := range s.find(path, string(list.bytes), depth+1) {
				h.Start, h.End, h.Encoded = list.starts[h.Start], list.ends[h.End-1], true
				hits = append(hits, h)
			}
		}
	}
	return hits
}

// numbers is a list of numbers in a text: the bytes for which they stand, and where each number is.
type numbers struct {
	bytes        []byte
	starts, ends []int
}

// read makes n the list of numbers that begins at an offset. It ends before a number that stands for
// neither a printable character of ASCII nor a blank.
func (n *numbers) read(text string, start int, number func(rest string) (value byte, length int)) {
	n.bytes, n.starts, n.ends = n.bytes[:0], n.starts[:0], n.ends[:0]
	for at := start; ; {
		value, length := number(text[at:])
		if length == 0 || !wideByte(value) {
			return
		}
		end := at + length
		n.bytes, n.starts, n.ends = append(n.bytes, value), append(n.starts, at), append(n.ends, end)
		for at = end; at < len(text) && at-end < mostSeparators && separates(text[at]); {
			at++
		}
		if at == end {
			return
		}
	}
}

// separates reports whether a byte may stand between two numbers of a list.
func separates(c byte) bool {
	switch c {
	case ' ', ',', ':', ';', '-', '\t', '\n', '\r':
		return true
	}
	return false
}

// hexNumber reads a number of two hexadecimal digits, which may have 0x before them. length is 0 if
// there is none.
func hexNumber(rest string) (value byte, length int) {
	from := 0
	if len(rest) > 2 && rest[0] == '0' && rest[1]|0x20 == 'x' {
		from = 2
	}
	end := from + 2
	if len(rest) < end || len(rest) > end && wordByte(rest[end]) {
		return 0, 0
	}
	n, err := strconv.ParseUint(rest[from:end], 16, 8)
	if err != nil {
		return 0, 0
	}
	return byte(n), end
}

// decimalNumber reads a decimal number below 128. length is 0 if there is none.
func decimalNumber(rest string) (value byte, length int) {
	n := 0
	for length < len(rest) && length < 4 && digit(rest[length]) {
		n = n*10 + int(rest[length]-'0')
		length++
	}
	if length == 0 || n > 127 || length < len(rest) && wordByte(rest[length]) {
		return 0, 0
	}
	return byte(n), length
}
