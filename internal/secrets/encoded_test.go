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
		"base64 after a letter":  "x" + encode([]byte(plain)),
		"base64 after a path":    "/v1/" + encode([]byte(plain)),
		"base64 after a name":    "ab-" + encode([]byte(plain)),
		"base64 twice":           encode([]byte("in " + encode([]byte(plain)))),
		"base64 for URLs":        base64.RawURLEncoding.EncodeToString([]byte("???>>>" + plain)),
		"hexadecimal":            hex.EncodeToString([]byte(plain)),
		"base64 on lines":        wrap(encode([]byte(strings.Repeat("much text before ", 8) + plain))),
		"base64, indented lines": strings.ReplaceAll(wrap(encode([]byte(strings.Repeat("x", 50)+plain))), "\n", "\r\n    "),
		"base64 cut in a secret": wrap(encode([]byte(strings.Repeat("x", 30) + plain + plain))),
		"base64 in YAML, folded": ">-\n  " + strings.ReplaceAll(rows(encode([]byte(strings.Repeat("x", 60)+plain)), 48), "\n", "\n  "),
		"base64 joined":          `"` + encode([]byte(plain))[:30] + "\" +\n\t\"" + encode([]byte(plain))[30:] + `"`,
		"hexadecimal, colons":    strings.TrimSuffix(everyByte("%02x:", plain), ":"),
		"hexadecimal, capitals":  strings.TrimSuffix(everyByte("%02X-", plain), "-"),
		"a buffer of Node":       "<Buffer " + strings.TrimSpace(everyByte("%02x ", plain)) + ">",
		"bytes of Go":            "[]byte{" + everyByte("0x%x, ", plain) + "}",
		"bytes that Go prints":   "[" + strings.TrimSpace(everyByte("%d ", plain)) + "]",
		"bytes in JSON":          `{"type":"Buffer","data":[` + strings.TrimSuffix(everyByte("%d,", plain), ",") + "]}",
		"a table of od":          rows(everyByte("%02x ", plain), 3*16),
		"bytes, one a line":      everyByte("    0x%02X,\n", plain),
		"percent-encoding":       "q=" + everyByte("%%%02X", plain),
		"one percent escape":     "q=" + strings.Replace(pat, "_", "%5F", 1),
		"one Unicode escape":     `"` + strings.Replace(pat, "g", `\u0067`, 1) + `"`,
		"hexadecimal escapes":    everyByte(`\x%02x`, plain),
		"octal escapes":          everyByte(`\%03o`, plain),
		"entities":               everyByte("&#%d;", plain),
		"a named entity":         strings.Replace(pat, "_", "&lowbar;", 1),
		"joined strings":         `"` + pat[:9] + `" + "` + pat[9:] + `"`,
		"three joined strings":   `'` + pat[:9] + "'\n  + '" + pat[9:20] + "'\n  + '" + pat[20:] + `'`,
		"strings next to others": `"` + pat[:9] + "\"\n        \"" + pat[9:] + `"`,
		"strings of PHP":         `'` + pat[:9] + `' . '` + pat[9:] + `'`,
		"a line that goes on":    pat[:9] + "\\\n" + pat[9:],
		"a line of mail":         pat[:9] + "=\r\n" + pat[9:],
		"UTF-16":                 wideForms("the token: " + pat + "\r\n")[0],
		"UTF-16, big-endian":     wideForms("\ufeffthe token: " + pat + "\r\n")[1],
		"UTF-16 with a mark":     wideForms("\ufeffthe token: " + pat + "\r\n")[0],
		"UTF-16 of other text":   wideForms("日本語 " + pat + " 日本語")[0],
		"UTF-16 in base64":       encode([]byte(wideForms(plain)[0])),
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
		"numbers":     "the sizes: 103, 104, 112, 95, 65, 66, 67, 68, 69, 70 and 71 bytes; 00:1a:2b:3c:4d:5e 67 68 70 5f",
		"a type":      `type KeyAlgorithm = "RSA_1024"|"RSA_2048"|"EC_prime256v1"|"EC_secp384r1"|string`,
	} {
		if hits := s.Scan(text); len(hits) != 0 {
			t.Errorf("%s: %v", name, hits)
		}
	}
}

func TestAMaskedFileKeepsItsEncoding(t *testing.T) {
	sampler, s := newSamples(), New([]Known{known("word", "open-sesame")})
	pat := sampler.match(t, `ghp_[0-9a-zA-Z]{36}`)
	for name, c := range map[string]struct{ content, want string }{
		"nothing":            {"a\r\nb\n", "a\r\nb\n"},
		"UTF-8":              {"é = " + pat + "\n", "é = ***\n"},
		"UTF-16":             {wideForms("\ufeffx = " + pat + "\r\né\r\n")[0], wideForms("\ufeffx = ***\r\né\r\n")[0]},
		"UTF-16, big-endian": {wideForms("\ufeffx = " + pat + "\r\né\r\n")[1], wideForms("\ufeffx = ***\r\né\r\n")[1]},
		"a known value":      {wideForms("x = open-sesame\r\n")[0], wideForms("x = ***\r\n")[0]},
	} {
		if got, clean := s.MaskFile("a.txt", c.content); got != c.want || !clean {
			t.Errorf("%s: %q, %v", name, got, clean)
		}
	}
}
