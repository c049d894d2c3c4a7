package finding

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestRanks(t *testing.T) {
	for i, s := range []Severity{None, Low, Medium, High, Critical} {
		if s.Rank() != i {
			t.Errorf("%s has rank %d, want %d", s, s.Rank(), i)
		}
	}
	for i, p := range []Precision{PrecisionUnknown, PrecisionLow, PrecisionMedium, PrecisionHigh, PrecisionVeryHigh} {
		if p.Rank() != i {
			t.Errorf("%q has rank %d, want %d", p, p.Rank(), i)
		}
	}
	if Severity("odd").Rank() != 0 || Precision("odd").Rank() != 0 {
		t.Error("the rank of an unknown word is not 0")
	}
}

func TestMerge(t *testing.T) {
	rangeAt := func(line, column int) Range { return Range{StartLine: line, StartColumn: column} }
	rules := func(tool, rule string) (Rule, bool) {
		r, ok := map[string]Rule{
			"a/sql":  {CWE: []int{89}, Precision: PrecisionHigh},
			"a/sql2": {CWE: []int{89}, Precision: PrecisionHigh},
			"b/S1":   {CWE: []int{89, 20}, Precision: PrecisionLow},
			"c/S2":   {CWE: []int{20}},
		}[tool+"/"+rule]
		return r, ok
	}
	sqlA := Finding{Tool: "a", Rule: "sql", Message: "SQL injection", Path: "x.go", Range: rangeAt(3, 5), Severity: High}
	sqlB := Finding{Tool: "b", Rule: "S1", Message: "Tainted query", Path: "x.go", Range: rangeAt(3, 0), Severity: Critical}
	for name, c := range map[string]struct {
		in         []Finding
		want       []Finding
		duplicates int
	}{
		"none":                              {nil, nil, 0},
		"shared weakness, precise stays":    {[]Finding{sqlB, sqlA}, []Finding{sqlA}, 1},
		"another line":                      {[]Finding{sqlA, {Tool: "b", Rule: "S1", Path: "x.go", Range: rangeAt(4, 0)}}, []Finding{sqlA, {Tool: "b", Rule: "S1", Path: "x.go", Range: rangeAt(4, 0)}}, 0},
		"another file":                      {[]Finding{sqlA, {Tool: "b", Rule: "S1", Path: "y.go", Range: rangeAt(3, 0)}}, []Finding{sqlA, {Tool: "b", Rule: "S1", Path: "y.go", Range: rangeAt(3, 0)}}, 0},
		"one tool, two rules, one weakness": {[]Finding{sqlA, {Tool: "a", Rule: "sql2", Path: "x.go", Range: rangeAt(3, 5)}}, []Finding{sqlA, {Tool: "a", Rule: "sql2", Path: "x.go", Range: rangeAt(3, 5)}}, 0},
		"one tool, twice the same":          {[]Finding{sqlA, sqlA}, []Finding{sqlA}, 1},
		"one tool, two columns":             {[]Finding{sqlA, {Tool: "a", Rule: "sql", Message: "SQL injection", Path: "x.go", Range: rangeAt(3, 9), Severity: High}}, []Finding{sqlA, {Tool: "a", Rule: "sql", Message: "SQL injection", Path: "x.go", Range: rangeAt(3, 9), Severity: High}}, 0},
		"same message, severe stays":        {[]Finding{{Tool: "c", Message: "Bad  thing", Severity: Low}, {Tool: "d", Message: "bad thing", Severity: High}}, []Finding{{Tool: "d", Message: "bad thing", Severity: High}}, 1},
		"same rule, exact range stays":      {[]Finding{{Tool: "c", Rule: "r", Range: rangeAt(1, 0)}, {Tool: "d", Rule: "r", Range: rangeAt(1, 2)}}, []Finding{{Tool: "d", Rule: "r", Range: rangeAt(1, 2)}}, 1},
		"about the lines of both": {[]Finding{sqlA, {Tool: "b", Rule: "S1", Path: "x.go", Range: rangeAt(3, 0), LastLine: 7}},
			[]Finding{{Tool: "a", Rule: "sql", Message: "SQL injection", Path: "x.go", Range: rangeAt(3, 5), Severity: High, LastLine: 7}}, 1},
		// S1 is dropped, because it shares CWE-89 with sql. S2 shares a weakness only with
		// S1, and so it stays.
		"no chain through a dropped finding": {[]Finding{sqlA, sqlB, {Tool: "c", Rule: "S2", Path: "x.go", Range: rangeAt(3, 1)}}, []Finding{{Tool: "c", Rule: "S2", Path: "x.go", Range: rangeAt(3, 1)}, sqlA}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			for range 5 {
				in := slices.Clone(c.in)
				rand.Shuffle(len(in), func(i, j int) { in[i], in[j] = in[j], in[i] })
				before := slices.Clone(in)
				got, duplicates := Merge(in, rules)
				if diff := cmp.Diff(c.want, got); diff != "" {
					t.Fatal(diff)
				}
				if len(duplicates) != c.duplicates {
					t.Fatalf("%d duplicates, want %d", len(duplicates), c.duplicates)
				}
				if !cmp.Equal(before, in) {
					t.Fatal("the argument was changed")
				}
			}
		})
	}
}

func TestMergeWithoutRules(t *testing.T) {
	got, _ := Merge([]Finding{{Path: "b"}, {Path: "a"}}, nil)
	if diff := cmp.Diff([]Finding{{Path: "a"}, {Path: "b"}}, got); diff != "" {
		t.Error(diff)
	}
}

func TestSortIsTotal(t *testing.T) {
	want := []Finding{
		{Path: "a", Range: Range{StartLine: 1}, Severity: High, Tool: "t"},
		{Path: "a", Range: Range{StartLine: 1}, Severity: Low, Tool: "s"},
		{Path: "a", Range: Range{StartLine: 1}, Severity: Low, Tool: "t"},
		{Path: "a", Range: Range{StartLine: 1, StartColumn: 4}, Severity: Critical},
		{Path: "a", Range: Range{StartLine: 10}},
		{Path: "a", Range: Range{StartLine: 10}, LastLine: 11},
		{Path: "b"},
	}
	for range 20 {
		got := slices.Clone(want)
		rand.Shuffle(len(got), func(i, j int) { got[i], got[j] = got[j], got[i] })
		Sort(got)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatal(diff)
		}
	}
}

func TestFingerprintsSurviveMovedLines(t *testing.T) {
	before := []Finding{
		{Tool: "t", Rule: "r", Path: "a", Message: "line 12 is long (140)", Range: Range{StartLine: 12}},
		{Tool: "t", Rule: "r", Path: "a", Message: "line 30 is long (99)", Range: Range{StartLine: 30}},
		{Tool: "t", Rule: "other", Path: "a", Message: "line 30 is long (99)", Range: Range{StartLine: 30}},
		{Tool: "t", Rule: "r", Path: "b", Message: "x", Fingerprint: "given"},
	}
	after := []Finding{
		{Tool: "t", Rule: "r", Path: "a", Message: "line 44 is long (99)", Range: Range{StartLine: 44}},
		{Tool: "t", Rule: "r", Path: "a", Message: "line 26 is long (140)", Range: Range{StartLine: 26}},
	}
	SetFingerprints(before)
	SetFingerprints(after)
	if before[0].Fingerprint != after[1].Fingerprint || before[1].Fingerprint != after[0].Fingerprint {
		t.Error("fingerprints changed with the lines")
	}
	if before[0].Fingerprint == before[1].Fingerprint || before[1].Fingerprint == before[2].Fingerprint {
		t.Error("different findings share a fingerprint")
	}
	if len(before[0].Fingerprint) != 32 || before[3].Fingerprint != "given" {
		t.Errorf("fingerprints %q, %q", before[0].Fingerprint, before[3].Fingerprint)
	}
}

func TestFingerprintsSurviveTakenSuggestions(t *testing.T) {
	f := func(line int, suggestion string) Finding {
		return Finding{Tool: "fmt", Path: "a", Message: "not formatted", Range: Range{StartLine: line}, Suggestion: suggestion}
	}
	before, after := []Finding{f(3, "x"), f(9, "y")}, []Finding{f(8, "y")}
	SetFingerprints(before)
	SetFingerprints(after)
	if before[1].Fingerprint != after[0].Fingerprint {
		t.Error("when one suggestion is taken, another becomes a new finding")
	}
	if before[0].Fingerprint == before[1].Fingerprint {
		t.Error("two suggestions share a fingerprint")
	}
}

func TestFingerprintPartsDoNotRunTogether(t *testing.T) {
	f := []Finding{{Tool: "ab", Rule: "c"}, {Tool: "a", Rule: "bc"}}
	SetFingerprints(f)
	if f[0].Fingerprint == f[1].Fingerprint {
		t.Error("the parts run together")
	}
}

func TestNamesFollowTheCode(t *testing.T) {
	f := Finding{Tool: "a", Rule: "r", Path: "x.go", Message: "12 lines are too many", Range: Range{StartLine: 3}}
	moved := f
	moved.Range.StartLine, moved.Message, moved.Fingerprint = 9, "13 lines are too many", "ff"
	name := StableName(f, "x := 1")
	if len(name) != 32 || StableName(moved, "x := 1") != name {
		t.Errorf("%q and %q name one piece of code", name, StableName(moved, "x := 1"))
	}
	other := f
	other.Suggestion = "x"
	for _, n := range []string{StableName(f, "x := 2"), StableName(other, "x := 1")} {
		if n == name {
			t.Errorf("%q names two findings", n)
		}
	}
}
