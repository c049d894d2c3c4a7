package sanitize

import (
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-airlock/airlock/internal/markdown"
)

func TestBody(t *testing.T) {
	s := mustNew(t, Config{AllowedMentions: []string{"hubot"}, AllowedDomains: []string{"example.org"}})
	for _, tt := range []struct{ name, in, want string }{
		{"mention", "Hi @octocat and @hubot", "Hi @&#8203;octocat and @hubot"},
		{"mention after an escape", `\@octocat`, `\@&#8203;octocat`},
		{"mention after an entity", "&#64;octocat", "&#64;&#8203;octocat"},
		{"mention at a node boundary", "**a**@octocat `b`@octocat", "**a**@&#8203;octocat `b`@&#8203;octocat"},
		{"allowed mention that goes on", "@hu**bot** @hubot**x**", "@&#8203;hu**bot** @&#8203;hubot**x**"},
		{"e-mail", "jane@example.com <jane@example.com>", "jane@example.com <jane@example.com>"},
		{"e-mail with an escape", `jane\@example.com jane&#64;example.com`, `jane\@example.com jane&#64;example.com`},
		{"code", "`@octocat` ``fixes #1``", "`@octocat` ``fixes #1``"},
		{"code next to code", "`@Input`/`@Output`, `a`/`@b` and x`@c`", "`@Input`/`@Output`, `a`/`@b` and x`@c`"},
		{"address before a pipe", "| a |\n|---|\n| me@b.example\\|`@x` |", "| a |\n|---|\n| me@b.example\\|`@x` |"},
		{"code like an address after an address", "me@b.example`x@1.2`", "me@b.example`x@1.2`"},
		{"code like an address next to code", "`a@1.2.3`/`b@4.5.6`, x`a`/`b@c.example d` and x`@b.example`", "`a@1.2.3`/`b@4.5.6`, &#120;`a`/`b@c.example d` and &#120;`@b.example`"},
		{"code in HTML", "<pre><code>npm i @types/node # fixes #1\n</code></pre>\n\n<code>@a/b</code>", "<pre><code>npm i @types/node # fixes #1\n</code></pre>\n\n<code>@a/b</code>"},
		{"code in HTML with an address", "<pre>\nhttps://evil.example\n</pre>", "<pre>\n(evil.example/redacted)\n</pre>"},
		{"next to code in HTML", "fixes <code>@a</code> #1 @<code>b</code> <code></code>@c", "fixes <code>@a</code> #1 @&#8203;<code>b</code> <code></code>@&#8203;c"},
		{"no code in HTML", "**<code>a** @b</code> <code>@<b>c</b></code> <code>@d</pre> <code>@e", "**<code>a** @&#8203;b</code> <code>@&#8203;<b>c</b></code> <code>@&#8203;d</pre> <code>@&#8203;e"},
		{"code in HTML that ends nowhere", "<pre>\n@a\n</code>\n", "<pre>\n@&#8203;a\n</code>\n"},
		{"code in HTML that was inert", "<code>@&#8203;a, fixes &#8203;#1</code>", "<code>@a, fixes #1</code>"},
		{"unmatched run before code", "`` `a` `@octocat`", "\\`\\` `a` `@octocat`"},
		{"closing word", "Fixes #12, closes: acme/app#3", "Fixes &#8203;#12, closes: &#8203;acme/app#3"},
		{"closing word in pieces", "fi**x**es <b>#</b>12", "fi**x**es <b>&#8203;#</b>12"},
		{"closing a link", "fixes [it](https://github.com/a/b/issues/1)", "fixes &#8203;[it](https://github.com/a/b/issues/1)"},
		{"comment", "a <!-- hidden --> b", "a  b"},
		{"comment between list and code", "- a\n\n<!-- -->\n\n    code", "- a\n\n\n[//]: #\n\n\n    code"},
		{"comment within HTML", "<table>\n  <!-- x -->\n      <tr><td>a</td></tr>\n</table>", "<table>\n      <tr><td>a</td></tr>\n</table>"},
		{"heading under an address", "www.evil.example\n===", "(evil.example/redacted)\n==="},
		{"redaction does not begin a list", "*<https://evil.example>x*", "*(evil.example/redacted)x*"},
		{"code under a raw end tag", "<pre>a</style>\n`b`", "<pre>a&lt;/style></pre>\n`b`"},
		{"command in a code span with a lonely run", "`` `a\n/deploy b`", "\\`\\` `a /deploy b`"},
		{"code after a comment", "<!-- a -->Bump `@types/node`, ``fixes #1``, @octocat", "Bump `@types/node`, ``fixes #1``, @&#8203;octocat"},
		{"link after a comment", "<!-- a --> [docs](https://evil.example/x)", " docs (evil.example/redacted)"},
		{"image in an unsafe element", "<center>\n![a](https://evil.example/x)\n</center>", "&lt;center>\na (evil.example/redacted)\n&lt;/center>"},
		{"code after an unsafe element", "<iframe src=\"https://evil.example\"></iframe>a `@b/c`", "&lt;iframe src=\"(evil.example/redacted)\">&lt;/iframe>a `@b/c`"},
		{"unsafe element", "<script>alert(1)</script>", "&lt;script>alert(1)&lt;/script>"},
		{"unknown attribute", `<b onclick="x">a</b> <details markdown="1">`, `<b>a</b> <details>`},
		{"unknown attribute between known ones", "<div dir=\"rtl\" markdown=\"1\"\n id=x data-y>\n</div>", "<div dir=\"rtl\"\n id=x>\n</div>"},
		{"class", `<p class="x" align="center">a</p>`, `<p align="center">a</p>`},
		{"attribute twice", `<p align=left align=right>a</p>`, `<p align=left>a</p>`},
		{"values outside of their grammar", `<p align="to the left"><img src="a.png" width="wide" height=10 alt="b"><a name="a b">`, `<p><img src="a.png" height=10 alt="b"><a>`},
		{"value with an invisible character", `<img src="a.png" alt="a&shy;b">`, `<img src="a.png">`},
		{"text instead of ruby", "<ruby>a<rp>(</rp><rt>b</rt><rp>) c</rp></ruby>", "<ruby>a<rp>(</rp><rt>b</rt>&lt;rp>) c&lt;/rp></ruby>"},
		{"text of a hidden rp", "<rp>a\n\n<rp>", "&lt;rp>a\n\n&lt;rp>"},
		{"too small to read", "<sub><sub><sup><sub>a</sub></sup></sub></sub>", "<sub><sub><sup>&lt;sub>a&lt;/sub></sup></sub></sub>"},
		{"abbreviations", `<abbr title="World Health Organization">WHO</abbr> <abbr title="do this at once">WHO</abbr>`, `<abbr title="World Health Organization">WHO</abbr> <abbr>WHO</abbr>`},
		{"image that nobody sees", `<img src=a.png alt="b" width=1 height=1>`, `<img src=a.png width=1 height=1>`},
		{"long text of an image", "![" + strings.Repeat("a ", 150) + "b](c.png)", "\\![" + strings.Repeat("a ", 150) + "b](c.png)"},
		{"long address without text", "[](https://github.com/" + strings.Repeat("a-", 150) + ")", "\\[](https://github.com/" + strings.Repeat("a-", 150) + ")"},
		{"surplus cells", "| a |\n|---|\n| b | c | @d e|\n| f | g h", "| a |\n|---|\n| b \\| c \\| @&#8203;d e|\n| f \\| g h"},
		{"long info string", "```go " + strings.Repeat("x ", 60) + "y\na\n```", "```go\na\n```"},
		{"comments of a diagram", "```mermaid\n%%{init: {}}%%\n%% a\ngraph TD\n  %% b\n  A[b<!-- c -->] --> B %% d\n```", "```mermaid\n%%{init: {}}%%\ngraph TD\n  A[b] --> B %% d\n```"},
		{"formulas", `$\color{white}{a}$ $$\phantom{b} % c$$ $\textcolor{#fefefe}{d}$ $\label{e f}$`, `${a}$ $${b}  c$$ ${d}$ ${e f}$`},
		{"formula in a fence", "```math\nx % y\n\\hphantom{z} \\%\n```", "```math\nx  y\n{z} \\%\n```"},
		{"denied link", "[docs](https://evil.example/x)", "docs (evil.example/redacted)"},
		{"denied address in parentheses", "see (https://evil.example/x), (<https://evil.example>) and `a`(https://evil.example)", "see (evil.example/redacted), (evil.example/redacted) and `a`(evil.example/redacted)"},
		{"denied reference", "[docs][d] and [d]\n\n[d]: https://evil.example", "docs (evil.example/redacted) and d (evil.example/redacted)\n\n"},
		{"second definition stays dead", "[d]\n\n[d]: https://evil.example\n[d]: https://github.com", "d (evil.example/redacted)\n\n\n"},
		{"denied image", "![a *b*](https://evil.example/x.png)", "a *b* (evil.example/redacted)"},
		{"denied HTML link", `<a href="https://evil.example">a</a>`, "<a>a</a> (evil.example/redacted)"},
		{"denied HTML image", `<img src="//evil.example/x.png" alt="a*b*">`, "a&#42;b&#42; (evil.example/redacted)"},
		{"denied bare address", "see https://evil.example/x?y=1.", "see (evil.example/redacted)."},
		{"www", "www.evil.example", "(evil.example/redacted)"},
		{"redaction does not become a link", "[a]<https://evil.example>", "[a] (evil.example/redacted)"},
		{"link text stays text", "[- a](https://evil.example)", `\- a (evil.example/redacted)`},
		{"link title", `[a](https://github.com "hidden")`, "[a](https://github.com )"},
		{"unused definition", "a\n\n[x]: https://github.com", "a\n\n"},
		{"unused footnote", "[^1]: note", `\[^1]: note`},
		{"command", "/deploy now\n> /stop", "&#47;deploy now\n> &#47;stop"},
		{"command before punctuation", "/deploy! /x\n/deploy.\n/deploy:x\n/deploy@bot\n/deploy(x)", "&#47;deploy! /x\n&#47;deploy.\n&#47;deploy:x\n&#47;deploy@bot\n&#47;deploy(x)"},
		{"command that looks like a path", "/deploy/prod\n- /usr/bin", "&#47;deploy/prod\n- /usr/bin"},
		{"escaped command", "\\/deploy\n> \\/deploy!", "&#47;deploy\n> &#47;deploy!"},
		{"command after a full-width slash", "\uff0fdeploy", "&#65295;deploy"},
		{"line separators", "a\u2028/deploy", "a /deploy"},
		{"command in a code span", "`a\n/deploy b`", "`a /deploy b`"},
		{"command in a code block", "```\n/deploy\n```", "```\n/deploy\n```"},
		{"entity of an invisible character", "a&shy;b &#8203;c", "ab c"},
		{"marks as references", "a &rlm;b&#8206;! &#x2067;c&#x2069;", "a b! c"},
		{"marks as references in Hebrew", "\u05e9\u05dc &rlm;C++&lrm;&lrm; \u05d0&rlm;\u05d1", "\u05e9\u05dc &rlm;C++&lrm; \u05d0\u05d1"},
		{"text in another order", "<bdo dir=\"rtl\">a</bdo>", "&lt;bdo dir=\"rtl\">a&lt;/bdo>"},
		{"table cell is not code", "| `a | @octocat | b` |\n|---|---|---|\n", "| `a | @&#8203;octocat | b` |\n|---|---|---|\n"},
		{"address with a backtick", "https://github.com/`a @octocat b`", "<https://github.com/`a> @&#8203;octocat b\\`"},
		{"deep nesting", strings.Repeat("> ", 200) + "@octocat", "```\n" + strings.Repeat("> ", 200) + "@octocat\n```"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, _ := s.Body(tt.in)
			if got != tt.want {
				t.Errorf("Body(%q)\n got %q\nwant %q", tt.in, got, tt.want)
			}
			if again, _ := s.Body(got); again != got {
				t.Errorf("not idempotent: %q, then %q", got, again)
			}
		})
	}
}

// TestBodyLeavesAlone asserts that texts without anything to edit stay byte for byte.
func TestBodyLeavesAlone(t *testing.T) {
	s := mustNew(t, Config{AllowedDomains: []string{"example.org"}})
	for _, text := range []string{
		"Map<K, V> and Map<K,V> and a<b and 5 <3", "12:30, 16:9, key:value, type:bug, main.go:42:7, C:\\x\\y, std::vector<int, 4>", "jane.doe@example.com",
		"`@types/node`", "this fixes the problem, see #12", "It resolves to 127.0.0.1", "https://github.com/a/b#readme and <https://docs.github.com>", "https://a.example.org/x_(y)?z=1&w=2",
		"<details open><summary>A</summary>\n\nb<sub>1</sub><sup>2</sup> <kbd>Ctrl</kbd><br>\n\n</details>", "| a | b |\n|---|:-:|\n| `x\\|y` | 2 |", "- [ ] a\n- [x] b", "[^1] a\n\n[^1]: b",
		"a path /usr/bin and and/or", "/usr/bin is a path", "/etc/passwd", "- /api/v1/users: all", "in /proc,\n/sys, or both", "/home/$USER/x", "1 / 2\n/ 3", "/2", "//x", "run /deploy!", "1. a\n2. b\n\n    code", "```go\n// @octocat fixes #1 <script> https://evil.example\n```", "    @octocat",
		"~~~\n<!-- kept -->\n~~~", "a&nbsp;b &amp; &lt; &copy; AT&T", "\\* \\_ \\#", "[a](docs/x.md) [b](#c) [d](?e=f) ![g](h.png)", "[a][b]\n\n[b]: https://github.com", "x@y.z", "prefixes #12", "fix #hash", "closes GH-", "2*3*4 snake_case __init__",
		"“quotes” — dashes…", "می\u200cخواهم", "👨\u200d👩\u200d👧", "#1 is first", "See acme/app#7 and GH-3", "<h1 align=\"center\">x</h1>", "> quote\nlazy", "", "\n", " ", "a  \nb\\\nc", "Setext\n===", "***", "$x^2$ and $$y$$", ":+1: :tada:",
		"```suggestion\n\treturn fmt.Errorf(\"x: %w\", err) // @TODO\n```", "foo (bar) [baz] {qux}", "a | b", "--flag -x", "x = y < z && z > w", "<a name=\"x\"></a>", "text[0] and f(x)[1]",
		"$\\color{red}{x}$ and $\\textcolor{#1f6feb}{y}$ and $50\\%$", "$5 or 50% of $6", "it costs $5, 50%", "`\\phantom{x}`", "$\\label{eq:1}x$", "```js {1,3} title=\"a.js\"\nx\n```", "```mermaid\ngraph TD; A-->B\n```",
		"<ruby>漢<rp>(</rp><rt>kan</rt><rp>)</rp></ruby>", "<sub><sup>a</sup></sub>", "<a name=\"x.y()\"></a>", "<td align=\"center\" valign=top width=\"50%\" height='10px' colspan=2>", "<div itemscope itemtype=\"http://schema.org/Code\">", "<p lang=\"zh-Hant-TW\" dir=\"rtl\">",
		"<a href=\"#x\" rel=\"nofollow noopener\">x</a>", "<time datetime=\"2024-01-01T00:00:00Z\">x</time>", "<source media=\"(prefers-color-scheme: dark) and (min-width: 600px)\" srcset=\"a.png\" type=\"image/png\">", "<img src=\"a.png\" width=\"0\">", "<img src=\"a.png\" srcset=\"a.png, b.png 2x, https://github.com/x/w_1,h_2/c.png 600w\">", "<abbr title=\"Application Programming Interfaces\">APIs</abbr>", "<abbr title=\"\">API</abbr>", "[](#x)", "![a](b.png)",
		"| a |\n|---|\n| b | |\n| c | d |", "<ol type=\"A\" start=\"3\"><li value=\"7\">x</li></ol>", "<details open=\"true\">\n\nx\n\n</details>", "<a href=\"#a-b\">x</a>\n\n<h2 id=\"a-b\">x</h2>", "[ ] not a task", "cc: nobody", "git@github.com:a/b.git", "- [A][b]: text\n\n[b]: https://github.com", "[A](b.md): text",
	} {
		if got, notes := s.Body(text); got != text || notes != nil {
			t.Errorf("Body(%q)\n got %q %v", text, got, notes)
		}
	}
}

func TestNotes(t *testing.T) {
	s := mustNew(t, Config{})
	_, notes := s.Body("@b @a @A\u200b fixes #1 <!-- x --> [x](https://evil.example \"y\")\n/run\n\n[u]: #v")
	want := []Note{
		{RuleCharacters, "invisible", 1}, {RuleClosingWords, "fixes", 1}, {RuleCommands, "/run", 1}, {RuleHiddenText, "definition", 1},
		{RuleHTML, "comment", 1}, {RuleLinks, "evil.example", 1}, {RuleMentions, "a", 2}, {RuleMentions, "b", 1},
	}
	if diff := cmp.Diff(want, notes); diff != "" {
		t.Error(diff)
	}
	_, notes = s.Body("@alice\n\n- @bobby\n\n<div>@carol</div>")
	want = []Note{{RuleMentions, "alice", 1}, {RuleMentions, "bobby", 1}, {RuleMentions, "carol", 1}}
	if diff := cmp.Diff(want, notes); diff != "" {
		t.Error(diff)
	}
	for _, list := range attacks(t) {
		for _, a := range list {
			_, notes := s.Body(a.text)
			for _, n := range notes {
				if n.Count < 1 || n.Detail == "" || len(n.Detail) > maxDetail || cleanDetail(n.Detail) != n.Detail || strings.Contains(n.Detail, "://") {
					t.Errorf("%q: note %+v", a.text, n)
				}
			}
		}
	}
}

func TestBodyLimit(t *testing.T) {
	const limit = 300
	s := mustNew(t, Config{MaxBodyUTF16: limit})
	for _, in := range []string{
		strings.Repeat("Some words of a paragraph.\n\n", 30),
		"```\n" + strings.Repeat("code @octocat\n", 50) + "```\n",
		strings.Repeat("@octocat ", 60),
		strings.Repeat("🎉", 500),
		strings.Repeat("x", 10000),
		strings.Repeat("- [a](https://evil.example)\n", 100),
		strings.Repeat("<details>\n\n", 100),
		strings.Repeat("> ", 2000),
	} {
		got, notes := s.Body(in)
		if n := markdown.UTF16Len(got); n > limit {
			t.Errorf("%.30q: %d units", in, n)
		}
		if len(notes) == 0 || notes[len(notes)-1].Rule != RuleSize {
			t.Errorf("%.30q: notes %v", in, notes)
		}
		if again, _ := s.Body(got); again != got {
			t.Errorf("not idempotent:\n%q\n%q", got, again)
		}
		assertSafe(t, checker{}, in, got)
	}
	if got, notes := s.Body(strings.Repeat("x", limit)); len(got) != limit || notes != nil {
		t.Errorf("a text at the limit is changed: %d %v", len(got), notes)
	}
}

// TestBodyLimitIsFilled asserts that a long text that loses most of itself to cleaning
// still fills at least half of the limit, and that its cut is noted once.
func TestBodyLimitIsFilled(t *testing.T) {
	const limit = 1000
	s := mustNew(t, Config{MaxBodyUTF16: limit})
	for name, in := range map[string]string{
		"comments":    strings.Repeat("word <!-- nobody reads this -->", 500),
		"definitions": strings.Repeat("[a]: https://github.com\n", 100) + strings.Repeat("\n\nword", 500),
		"mentions":    strings.Repeat("@octocat ", 1000),
		"plain":       strings.Repeat("word ", 1000),
	} {
		got, notes := s.Body(in)
		if n := markdown.UTF16Len(got); n > limit || n < limit/2 {
			t.Errorf("%s: %d units", name, n)
		}
		if last := notes[len(notes)-1]; last != (Note{Rule: RuleSize, Detail: "body", Count: 1}) {
			t.Errorf("%s: %v", name, notes)
		}
	}
}

// TestBodyLimitNotesInvalidBytes asserts that the removal of invalid bytes is noted for a text that
// is cut, too.
func TestBodyLimitNotesInvalidBytes(t *testing.T) {
	const limit = 300
	s := mustNew(t, Config{MaxBodyUTF16: limit})
	got, notes := s.Body("a\xffb " + strings.Repeat("word\xff ", 100))
	if len(notes) != 2 || notes[0].Detail != "invalid-utf8" || notes[1].Rule != RuleSize {
		t.Errorf("Body = %q, notes %v", got, notes)
	}
}

func TestBodyAllowsClosing(t *testing.T) {
	s := mustNew(t, Config{ClosingWords: true})
	if got, _ := s.Body("Fixes #12"); got != "Fixes #12" {
		t.Errorf("Body = %q", got)
	}
	if got, _ := s.Plain("Fixes #12"); got != "Fixes #12" {
		t.Errorf("Plain = %q", got)
	}
}

func TestPlain(t *testing.T) {
	s := mustNew(t, Config{})
	for in, want := range map[string]string{
		"Fix it\n\nThanks @octocat, closes #4\n":            "Fix it\n\nThanks @" + z + "octocat, closes " + z + "#4\n",
		"`@octocat` in code":                                "`@" + z + "octocat` in code",
		"Signed-off-by: A B <a@b.example>":                  "Signed-off-by: A B <a@b.example>",
		"see https://evil.example/@x":                       "see (evil.example/redacted)",
		"see https://github.com/a/b/tree/x/@scope/pkg (ok)": "see https://github.com/a/b/tree/x/@scope/pkg (ok)",
		"std::vector 12:30 a/b#1":                           "std::vector 12:30 a/b#1",
		"agent/fix-12":                                      "agent/fix-12",
		"a\r\nb\x00":                                        "a\nb",
	} {
		got, _ := s.Plain(in)
		if got != want {
			t.Errorf("Plain(%q)\n got %q\nwant %q", in, got, want)
		}
		if again, _ := s.Plain(got); again != got {
			t.Errorf("not idempotent: %q, then %q", got, again)
		}
	}
}

func TestConcurrentUse(t *testing.T) {
	s := mustNew(t, Config{})
	texts := []string{"@octocat `a`", "[a](https://evil.example)\n\n- b", "<script>x</script> fixes #1", "plain"}
	var want []string
	for _, text := range texts {
		out, _ := mustNew(t, Config{}).Body(text)
		want = append(want, out)
	}
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for i := range 400 {
				if got, _ := s.Body(texts[i%len(texts)]); got != want[i%len(texts)] {
					t.Errorf("got %q, want %q", got, want[i%len(texts)])
				}
			}
		})
	}
	wg.Wait()
}

// TestNotesOfSeveralLeaves asserts that a detail survives the leaf that it was
// found in: the memory of one leaf's text is used for the next.
func TestNotesOfSeveralLeaves(t *testing.T) {
	_, got := mustNew(t, Config{}).Body("cc @octocat and @org/team\n\nA longer paragraph, whose text overwrites the one before; this closes #12\n\n> another one, at https://evil.example/path\n\n- and @hubot\n\nThe last paragraph has &amp; an entity, so it is decoded too, @monalisa")
	want := []Note{
		{RuleClosingWords, "closes", 1}, {RuleLinks, "evil.example", 1},
		{RuleMentions, "hubot", 1}, {RuleMentions, "monalisa", 1}, {RuleMentions, "octocat", 1}, {RuleMentions, "org/team", 1},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("notes (-want +got):\n%s", diff)
	}
}
