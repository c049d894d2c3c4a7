package sanitize

import (
	"errors"
	"strings"
	"testing"

	"github.com/agent-airlock/airlock/internal/markdown"
)

const z = "\u200b"

func mustNew(t testing.TB, cfg Config) *Sanitizer {
	t.Helper()
	s, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestTitle(t *testing.T) {
	s := mustNew(t, Config{AllowedMentions: []string{"@Hubot", "acme/core"}, AllowedDomains: []string{"example.org"}})
	for _, tt := range []struct{ name, in, want string }{
		{"ordinary", `Fix the "parser": 12:30, C:\x & <K, V> — "done" 🎉`, `Fix the "parser": 12:30, C:\x & <K, V> — "done" 🎉`},
		{"lines", "  one\r\n two\tthree\n", "one two three"},
		{"mention", "Ask @octocat", "Ask @" + z + "octocat"},
		{"team", "Ask @acme/ops", "Ask @" + z + "acme/ops"},
		{"allowed user", "Ask @hubot and @HUBOT.", "Ask @hubot and @HUBOT."},
		{"allowed team", "Ask @acme/core", "Ask @acme/core"},
		{"allowed user is not a team", "Ask @hubot/all", "Ask @" + z + "hubot/all"},
		{"longer name", "Ask @hubot2 @hubot-x", "Ask @" + z + "hubot2 @" + z + "hubot-x"},
		{"e-mail", "From a.b@example.com", "From a.b@example.com"},
		{"hidden mention", "Ask @" + z + "\u200d\u2060octocat", "Ask @" + z + "octocat"},
		{"accent before", "é@octocat", "é@" + z + "octocat"},
		{"chain", "@a@octocat", "@" + z + "a@" + z + "octocat"},
		{"closing", "Fixes #12", "Fixes " + z + "#12"},
		{"closing colon", "resolved: GH-7", "resolved: " + z + "GH-7"},
		{"closing repo", "closes acme/app#7", "closes " + z + "acme/app#7"},
		{"closing address", "fix https://github.com/a/b/issues/3", "fix " + z + "https://github.com/a/b/issues/3"},
		{"prose", "this fixes the problem in #12", "this fixes the problem in #12"},
		{"part of a word", "prefixes #12", "prefixes #12"},
		{"denied address", "see https://evil.example/x.", "see (evil.example/redacted)."},
		{"http is denied", "see http://github.com/x", "see (github.com/redacted)"},
		{"www", "see www.evil.example/x now", "see (evil.example/redacted) now"},
		{"allowed address", "see https://docs.example.org/x?y=1#z", "see https://docs.example.org/x?y=1#z"},
		{"denied link", "see [x](https://evil.example/a_(b)) now", "see [x] (evil.example/redacted) now"},
		{"in parentheses", "see (https://evil.example/a) and ( https://evil.example )", "see (evil.example/redacted) and ( (evil.example/redacted) )"},
		{"allowed link", "see [x](https://docs.example.org/a) now", "see [x](https://docs.example.org/a) now"},
		{"user info", "https://github.com@evil.example/", "(evil.example/redacted)"},
		{"escape sequence", "a\x1b[31mred\x1b[0m b\x1b]8;;x\x07", "ared b"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, _ := s.Title(tt.in)
			if got != tt.want {
				t.Errorf("Title(%q)\n got %q\nwant %q", tt.in, got, tt.want)
			}
			if again, _ := s.Title(got); again != got {
				t.Errorf("not idempotent: %q, then %q", got, again)
			}
		})
	}
}

func TestTitleIsCut(t *testing.T) {
	s := mustNew(t, Config{AllowedMentions: []string{"octo"}})
	for _, in := range []string{
		strings.Repeat("word ", 100),
		strings.Repeat("🎉", 200),
		strings.Repeat("x", 249) + " @octocat and more",
		strings.Repeat("fixes #1 ", 60),
		strings.Repeat("x", 245) + " https://evil.example/aaaaaaaaaaa",
		strings.Repeat("👨‍👩‍👧", 80),
	} {
		got, notes := s.Title(in)
		if n := markdown.UTF16Len(got); n > MaxTitle || n < MaxTitle-20 {
			t.Errorf("%.20q…: %d units", in, n)
		}
		if again, _ := s.Title(got); again != got {
			t.Errorf("not idempotent:\n%q\n%q", got, again)
		}
		if len(notes) == 0 || notes[len(notes)-1] != (Note{RuleSize, "title", 1}) {
			t.Errorf("%.20q…: notes %v", in, notes)
		}
	}
}

func TestMessage(t *testing.T) {
	s := mustNew(t, Config{AllowedDomains: []string{"example.org"}})
	for in, want := range map[string]string{
		"[a](https://evil.example/x) and [b](//evil.example)": "[a] (evil.example/redacted) and [b] (evil.example/redacted)",
		"[a]( <https://evil.example> \"t\")":                  "[a] (evil.example/redacted) \"t\")",
		"[a](https:evil.example":                              "[a] (evil.example/redacted)",
		"[a](https://github.com@evil.example)":                "[a] (evil.example/redacted)",
		"[a](https://evil.example]x](https://evil.example)":   "[a] (evil.example/redacted)]x] (evil.example/redacted)",
		"[a](http://[::1]/x)":                                 "[a] (redacted)]/x)",
		"]" + z + "(https://evil.example)":                    "] (evil.example/redacted)",
		"[a](https://docs.example.org/x_(y)) [1](2) [b](/c)":  "[a](https://docs.example.org/x_(y)) [1](2) [b](/c)",
		"m[0](std::move(x)); m[i](name: y); @x fixes #1":      "m[0](std::move(x)); m[i](name: y); @x fixes #1",
		"[a](javascript:alert(1)) [b]( <JavaScript:x>)":       "[a] (redacted) [b] (redacted)",
		"[a](data:text/html,x) [b](vbscript:x":                "[a] (redacted) [b] (redacted)",
		"m[0](data::get()) m[0](data: x) m[0](javascript)":    "m[0](data::get()) m[0](data: x) m[0](javascript)",
		"https://evil.example is text":                        "https://evil.example is text",
	} {
		got, _ := s.Message(in)
		if got != want {
			t.Errorf("Message(%q)\n got %q\nwant %q", in, got, want)
		}
		if again, _ := s.Message(got); again != got {
			t.Errorf("not idempotent: %q, then %q", got, again)
		}
	}
}

func TestLabel(t *testing.T) {
	s := mustNew(t, Config{})
	for in, want := range map[string]string{
		" type:bug ":       "type:bug",
		"area/ci cd":       "area/ci cd",
		"good\nfirst\tone": "good first one",
		"b\u202eug\u200b":  "bug",
		"日本語":              "日本語",
	} {
		got, _, err := s.Label(in)
		if err != nil || got != want {
			t.Errorf("Label(%q) = %q, %v; want %q", in, got, err, want)
		}
	}
	for in, want := range map[string]error{"": ErrLabelEmpty, " \u200b\n": ErrLabelEmpty, "-rf": ErrLabelDash, "\u200b-x": ErrLabelDash} {
		if got, _, err := s.Label(in); !errors.Is(err, want) || got != "" {
			t.Errorf("Label(%q) = %q, %v; want %v", in, got, err, want)
		}
	}
	if _, _, err := s.Label(strings.Repeat("é", 50)); err != nil {
		t.Errorf("50 characters: %v", err)
	}
	if _, _, err := s.Label(strings.Repeat("é", 51)); err == nil {
		t.Error("51 characters are accepted")
	}
}

func TestNewRefuses(t *testing.T) {
	for _, cfg := range []Config{
		{AllowedDomains: []string{"*"}},
		{AllowedDomains: []string{"a b"}},
		{AllowedDomains: []string{"http://x"}},
		{AllowedDomains: []string{"exa_mple.org/path"}},
		{AllowedMentions: []string{"no body"}},
		{AllowedMentions: []string{""}},
		{ServerHost: "bad host"},
	} {
		if _, err := New(cfg); err == nil {
			t.Errorf("New(%+v) accepts it", cfg)
		}
	}
}
