package sanitize

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const goldenFile = "testdata/golden/cmark-gfm.txt"

// TestGolden asserts that the golden file holds every text of the corpora,
// before and after, and with the build tag cmark that it is what cmark-gfm says.
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
