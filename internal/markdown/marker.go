package markdown

import "strings"

const (
	markerStart = "<!-- airlock:v1 key="
	markerEnd   = " -->"
	// maxMarkerKey bounds the key: twice a SHA-512 in hex is plenty.
	maxMarkerKey = 256
)

// Marker returns the comment line that marks a text as Airlock's own:
//
//	<!-- airlock:v1 key=<hex> -->
//
// without a line break. It has a meaning only as the last line of a body. key
// is lower-case hexadecimal of at most 256 digits. For any other key the result
// is empty, because a marker that cannot be read back is worse than none.
func Marker(key string) string {
	if !validMarkerKey(key) {
		return ""
	}
	return markerStart + key + markerEnd
}

// LastLineMarker returns the key of the marker that is the last line of body.
// White space after the marker is allowed, because servers trim and add it. Text
// before it on its line is not.
func LastLineMarker(body string) (key string, ok bool) {
	body = strings.TrimRight(body, " \t\r\n")
	line := body[strings.LastIndexAny(body, "\r\n")+1:]
	rest, isMarker := strings.CutPrefix(line, markerStart)
	key, isClosed := strings.CutSuffix(rest, markerEnd)
	if !isMarker || !isClosed || !validMarkerKey(key) {
		return "", false
	}
	return key, true
}

// StripMarkers removes every marker from untrusted text, wherever it is, and also
// what becomes a marker by such a removal, so that no text can claim to be
// Airlock's. All other text is untouched.
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

// markerSuffix returns the length of the marker that b ends with, or 0. It reads
// only as many bytes as a marker can have.
func markerSuffix(b []byte) int {
	s := string(b[max(0, len(b)-len(markerStart)-maxMarkerKey-len(markerEnd)):])
	if !strings.HasSuffix(s, markerEnd) {
		return 0
	}
	i := strings.LastIndex(s, markerStart)
	if i < 0 || !validMarkerKey(s[i+len(markerStart):len(s)-len(markerEnd)]) {
		return 0
	}
	return len(s) - i
}

func validMarkerKey(key string) bool {
	return key != "" && len(key) <= maxMarkerKey && strings.Trim(key, "0123456789abcdef") == ""
}
