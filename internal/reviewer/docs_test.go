package reviewer

import (
	"cmp"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write docs/review-rules.md")

const document = "../../docs/review-rules.md"

// TestDocumentListsTheRules holds docs/review-rules.md against the rules.
func TestDocumentListsTheRules(t *testing.T) {
	want := describe(t)
	if *update {
		if err := os.WriteFile(document, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(document)
	if err != nil {
		t.Fatal(err)
	}
	if diff := gocmp.Diff(want, string(got)); diff != "" {
		t.Errorf("run go test ./internal/reviewer -update:\n%s", diff)
	}
}

func describe(t *testing.T) string {
	rules, err := Rules()
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	b.WriteString(`# Review rules

Airlock reads the changed files of a pull request by these rules, without a model. This page
is made from the rules (` + "`go test ./internal/reviewer -update`" + `).

A finding on a line that the pull request did not change is listed and does not gate. A comment
` + "`airlock:ignore RULE REASON`" + ` on the line, or alone on the line before, suppresses a finding; the
report lists it with the reason. Without a reason it does not count.

Weaknesses are not looked for in tests, unless the configuration asks for it; secrets are.

"Tuned", "held out" and "again" say how many findings in the sources below were right, of all that were found there,
and the share. Right means that a reviewer should act on the finding, or has to know why it is harmless. The tuned
sources chose and mended the rules; the held-out ones were judged with the rules as they were. What these showed was
mended, and others were held out again: that is what to expect of a rule on code that nobody has shown it. "Now" is
all together, since the rules were mended by these too. No rule under 0.80 there is on by default. A rule without a
count found nothing. "Recall" is that on the labelled snippets further down.

| rule | CWE | severity | precision | tuned | held out | again | now | recall | instead |
| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |
`)
	sources := readSources(t)
	before, fresh, fresher, all := tally(among(sources, tuned), first), tally(among(sources, heldOut), first), tally(among(sources, again), first), tally(sources, now)
	recall := map[string]string{}
	for _, l := range readLabelled(t) {
		recall[l.Rule] = fmt.Sprintf("%.2f", l.recall())
	}
	for _, r := range rules {
		off := ""
		if r.Off != "" {
			off = " Off by default: " + r.Off + "."
		}
		cwe := strings.Trim(strings.ReplaceAll(fmt.Sprint(r.CWE), " ", ", "), "[]")
		found := cmp.Or(recall[r.ID], "–")
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s | %s | %s | %s | %s | %s%s |\n", r.ID, cwe, r.Severity, r.Precision, before[r.ID], fresh[r.ID], fresher[r.ID], all[r.ID], found, r.Remediation, off)
	}
	return b.String() + describeSources(sources, rules) + describeLabelled(t)
}
