package sanitize

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// ordinaryText is the ordinary corpus, joined until it has about size bytes.
func ordinaryText(t testing.TB, size int) string {
	t.Helper()
	files, _ := filepath.Glob("testdata/ordinary/*.md")
	var all strings.Builder
	for _, name := range files {
		if filepath.Base(name) == "refs.md" {
			continue // its definitions would be shadowed by the next copy's
		}
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		text, _, _ := strings.Cut(string(data), "[^1]: ")
		all.WriteString(text)
		all.WriteString("\n\n")
	}
	return strings.Repeat(all.String(), 1+size/all.Len())
}

// openers are strings that, repeated, make a naive reader search to the end of
// the text again and again.
func openers() []string {
	return []string{
		"[", "![", "]", "[]", "](", "[a](", "[a](<", "[a](https://x ", "[a][", "[^", "[^a]", "[^a]: ", "[a]: ", "[a]: x\n", "[a]:\n", "[x][y]",
		"<", "<a ", "<a href='", "<a x=\"", "<a x=\" b='", "<b>", "</b>", "<!--", "<!-- ", "<!---", "<!-->", "<?", "<!X ", "<![CDATA[", "<div>\n", "<div>\n<a ", "<div>\n\n", "<script>", "<pre>\n", "<a href=\"https://x.example\">", "<img alt='@a' src=//x>",
		"`", "` ", "``` ", "`a`", "`` ` ", "```\n", "~~~\n", "*", "**", "_", "*a ", "_a", "~", "~~", "\\", "\\`", "\\[",
		"> ", ">", "- ", "* ", "1. ", "+\n", "- a\n", "> a\n", "    ", "\t", "#", "# ", "=\n", "-\n", "a\n=", "|", "|a", "| a | b\n|-|-\n", "|-", "a|\n", "\\|",
		"&", "&#", "&#x", "&a", "&amp", "&#8203;", "&shy;", "&#64;", "@", "@a", "@a ", "@&#8203;a", "a@", "a@b.c", "a@b.c ", "a.", "@a@", "@*", "#1", "# 1", "fixes ", "fixes #1 ", "fixes #", "GH-1", "fixes GH-", "a/b#1", "x-", "*1",
		"https://", "https://a", "https://x.example ", "http:", "://", "www.", "www.a", "www.x.example ", "(https://github.com/", "https://github.com/a)", "xmpp:a@", "mailto:",
		"[x](\n/d)\n", "/x\n", "</", "<p a=b>", "<img alt=x>", "<a name=x>", "<sub>", "<rp>", "<td>", "$", "$a$", "$$\\phantom", "%%\n", "&rlm;", "\u200e", "\u05d0\u200e", "\u05d0\u2067", "\uff0fa\n", "\u845b\U000e0101",
		"/a\n", "/a ", "> /a\n", "- /a\n", " /", "\u00a0/a\n", "\x1b[", "\x1b]", "\x1b[31m", "\x1bP", "\u009d", "\u200d", "\u200b", "\u202e", "\U000e0041", "\U0001f3f4", "\ufe0f", "\x00", "\xff", "\xe2\x80", "\r", "\r\n", "\n", " \n", "é", "中", "👨\u200d",
	}
}

// TestOpeners asserts that what any repeated opener becomes, in a body and in raw
// text, is its own result and no more than a few times as long. BenchmarkOpener
// measures the time.
func TestOpeners(t *testing.T) {
	s, limited := mustNew(t, Config{}), mustNew(t, Config{References: []string{"repo"}, AllowedMentions: []string{"a"}, MaxMentions: 1})
	for _, opener := range openers() {
		text := strings.Repeat(opener, (1<<16)/len(opener))
		for name, clean := range map[string]func(string) (string, []Note){"body": s.Body, "plain": s.Plain, "title": s.Title, "limited": limited.Body} {
			out, _ := clean(text)
			if again, _ := clean(out); again != out {
				t.Errorf("%s: %q repeated is not its own result", name, opener)
			}
			if len(out) > 10*len(text) {
				t.Errorf("%s: %q repeated grows from %d bytes to %d", name, opener, len(text), len(out))
			}
		}
	}
}

func benchmarkBody(b *testing.B, text string) {
	s := mustNew(b, corpusConfig())
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		s.Body(text)
	}
}

func BenchmarkBodyOrdinary(b *testing.B) {
	files, _ := filepath.Glob("testdata/ordinary/*.md")
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(strings.TrimSuffix(filepath.Base(name), ".md"), func(b *testing.B) { benchmarkBody(b, string(data)) })
	}
	b.Run("all", func(b *testing.B) { benchmarkBody(b, ordinaryText(b, 100_000)) })
}

func BenchmarkBodyProse(b *testing.B) {
	for name, text := range map[string]string{
		"ascii":   "The quick summary: everything passed, nothing else to do here (for now). Numbers such as 1,000 are plain.\n\n- an item with `code` in it\n",
		"latin":   "Größe und Höhe stimmen nicht überein; naïve Annahmen führen zu falschen Ergebnissen.\n",
		"chinese": "缓存在启动时被清空，所以第一次请求很慢。版本号是「1.2.3」。\n",
		"emoji":   "Done 👍🏽 with the team 👨‍👩‍👧‍👦 and the flag 🏴󠁧󠁢󠁥󠁮󠁧󠁿 today.\n",
	} {
		b.Run(name, func(b *testing.B) { benchmarkBody(b, strings.Repeat(text, 100_000/len(text))) })
	}
}

func BenchmarkBodyEdited(b *testing.B) {
	benchmarkBody(b, strings.Repeat("Thanks @octocat, this fixes #12; see https://evil.example/x and [docs](https://github.com/a/b).\n\n", 1000))
}

// BenchmarkOpener measures a quarter of a megabyte and a megabyte of any repeated
// opener: what is not linear shows in the difference of their MB/s. The goal is
// 10 MB/s, a megabyte in 100 ms.
func BenchmarkOpener(b *testing.B) {
	for _, opener := range openers() {
		for _, size := range []int{1 << 18, 1 << 20} {
			text := strings.Repeat(opener, size/len(opener))
			b.Run(fmt.Sprintf("%q/%dKB", opener, size>>10), func(b *testing.B) { benchmarkBody(b, text) })
		}
	}
}

func BenchmarkTitle(b *testing.B) {
	s := mustNew(b, corpusConfig())
	b.ReportAllocs()
	for b.Loop() {
		s.Title("Fix the parser for nested lists in block quotes")
	}
}
