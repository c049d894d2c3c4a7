package sanitize

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// pieces returns parts for documents of many sections. The ordinary ones are the ordinary texts,
// cut where sections may begin. The hostile ones are the attacks, and the links and images of
// denied.
func pieces(t testing.TB) (ordinary, hostile []string) {
	t.Helper()
	files, _ := filepath.Glob("testdata/ordinary/*.md")
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		ordinary = append(ordinary, strings.SplitAfter(string(data), "\n\n")...)
	}
	for _, list := range attacks(t) {
		for _, a := range list {
			hostile = append(hostile, a.text)
		}
	}
	slices.Sort(hostile) // attacks is a map
	return ordinary, append(hostile, denied()...)
}

// reaching returns texts whose meaning depends on other sections, or that change the meaning of
// these.
func reaching() []string {
	return []string{
		"[r]: https://evil.example", "[r]: #x", "[r]: https://github.com 'title'", "[R]: /other", "see [r] and [a][r]", "![i][r]", "[r]", "[octocat]: #a", "[^n]", "[^n]: @octocat", "[//]: # (hidden)",
		"<sub>", "</sub>", "<sub><sub><sub>", "</small>", "<small>x", "<script>", "</script>", "<style>x</style>", "<x>", "</x>", "<div>", "</div>", "<pre>", "</pre>", "<details>", "</details>", "<div>\n<script>\n</div>",
		"```", "~~~", "```\n@octocat\n```", "<!--", "-->", "<!-- x -->", "<!-- x -->\n    @octocat", "<?", "<![CDATA[", "    @octocat", "\t@octocat", "1. a", "2. b", "- a\n\n  @octocat", "* @octocat", "- ", "-", "===", "---", "| a |\n|-|", "| @octocat |",
		"<a name=a1></a>", "<a name=" + strings.Repeat("n", 60) + "></a>", "[to](#a1)", "<b id=" + strings.Repeat("k", 60) + ">x</b>", "&rlm;a", "\u05d0", "<img alt='&#1488;' src=//evil.example>",
		"@octocat", "@acme/ops", "@other", "fixes #1", "closes #2", "fixes #3", "![a](https://evil.example/i)", "[a](https://evil.example)", "<img src=//evil.example>", "/deploy", "> quote\nlazy", "> <b onclick=x>", "a `` @octocat", "$$\\phantom{a}", "<details x=1>", "**<b x>", "[x](<\n", "<b title='", "'>", "# @octocat", "\\",
	}
}

// joinSections makes a document of pieces.
func joinSections(r *rand.Rand, ordinary, hostile []string) string {
	between := []string{"\n\n", "\n\n", "\n\n", "\n", "\n- ", "\n# ", "\n\n\n", "\n\n- ", "\n\n1. ", "\n> ", " ", ""}
	words, reaching := fragments(), reaching()
	var b strings.Builder
	for range 2 + r.IntN(14) {
		switch r.IntN(8) {
		case 0, 1, 2:
			b.WriteString(ordinary[r.IntN(len(ordinary))])
		case 3, 4:
			b.WriteString(reaching[r.IntN(len(reaching))])
		case 5, 6:
			b.WriteString(hostile[r.IntN(len(hostile))])
		default:
			for range 1 + r.IntN(5) {
				b.WriteString(words[r.IntN(len(words))])
			}
		}
		b.WriteString(between[r.IntN(len(between))])
	}
	return b.String()
}

// TestSections asserts that cleaning is idempotent for generated documents of many sections, and for
// configurations that need different edits.
func TestSections(t *testing.T) {
	rounds := 6_000
	if testing.Short() {
		rounds = 600
	}
	ordinary, hostile := pieces(t)
	for name, cfg := range map[string]Config{
		"corpus":  corpusConfig(),
		"default": {},
		"limited": {
			References: []string{"repo"}, AllowedMentions: []string{"octocat", "acme/ops"}, MaxMentions: 1,
			ClosingWords: true, MaxClosingWords: 2,
		},
	} {
		s := mustNew(t, cfg)
		for seed := range rounds {
			text := joinSections(rand.New(rand.NewPCG(uint64(seed), 31)), ordinary, hostile)
			out, _ := s.Body(text)
			if again, notes := s.Body(out); again != out {
				t.Errorf("%s: cleaning again changes the result\n in   %q\n once  %q\n twice %q\n notes %v", name, text, out, again, notes)
				return
			}
		}
	}
}
