package sanitize

import "testing"

func TestJudge(t *testing.T) {
	s := mustNew(t, Config{AllowedDomains: []string{"example.org", "*.münchen.example", "https://docs.acme.example/"}, ServerHost: "git.corp.example:8443"})
	allowed := []string{
		"https://github.com", "https://github.com/", "https://GitHub.com/a?b#c", "https://GITHUB.Com/a", "https://api.github.com/x", "https://github.com:443/x", "https://github.com./",
		"https://acme.github.io/x", "https://raw.githubusercontent.com/a", "https://git.corp.example/a", "https://git.corp.example:8443/a", "https://www.github.com",
		"https://example.org/@user/https://evil.example", "https://a.b.example.org", "https://x.münchen.example/", "https://x.xn--mnchen-3ya.example/", "https://docs.acme.example",
		"", "#top", "?tab=1", "docs/a.md", "./a", "../a b", "/acme/app", ":b/c", "12:30", "//github.com/x", "/a//evil.example", "mailto:jane.doe+x@example.com", "\thttps://github.com/\n",
	}
	for _, u := range allowed {
		if v := s.judge(u); !v.allowed {
			t.Errorf("%q is denied: %+v", u, v)
		}
	}
	denied := map[string]string{
		"https://evil.example":                   "(evil.example/redacted)",
		"https://www.evil.example/x":             "(evil.example/redacted)",
		"https://docs.github.Com/x":              "(docs.github.com/redacted)",
		"http://github.com":                      "(github.com/redacted)",
		"ftp://github.com":                       "(github.com/redacted)",
		"https://github.com.evil.example":        "(github.com.evil.example/redacted)",
		"https://notgithub.com":                  "(notgithub.com/redacted)",
		"https://github.com@evil.example":        "(evil.example/redacted)",
		"https://evil.example@github.com":        "(github.com/redacted)",
		`https://github.com\@evil.example`:       "(evil.example/redacted)",
		`https://evil.example\@github.com`:       "(evil.example/redacted)",
		`https:\\evil.example`:                   "(evil.example/redacted)",
		"https:evil.example":                     "(evil.example/redacted)",
		"https:/evil.example":                    "(evil.example/redacted)",
		"//evil.example":                         "(evil.example/redacted)",
		`/\evil.example`:                         "(evil.example/redacted)",
		"/\t/evil.example":                       "(evil.example/redacted)",
		"ht\ntps://evil.example":                 "(evil.example/redacted)",
		"HTTPS://EVIL.example":                   "(evil.example/redacted)",
		"https://1.2.3.4":                        "(1.2.3.4/redacted)",
		"https://0x7f000001":                     "(0x7f000001/redacted)",
		"https://[::1]/":                         "(redacted)",
		"https://gіthub.com":                     "(xn--gthub-n2e.com/redacted)",
		"https://ｇithub.com":                     "(redacted)",
		"https://git.\u212Aube.example":          "(redacted)", // the Kelvin sign
		"https://git\u00adhub.com":               "(redacted)",
		"https://git%68ub.com":                   "(redacted)",
		"https://github.com,evil.example":        "(redacted)",
		"https://github.com:x":                   "(redacted)",
		"https://":                               "(redacted)",
		"javascript:alert(1)":                    "(redacted)",
		" JAVA\tscript:alert(1)":                 "(redacted)",
		"data:text/html,x":                       "(redacted)",
		"file:///etc/passwd":                     "(redacted)",
		"main.go:42":                             "(redacted)",
		"mailto:a@b.example?body=x":              "(redacted)",
		"mailto:a@b.example,c@d.example":         "(redacted)",
		"ssh://git@github.com/a":                 "(github.com/redacted)",
		"\x01javascript:alert(1)":                "(redacted)",
		"https://münchen.example.evil":           "(xn--mnchen-3ya.example.evil/redacted)",
		"https://user:secret@github.com/a/b.git": "(github.com/redacted)",
	}
	for u, want := range denied {
		v := s.judge(u)
		if v.allowed {
			t.Errorf("%q is allowed", u)
		} else if got := v.redaction(); got != want {
			t.Errorf("%q: %s, want %s", u, got, want)
		}
		if got := cleanDetail(v.detail); got != v.detail || got == "" {
			t.Errorf("%q: detail %q", u, v.detail)
		}
	}
}

func TestURL(t *testing.T) {
	s := mustNew(t, Config{})
	for in, want := range map[string]string{"src/a.go": "src/a.go", "https://github.com/a\u200b": "https://github.com/a", "src/\x1b[31ma.go": "src/a.go", "//github.com/a\r": "//github.com/a"} {
		if got, ok := s.URL(in); !ok || got != want {
			t.Errorf("URL(%q) = %q, %v", in, got, ok)
		}
	}
	if got, ok := s.URL("https://evil.example/x"); ok || got != "(evil.example/redacted)" {
		t.Errorf("URL of a denied host = %q, %v", got, ok)
	}
}

// TestRedactionIsInert asserts that Body leaves a text with two redactions as it is.
func TestRedactionIsInert(t *testing.T) {
	s := mustNew(t, Config{})
	for _, u := range []string{"https://www.evil.example", "https://www.www.www.evil.example", "https://a.www.evil.example", "https://www.", "https://[::1]", "https://a_b.example", "https://x*y.example", "https://GH-1.example", "https://1.2.3.4", "javascript:x", "https://a@b@c"} {
		note := s.judge(u).redaction()
		if out, notes := s.Body("fixes " + note + " see " + note); out != "fixes "+note+" see "+note {
			t.Errorf("%s: %q %v", u, out, notes)
		}
	}
}
