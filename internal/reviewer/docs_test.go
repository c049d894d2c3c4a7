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

// TestDocumentListsTheRules compares docs/review-rules.md with the rules.
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

A finding on a line that the pull request did not change is listed and does not block. A comment
` + "`airlock:ignore RULE REASON`" + ` on the line, or alone on the line before, suppresses a finding; the
report lists it with the reason. Without a reason it does not count.

A pull request cannot suppress what is found in it: a comment counts if the base has it. With
` + "`suppressions: any`" + ` below ` + "`checks`" + ` new comments count as well, and the report marks them as new. For
secrets, and findings of high or critical severity, the base must have the line, too; otherwise only
the configuration accepts them, with ` + "`accepted: [\"RULE PATTERN\"]`" + ` below ` + "`security-review`" + ` or
` + "`code-review`" + `.

Weaknesses are not looked for in tests, unless the configuration asks for it; secrets are.

The columns "tuned", "held out" and "again" give how many of the findings in the sources below were
right, of all that were found there, and the share. A finding is right if a reviewer should act on
it, or has to know why it is harmless. The rules were chosen and corrected by the tuned sources. The
held-out ones were judged with the rules as they were; then the rules were corrected by what these
showed, and others were held out again: that is what to expect of a rule on code that it was never
tried on. "Now" is all sources together, with the rules as they are. A rule with less than 0.80
there is off by default. A rule without a count found nothing. "Recall" is measured on the labelled
snippets further down.

| rule | CWE | severity | precision | tuned | held out | again | now | recall | instead |
| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |
`)
	sources := readSources(t)
	before, fresh, fresher, all := tally(among(sources, tuned), foundFirst), tally(among(sources, heldOut), foundFirst), tally(among(sources, heldOutAgain), foundFirst), tally(sources, foundNow)
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
		severity := string(r.Severity)
		if r.Request != "" {
			severity += ", from a request critical"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s | %s | %s | %s | %s | %s%s |\n", r.ID, cwe, severity, r.Precision, before[r.ID], fresh[r.ID], fresher[r.ID], all[r.ID], found, r.Remediation, off)
	}
	return b.String() + describeSources(sources, rules) + describeLabelled(t) + describeOthers(t)
}

// describeSources describes for the document what was measured.
func describeSources(sources []realSource, rules []Rule) string {
	var b strings.Builder
	b.WriteString(`
## Precision in real sources

testdata/real pins the sources by their checksums. It has a verdict, with its reason, for
everything that was found in them. Each source was reviewed as a pull request that adds all of it.
Every finding was read with the lines around it, and with more where these were not enough; of a
note without an issue, only the note. ` + "`go test -tags real -run RealSources ./internal/reviewer`" + `
fetches the sources, reviews them again and fails for a finding without a verdict. The seconds are
those of both reviews on two cores; -update measures them anew.

The rules were chosen and corrected by the tuned sources, so their numbers are better than what
other code will show. The held-out sources were named before anything was run on them, and judged
with the rules as they were. Only then the rules were corrected. A verdict is marked "mended" if its
finding is gone since, and "later" if its finding came with that. The sources that were held out
again were named and judged after that, in the same way. The last two columns are what is found and
right now.

| source | package | files | MB | seconds | found | right | found now | right now |
| --- | --- | --- | --- | --- | --- | --- | --- | --- |
`)
	for _, part := range []struct {
		name string
		keep func(realSource) bool
	}{{"all tuned", tuned}, {"all held out", heldOut}, {"all held out again", heldOutAgain}} {
		total := realSource{Name: part.name}
		for _, s := range among(sources, part.keep) {
			describeSource(&b, s)
			total.Verdicts = append(total.Verdicts, s.Verdicts...)
			total.Measured.Files += s.Measured.Files
			total.Measured.Bytes += s.Measured.Bytes
			total.Measured.Seconds += s.Measured.Seconds
		}
		describeSource(&b, total)
	}
	return b.String() + describeDefaults(sources, rules) + describeKnown(sources)
}

// describeDefaults describes how precise the rules that are on by default are together.
func describeDefaults(sources []realSource, rules []Rule) string {
	sum := func(keep func(realSource) bool, when func(verdict) bool) score {
		var s score
		for _, r := range rules {
			if r.Off == "" {
				one := tally(among(sources, keep), when)[r.ID]
				s.right, s.all = s.right+one.right, s.all+one.all
			}
		}
		return s
	}
	return fmt.Sprintf(`
Of all findings of the rules that are on by default, %s were right in the tuned
sources and %s in the held-out ones. With the rules corrected by these,
%s were right in the sources that were held out again. Now it is
%s, %s and %s.
`, sum(tuned, foundFirst), sum(heldOut, foundFirst), sum(heldOutAgain, foundFirst), sum(tuned, foundNow), sum(heldOut, foundNow), sum(heldOutAgain, foundNow))
}

func describeSource(b *strings.Builder, s realSource) {
	then, since := s.score(foundFirst), s.score(foundNow)
	fmt.Fprintf(b, "| %s | %s | %d | %.1f | %.1f | %d | %d | %d | %d |\n", s.Name, strings.TrimSpace(s.Client+" "+s.Package+" "+s.Version), s.Measured.Files,
		float64(s.Measured.Bytes)/1e6, s.Measured.Seconds, then.all, then.right, since.all, since.right)
}

// describeKnown lists which published weaknesses of the sources the rules find.
func describeKnown(sources []realSource) string {
	var b strings.Builder
	b.WriteString(`
## Published weaknesses

Some of the held-out sources are versions with a weakness that was published. They were chosen by
the package and the kind of the weakness, not by what the rules find in them. "Held out" is what the
rules found before they were corrected.

| advisory | source | rule | line | held out | now |
| --- | --- | --- | --- | --- | --- |
`)
	then, since, all := 0, 0, 0
	for _, s := range sources {
		for _, k := range s.Known {
			all++
			fmt.Fprintf(&b, "| %s | %s | `%s` | %s:%d | %s | %s |\n", k.Advisory, s.Name, k.Rule, k.Path, k.Line, yesOrNo(s.found(k, foundFirst), &then), yesOrNo(s.found(k, foundNow), &since))
		}
	}
	fmt.Fprintf(&b, "| all together | | | | %d of %d | %d of %d |\n", then, all, since, all)
	return b.String()
}

// yesOrNo returns found as a word, and adds one to n if it is true.
func yesOrNo(found bool, n *int) string {
	if !found {
		return "no"
	}
	*n++
	return "yes"
}
