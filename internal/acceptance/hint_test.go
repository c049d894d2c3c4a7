package acceptance

import (
	"strings"
	"testing"
)

// TestHints asserts what a machine verifies of each hint; "" means that no machine can verify it.
// The results are in parseHint's order: commands, contents, requests with a method or status,
// checks, tests, and then paths and URLs that stand alone.
func TestHints(t *testing.T) {
	for hint, want := range map[string]string{
		"docs/guide.md":                    "docs/guide.md",
		"docs/guide.md exists":             "docs/guide.md",
		"Check docs/guide.md":              "docs/guide.md",
		"check docs/guide.md.":             "docs/guide.md",
		"Check Makefile":                   "Makefile",
		"`my docs/guide.md` exists":        "my docs/guide.md",
		"Check a.md, b.md and c.md":        "a.md, b.md, c.md",
		"a.md exists and b.md exists":      "a.md, b.md",
		"a.md exists and check:tests":      "check:tests, a.md",
		"remove docs/old.md":               "",
		"docs/old.md is gone":              "",
		"docs/old.md does not exist":       "",
		"Check docs/old.md was removed":    "",
		"Check that docs/guide.md exists":  "",
		"Verify that docs/guide.md exists": "",
		"The page is beautiful":            "",
		"":                                 "",
		"Check spawn prompt includes SendMessage + exit instructions": "",

		`README.md contains "Usage"`:                                  `README.md contains "Usage"`,
		`The file README.md contains "Usage", for readers`:            `README.md contains "Usage"`,
		`README.md contains "A" and "B"`:                              `README.md contains "A", "B"`,
		`README.md exists and contains "A"`:                           `README.md contains "A"`,
		"`README.md` exists, and contains \"A\"":                      `README.md contains "A"`,
		`README.md contains "A" and contains "B"`:                     `README.md contains "A", "B"`,
		`a.md exists and b.md contains "A"`:                           `b.md contains "A", a.md`,
		`README.md and a.md exist`:                                    `README.md, a.md`,
		`README.md, a.md and b exist`:                                 `README.md, a.md, b`,
		`README.md contains “not ready”`:                              `README.md contains "not ready"`,
		"README.md contains `x or y`":                                 `README.md contains "x or y"`,
		`README.md does not contain "Usage"`:                          "",
		`It is not the case that README.md contains "Usage"`:          "",
		`README.md contains "A" or "B"`:                               "",
		`README.md contains Usage`:                                    "",
		"README.md doesn't hurt, and a.md contains \"x\"":             "",
		`a.md contains "x" and b.md contains "y"; b.md exists`:        `a.md contains "x", b.md contains "y", b.md`,
		`See that a.md contains "x", and the docs are nice, b.md too`: `a.md contains "x"`,

		// A condition, a number of times, another result, and other languages.
		`Given a.yml contains "debug", when it starts, then it logs`: "",
		`Whenever a.md contains "x", it stops`:                       "",
		`README.md contains "A" before "B"`:                          "",
		`README.md contains "A" rather than "B"`:                     "",
		`Only README.md contains "A"`:                                "",
		`It ISN’T that README.md contains "A"`:                       "",
		`README.md contains "A" zero times`:                          "",
		`README.md contains "A" exactly once`:                        "",
		`❌ README.md contains "A"`:                                   "",
		`README.md contains "A" != good`:                             "",
		`Drop what a.md contains "x" for`:                            "",
		"`$ make smoke` exits non-zero":                              "",
		"`$ make smoke` shows an error":                              "",
		"`$ make smoke` must print \"hello\"":                        "",
		"`$ make smoke` -> hello":                                    "",
		"$ make smoke\nprints hello":                                 "",
		"`$ make smoke` does print, for people":                      "",
		"`$ make smoke` contains \"hello\"":                          "",
		"`$ make smoke` generates a.html":                            "",
		"check:tests covers the new page":                            "",
		"check:tests have passed":                                    "check:tests",
		"GET https://example.com/x -> 200 with body {}":              "",
		`tsconfig.json contains "strict": true`:                      "",
		`package.json contains "private" = true`:                     "",
		`Title: a.md contains "x": see there`:                        `a.md contains "x"`,
		`a.md contains "A" more than b.md contains "B"`:              "",
		"GET https://example.com/x -> 4xx":                           "",
		"https://example.com/x -> Unauthorized":                      "",
		"GET https://example.com/x returns a token":                  "",
		"GET https://example.com/x -> 2xx":                           "GET https://example.com/x",
		"GET https://example.com/x → OK":                             "GET https://example.com/x",
		"check:tests schlagen nicht an":                              "",
		"check:tests ne passe pas":                                   "",
		"check:tests не проходят":                                    "",
		"check:tests проходят невредимо":                             "check:tests",
		`README.md contains "A" ことはない`:                               "",
		`不能 README.md contains "A"`:                                  "",
		`README.md contains "A" と書かれている`:                             `README.md contains "A"`,
		`The page of errors: errors.md contains "when"`:              `errors.md contains "when"`,

		"$ go test ./... && echo not ok":           "$ go test ./... && echo not ok",
		"Run:\n$ make a\n$ make b":                 "$ make a, $ make b",
		"`$ make smoke` succeeds":                  "$ make smoke",
		"`$ make smoke` fails":                     "",
		"`$ make smoke` exits with 3":              "",
		"make smoke":                               "",
		"https://example.com/x":                    "GET https://example.com/x",
		"HEAD https://example.com/x -> 204":        "HEAD https://example.com/x -> 204",
		"`GET http://localhost:3000/health` → 200": "GET http://localhost:3000/health -> 200",
		"It follows https://example.com/style":     "",
		"GET https://example.com/x returns 404":    "",
		"GET https://example.com/x.":               "GET https://example.com/x",

		// A URL without a method and a status is requested, unless it is only mentioned in a sentence.
		"`https://example.com/x`.":                                         "GET https://example.com/x",
		"\"https://example.com/x\" and https://example.com/y":              "GET https://example.com/x, GET https://example.com/y",
		"https://example.com/x and check:tests":                            "check:tests, GET https://example.com/x",
		"check:tests, and check https://example.com/x":                     "check:tests, GET https://example.com/x",
		"See that check:tests passes; https://example.com/x exists":        "check:tests, GET https://example.com/x",
		`README.md contains "x" as in https://example.com/style`:           `README.md contains "x"`,
		"check:tests passes. See https://example.com/style, and mind it":   "check:tests",
		"`$ make smoke` does what https://example.com/smoke says":          "$ make smoke",
		"GET https://example.com/x -> 204, as https://example.com/y says":  "GET https://example.com/x -> 204",
		"Check https://example.com/x":                                      "",
		"a.md exists, as https://example.com/style has it":                 "",
		"check:tests (https://example.com/x) and HEAD https://example.com": "HEAD https://example.com, check:tests",

		"`GET https://example.com/x -> 418`.": "GET https://example.com/x -> 418",
		"ftp://example.com/x":                 "",
		"Check git://example.com/x.git":       "",

		"check:tests":                               "check:tests",
		"`check:tests`":                             "check:tests",
		"`check:tests` and `test:TestLogin`.":       "check:tests, test:TestLogin",
		"`check:tests` passes":                      "check:tests",
		"`README.md contains \"Usage\"`":            `README.md contains "Usage"`,
		"`check:tests`, `docs/guide.md` exists":     "check:tests, docs/guide.md",
		"check:code-review passes":                  "check:code-review",
		"check:tests or check:build":                "",
		"check:tests fails":                         "",
		"check:tests and check:build are green.":    "check:tests, check:build",
		`test:TestLogin`:                            "test:TestLogin",
		`test:"adds two numbers" passes`:            "test:adds two numbers",
		`test:"adds up (all)" and test:"it works."`: "test:adds up (all), test:it works.",
		"test:tests/test_a.py::test_b.":             "test:tests/test_a.py::test_b",
	} {
		probes, why := parseHint(hint)
		if got := describe(probes); got != want || (want == "") != (why != "") {
			t.Errorf("%q: %q (%s), want %q", hint, got, why, want)
		}
	}
}

func FuzzHint(f *testing.F) {
	f.Add("Check a.md, `$ x` and GET http://a -> 200 \x00 check:tests")
	f.Fuzz(func(t *testing.T, hint string) {
		probes, why := parseHint(hint)
		if (len(probes) == 0) != (why != "") {
			t.Errorf("%q: %v, %q", hint, probes, why)
		}
	})
}

func TestSuffix(t *testing.T) {
	files := []string{"a/b/c.md", "x/b/c.md", "b/cc.md", "deep/er/one/two.go", "one/two.go/x"}
	for suffix, want := range map[string]string{
		"c.md": "a/b/c.md x/b/c.md", "b/c.md": "a/b/c.md x/b/c.md", "a/b/c.md": "a/b/c.md", "er/one": "deep/er/one", "two.go": "deep/er/one/two.go one/two.go", ".md": "", "er": "deep/er", "c": "",
	} {
		if got := strings.Join(withSuffix(files, suffix), " "); got != want {
			t.Errorf("%s: %q, want %q", suffix, got, want)
		}
	}
}
