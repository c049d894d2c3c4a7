//go:build real

package secrets

import (
	"cmp"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

var (
	realDir  = flag.String("realDir", "", "the directory of other people's code to measure")
	realRule = flag.String("realRule", "", "print the hits of these rules only, separated by commas")
)

// TestRealCode scans every file below -realDir as if a pull request added it. It prints each hit
// that would deny, with the text around it, then how many hits each rule and each code base has.
// Each directory in -realDir is one code base. Other people's code rarely contains secrets, so most
// hits are wrong denials; people judge them.
func TestRealCode(t *testing.T) {
	if *realDir == "" {
		t.Fatal("give -realDir: the directory of other people's code to measure")
	}
	scanner := New(nil)
	rules, bases := map[string]int{}, map[string]*codeBase{}
	all := &codeBase{name: "all"}
	var spent time.Duration
	err := filepath.WalkDir(*realDir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(*realDir, path)
		if err != nil {
			return err
		}
		name = filepath.ToSlash(name)
		first, _, _ := strings.Cut(name, "/")
		base := bases[first]
		if base == nil {
			base = &codeBase{name: first}
			bases[first] = base
		}
		begun := time.Now()
		hits := scanner.ScanFile(strings.TrimPrefix(name, first+"/"), string(data))
		spent += time.Since(begun)
		for _, b := range []*codeBase{base, all} {
			b.bytes += len(data)
			for _, h := range hits {
				if h.Explained == "" {
					b.denials++
				} else {
					b.explained++
				}
			}
		}
		for _, h := range hits {
			rule := h.Rule
			if h.Explained != "" {
				rule += ", in " + h.Explained
			} else if *realRule == "" || slices.Contains(strings.Split(*realRule, ","), h.Rule) {
				fmt.Printf("%s:%d: %s %s\n", name, h.Line, h.Rule, hitInContext(string(data), h))
			}
			rules[rule]++
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, rule := range slices.SortedFunc(maps.Keys(rules), func(a, b string) int {
		return cmp.Or(cmp.Compare(rules[b], rules[a]), cmp.Compare(a, b))
	}) {
		fmt.Printf("%6d %s\n", rules[rule], rule)
	}
	for _, b := range append(slices.SortedFunc(maps.Values(bases), func(a, b *codeBase) int { return cmp.Compare(a.name, b.name) }), all) {
		fmt.Printf("| %s | %.1f | %d | %d |\n", b.name, float64(b.bytes)/(1<<20), b.denials, b.explained)
	}
	fmt.Printf("%.2f denials a MB, %.1f s\n", float64(all.denials)/(float64(all.bytes)/(1<<20)), spent.Seconds())
}

// codeBase is what was found in one directory.
type codeBase struct {
	name                      string
	bytes, denials, explained int
}

// hitInContext returns a hit on one line, with a few characters on both sides.
func hitInContext(text string, h Hit) string {
	part := text[max(0, h.Start-60):h.Start] + "⟦" + text[h.Start:min(h.End, h.Start+120)] + "⟧" + text[h.End:min(len(text), h.End+30)]
	return fmt.Sprintf("%q", strings.ToValidUTF8(part, "?"))
}
