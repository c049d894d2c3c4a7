package reviewer

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// realSource is a pinned source with the verdicts of people who read every finding in it:
// a file of testdata/real. The findings are judged as those of a pull request that
// adds the entire source.
type realSource struct {
	Name string // of the file, without its extension
	// Client fetches it: "go", "npm" or "debian". Sum is Go's h1 sum of the module,
	// or sha256:HEX of the archive.
	Client, Package, Version, Sum string
	// Only names the directories that are read; all if it is empty. Because is the reason.
	Only    []string
	Because string
	// HeldOut is set if nobody had looked at the source before its verdicts were made. The
	// rules were not changed for it until then.
	HeldOut bool `yaml:"heldout"`
	// After is set if the verdicts of a held-out source were made after the rules had been
	// corrected by the first held-out sources.
	After bool
	// Measured is the result of the last measurement: see real_measure_test.go.
	Measured measured
	Verdicts []verdict
	Known    []knownWeakness
}

type measured struct {
	Files   int
	Bytes   int64
	Seconds float64 // of both reviews, of security and of code, together
	// High counts the findings of the rules of high precision, by rule. The verdicts are about
	// findings of lower precision as well.
	High map[string]score `yaml:",omitempty"`
}

// verdict is the judgement of the findings of one rule at some lines of a file.
type verdict struct {
	Rule, Path string
	Lines      []int // 0 is the file
	// Right is set if a reviewer should act on the finding, or has to know why it is
	// harmless; in the code of tests too.
	Right bool
	Why   string
	// Mended is set if the finding is gone since the rules were corrected by the held-out
	// sources, Later if it came with that correction.
	Mended, Later bool
}

// foundFirst and foundNow select the verdicts whose findings were there before the rules
// were corrected by the held-out sources, and those whose findings are there now.
func foundFirst(v verdict) bool { return !v.Later }
func foundNow(v verdict) bool   { return !v.Mended }

// knownWeakness is a weakness that was published about the source's version, and the line where a
// rule should find it.
type knownWeakness struct {
	Advisory, Rule, Path string
	Line                 int
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

// check returns an error if a source, or one of its verdicts or known weaknesses, lacks something.
func (s realSource) check() error {
	if s.Client == "" || s.Package == "" || s.Version == "" || s.Sum == "" || len(s.Only) > 0 && s.Because == "" {
		return errors.New("a source needs its client, package, version and sum, and a reason if only parts are read")
	}
	for _, v := range s.Verdicts {
		if v.Rule == "" || v.Path == "" || len(v.Lines) == 0 || len(strings.Fields(v.Why)) < 3 {
			return errors.New("a verdict lacks its place or its reason: " + v.Rule + " " + v.Path)
		}
		if v.Mended && v.Later {
			return errors.New("a finding was never there: " + v.Rule + " " + v.Path)
		}
	}
	for _, k := range s.Known {
		if k.Advisory == "" || k.Rule == "" || k.Path == "" || k.Line == 0 {
			return errors.New("a known weakness lacks its place: " + k.Advisory)
		}
	}
	return nil
}

// score counts findings, and those of them that are right.
type score struct{ Right, All int }

func (s *score) add(v verdict) {
	if s.All += len(v.Lines); v.Right {
		s.Right += len(v.Lines)
	}
}

// String returns the score as the document shows it.
func (s score) String() string {
	if s.All == 0 {
		return "–"
	}
	return fmt.Sprintf("%d of %d, %.2f", s.Right, s.All, s.share())
}

func (s score) share() float64 { return float64(s.Right) / float64(s.All) }

// tally counts the findings in sources, by rule. Only verdicts that filter selects count.
func tally(sources []realSource, filter func(verdict) bool) map[string]score {
	rules := map[string]score{}
	for _, s := range sources {
		for _, v := range s.Verdicts {
			if filter(v) {
				sum := rules[v.Rule]
				sum.add(v)
				rules[v.Rule] = sum
			}
		}
	}
	return rules
}

// tallyHigh counts the findings of the rules of high precision in sources, by rule.
func tallyHigh(sources []realSource) map[string]score {
	rules := map[string]score{}
	for _, s := range sources {
		for id, found := range s.Measured.High {
			sum := rules[id]
			rules[id] = score{sum.Right + found.Right, sum.All + found.All}
		}
	}
	return rules
}

// score counts the findings of all rules in a source. Only verdicts that filter selects count.
func (s realSource) score(filter func(verdict) bool) score {
	var found score
	for _, v := range s.Verdicts {
		if filter(v) {
			found.add(v)
		}
	}
	return found
}

// tuned, heldOut and heldOutAgain select sources.
func tuned(s realSource) bool        { return !s.HeldOut }
func heldOut(s realSource) bool      { return s.HeldOut && !s.After }
func heldOutAgain(s realSource) bool { return s.HeldOut && s.After }

func selectSources(sources []realSource, keep func(realSource) bool) []realSource {
	var kept []realSource
	for _, s := range sources {
		if keep(s) {
			kept = append(kept, s)
		}
	}
	return kept
}

const (
	precise       = 0.8 // the share of right findings in real sources under which a rule must be off
	fewestSources = 10  // of either sort
)

// TestRulesArePreciseInRealSources computes the precision of each rule from the
// verdicts. A rule below precise has to be off by default.
func TestRulesArePreciseInRealSources(t *testing.T) {
	sources := readSources(t)
	for _, keep := range []func(realSource) bool{tuned, heldOut} {
		if n := len(selectSources(sources, keep)); n < fewestSources {
			t.Errorf("only %d sources", n)
		}
	}
	rules, err := Rules()
	if err != nil {
		t.Fatal(err)
	}
	found := tally(sources, foundNow)
	for _, r := range rules {
		if s := found[r.ID]; r.Off == "" && s.All > 0 && s.share() < precise {
			t.Errorf("%s is right in %d of %d findings in real sources: it has to be better, or off", r.ID, s.Right, s.All)
		}
	}
	for id := range found {
		if !slices.ContainsFunc(rules, func(r Rule) bool { return r.ID == id }) {
			t.Errorf("there is no rule %s", id)
		}
	}
}

// found reports whether a rule finds a known weakness, by the verdicts that filter selects.
func (s realSource) found(k knownWeakness, filter func(verdict) bool) bool {
	return slices.ContainsFunc(s.Verdicts, func(v verdict) bool {
		return filter(v) && v.Rule == k.Rule && v.Path == k.Path && slices.Contains(v.Lines, k.Line)
	})
}
