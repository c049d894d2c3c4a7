package sanitize

import (
	"bufio"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	xhtml "golang.org/x/net/html"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// corpusConfig returns what both corpora are cleaned with.
func corpusConfig() Config { return Config{AllowedDomains: []string{"example.org"}} }

// attack is one text of testdata/attacks. A quiet one does not act in the renderers that the tests
// have, but would in others.
type attack struct {
	text  string
	quiet bool
}

// attacks returns the attacks of testdata/attacks by their rule, which is the file's name. A line is
// a Go string; a ? before it marks a quiet one.
func attacks(t testing.TB) map[string][]attack {
	t.Helper()
	files, err := filepath.Glob("testdata/attacks/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no attacks: %v", err)
	}
	out := map[string][]attack{}
	for _, name := range files {
		f, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(f)
		for lines.Scan() {
			line := lines.Text()
			if line == "" || line[0] == '#' {
				continue
			}
			quoted, quiet := strings.CutPrefix(line, "?")
			text, err := strconv.Unquote(quoted)
			if err != nil {
				t.Fatalf("%s: %s: %v", name, line, err)
			}
			rule := strings.TrimSuffix(filepath.Base(name), ".txt")
			out[rule] = append(out[rule], attack{text, quiet})
		}
		f.Close()
	}
	return out
}

// renderings returns what the renderers make of text, by name.
func renderings(t testing.TB, text string) map[string]string {
	t.Helper()
	out := map[string]string{"goldmark": goldmarkHTML(t, text)}
	if html, ok := cmarkHTML(text); ok {
		out["cmark-gfm"] = html
	}
	return out
}

// alive reports whether a text acts as it is, in any rendering, or has characters that the character
// rules change.
func alive(t testing.TB, c checker, text string) bool {
	if hasStray(text) {
		return true
	}
	for _, html := range renderings(t, text) {
		if len(c.problems(text, html)) > 0 {
			return true
		}
	}
	return false
}

// assertSafe fails the test when the cleaned text acts in any rendering.
func assertSafe(t *testing.T, c checker, in, out string) {
	t.Helper()
	assertSafeIn(t, c, in, out, renderings(t, out))
}

// assertSafeIn is assertSafe for some of the renderings.
func assertSafeIn(t *testing.T, c checker, in, out string, renderings map[string]string) {
	t.Helper()
	if hasStray(out) {
		t.Errorf("stray character\n in  %q\n out %q", in, out)
	}
	for name, html := range renderings {
		if found := c.problems(out, html); len(found) > 0 {
			t.Errorf("%s: %q\n in  %q\n out %q\n html %q", name, found, in, out, html)
		}
	}
}

func TestAttacks(t *testing.T) {
	s := mustNew(t, corpusConfig())
	for rule, list := range attacks(t) {
		t.Run(rule, func(t *testing.T) {
			for _, a := range list {
				in, c := a.text, checker{}
				if strings.Contains(in, "canary") {
					c.canary = "canary"
				}
				if alive(t, c, in) == a.quiet {
					t.Errorf("before it is cleaned, it acts: %v, want %v: %q\n%q", a.quiet, !a.quiet, in, renderings(t, in))
				}
				out, notes := s.Body(in)
				assertSafe(t, c, in, out)
				if again, _ := s.Body(out); again != out {
					t.Errorf("not idempotent:\n in    %q\n out   %q\n again %q", in, out, again)
				}
				if out != in && len(notes) == 0 {
					t.Errorf("changed without a note: %q", in)
				}
			}
		})
	}
}

// TestOrdinary asserts that cleaning leaves ordinary texts as they are. It also compares, before
// and after cleaning, what people read, follow and copy of the rendered texts.
func TestOrdinary(t *testing.T) {
	s := mustNew(t, corpusConfig())
	files, _ := filepath.Glob("testdata/ordinary/*.md")
	if len(files) == 0 {
		t.Fatal("no ordinary texts")
	}
	for _, name := range files {
		t.Run(filepath.Base(name), func(t *testing.T) {
			in, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			out, notes := s.Body(string(in))
			before, after := renderings(t, string(in)), renderings(t, out)
			for renderer := range before {
				if diff := cmp.Diff(readable(t, before[renderer]), readable(t, after[renderer])); diff != "" {
					t.Errorf("%s: (-before +after)\n%s\nnotes: %v", renderer, diff, notes)
				}
			}
			assertSafe(t, checker{}, string(in), out)
			if out != string(in) {
				t.Errorf("changed: %v\n%s", notes, cmp.Diff(strings.Split(string(in), "\n"), strings.Split(out, "\n")))
			}
		})
	}
}

// page is what people take from a rendered text.
type page struct {
	Text  string
	Links []string // also the alternative texts of images
	Code  []string
}

func readable(t testing.TB, rendered string) page {
	t.Helper()
	doc, err := xhtml.Parse(strings.NewReader(rendered))
	if err != nil {
		t.Fatal(err)
	}
	var p page
	var text strings.Builder
	var walk func(*xhtml.Node)
	walk = func(n *xhtml.Node) {
		switch n.Type {
		case xhtml.TextNode:
			text.WriteString(n.Data)
		case xhtml.ElementNode:
			for _, a := range n.Attr {
				if a.Key == "href" || a.Key == "src" || a.Key == "srcset" || a.Key == "alt" {
					p.Links = append(p.Links, a.Val)
				}
			}
			if n.Data == "code" || n.Data == "pre" {
				p.Code = append(p.Code, textOf(n))
			}
		}
		for c := n.FirstChild; c != nil; c = c.NextSibling {
			walk(c)
		}
	}
	walk(doc)
	p.Text = strings.ReplaceAll(text.String(), "\u200b", "")
	return p
}

func textOf(n *xhtml.Node) string {
	if n.Type == xhtml.TextNode {
		return n.Data
	}
	var b strings.Builder
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		b.WriteString(textOf(c))
	}
	return b.String()
}

const goldenFile = "testdata/golden/cmark-gfm.txt"

// TestGolden asserts that the golden file contains every text of the corpora, before and after
// cleaning. With the build tag cmark, it also asserts that cmark-gfm makes of the texts what the
// file says.
func TestGolden(t *testing.T) {
	s := mustNew(t, corpusConfig())
	texts := map[string]bool{}
	for _, list := range attacks(t) {
		for _, a := range list {
			out, _ := s.Body(a.text)
			texts[a.text], texts[out] = true, true
		}
	}
	files, _ := filepath.Glob("testdata/ordinary/*.md")
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		texts[string(data)] = true
	}
	var lines []string
	for text := range texts {
		html, ok := cmarkHTML(text)
		if !ok {
			t.Errorf("%s lacks %q: run the tests with -tags cmark -update", goldenFile, text)
		}
		lines = append(lines, fmt.Sprintf("%s\t%s\n", strconv.QuoteToASCII(text), strconv.QuoteToASCII(html)))
	}
	slices.Sort(lines)
	want := strings.Join(lines, "")
	if *update && !t.Failed() {
		if err := os.MkdirAll(filepath.Dir(goldenFile), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(goldenFile, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(goldenFile)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Errorf("%s is out of date: run the tests with -tags cmark -update", goldenFile)
	}
}
