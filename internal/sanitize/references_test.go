package sanitize

import (
	"strings"
	"testing"
)

// TestReferences asserts which references stay: in each text, those that the
// configuration allows; no other may be left live.
func TestReferences(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name    string
		allowed []string
		text    string
		want    string // "" if the text stays
	}{
		{"all by default", nil, "a/b#1 #2 GH-3 https://github.com/a/b/issues/4", ""},
		{"none", []string{}, "see a/b#1, #2 and GH-3.", "see a/b#&#8203;1, #&#8203;2 and GH-&#8203;3."},
		{"own", []string{"repo"}, "see octo/app#1, #2, GH-3 and Octo/App#4", ""},
		{"own, others", []string{"repo"}, "see a/b#1, b#2 and octo/other#3", "see a/b#&#8203;1, b#&#8203;2 and octo/other#&#8203;3"},
		{"by name", []string{"a/b"}, "a/b#1 A/B#2 #3 a/c#4", "a/b#1 A/B#2 #&#8203;3 a/c#&#8203;4"},
		{"own by name", []string{"octo/app"}, "#1 octo/app#2 a/b#3", "#1 octo/app#2 a/b#&#8203;3"},
		{"of an owner", []string{"octo/*"}, "#1 octo/x#2 octopus/x#3", "#1 octo/x#2 octopus/x#&#8203;3"},
		{"any", []string{"*"}, "#1 a/b#2 https://github.com/a/b/pull/3", ""},
		{"names with marks", []string{"my_org/my.repo-x"}, "my_org/my.repo-x#1 my_org/my_repo#2", "my_org/my.repo-x#1 my_org/my_repo#&#8203;2"},
		{"a longer path", []string{"a/b"}, "x/a/b#1", "x/a/b#&#8203;1"},
		{"through markup", []string{"a/b"}, "a/**b**#1 evil/**a/b**#2 a/b**#3**", "a/**b**#&#8203;1 evil/**a/b**#&#8203;2 a/b**#&#8203;3**"},
		{"split by tags", []string{"repo"}, "a/<b></b>b#1 <i>a</i>/b#2", "a/<b></b>b#&#8203;1 <i>a</i>/b#&#8203;2"},
		{"entities", []string{"repo"}, "a&#47;b&#35;1 a/b#&#49;", "a&#47;b&#35;&#8203;1 a/b#&#8203;&#49;"},
		{"code", []string{}, "`a/b#1`\n\n    a/b#2\n\n```\n#3\n```", ""},
		{"escaped", []string{}, `a/b\#1`, `a/b\#&#8203;1`},
		{"no references", []string{}, "C# 7, #a, a#b, GH-x, 1-2", ""},
		{"addresses", []string{"repo"}, "https://github.com/a/b/issues/1 and https://github.com/octo/app/pull/2", "(github.com/redacted) and https://github.com/octo/app/pull/2"},
		{"other addresses", []string{}, "https://github.com/a/b https://github.com/a/b/blob/main/issues/x https://octo.github.io/a/b/issues/1", ""},
		{"an address with www", []string{}, "www.github.com/a/b/issues/1", "(github.com/redacted)"},
		{"links", []string{"repo"}, "[x](https://github.com/a/b/discussions/1#c) [y](https://github.com/octo/app/issues/1)", "x (github.com/redacted) [y](https://github.com/octo/app/issues/1)"},
		{"a link without a scheme", []string{"repo"}, "[x](//github.com/a/b/issues/1) [y](/a/b/pull/2) [z](/octo/app/pull/2)", "x (github.com/redacted) y (redacted) [z](/octo/app/pull/2)"},
		{"escapes in addresses", []string{"repo"}, "[x](https://github.com/a/b/%69ssues/1) [y](https://github.com/a/b\\\\issues/1)", "x (github.com/redacted) y (github.com/redacted)"},
		{"escapes that are not escapes", []string{"repo"}, "[x](https://github.com/a/b/%zz/../%69ssues/1) [y](https://github.com/octo/app/issues/1%)", "x (github.com/redacted) [y](https://github.com/octo/app/issues/1%)"},
		{"dots in addresses", []string{"repo"}, "[x](https://github.com/a/b/issues/./1) [y](https://github.com/a/b/issues/y/%2e%2E/1) [z](https://github.com/octo/app/./issues/1)", "x (github.com/redacted) y (github.com/redacted) z (github.com/redacted)"},
		{"dots after an allowed owner", []string{"acme/*"}, "[x](https://github.com/a/b/acme/../issues/1) [y](../../a/b/acme/../issues/1) [z](https://github.com/acme/../a/b/pull/2)", "x (github.com/redacted) y (redacted) z (github.com/redacted)"},
		{"dots after two slashes", []string{"repo"}, "[x](https://github.com/a/b/issues/y//../../1) [y](/a/b/issues/y//../../1) https://github.com/a/b/issues/y//../../1", "x (github.com/redacted) y (redacted) (github.com/redacted)"},
		{"dots after an escaped slash", []string{"repo"}, "[x](https://github.com/a/b/issues/octo%2Fapp%2Fissues%2Fy/../1) https://github.com/a/b/issues/octo%2Fapp%2fissues%2Fy/%2E./1", "x (github.com/redacted) (github.com/redacted)"},
		{"HTML", []string{"repo"}, `<a href="https://github.com/a/b/issues/1">x</a>`, "<a>x</a> (github.com/redacted)"},
		{"closing", []string{"repo"}, "fixes a/b#1", "fixes &#8203;a/b#&#8203;1"},
	} {
		s := mustNew(t, Config{References: tt.allowed, Repository: "octo/app"})
		want := tt.want
		if want == "" {
			want = tt.text
		}
		got, notes := s.Body(tt.text)
		if got != want {
			t.Errorf("%s: Body(%q) = %q, want %q", tt.name, tt.text, got, want)
		}
		if again, _ := s.Body(got); again != got {
			t.Errorf("%s: Body is not idempotent: %q, then %q", tt.name, got, again)
		}
		if (len(notes) > 0) != (got != tt.text) {
			t.Errorf("%s: %q became %q with notes %v", tt.name, tt.text, got, notes)
		}
	}
}

func TestReferencesInTitles(t *testing.T) {
	t.Parallel()
	s := mustNew(t, Config{References: []string{"repo"}, Repository: "octo/app", ServerHost: "git.example"})
	got, _ := s.Title("a/b#1, #2, octo/app#3, https://git.example/a/b/pull/4")
	if want := "a/b#\u200b1, #2, octo/app#3, (git.example/redacted)"; got != want {
		t.Errorf("Title = %q, want %q", got, want)
	}
	if again, _ := s.Title(got); again != got {
		t.Errorf("Title is not idempotent: %q", again)
	}
}

func TestBadReferences(t *testing.T) {
	t.Parallel()
	for _, entry := range []string{"", "a", "a/", "/b", "a/b/c", "a b/c", "*/b", "${{ github.repository }}", "a/..", "ä/b"} {
		if _, err := New(Config{References: []string{entry}}); err == nil {
			t.Errorf("%q is accepted", entry)
		}
	}
}

// TestMaxClosingWords asserts that the first closing words of a text stay active, up to the limit,
// and the others become inert.
func TestMaxClosingWords(t *testing.T) {
	t.Parallel()
	s := mustNew(t, Config{ClosingWords: true, MaxClosingWords: 2})
	const text = "fixes #1\n\n- closes a/b#2\n- resolves #3 and fixes GH-4"
	want := strings.NewReplacer("resolves #", "resolves &#8203;#", "fixes GH", "fixes &#8203;GH").Replace(text)
	got, _ := s.Body(text)
	if got != want {
		t.Errorf("Body = %q, want %q", got, want)
	}
	if again, _ := s.Body(got); again != got {
		t.Errorf("Body is not idempotent: %q", again)
	}
	if got, _ := s.Title("fixes #1, closes #2, fixes #3"); got != "fixes #1, closes #2, fixes \u200b#3" {
		t.Errorf("Title = %q", got)
	}
}

// TestMaxMentions asserts that mentions of the first allowed names stay active, up to the limit of
// names, and those of other names become inert.
func TestMaxMentions(t *testing.T) {
	t.Parallel()
	s := mustNew(t, Config{AllowedMentions: []string{"a", "b", "c"}, MaxMentions: 2})
	// The sanitizer reads the name in the first paragraph from a buffer, and later reuses the buffer
	// for other texts. It must still know the name when it reads the last list item.
	const text = "@x @A @a\n\n- nobody here, nor there\n- also @b @c @a"
	const want = "@&#8203;x @A @a\n\n- nobody here, nor there\n- also @b @&#8203;c @a"
	got, _ := s.Body(text)
	if got != want {
		t.Errorf("Body = %q, want %q", got, want)
	}
	if again, _ := s.Body(got); again != got {
		t.Errorf("Body is not idempotent: %q", again)
	}
	if got, _ := s.Title("@a @b @c"); got != "@a @b @\u200bc" {
		t.Errorf("Title = %q", got)
	}
}

// TestLongReferencesInPlainTexts asserts that an address in a plain text leads to no issue of
// another repository by dots in a part of its path that is far behind, or looks like another address.
func TestLongReferencesInPlainTexts(t *testing.T) {
	t.Parallel()
	s := mustNew(t, Config{References: []string{"repo"}, Repository: "octo/app"})
	for _, path := range []string{
		"a/b/issues/" + strings.Repeat("y/../", 1000) + "1", strings.Repeat("./", 1000) + "a/b/issues/1", "a/b/issues/" + strings.Repeat("y", 2000) + "/../1",
		"a/b/issues/y://../../1", "a/b/issues/https://github.com/../../../1",
	} {
		if got, _ := s.Plain("https://github.com/" + path); got != "(github.com/redacted)" {
			t.Errorf("%.60s: %.60s", path, got)
		}
		if got, _ := s.Body("<div>\nhttps://github.com/" + path + "\n</div>"); got != "<div>\n(github.com/redacted)\n</div>" {
			t.Errorf("%.60s: %.60s", path, got)
		}
	}
	for _, address := range []string{"https://github.com/octo/app/issues/new?body=" + strings.Repeat("y", 3000), "https://octo.github.io/" + strings.Repeat("y", 3000)} {
		if got, _ := s.Plain(address); got != address {
			t.Errorf("%.60s became %.60s", address, got)
		}
	}
}
