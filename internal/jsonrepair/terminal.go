package jsonrepair

import (
	"bytes"
	"strconv"
)

// TerminalStyle is a style by which a terminal marks text that is not meant to be read.
type TerminalStyle uint8

// The styles. A text can have both; 0 is neither.
const (
	Concealed TerminalStyle = 1 << iota
	StruckOut
)

// After returns the style after the control sequence at the start of a text, and the width
// of the sequence; 0 if there is none.
func (s TerminalStyle) After(text []byte) (next TerminalStyle, width int) {
	if len(text) < 2 || text[0] != 0x1B || text[1] != '[' {
		return s, 0
	}
	end := 2
	for end < len(text) && text[end] >= ' ' && text[end] < '@' {
		end++
	}
	if end == len(text) || text[end] < '@' || text[end] > '~' {
		return s, 0
	}
	if text[end] != 'm' { // it is not about the style
		return s, end + 1
	}
	parameters := bytes.Split(text[2:end], []byte(";"))
	for i := 0; i < len(parameters); i++ {
		first, sub, _ := bytes.Cut(parameters[i], []byte(":"))
		n, err := strconv.Atoi(string(first))
		if err != nil && len(first) > 0 { // an empty one means 0
			continue
		}
		switch n {
		case 0:
			s = 0
		case 8:
			s |= Concealed
		case 28:
			s &^= Concealed
		case 9:
			s |= StruckOut
		case 29:
			s &^= StruckOut
		case 38, 48, 58: // a colour, whose numbers follow unless they are after a colon
			if len(sub) == 0 && i+1 < len(parameters) {
				switch string(parameters[i+1]) {
				case "5": // a number in a palette
					i += 2
				case "2": // red, green, blue
					i += 4
				}
			}
		}
	}
	return s, end + 1
}
