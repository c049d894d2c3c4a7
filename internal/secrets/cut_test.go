package secrets

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"html"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/agent-airlock/airlock/internal/text"
)

func TestABeginningOfAKnownValueBeforeACutIsMasked(t *testing.T) {
	const spaced = "two  words\tand \x01 <three> \"é\" \\ 0123456789"
	for _, value := range []string{odd, spaced, "s3cr3t", "plain-0123456789-abcdefghij-0123456789xy"} {
		s := New([]Known{known("the password", value)})
		asJSON, err := json.Marshal(value)
		if err != nil {
			t.Fatal(err)
		}
		std := base64.StdEncoding.EncodeToString
		for name, form := range map[string]string{
			"plain":           value,
			"one line":        text.OneLine(value),
			"JSON":            strings.Trim(string(asJSON), `"`),
			"Go":              strings.Trim(strconv.Quote(value), `"`),
			"graphic":         strings.Trim(strconv.QuoteToGraphic(value), `"`),
			"ASCII":           strings.Trim(strconv.QuoteToASCII(value), `"`),
			"schema.Quote":    strings.ReplaceAll(strings.Trim(strconv.QuoteToGraphic(value), `"`), `\"`, `"`),
			"HTML":            html.EscapeString(value),
			"query":           url.QueryEscape(value),
			"path":            url.PathEscape(value),
			"base64":          std([]byte(value)),
			"base64 after x":  std([]byte("x" + value)),
			"base64 of git":   std([]byte("x-access-token:" + value)),
			"hexadecimal":     hex.EncodeToString([]byte(value)),
			"percent":         everyByte("%%%02x", value),
			"Unicode escapes": everyByte(`\u%04x`, value),
			"entities":        everyByte("&#%d;", value),
		} {
			if slices.Contains([]string{"percent", "Unicode escapes", "entities"}, name) && !isASCII(value) {
				continue // an escape of one byte is that of a character only in ASCII
			}
			masked := leastCut(len(form)) // the least length of a beginning that is masked before a mark
			switch name {
			case "percent":
				masked = 3*leastCut(len(value)) + 3
			case "Unicode escapes", "entities":
				masked = 6*leastCut(len(value)) + 6
			case "base64 after x":
				masked += 4
			}
			for _, before := range []string{"", "word: ", "ünïcode/", `"`} {
				for n := range utf8.RuneCountInString(before + form) {
					cut := text.Truncate(before+form, n)
					got := s.Mask(cut + " after")
					left := strings.TrimSuffix(strings.TrimPrefix(strings.TrimSuffix(got, " after"), before), cutMark)
					if strings.HasPrefix(cut, before) && !strings.Contains(left, stars) && len(left) >= masked {
						t.Fatalf("%s: %q is left in %q", name, left, got)
					}
					if again := s.Mask(got); again != got {
						t.Fatalf("%s: masked again, %q becomes %q", name, got, again)
					}
				}
			}
		}
	}
}

func isASCII(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return r >= utf8.RuneSelf }) < 0
}

func TestABeginningOfATokenBeforeACutIsMasked(t *testing.T) {
	sampler, s := newSamples(), New(nil)
	for _, expression := range []string{
		`ghp_[0-9a-zA-Z]{36}`, `github_pat_[0-9a-zA-Z_]{82}`, `glpat-[0-9a-zA-Z_-]{20}`, `sk-ant-api03-[a-zA-Z0-9_-]{93}AA`, `npm_[a-zA-Z0-9]{36}`, `AKIA[A-Z2-7]{16}`,
	} {
		token := sampler.match(t, expression)
		if len(s.Scan(token)) == 0 {
			t.Fatalf("%s: nothing is found in %s", expression, token)
		}
		keyword := len(token) - len(strings.TrimLeft(strings.TrimLeft(token, "abcdefghijklmnopqrstuvwxyz-_"), "AKI"))
		for _, before := range []string{"", "token: ", `{"a":"`, "("} {
			for n := range len(token) {
				cut := text.Truncate(before+token, len(before)+n)
				got := s.Mask(cut + " after")
				if random := token[min(n, keyword):n]; len(random) >= 12 && !strings.Contains(got, stars+cutMark) {
					t.Errorf("%s: nothing is masked in %q", expression, got)
				}
			}
		}
	}
}

// TestWhatIsNoCutSecretStays asserts that Mask leaves text as it is that only resembles a cut
// secret, and that Scan, unlike Mask, does not find a cut known value.
func TestWhatIsNoCutSecretStays(t *testing.T) {
	s := New([]Known{known("the password", "password-for-nothing-1234"), known("a key", "-----BEGIN PRIVATE KEY-----\nAAAABBBBCCCC1234\n-----END PRIVATE KEY-----")})
	for _, same := range []string{
		"passw…", "password-for", "the password-fo r…", "pass-word…", "see https://…", "patternmatching…", "token-based… and key-value…", "sk-antwortformular…", "ghp_…", "ghp_xxxxxxxxxxxx1…",
		"AKIAEXAMPLE1234…", "https://example.com:8080…", "pat-2…", "-----…", "…", "… …", "secret_a1…", "npm_config_cache2…",
	} {
		if got := s.Mask(same); got != same {
			t.Errorf("%q becomes %q", same, got)
		}
	}
	cut := "password-for…"
	if hits := s.Scan(cut); len(hits) != 0 {
		t.Errorf("Scan finds %v in %q, which only Mask is to find", hits, cut)
	}
	if got := s.Mask(cut); got != "***…" {
		t.Errorf("%q", got)
	}
}

func TestEachRuleHasBeginnings(t *testing.T) {
	set, err := loadRules()
	if err != nil {
		t.Fatal(err)
	}
	sampler := newSamples()
	n := 0
	for _, r := range set.rules {
		if r.find != nil || r.expression().start == nil || r.named || r.id == keyRule {
			continue
		}
		sample := sampler.match(t, r.expression().re.String())
		if !r.expression().re.MatchString(sample) {
			continue // the sampler knows no assertions
		}
		n++
		for end := range len(sample) + 1 {
			if !r.expression().beginning().MatchString(sample[:end]) {
				t.Errorf("%s: %q does not begin %q", r.id, sample[:end], sample)
				break
			}
		}
	}
	if n < 100 {
		t.Errorf("only %d rules", n)
	}
}

func TestACutPrivateKeyIsMasked(t *testing.T) {
	s := New(nil)
	block := pemBlock(t)
	lines := strings.Split(strings.TrimSpace(block), "\n")
	for name, join := range map[string]string{"lines": "\n", "indented": "\n    ", "one line": " ", "escaped": `\n`, "in a summary": " / ", "strings": "\",\n  \""} {
		for n := 3; n < len(lines); n++ {
			for side, some := range map[string][]string{"first": lines[:n], "last": lines[len(lines)-n:]} {
				got := s.Mask("before " + strings.Join(some, join) + "\nand after")
				for _, line := range some[1 : len(some)-1] {
					if strings.Contains(got, line[:20]) {
						t.Errorf("%s, the %s %d: %q is left in %q", name, side, n, line, got)
					}
				}
				if !strings.HasPrefix(got, "before ***") || !strings.HasSuffix(got, "and after") {
					t.Errorf("%s, the %s %d: %q", name, side, n, got)
				}
			}
		}
	}
	for n := len(lines[0]) + 60; n < len(block); n++ {
		if got := s.Mask(text.Truncate(block, n)); strings.ContainsAny(got, "abcdefghijklmnopqrstuvwxyz0123456789") {
			t.Fatalf("cut after %d: %q", n, got)
		}
	}
	for _, same := range []string{
		"-----BEGIN PRIVATE KEY----- is missing in the configuration of the service", "a-----END RSA PRIVATE KEY-----",
		"no line is -----BEGIN PRIVATE KEY-----\ninternal/secrets/cut.go and internal/secrets/cut_test.go",
	} {
		if got := s.Mask(same); got != same {
			t.Errorf("%q becomes %q", same, got)
		}
	}
}

func TestACutPasswordInAURLIsMasked(t *testing.T) {
	const password = "kq7Zp2Vx9Lw4Rt6M"
	s := New(nil)
	if got := s.Mask("postgres://admin:" + password + "@db.example.net/x"); strings.Contains(got, password) {
		t.Fatal(got)
	}
	for n := 10; n < len(password); n++ {
		cut := "postgres://admin:" + password[:n] + cutMark
		if got := s.Mask(cut); got != "postgres://admin:***…" {
			t.Errorf("%q becomes %q", cut, got)
		}
	}
}

// pemBlock returns a private key in PEM.
func pemBlock(t *testing.T) string {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P521(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: der}))
}
