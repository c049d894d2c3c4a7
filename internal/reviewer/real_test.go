package reviewer

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// realSource is a pinned source with what people who read every finding in it said:
// a file of testdata/real. The findings are judged as those of a pull request that
// adds the whole source.
type realSource struct {
	Name string // of the file, without its extension
	// Client fetches it: "go", "npm" or "debian". Sum is Go's h1 sum of the module,
	// or sha256:HEX of the archive.
	Client, Package, Version, Sum string
	// Only names the directories that are read; all if it is empty. Because says why.
	Only    []string
	Because string
	// Measured is what the last measurement read: see real_measure_test.go.
	Measured measured
	Verdicts []verdict
}

type measured struct {
	Files   int
	Bytes   int64
	Seconds float64 // of both reviews together
}

// verdict is what was said of the findings of one rule at some lines of a file.
type verdict struct {
	Rule, Path string
	Lines      []int // 0 is the file as a whole
	// Right says that a reviewer should act on the finding, or has to know why it is
	// harmless; in the code of tests too.
	Right bool
	Why   string
}

func readSources(t *testing.T) []realSource {
	t.Helper()
	paths, err := filepath.Glob("testdata/real/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var all []realSource
	for _, path := range paths {
		s := realSource{Name: strings.TrimSuffix(filepath.Base(path), ".yaml")}
		raw, err := os.ReadFile(path)
		if err == nil {
			err = yaml.Unmarshal(raw, &s)
		}
		if err = errors.Join(err, s.check()); err != nil {
			t.Errorf("%s: %v", path, err)
		}
		all = append(all, s)
	}
	return all
}

// check says what a source or its verdicts lack.
func (s realSource) check() error {
	if s.Client == "" || s.Package == "" || s.Version == "" || s.Sum == "" || len(s.Only) > 0 && s.Because == "" {
		return errors.New("a source needs its client, package, version and sum, and a reason if only parts are read")
	}
	for _, v := range s.Verdicts {
		if v.Rule == "" || v.Path == "" || len(v.Lines) == 0 || len(strings.Fields(v.Why)) < 3 {
			return errors.New("a verdict lacks its place or its reason: " + v.Rule + " " + v.Path)
		}
	}
	return nil
}

// tally counts the findings of each rule in real sources, and those that are right.
func tally(sources []realSource) (right, all map[string]int) {
	right, all = map[string]int{}, map[string]int{}
	for _, s := range sources {
		for _, v := range s.Verdicts {
			if all[v.Rule] += len(v.Lines); v.Right {
				right[v.Rule] += len(v.Lines)
			}
		}
	}
	return right, all
}

const (
	precise       = 0.8 // the share of right findings in real sources under which a rule must be off
	fewestSources = 10
)

// TestRulesArePreciseInRealSources computes the precision of each rule from the
// verdicts. Those under the bar have to be off by default.
func TestRulesArePreciseInRealSources(t *testing.T) {
	sources := readSources(t)
	if len(sources) < fewestSources {
		t.Errorf("only %d sources", len(sources))
	}
	right, all := tally(sources)
	rules, err := Rules()
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rules {
		if r.Off == "" && float64(right[r.ID]) < precise*float64(all[r.ID]) {
			t.Errorf("%s is right in %d of %d findings in real sources: it has to be better, or off", r.ID, right[r.ID], all[r.ID])
		}
		delete(all, r.ID)
	}
	for id := range all {
		t.Errorf("there is no rule %s", id)
	}
}

// describeSources says for the document what was measured.
func describeSources(sources []realSource) string {
	var b strings.Builder
	b.WriteString(`
## Precision in real sources

testdata/real pins the sources by their sums and holds the verdict of everything that was found in them, with
its reason. Each was reviewed as a pull request that adds all of it. Every finding was read with the lines around
it, and with more where these did not tell; of a note without an issue, the note.
` + "`go test -tags real -run RealSources ./internal/reviewer`" + ` fetches the sources, reviews them again and
fails for a finding without a verdict. The seconds are those of both reviews on two cores, with -update measured anew.

| source | package | files | MB | seconds | found | right |
| --- | --- | --- | --- | --- | --- | --- |
`)
	total := realSource{Name: "all together"}
	for _, s := range sources {
		total.Verdicts = append(total.Verdicts, s.Verdicts...)
		total.Measured.Files += s.Measured.Files
		total.Measured.Bytes += s.Measured.Bytes
		total.Measured.Seconds += s.Measured.Seconds
	}
	for _, s := range append(sources, total) {
		right, all := 0, 0
		for _, v := range s.Verdicts {
			if all += len(v.Lines); v.Right {
				right += len(v.Lines)
			}
		}
		fmt.Fprintf(&b, "| %s | %s | %d | %.1f | %.1f | %d | %d |\n", s.Name, strings.TrimSpace(s.Client+" "+s.Package+" "+s.Version), s.Measured.Files,
			float64(s.Measured.Bytes)/1e6, s.Measured.Seconds, all, right)
	}
	return b.String()
}
