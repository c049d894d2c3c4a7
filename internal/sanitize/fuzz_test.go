package sanitize

import (
	"math/rand/v2"
	"testing"
	"unicode/utf8"

	"github.com/agent-airlock/airlock/internal/markdown"
)

func seeds(f *testing.F) {
	for _, list := range attacks(f) {
		for i, a := range list {
			if i%7 == 0 {
				f.Add(a.text)
			}
		}
	}
}

// maxFuzzed is how much of a text is judged, in bytes: on some longer ones
// cmark-gfm takes seconds, which looks like a hang to the fuzzer.
const maxFuzzed = 8 << 10

// FuzzBody asserts every property of a cleaned body for any bytes: it is inert in both
// renderers, idempotent and valid UTF-8.
func FuzzBody(f *testing.F) {
	seeds(f)
	s := mustNew(f, corpusConfig())
	f.Fuzz(func(t *testing.T, in string) {
		sound(t, s, in[:min(len(in), maxFuzzed)])
	})
}

// FuzzJoined asserts the properties of FuzzBody for documents that the fuzzer joins from hostile
// fragments.
func FuzzJoined(f *testing.F) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 30 {
		choice := make([]byte, 3+r.IntN(20))
		for i := range choice {
			choice[i] = byte(r.IntN(256))
		}
		f.Add(choice)
	}
	s := mustNew(f, corpusConfig())
	f.Fuzz(func(t *testing.T, choice []byte) {
		in := join(choice)
		sound(t, s, in[:min(len(in), maxFuzzed)])
	})
}

// FuzzRaw asserts that a cleaned plain text, title or message is valid UTF-8, is not much longer
// than before, and does not change when it is cleaned again; that titles are within their limit;
// and that accepted labels and addresses are allowed.
func FuzzRaw(f *testing.F) {
	seeds(f)
	s := mustNew(f, Config{AllowedMentions: []string{"octo"}})
	f.Fuzz(func(t *testing.T, in string) {
		for name, clean := range map[string]func(string) (string, []Note){"plain": s.Plain, "title": s.Title, "message": s.Message} {
			out, _ := clean(in)
			if again, _ := clean(out); again != out {
				t.Errorf("%s is not idempotent:\n in    %q\n out   %q\n again %q", name, in, out, again)
			}
			if !utf8.ValidString(out) || len(out) > 8*len(in)+16 {
				t.Errorf("%s(%q) = %q", name, in, out)
			}
		}
		if out, _ := s.Title(in); markdown.UTF16Len(out) > MaxTitle {
			t.Errorf("Title(%q) has %d units", in, markdown.UTF16Len(out))
		}
		if out, _, err := s.Label(in); err == nil && (out == "" || utf8.RuneCountInString(out) > MaxLabel || out[0] == '-' || hasStray(out)) {
			t.Errorf("Label(%q) = %q", in, out)
		}
		if out, ok := s.URL(in); ok && !allowedAddress(out) {
			t.Errorf("URL(%q) = %q", in, out)
		}
	})
}
