package secrets

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
)

func TestLinesAndColumns(t *testing.T) {
	s := New([]Known{known("word", "open-sesame"), known("lines", "first line\nsecond line")})
	type place struct{ line, column, endLine, endColumn int }
	for name, c := range map[string]struct {
		text string
		want []place
	}{
		"first":             {"open-sesame", []place{{1, 1, 1, 12}}},
		"second line":       {"a\n open-sesame\n", []place{{2, 2, 2, 13}}},
		"CRLF":              {"a\r\nopen-sesame\r\nopen-sesame", []place{{2, 1, 2, 12}, {3, 1, 3, 12}}},
		"two on a line":     {"open-sesame open-sesame", []place{{1, 1, 1, 12}, {1, 13, 1, 24}}},
		"after letters":     {"äöü open-sesame", []place{{1, 5, 1, 16}}},
		"after wide runes":  {"𝄞👍 open-sesame", []place{{1, 6, 1, 17}}},
		"after odd bytes":   {"\xff\xfe\x80 open-sesame", []place{{1, 5, 1, 16}}},
		"lone return":       {"a\ropen-sesame", []place{{1, 3, 1, 14}}},
		"over lines":        {"x first line\nsecond line.", []place{{1, 3, 2, 12}}},
		"at the end of all": {"\n\n\nopen-sesame", []place{{4, 1, 4, 12}}},
	} {
		var got []place
		for _, h := range s.Scan(c.text) {
			got = append(got, place{h.Line, h.Column, h.EndLine, h.EndColumn})
			if found := c.text[h.Start:h.End]; found != "open-sesame" && found != "first line\nsecond line" {
				t.Errorf("%s: found %q", name, found)
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

func TestMostPreciseOfOverlappingHitsStays(t *testing.T) {
	hit := func(rule string, start, end int) Hit { return Hit{Rule: rule, Start: start, End: end} }
	for name, c := range map[string]struct{ in, want []Hit }{
		"none":                    {nil, nil},
		"apart":                   {[]Hit{hit("b", 5, 9), hit("a", 0, 5)}, []Hit{hit("a", 0, 5), hit("b", 5, 9)}},
		"same place":              {[]Hit{hit(GeneralRule, 0, 9), hit("a", 0, 9), hit(KnownRule, 0, 9)}, []Hit{hit(KnownRule, 0, 9)}},
		"a vendor in the general": {[]Hit{hit(GeneralRule, 0, 20), hit("a", 5, 9)}, []Hit{hit("a", 5, 9)}},
		"the longer":              {[]Hit{hit("a", 0, 5), hit("b", 0, 9), hit("c", 3, 6)}, []Hit{hit("b", 0, 9)}},
		// The middle one overlaps both others and loses to the first; the third must stay.
		"a chain":                 {[]Hit{hit("a", 0, 6), hit(GeneralRule, 5, 20), hit("b", 19, 30)}, []Hit{hit("a", 0, 6), hit("b", 19, 30)}},
		"a chain under the known": {[]Hit{hit("a", 0, 6), hit(KnownRule, 5, 10), hit("b", 9, 30)}, []Hit{hit(KnownRule, 5, 10)}},
		"two in one":              {[]Hit{hit(GeneralRule, 0, 30), hit("a", 2, 5), hit("b", 7, 9)}, []Hit{hit("a", 2, 5), hit("b", 7, 9)}},
		"three that touch":        {[]Hit{hit("a", 0, 30), hit("b", 31, 40), hit(GeneralRule, 30, 31)}, []Hit{hit("a", 0, 30), hit(GeneralRule, 30, 31), hit("b", 31, 40)}},
	} {
		t.Run(name, func(t *testing.T) {
			if got := distinct(c.in); !slices.Equal(got, c.want) {
				t.Errorf("%v, want %v", got, c.want)
			}
		})
	}
}

func TestHitsHaveTheirRuleNameAndPlace(t *testing.T) {
	sampler := newSamples()
	pat := sampler.match(t, `ghp_[0-9a-zA-Z]{36}`)
	general := sampler.match(t, `[a-f0-9]{40}`)
	s := New([]Known{known("the token", "open-sesame")})
	for text, want := range map[string]Hit{
		" open-sesame":                 {Rule: "known-value", Name: "the token", Line: 1, Column: 2, EndLine: 1, EndColumn: 13},
		"\n" + pat:                     {Rule: "github-pat", Name: "a GitHub Personal Access Token", Line: 2, Column: 1, EndLine: 2, EndColumn: 41},
		"secret = '" + general + "'":   {Rule: "generic-api-key", Name: "a Generic API Key", Line: 1, Column: 11, EndLine: 1, EndColumn: 51},
		"x b3Blbi1zZXNhbWUgaXMgaXQ= y": {Rule: "known-value", Name: "the token", Line: 1, Column: 3, EndLine: 1, EndColumn: 18, Encoded: true},
	} {
		hits := s.ScanFile("src/a.go", text)
		if len(hits) != 1 {
			t.Errorf("%q: %v", text, hits)
			continue
		}
		got := hits[0]
		if digest := sha256.Sum256([]byte(text[got.Start:got.End])); want.Rule != KnownRule && got.Digest != hex.EncodeToString(digest[:]) || want.Rule == KnownRule && got.Digest != "" {
			t.Errorf("%q: the digest is %q", text, got.Digest)
		}
		got.Start, got.End, got.Digest = 0, 0, ""
		if got != want {
			t.Errorf("%q: %+v", text, got)
		}
	}
}

func TestEveryRuleHasANameForPeople(t *testing.T) {
	set, err := loadRules()
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range set.rules {
		if !strings.HasPrefix(r.name, "a ") && !strings.HasPrefix(r.name, "an ") || strings.HasSuffix(r.name, ".") {
			t.Errorf("%s: %q", r.id, r.name)
		}
	}
}

func TestMask(t *testing.T) {
	sampler := newSamples()
	pat := sampler.match(t, `ghp_[0-9a-zA-Z]{36}`)
	s := New([]Known{known("word", "open-sesame"), known("stars", "******")})
	for name, c := range map[string][2]string{
		"nothing":           {"a text\nof lines\x00\xff", "a text\nof lines\x00\xff"},
		"empty":             {"", ""},
		"known":             {"say open-sesame twice: open-sesame.", "say *** twice: ***."},
		"touching":          {"open-sesameopen-sesame", "***"},
		"a rule":            {"token " + pat + " here", "token *** here"},
		"both":              {pat + " open-sesame", "*** ***"},
		"a rule in another": {"password = \"" + pat + "\"", "password = \"***\""},
		"stars":             {"a ****** b", "a *** b"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := s.Mask(c[0]); got != c[1] {
				t.Errorf("got %q, want %q", got, c[1])
			}
		})
	}
	if got := s.Mask("open-open-sesamesesame"); strings.Contains(got, "open-sesame") { // what is around the inner one may stay
		t.Errorf("masking made %q", got)
	}
}

func TestMaskWithAKnownValueOfStars(t *testing.T) {
	s := New([]Known{known("stars", "********"), known("odd", "***x***")})
	for _, text := range []string{"********", "********************", "***x***x***x***", "a***x***b"} {
		got := s.Mask(text)
		if len(s.Scan(got)) != 0 || s.Mask(got) != got {
			t.Errorf("%q became %q", text, got)
		}
	}
}

func FuzzMask(f *testing.F) {
	sampler := newSamples()
	pat := sampler.match(f, `ghp_[0-9a-zA-Z]{36}`)
	for _, seed := range []string{
		"", "open-sesame", "oopen-sesamepen-sesame", "token=" + pat, base64.StdEncoding.EncodeToString([]byte("password open-sesame")),
		"-----BEGIN PRIVATE KEY-----\n", "key: \xff\xfe", "open-\nsesame", strings.Repeat("eyJ", 30), "*" + pat + "*",
	} {
		f.Add(seed)
	}
	s := New([]Known{known("word", "open-sesame"), known("stars", "***x***")})
	f.Fuzz(func(t *testing.T, text string) {
		hits := s.Scan(text)
		end := 0
		for _, h := range hits {
			if h.Start < end || h.End <= h.Start || h.End > len(text) || h.Line < 1 || h.Column < 1 {
				t.Fatalf("%+v after %d of %d", h, end, len(text))
			}
			end = h.End
		}
		masked := s.Mask(text)
		if len(hits) == 0 && masked != text {
			t.Fatalf("%q became %q without a secret", text, masked)
		}
		if strings.Contains(masked, "open-sesame") {
			t.Fatalf("%q became %q", text, masked)
		}
		if left := s.Scan(masked); len(left) != 0 {
			t.Fatalf("%q became %q, which contains %v", text, masked, left)
		}
		if again := s.Mask(masked); again != masked {
			t.Fatalf("%q became %q, then %q", text, masked, again)
		}
	})
}

func TestNothingPrintsASecret(t *testing.T) {
	sampler := newSamples()
	pat := sampler.match(t, `ghp_[0-9a-zA-Z]{36}`)
	const word = "open-sesame-and-more"
	list := []Known{known("word", word)}
	s := New(list)
	hits := s.Scan("say " + word + " and " + pat + " and key = \"" + pat[4:] + "\"")
	if len(hits) != 3 {
		t.Fatalf("%v", hits)
	}
	values := []any{list, &list, list[0], &list[0], s, *s, hits, hits[0], &hits[1], s.Ignored()}
	for _, v := range values {
		var out bytes.Buffer
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%p", "%T"} {
			fmt.Fprintf(&out, verb, v)
			out.WriteByte('\n')
		}
		slog.New(slog.NewTextHandler(&out, nil)).Info("x", "value", v)
		slog.New(slog.NewJSONHandler(&out, nil)).Info("x", "value", v)
		if text, err := json.Marshal(v); err == nil {
			out.Write(text)
		}
		for _, secret := range []string{word, pat, pat[4:], word[:8], pat[8:20], fmt.Sprintf("%x", word), fmt.Sprintf("%X", word[:8])} {
			if strings.Contains(out.String(), secret) {
				t.Errorf("%T prints a secret: %s", v, out.String())
			}
		}
	}
}
