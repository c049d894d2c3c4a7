package markdown

import "strings"

const (
	markerStart = "<!-- airlock:v1 "
	markerEnd   = " -->"
	// maxMarkerKey bounds the key: twice a SHA-512 in hex is plenty.
	maxMarkerKey = 256
)

// MarkerKind is what a marker marks.
type MarkerKind string

// The kinds of markers.
const (
	MarksText   MarkerKind = "key"    // the text before it
	IslandStart MarkerKind = "island" // the line before an island in somebody else's text
	IslandEnd   MarkerKind = "end"    // the line after it
	Claimed     MarkerKind = "by"     // who wrote the text, in the line before its marker
)

// Marker returns the comment line that marks a text as Airlock's own:
//
//	<!-- airlock:v1 key=<hex> -->
//
// without a line break. key is lower-case hexadecimal of at most 256 digits. For any other
// key the result is empty, because a marker that cannot be read back is worse than none.
func Marker(key string) string { return MarkerOf(MarksText, key) }

// MarkerOf is Marker for any kind of marker: the comment line has the kind in place of "key".
func MarkerOf(kind MarkerKind, key string) string {
	if !validMarkerKey(key) {
		return ""
	}
	return markerStart + string(kind) + "=" + key + markerEnd
}

// LineMarker returns the marker that a line consists of. White space after it is allowed,
// because servers trim and add it; other text on its line is not.
func LineMarker(line string) (kind MarkerKind, key string, ok bool) {
	rest, isMarker := strings.CutPrefix(strings.TrimRight(line, " \t\r\n"), markerStart)
	rest, isClosed := strings.CutSuffix(rest, markerEnd)
	name, key, _ := strings.Cut(rest, "=")
	kind = MarkerKind(name)
	if !isMarker || !isClosed || !kind.valid() || !validMarkerKey(key) {
		return "", "", false
	}
	return kind, key, true
}

func (k MarkerKind) valid() bool {
	return k == MarksText || k == IslandStart || k == IslandEnd || k == Claimed
}

// LastLineMarker returns the key of the marker of kind MarksText that is the last line of
// body.
func LastLineMarker(body string) (key string, ok bool) {
	body = strings.TrimRight(body, " \t\r\n")
	kind, key, ok := LineMarker(body[strings.LastIndexAny(body, "\r\n")+1:])
	if !ok || kind != MarksText {
		return "", false
	}
	return key, true
}

// LastLineClaim returns the key of the marker of kind Claimed that is the line before the
// marker of a text; "" where there is none.
func LastLineClaim(body string) string {
	body = strings.TrimRight(body, " \t\r\n")
	above := strings.TrimRight(body[:strings.LastIndexAny(body, "\r\n")+1], "\r\n")
	kind, key, ok := LineMarker(above[strings.LastIndexAny(above, "\r\n")+1:])
	if _, marked := LastLineMarker(body); !marked || !ok || kind != Claimed {
		return ""
	}
	return key
}

// StripMarkers removes every marker from untrusted text, and also any text that becomes a marker by
// such a removal. No text can then claim to be Airlock's. All other text is untouched.
func StripMarkers(s string) string {
	if !strings.Contains(s, markerEnd) || !strings.Contains(s, "airlock:v1") {
		return s
	}
	out := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		out = append(out, s[i])
		if s[i] == '>' {
			out = out[:len(out)-markerSuffix(out)]
		}
	}
	return string(out)
}

// markerSuffix returns the length of the marker at the end of b, or 0. b ends with >. It reads only
// as many bytes as a marker can have.
func markerSuffix(b []byte) int {
	s := string(b[max(0, len(b)-len(markerStart)-len(IslandStart)-1-maxMarkerKey-len(markerEnd)):])
	i := strings.LastIndex(s, markerStart)
	if i < 0 {
		return 0
	}
	if _, _, ok := LineMarker(s[i:]); !ok {
		return 0
	}
	return len(s) - i
}

func validMarkerKey(key string) bool {
	return key != "" && len(key) <= maxMarkerKey && strings.Trim(key, "0123456789abcdef") == ""
}
