package secrets

import (
	"encoding/base64"
	"encoding/hex"
)

const (
	// mostDecodings is how often a text is decoded: a secret may stand in Base64 in Base64.
	mostDecodings = 2
	// shortestRun is the length in characters from which a run is decoded; the
	// shortest secrets of the rules take 18 bytes, which is 24 in Base64.
	shortestRun = 24
	// wrapped is the length from which a line of Base64 may go on in the next line;
	// tools cut after 60, 64, 70 or 76 characters, people after fewer.
	wrapped = 40
)

// scanEncoded returns the hits in the parts of a text that are encoded: as Base64 or hexadecimal, as
// numbers, in UTF-16, or with escapes. The text was itself decoded depth times.
func (s *Scanner) scanEncoded(path, text string, depth int) []Hit {
	var hits []Hit
	eachRun(text, func(r run) {
		for _, d := range r.decode(text, depth) {
			for _, h := range s.find(path, d.text, depth+1) {
				hits = append(hits, r.place(h, d))
			}
		}
	})
	hits = append(hits, s.scanNumbers(path, text, depth)...)
	hits = append(hits, s.scanWide(path, text, depth)...)
	return append(hits, s.scanEscaped(path, text, depth)...)
}

// run is a part of a text that may be encoded.
type run struct {
	start, end int
	lines      int
	hex        bool
}

// decoded is the text that a run encodes.
type decoded struct {
	text string
	skip int // characters at the beginning of the run that are not decoded
	// Each group of chars characters of the run stands for a number of bytes of the text: 4 for 3 in
	// Base64, 2 for 1 in hexadecimal.
	chars, bytes int
}

// place returns a hit in a decoded text as one in the encoded text. In a run of
// several lines it is the entire run.
func (r run) place(h Hit, d decoded) Hit {
	start := r.start + d.skip
	h.Start, h.End = start+h.Start/d.bytes*d.chars, min(r.end, start+(h.End+d.bytes-1)/d.bytes*d.chars)
	if r.lines > 1 {
		h.Start, h.End = r.start, r.end
	}
	h.Encoded = true
	return h
}

// eachRun calls found for every run of at least shortestRun characters of Base64,
// on one line or wrapped over several.
func eachRun(text string, found func(run)) {
	for i := 0; i < len(text); {
		if !encodedByte(text[i]) {
			i++
			continue
		}
		r := run{start: i, lines: 1, hex: true}
		lineStart := i
		for {
			for i < len(text) && encodedByte(text[i]) {
				r.hex = r.hex && hexByte(text[i])
				i++
			}
			r.end = i
			next := nextLine(text, i)
			if i-lineStart < wrapped || next == len(text) || !encodedByte(text[next]) {
				break
			}
			i, lineStart = next, next
			r.lines++
		}
		if r.end-r.start >= shortestRun {
			found(r)
		}
	}
}

// nextLine returns where the next line's text begins if only a line end and
// indentation stand in between, or else the end of the text.
func nextLine(text string, i int) int {
	if i < len(text) && text[i] == '\r' {
		i++
	}
	if i >= len(text) || text[i] != '\n' {
		return len(text)
	}
	for i++; i < len(text) && (text[i] == ' ' || text[i] == '\t'); i++ {
	}
	return i
}

// decode returns what a run may stand for. The run may begin with a path or a name that is not
// encoded, because slash and dash belong to the alphabets of Base64. A run of the original text
// (depth 0) is therefore decoded from each of its first four characters.
func (r run) decode(text string, depth int) []decoded {
	chars := make([]byte, 0, r.end-r.start)
	for i := r.start; i < r.end; i++ {
		switch c := text[i]; c {
		case '-':
			chars = append(chars, '+')
		case '_':
			chars = append(chars, '/')
		case '\r', '\n', ' ', '\t':
		default:
			chars = append(chars, c)
		}
	}
	var out []decoded
	if r.hex {
		even := len(chars) - len(chars)%2
		if b, err := hex.DecodeString(string(chars[:even])); err == nil {
			out = append(out, decoded{text: string(b), chars: 2, bytes: 1})
		}
	}
	skips := 4
	if depth > 0 {
		skips = 1
	}
	for skip := range skips {
		part := chars[skip:]
		if len(part)%4 == 1 { // Base64 never ends in a group of one
			part = part[:len(part)-1]
		}
		if b, err := base64.RawStdEncoding.DecodeString(string(part)); err == nil {
			out = append(out, decoded{text: string(b), skip: skip, chars: 4, bytes: 3})
		}
	}
	return out
}

// encodedByte reports whether a character is in one of the alphabets of Base64.
func encodedByte(c byte) bool {
	return wordByte(c) || c == '+' || c == '/' || c == '-'
}

func hexByte(c byte) bool {
	return 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F' || '0' <= c && c <= '9'
}
