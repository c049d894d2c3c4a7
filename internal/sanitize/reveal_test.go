package sanitize

import "testing"

// TestReveal asserts that messages show which invisible characters a name contains, without those
// that were put into it to disarm mentions and references, and that revealing twice changes nothing.
func TestReveal(t *testing.T) {
	for in, want := range map[string]string{
		"plain":                           "plain",
		"docs/\ufe0fx":                    "docs/<U+FE0F>x",
		"a\u200bb\u3164c\u202ed\u2060":    "a<U+200B>b<U+3164>c<U+202E>d<U+2060>",
		`".github\u200b/x"`:               `".github\u200b/x"`,
		"by @\u200boctocat, @&#8203;mona": "by @octocat, @mona",
		`title "by @\u200boctocat"`:       `title "by @octocat"`,
		"fixes \u200b#12, a#\u200b3":      "fixes #12, a#3",
		"❤️ 👩‍👩‍👧":                        "❤️ 👩‍👩‍👧",
		"❤️ x\ufe0f":                      "❤️ x<U+FE0F>",
		"a\r\nb\rc\u2028d\x1b[31me\x00f":  "a\nb\nc def",
		"\xffa":                           "a",
		"&#8203;":                         "&#8203;",
	} {
		if got := Reveal(in); got != want {
			t.Errorf("%q becomes %q, not %q", in, got, want)
		}
		if got := Reveal(Reveal(in)); got != want {
			t.Errorf("%q: revealed twice it is %q", in, got)
		}
	}
}
