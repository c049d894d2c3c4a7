package secrets

import (
	"encoding/base64"
	"encoding/hex"
	"strings"
	"testing"
)

func TestEncodedCredentialsAreFound(t *testing.T) {
	sampler, s := newSamples(), New(nil)
	pat := sampler.match(t, `ghp_[0-9a-zA-Z]{36}`)
	plain := "the token: " + pat + " "
	encode := base64.StdEncoding.EncodeToString
	for name, encoded := range map[string]string{
		"base64":                 encode([]byte(plain)),
		"base64 after one":       "x" + encode([]byte(plain)),
		"base64 after a path":    "/v1/" + encode([]byte(plain)),
		"base64 after a name":    "ab-" + encode([]byte(plain)),
		"base64 twice":           encode([]byte("in " + encode([]byte(plain)))),
		"base64 for URLs":        base64.RawURLEncoding.EncodeToString([]byte("???>>>" + plain)),
		"hexadecimal":            hex.EncodeToString([]byte(plain)),
		"base64 on lines":        wrap(encode([]byte(strings.Repeat("much text before ", 8) + plain))),
		"base64 on indented":     strings.ReplaceAll(wrap(encode([]byte(strings.Repeat("x", 50)+plain))), "\n", "\r\n    "),
		"base64 cut in a secret": wrap(encode([]byte(strings.Repeat("x", 30) + plain + plain))),
	} {
		t.Run(name, func(t *testing.T) {
			text := "before: " + encoded + " after"
			hits := s.Scan(text)
			if len(hits) == 0 {
				t.Fatal("not found")
			}
			for _, h := range hits {
				if h.Rule != "github-pat" || !h.Encoded || h.Start < len("before: ") || h.End > len(text)-len(" after") {
					t.Errorf("%+v", h)
				}
			}
			if got := s.Mask(text); !strings.Contains(got, "***") || len(s.Scan(got)) != 0 {
				t.Errorf("masked: %q", got)
			}
		})
	}
	for name, text := range map[string]string{
		"three times": encode([]byte(encode([]byte(encode([]byte(plain)))))),
		"too short":   encode([]byte("token")),
	} {
		if hits := s.Scan(text); len(hits) != 0 {
			t.Errorf("%s: %v", name, hits)
		}
	}
}
