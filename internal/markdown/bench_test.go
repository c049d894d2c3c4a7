package markdown

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

const megabyte = 1 << 20

// ordinary returns about a megabyte of copies of a file of testdata, Markdown as people write it.
func ordinary(tb testing.TB, name string) string {
	text, err := os.ReadFile("testdata/" + name)
	if err != nil {
		tb.Fatal(err)
	}
	return strings.Repeat(string(text), 1+megabyte/len(text))
}

func BenchmarkScan(b *testing.B) {
	for _, name := range []string{"ordinary.md", "prose.md"} {
		text := ordinary(b, name)
		b.Run(strings.TrimSuffix(name, ".md"), func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				Scan(text)
			}
		})
	}
	comment := ordinary(b, "ordinary.md")[:2000]
	b.Run("comment", func(b *testing.B) {
		b.SetBytes(int64(len(comment)))
		b.ReportAllocs()
		for b.Loop() {
			Scan(comment)
		}
	})
}

// openers are the beginnings of structure that never ends: each is repeated many
// times. A search to the end without a memo is quadratic on one of them.
var openers = []string{
	"[", "![", "[a](", "[a](<", "[a](<b", "[a](b \"", "[a](b '", "[a](b (", "[a](b \"\\\"", "](", "[a][", "[a]", "[a] ", "[a][b]",
	"[^1]", "[^", "[^a", "`", "`a", "` ", "`a``b```c", "``` ", "```\n", "```\n\n", "~~~\n", "<", "<!--", "<!-- a --", "<!A", "<!A ", "<?", "<?a??>",
	"<![CDATA[", "<![CDATA[]>", "<a ", "<a b", "<a b=\"", "<a b='", "<a b=\"' c='\"", "</", "</a", "</a ", "<a@", "<a:", "<a@b.", "<div>", "<div>\n\n",
	"<script>\n", "</script", "&", "&a", "&#", "&#1", "&#x", "&amp;", "&notit;", "*", "**", "_", "_a", "a_", "*a_", "~", "~~", "~a", "a*b_c~",
	"> ", ">", "> a\n", ">\n", "- ", "- a\n", "-", "* ", "* a\n  ", "+ ", "+ a\n\n", "1. ", "1. a\n", "1) ", "- - a\n", "    a\n", "\ta\n",
	"|", "| ", "a|", "a|b\n", "| a |\n| - |\n", "| - |\n", "|-|\n", "\\|", "a\n-|-\n", "[^1]: ", "[^1]: a\n", "[^1]: a\n\n", "[a]: ", "[a]: b\n", "[a]: b \"c\n",
	"[a]: <b\n", "[a]:\n", "(", ")", "()", "\\", "\\\\", "\\a", "\\`", "\\[", "https://", "https://a", "https://a.b ", "http://a_", "http://a)", "http://a(",
	"http://a;", "ftp://a<?", "https://a.b<", "www.", "www.a", "www.a.b ", "_www.", "*www.a_", "~www._", "(www.", "a://", "@", "a@", "a@b", "a@b.c", "a@b.c ", "a@_", "_a@b.c_", "_@", "*@_a",
	"mailto:", "mailto:a@", "xmpp:a@b/", ":", "w", "ww", "#", "# ", "# a\n", "#\n", "=", "a\n=\n", "a\n-\n", "---\n", "***", "* * ", "\n", " \n", " ", "\t", "a\n", "\r", "a\r\n",
	"a  \n", "a\\\n", "!", "]", "]]", "[[]", "[]", "[a]:b", "[\n", "![a](b", "[![a](b)", "![[a](b)", "[*", "é", "中", "\x00", "\xff", "[ ] ", "- [ ] ", "- [x] a\n", "$", "'", "\"",
}

// deep are texts that put any text after them into many containers or into a table.
var deep = []string{strings.Repeat("> ", 90), strings.Repeat("- ", 90) + "a\n", "a|b\n-|-\n"}

func BenchmarkHostile(b *testing.B) {
	for _, opener := range openers {
		endings := []string{""}
		if opener[0] == '<' {
			endings = append(endings, ">") // one end for all of them
		}
		for _, ending := range endings {
			text := strings.Repeat(opener, 1+megabyte/len(opener)) + ending
			b.Run(fmt.Sprintf("%q%s", opener, ending), func(b *testing.B) {
				b.SetBytes(int64(len(text)))
				for b.Loop() {
					Scan(text)
				}
			})
		}
	}
}

// BenchmarkHostileInDepth repeats the openers within many containers and in a table, at two sizes.
// If the time is not linear, their MB/s differ.
func BenchmarkHostileInDepth(b *testing.B) {
	for _, prefix := range deep {
		for _, opener := range openers {
			for _, size := range []int{16 << 10, 128 << 10} {
				text := prefix + strings.Repeat(opener, 1+size/len(opener))
				b.Run(fmt.Sprintf("%.10q+%q/%dKB", prefix, opener, size>>10), func(b *testing.B) {
					b.SetBytes(int64(len(text)))
					for b.Loop() {
						Scan(text)
					}
				})
			}
		}
	}
}
