package secrets

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"html"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/agent-airlock/airlock/internal/token"
)

// odd is a value that every encoding writes differently.
const odd = `Va<lue>&"with"/odd\bytes=~%41+and more`

func known(name, value string) Known { return Known{Name: name, Value: token.New(value, "")} }

func TestKnownValueInEveryForm(t *testing.T) {
	s := New([]Known{known("the password", odd)})
	std, web := base64.StdEncoding.EncodeToString, base64.URLEncoding.EncodeToString
	asJSON, err := json.Marshal(odd)
	if err != nil {
		t.Fatal(err)
	}
	for name, form := range map[string]string{
		"plain":                    odd,
		"base64":                   std([]byte(odd)),
		"base64 after one byte":    std([]byte("x" + odd + "yz")),
		"base64 after two bytes":   std([]byte("xy" + odd + "y")),
		"base64 after three bytes": std([]byte("xyz" + odd)),
		"base64 for URLs":          web([]byte("xy" + odd)),
		"git's authorization":      std([]byte("x-access-token:" + odd)),
		"query":                    url.QueryEscape(odd),
		"query in lower case":      lowerPercent(url.QueryEscape(odd)),
		"path":                     url.PathEscape(odd),
		"JSON":                     string(asJSON),
		"JSON of other encoders":   strings.ReplaceAll(strings.ReplaceAll(odd, `\`, `\\`), `"`, `\"`),
		"hexadecimal":              hex.EncodeToString([]byte(odd)),
		"upper hexadecimal":        strings.ToUpper(hex.EncodeToString([]byte(odd))),
		"hexadecimal, blanks":      strings.TrimSpace(everyByte("%02x ", odd)),
		"hexadecimal, colons":      strings.TrimSuffix(everyByte("%02X:", odd), ":"),
		"hexadecimal in C":         everyByte("0x%02x, ", odd),
		"decimal numbers":          strings.TrimSuffix(everyByte("%d, ", odd), ", "),
		"numbers of base64":        strings.TrimSpace(everyByte("%d ", std([]byte("so "+odd)))),
		"base64 of base64":         std([]byte("and " + std([]byte("so "+odd)))),
		"base64 in hexadecimal":    hex.EncodeToString([]byte("> " + std([]byte(odd)) + " <")),
		"base64 on several lines":  wrap(std([]byte(strings.Repeat("first ", 30) + odd + strings.Repeat(" last", 30)))),
		"base64 after a path":      "/auth/" + std([]byte("login "+odd)),
		"every byte in percent":    everyByte("%%%02x", odd),
		"percent of base64":        everyByte("%%%02X", std([]byte("so "+odd))),
		"percent of percent":       strings.ReplaceAll(everyByte("%%%02x", odd), "%", "%25"),
		"hexadecimal escapes":      everyByte(`\x%02x`, odd),
		"Unicode escapes":          everyByte(`\u%04X`, odd),
		"some Unicode escapes":     strings.ReplaceAll(strings.ReplaceAll(odd, "a", `\u0061`), `"`, `\u0022`),
		"escapes in escapes":       everyByte(`\\u%04x`, odd),
		"braced Unicode escapes":   everyByte(`\u{%x}`, odd),
		"octal escapes":            everyByte(`\%03o`, odd),
		"decimal entities":         everyByte("&#%d;", odd),
		"hexadecimal entities":     everyByte("&#x%x;", odd),
		"entities":                 html.EscapeString(odd),
		"UTF-16":                   wideForms(odd)[0],
		"UTF-16, big-endian":       wideForms(odd)[1],
		"UTF-16 of base64":         wideForms(std([]byte("so " + odd)))[0],
		"base64 of UTF-16":         std([]byte(wideForms("so " + odd)[0])),
		"joined strings":           `Va<lue>&"with"/odd\by` + "\" +\n   \"" + `tes=~%41+and more`,
	} {
		t.Run(name, func(t *testing.T) {
			text := "before " + form + " after"
			hits := s.Scan(text)
			if len(hits) == 0 {
				t.Fatalf("not found in %q", text)
			}
			for _, h := range hits {
				if h.Rule != KnownRule || h.Name != "the password" || h.Start < len("before ") || h.End > len(text)-len(" after") {
					t.Errorf("%+v in %q", h, text)
				}
				if h.Encoded == (name == "plain") {
					t.Errorf("Encoded is %v", h.Encoded)
				}
			}
			masked := s.Mask(text)
			if strings.Contains(masked, "odd") || strings.Contains(masked, std([]byte(odd))[8:16]) || !strings.HasPrefix(masked, "before ") || !strings.HasSuffix(masked, " after") {
				t.Errorf("masked: %q", masked)
			}
		})
	}
	for _, part := range []string{"Va<lue>", odd[1:], odd[:len(odd)-1]} {
		if hits := s.Scan("before " + part + " after"); len(hits) != 0 {
			t.Errorf("%q: %v", part, hits)
		}
	}
}

// everyByte writes each byte of a text by a format.
func everyByte(format, text string) string {
	var out strings.Builder
	for i := range len(text) {
		fmt.Fprintf(&out, format, text[i])
	}
	return out.String()
}

// lowerPercent writes the digits of percent escapes in lower case.
func lowerPercent(text string) string {
	out := []byte(text)
	for i := range out {
		if i+2 < len(out) && out[i] == '%' {
			copy(out[i:i+3], strings.ToLower(string(out[i:i+3])))
		}
	}
	return string(out)
}

// wrap cuts a text into lines of 76 characters, as base64(1) does.
func wrap(text string) string { return strings.TrimSpace(rows(text, 76)) }

func TestEachLineOfAKnownKeyIsFound(t *testing.T) {
	block := pemBlock(t)
	s := New([]Known{known("the deploy key", block)})
	lines := strings.Split(strings.TrimSpace(block), "\n")
	if len(lines) < 5 {
		t.Fatalf("%d lines", len(lines))
	}
	for i, line := range lines {
		hits := s.Scan("  " + line + "\r\n")
		if i == 0 || i == len(lines)-1 {
			if len(hits) != 0 {
				t.Errorf("a boundary was found: %v", hits)
			}
			continue
		}
		if len(hits) != 1 || hits[0].Name != "the deploy key" || hits[0].Start != 2 || hits[0].End != 2+len(line) {
			t.Errorf("line %d: %v", i, hits)
		}
	}
	for name, text := range map[string]string{
		"complete": block,
		"base64":   wrap(base64.StdEncoding.EncodeToString([]byte("key: |\n" + block))),
		"in JSON":  `{"key":"` + strings.ReplaceAll(block, "\n", `\n`) + `"}`,
		"CRLF":     strings.ReplaceAll(block, "\n", "\r\n"),
		"indented": strings.ReplaceAll(block, "\n", "\n    "),
		"cut off":  strings.Join(lines[:3], "\n") + "\n",
	} {
		masked := s.Mask(text)
		for _, line := range lines[1 : len(lines)-2] {
			if strings.Contains(masked, line[:20]) {
				t.Errorf("%s: a line is left: %q", name, masked)
			}
		}
		if masked == text {
			t.Errorf("%s: nothing was masked", name)
		}
	}
}

// Values without a letter or a digit are ignored too, but not reported.
func TestShortValuesAreIgnoredAndReported(t *testing.T) {
	s := New([]Known{known("a pin", "12345"), known("none", ""), known("blank", " \n"), known("a line of JSON", "},"), known("long enough", " 123456\n")})
	if got := s.Ignored(); !slices.Equal(got, []string{"a pin"}) {
		t.Errorf("ignored: %q", got)
	}
	if hits := s.Scan("pin 12345, account 123456"); len(hits) != 1 || hits[0].Name != "long enough" || hits[0].Start != 19 || hits[0].End != 25 {
		t.Errorf("%v", hits)
	}
	if got := New(nil).Ignored(); len(got) != 0 {
		t.Errorf("ignored of nothing: %q", got)
	}
}

func TestALineOfAKnownFileIsFoundInJSON(t *testing.T) {
	s := New([]Known{known("a file", "first <\"quoted\"> line\nsecond line")})
	text := `{"log": "first <\"quoted\"> line"}`
	if hits := s.Scan(text); len(hits) != 1 || s.Mask(text) != `{"log": "***"}` {
		t.Errorf("%v, masked %q", hits, s.Mask(text))
	}
}

func TestKnownValuesThatShareABeginning(t *testing.T) {
	s := New([]Known{known("one", "shared-beginning-1"), known("two", "shared-beginning-2"), known("three", "shared"), known("again", "shared")})
	for text, want := range map[string]string{"a shared-beginning-1": "one", "a shared-beginning-2": "two", "a shared-beginning-3": "three", "a share": ""} {
		hits := s.Scan(text)
		if want == "" && len(hits) == 0 {
			continue
		}
		if len(hits) != 1 || hits[0].Name != want {
			t.Errorf("%q: %v", text, hits)
		}
	}
}
