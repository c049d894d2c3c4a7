package reviewer

import (
	"cmp"
	"fmt"
	"os"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// othersFile has what script/recall measured by the sets that others labelled.
const othersFile = "testdata/others.yaml"

// beforeFile has what the same command measured before the rules were corrected by one half of
// the sets. It is never written again.
const beforeFile = "testdata/others-before.yaml"

type others []othersResult

// othersRow is one half of one set in one language.
type othersRow struct {
	Set, Language string
	// Held is set for the half by which the rules were not corrected.
	Held bool
}

type othersCount struct{ Vulnerable, Found, Safe, Flagged int }

type othersResult struct {
	othersRow   `yaml:",inline"`
	othersCount `yaml:",inline"`
}

func readOthers(t *testing.T, path string) map[othersRow]othersCount {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var rows others
	if err := yaml.Unmarshal(raw, &rows); err != nil {
		t.Fatal(err)
	}
	all := map[othersRow]othersCount{}
	for _, r := range rows {
		all[r.othersRow] = r.othersCount
	}
	return all
}

// TestOthersRecallStands asserts what the measurement has to show: in the sets of semgrep's rules
// twice what the rules found before, at few safe lines.
func TestOthersRecallStands(t *testing.T) {
	now := readOthers(t, othersFile)
	for language, least := range map[string]float64{"python": 0.53, "go": 0.74, "java": 0.34} {
		var both othersCount
		for _, held := range []bool{false, true} {
			n := now[othersRow{"semgrep-rules", language, held}]
			both.Vulnerable, both.Found, both.Safe, both.Flagged = both.Vulnerable+n.Vulnerable, both.Found+n.Found, both.Safe+n.Safe, both.Flagged+n.Flagged
		}
		if recall, safe := share(both.Found, both.Vulnerable), share(both.Flagged, both.Safe); recall < least || safe > 0.041 {
			t.Errorf("%s: %.2f of the weaknesses and %.3f of the safe lines", language, recall, safe)
		}
	}
}

func share(part, all int) float64 { return float64(part) / float64(max(1, all)) }

// describeOthers returns the part of the document about the sets that others labelled.
func describeOthers(t *testing.T) string {
	var b strings.Builder
	b.WriteString(`
## Recall on code that others labelled

These sets are the tests of other analysers, whose labels nobody here chose: semgrep's rules, a
comment before each line; gosec's samples; what bandit itself finds in its examples; and the OWASP
Benchmark, files that are vulnerable or not. ` + "`script/recall DIR`" + ` repeats the measurement with
the sets in a directory; they are not part of this repository. A label counts if it is about a
weakness that these rules know; a finding counts if it is about the same weakness, from the
labelled line to the end of its block, 15 lines at most. A rule that only advises, such as "no MD5
at all", counts too, which is why 1.00 is not the aim.

Each set is halved by the names of its files. The rules were corrected by the lines of the tuned
half alone. Of the held-out half sums and names of rules were seen, and some new rules follow them,
so its figures are better than those of a set that nobody has seen. "Before" is what the rules found
before that.

| set | language | half | labelled | found before | found now | recall | safe | flagged |
| --- | --- | --- | --- | --- | --- | --- | --- | --- |
`)
	before, now := readOthers(t, beforeFile), readOthers(t, othersFile)
	for _, set := range []string{"semgrep-rules", "gosec", "bandit", "BenchmarkJava"} {
		for _, l := range languages {
			both, bothBefore := othersCount{}, 0
			for _, held := range []bool{false, true} {
				row := othersRow{set, l.name, held}
				n, known := now[row]
				if !known {
					continue
				}
				half := "tuned"
				if held {
					half = "held out"
				}
				writeOthers(&b, set, l.name, half, n, before[row].Found)
				both.Vulnerable, both.Found, both.Safe, both.Flagged = both.Vulnerable+n.Vulnerable, both.Found+n.Found, both.Safe+n.Safe, both.Flagged+n.Flagged
				bothBefore += before[row].Found
			}
			if both.Vulnerable > 0 {
				writeOthers(&b, set, l.name, "**both**", both, bothBefore)
			}
		}
	}
	b.WriteString(`
The safe files of the Benchmark hold the same code as the vulnerable ones, and a constant decides
that the input does not arrive; these rules compute no constants, so they flag many of them. In
gosec's samples whole programs are labelled, some safe by what another function does.
`)
	return b.String()
}

func writeOthers(b *strings.Builder, set, language, half string, n othersCount, before int) {
	flagged := "–"
	if n.Safe > 0 {
		flagged = fmt.Sprintf("%d, %.3f", n.Flagged, share(n.Flagged, n.Safe))
	}
	fmt.Fprintf(b, "| %s | %s | %s | %d | %d, %.2f | %d | %.2f | %s | %s |\n", set, language, half, n.Vulnerable, before, share(before, n.Vulnerable), n.Found, share(n.Found, n.Vulnerable), cmp.Or(strings.TrimPrefix(fmt.Sprint(n.Safe), "0"), "–"), flagged)
}
