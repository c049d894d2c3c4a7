package sanitize

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"unicode"

	"github.com/go-json-experiment/json/jsontext"
)

// The limits of data that GitHub draws.
const (
	longestName = 64 // bytes
	maxNesting  = 64
)

// isPlainMap reports whether each text of GeoJSON or TopoJSON is only a name, or is shown by the
// drawn map. A map shows the properties of a feature to a reader who clicks on it.
func isPlainMap(text string) bool {
	dec := jsontext.NewDecoder(bytes.NewBufferString(text)) // a name that is there twice is an error
	if !isPlainValue(dec, "", false, maxNesting) {
		return false
	}
	_, err := dec.ReadToken()
	return errors.Is(err, io.EOF)
}

// isPlainValue reads a value of a map and reports whether each text in it is a name or shown. The
// parameter name is the name of the value's member; an element of an array has that of the array's
// member. shown reports whether the value is a part of properties, and depth is how deep values may
// be nested.
func isPlainValue(dec *jsontext.Decoder, name string, shown bool, depth int) bool {
	if depth == 0 {
		return false
	}
	t, err := dec.ReadToken()
	if err != nil {
		return false // GitHub draws nothing
	}
	switch kind := t.Kind(); kind {
	case 'n':
		return name != "geometry" // GitHub does not draw such a feature or show its properties
	case '"':
		s := t.String()
		return shown && len(s) <= maxAlt || isName(s)
	case '{', '[':
		for next := dec.PeekKind(); next != '}' && next != ']'; next = dec.PeekKind() {
			inner := name
			if kind == '{' {
				key, err := dec.ReadToken()
				if err != nil {
					return false
				}
				if inner = key.String(); !shown && !isName(inner) || len(inner) > longestName {
					return false
				}
			}
			if !isPlainValue(dec, inner, shown || inner == "properties", depth-1) {
				return false
			}
		}
		_, err := dec.ReadToken()
		return err == nil
	}
	return true // a number or a truth value
}

// isName reports whether s is one word of a moderate length, of few parts joined by "_" or "-".
func isName(s string) bool {
	return len(s) <= longestName && !strings.ContainsFunc(s, unicode.IsSpace) && strings.Count(s, "_")+strings.Count(s, "-") <= 4
}

// isPlainModel reports whether each line of an ASCII STL model says where a facet is, or
// names the solid in a few words.
func isPlainModel(text string) bool {
	const mostWords = 3
	for line := range strings.Lines(text) {
		fields := strings.Fields(line)
		if len(fields) == 0 {
			continue
		}
		numbers := fields[1:]
		switch fields[0] {
		case "solid", "endsolid":
			if len(numbers) > mostWords || len(line) > longestName {
				return false
			}
			continue
		case "facet":
			if len(numbers) == 0 || numbers[0] != "normal" {
				return false
			}
			numbers = numbers[1:]
		case "outer":
			if len(numbers) != 1 || numbers[0] != "loop" {
				return false
			}
			continue
		case "vertex", "endloop", "endfacet":
		default:
			return false
		}
		for _, number := range numbers {
			if len(number) > longestName || strings.Trim(number, "+-.0123456789eE") != "" {
				return false
			}
		}
	}
	return true
}
