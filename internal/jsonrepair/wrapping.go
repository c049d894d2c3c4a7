package jsonrepair

import (
	"bytes"
	"unicode"
	"unicode/utf8"
)

// IsWrapping reports whether a text before an object is only what writers and loggers put before a
// line: space, a list's bullet or number, the opening of a code fence, backticks, a time, a label of
// ordinary output such as INFO, the brackets of a list, a closing brace, commas and full stops,
// complete block comments. Such a text says nothing about the object. Other texts may say something
// about it: words, the marks of a quotation, of struck-out text, or of a comment in another
// language, and a terminal's style that hides or strikes out the object.
func IsWrapping(text []byte) bool {
	for len(text) > 0 {
		width := wrappingToken(text)
		if width == 0 {
			return false
		}
		text = text[width:]
	}
	return true
}

// wrappingToken returns the width of the token at the start of a text, or 0 if it
// is none of those that IsWrapping lists.
func wrappingToken(text []byte) int {
	switch c := text[0]; {
	case isJSONSpace(c):
		return 1
	case oddSpace(text) > 0:
		if style, _ := TerminalStyle(0).After(text); style != 0 {
			return 0
		}
		return oddSpace(text)
	case c == '-' || c == '*' || c == '+':
		if len(text) == 1 || isJSONSpace(text[1]) {
			return 1
		}
		return 0
	case bullet(text) > 0:
		return bullet(text)
	case isBlockComment(text):
		if end := bytes.Index(text[2:], []byte("*/")); end >= 0 {
			return end + 4
		}
		return 0
	case c == '[':
		if inside := bytes.TrimLeft(text[1:], " \t"); len(inside) > 0 && inside[0] == ']' {
			return 0 // the box of a task that is not done
		}
		return 1
	case startsNumber(c):
		end := 1
		for end < len(text) && (text[end] >= '0' && text[end] <= '9' || bytes.IndexByte([]byte(":-.,+/TZ)"), text[end]) >= 0) {
			end++
		}
		return end
	case isLetter(c):
		return logLevel(text)
	case bytes.HasPrefix(text, []byte("```")):
		return fence(text)
	case bytes.IndexByte([]byte("`,.]}"), c) >= 0: // not a semicolon, which can begin a comment
		return 1
	}
	return 0
}

// bullet returns the width of the typographic bullet or dash at the start of a text, or 0.
func bullet(text []byte) int {
	r, width := utf8.DecodeRune(text)
	if bytes.ContainsRune([]byte("•‣◦●○▪∙·⁃■⏺–—"), r) && r != utf8.RuneError {
		return width
	}
	return 0
}

// logLevel returns the width of the label of ordinary output at the start of a text, or 0.
// INFO and three others count in capitals; these and more, such as "data", count in any case before
// a colon or a bracket. Levels of warnings and errors do not count, because their lines may quote
// what was wrong.
func logLevel(text []byte) int {
	end := wordEnd(text, 0)
	after, _ := utf8.DecodeRune(text[end:])
	word := string(text[:end])
	inCapitals := word == "INFO" || word == "NOTICE" || word == "LOG" || word == "OUTPUT"
	switch {
	case after == ':' || after == ']':
		switch string(bytes.ToUpper(text[:end])) {
		case "INFO", "NOTICE", "LOG", "OUTPUT", "STDOUT", "JSON", "DATA":
			if after == ':' {
				end++
			}
			return end
		}
	case inCapitals && (after == utf8.RuneError || unicode.IsSpace(after)):
		return end
	}
	return 0
}

// fence returns the width of the opening of a code fence at the start of a text: the backticks,
// and the word after them if it names a form of JSON or ends the line.
func fence(text []byte) int {
	ticks := len(text) - len(bytes.TrimLeft(text, "`"))
	end := wordEnd(text, ticks)
	if end == len(text) || text[end] == '\n' || text[end] == '\r' {
		return end
	}
	switch string(bytes.ToLower(text[ticks:end])) {
	case "json", "jsonl", "ndjson", "jsonc", "json5":
		return end
	}
	return ticks
}
