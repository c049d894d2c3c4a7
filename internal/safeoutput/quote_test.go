package safeoutput

import (
	"testing"

	"github.com/go-json-experiment/json/jsontext"
)

// FuzzQuote asserts that strings are written and read as package jsontext does.
func FuzzQuote(f *testing.F) {
	for _, s := range []string{
		"", "a", "plain text of some length", "\"", "1234567\"", "12345678\\9", "line\nline\ttab\r\b\f", "\x00\x1f\x7f", "é\u2028日本語👍", "\xff", "a\xe2\x80",
		`\n`, `\u00e9\u0000`, `\ud83d\udc4d`, `\ud83d`, `\u12`, `\x`, `\`, "\u00a0\"\u00a1\\", "!!!!!!!!!\x1f", "\x20\x1f\x20\x21\x22\x23\x5b\x5c\x5d",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got, err := appendQuoted([]byte("x"), s)
		want, wantErr := jsontext.AppendQuote([]byte("x"), s)
		if string(got) != string(want) || (err == nil) != (wantErr == nil) {
			t.Errorf("%q is written as %s (%v), not %s (%v)", s, got, err, want, wantErr)
		}
		for _, raw := range []string{`"` + s + `"`, string(want[1:])} {
			if !jsontext.Value(raw).IsValid() {
				continue
			}
			want, wantErr := jsontext.AppendUnquote(nil, raw)
			if got, err := unquoted([]byte(raw)); got != string(want) || (err == nil) != (wantErr == nil) {
				t.Errorf("%s is read as %q (%v), not %q (%v)", raw, got, err, want, wantErr)
			}
		}
	})
}
