package markdown

import (
	"flag"
	"os"
	"strconv"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write testdata/golden.txt anew; needs the build tag cmark")

const goldenFile = "testdata/golden.txt"

// goldenDocuments is how many documents of the generator join the cases.
const goldenDocuments = 400

// TestGolden compares the scanner with what cmark-gfm said of the documents in
// the golden corpus. With the build tag cmark it also asks cmark-gfm again.
func TestGolden(t *testing.T) {
	if *update {
		writeGolden(t)
	}
	data, err := os.ReadFile(goldenFile)
	if err != nil {
		t.Fatal(err)
	}
	golden := make(map[string]string)
	for record := range strings.SplitSeq(string(data), "\n\n") {
		first, want, _ := strings.Cut(record, "\n")
		md, err := strconv.Unquote(first)
		if err != nil {
			t.Fatalf("%s: %q: %v", goldenFile, first, err)
		}
		golden[md] = strings.TrimSuffix(want, "\n")
		if got := strings.TrimSuffix(traceOf(Scan(md)), "\n"); got != golden[md] {
			t.Errorf("%q: %s", md, differ(got, golden[md]))
		}
		if oracle != nil && strings.TrimSuffix(oracle(md), "\n") != golden[md] {
			t.Errorf("%q: cmark-gfm says something else than the golden corpus", md)
		}
	}
	for _, md := range corpus() {
		if _, ok := golden[md]; !ok {
			t.Errorf("%q is not in %s: run go test -tags cmark -run Golden -update", md, goldenFile)
		}
	}
}

// corpus returns the documents of the golden corpus.
func corpus() []string {
	all := append([]string(nil), cases...)
	g := generator{seed: 42}
	for range goldenDocuments {
		all = append(all, g.document())
	}
	return all
}

func writeGolden(t *testing.T) {
	if oracle == nil {
		t.Fatal("-update needs the build tag cmark")
	}
	var records []string
	seen := make(map[string]bool)
	for _, md := range corpus() {
		if !seen[md] {
			seen[md] = true
			records = append(records, strings.TrimSuffix(strconv.Quote(md)+"\n"+oracle(md), "\n"))
		}
	}
	if err := os.WriteFile(goldenFile, []byte(strings.Join(records, "\n\n")), 0o644); err != nil {
		t.Fatal(err)
	}
}
