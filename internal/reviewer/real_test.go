package reviewer

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

var (
	realDir    = flag.String("realDir", "", "a directory with an unpacked source: print what the rules find in it, for judging")
	realSource = flag.String("realSource", "", "the source's name in testdata/real/verdicts.yaml: findings that have a verdict are not printed")
)

// verdicts is what people who read every finding in real sources said about each.
type verdicts struct {
	// Sources are pinned; what is printed for one of them depends on nothing else.
	Sources []struct{ Name, Get string }
	// Verdicts are in the sources' order. Right says that a reviewer should act on
	// the finding, or has to know why it is harmless.
	Verdicts []struct {
		Source, Rule, Path string
		Line               int
		Right              bool
		Why                string
	}
}

func readVerdicts(t *testing.T) verdicts {
	t.Helper()
	raw, err := os.ReadFile("testdata/real/verdicts.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var v verdicts
	if err := yaml.Unmarshal(raw, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

// precise is the share of right findings in real sources under which a rule must be off.
const precise = 0.8

// TestRulesArePreciseInRealSources computes the precision of each rule from the
// verdicts. Those under the bar have to be off by default.
func TestRulesArePreciseInRealSources(t *testing.T) {
	v := readVerdicts(t)
	known := map[string]bool{}
	for _, s := range v.Sources {
		known[s.Name] = s.Get != ""
	}
	right, all := map[string]int{}, map[string]int{}
	for _, x := range v.Verdicts {
		if !known[x.Source] || x.Why == "" || x.Line < 1 || x.Path == "" {
			t.Errorf("a verdict lacks its source, place or reason: %+v", x)
		}
		if all[x.Rule]++; x.Right {
			right[x.Rule]++
		}
	}
	rules, err := Rules()
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rules {
		if all[r.ID] > 0 && r.Off == "" && float64(right[r.ID]) < precise*float64(all[r.ID]) {
			t.Errorf("%s is right in %d of %d findings in real sources: it has to be better, or off", r.ID, right[r.ID], all[r.ID])
		}
		delete(all, r.ID)
	}
	for id := range all {
		t.Errorf("there is no rule %s", id)
	}
}

// TestPrintFindingsInRealSources prints, with -realDir DIR, each finding of a security
// rule that has no verdict.
func TestPrintFindingsInRealSources(t *testing.T) {
	if *realDir == "" {
		return
	}
	type place struct {
		path string
		line int
	}
	at := map[place]string{}
	for _, x := range readVerdicts(t).Verdicts {
		if x.Source == *realSource {
			at[place{x.Path, x.Line}] = x.Rule
		}
	}
	var files []File
	err := filepath.WalkDir(*realDir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || languageOf(path) == nil {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(*realDir, path)
		files = append(files, File{Path: filepath.ToSlash(rel), Text: string(text)})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	lines := map[string][]string{}
	for _, f := range files {
		lines[f.Path] = strings.Split(f.Text, "\n")
	}
	for _, f := range security(t, Config{Off: []string{"secret"}}, files...).Findings {
		if at[place{f.Path, f.Range.StartLine}] != f.Rule {
			t.Logf("%s %s:%d\n\t%s", f.Rule, f.Path, f.Range.StartLine, strings.TrimSpace(lines[f.Path][f.Range.StartLine-1]))
		}
	}
}
