package secrets

import (
	"encoding/base64"
	"strings"
	"testing"
)

func TestMask(t *testing.T) {
	make := newSamples()
	pat := make.of(t, `ghp_[0-9a-zA-Z]{36}`)
	s := New([]Known{known("word", "open-sesame"), known("stars", "******")})
	for name, c := range map[string][2]string{
		"nothing":          {"a text\nof lines\x00\xff", "a text\nof lines\x00\xff"},
		"empty":            {"", ""},
		"known":            {"say open-sesame twice: open-sesame.", "say *** twice: ***."},
		"touching":         {"open-sesameopen-sesame", "***"},
		"a rule":           {"token " + pat + " here", "token *** here"},
		"both":             {pat + " open-sesame", "*** ***"},
		"known in another": {"password = \"" + pat + "\"", "password = \"***\""},
		"made by masking":  {"open-open-sesamesesame", "***"},
		"stars":            {"a ****** b", "a *** b"},
	} {
		t.Run(name, func(t *testing.T) {
			got := s.Mask(c[0])
			if name == "made by masking" { // what is left around the stars is no secret
				if strings.Contains(got, "open-sesame") {
					t.Errorf("got %q", got)
				}
				return
			}
			if got != c[1] {
				t.Errorf("got %q, want %q", got, c[1])
			}
		})
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
	make := newSamples()
	pat := make.of(f, `ghp_[0-9a-zA-Z]{36}`)
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
			t.Fatalf("%q became %q, which holds %v", text, masked, left)
		}
		if again := s.Mask(masked); again != masked {
			t.Fatalf("%q became %q, then %q", text, masked, again)
		}
	})
}
