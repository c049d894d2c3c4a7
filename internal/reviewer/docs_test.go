package reviewer

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
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
	if diff := cmp.Diff(want, string(got)); diff != "" {
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

A finding about code that the pull request did not change is listed and does not block. That code is
what the finding's place shows, such as the name of the function that is called, and what makes it a
weakness there: the arguments of the call, except functions, or the value of the setting. A comment
` + "`airlock:ignore RULE REASON`" + ` on the line, or alone on the line before, suppresses a finding; the
report lists it with the reason. Without a reason it does not count.

A pull request cannot suppress what is found in it: a comment counts if the base has it. With
` + "`suppressions: any`" + ` below ` + "`checks`" + ` new comments count as well, and the report marks them as new. For
secrets, and findings of high or critical severity, the base must have the line, too; otherwise only
the configuration accepts them, with ` + "`accepted: [\"RULE PATTERN\"]`" + ` below ` + "`security-review`" + ` or
` + "`code-review`" + `.

Weaknesses are not looked for in tests, examples, documents, migrations and the scripts of
developers (in directories of the repository's root such as scripts, extra, .ci and bench), unless
the configuration asks for it; secrets are. In vendored and minified files only secrets are looked
for, and in other copied libraries and packed scripts as well if the base shows what they are: a new
one of these is reviewed like any other file, whatever it begins with.

## Precision

Each rule, or form of it, has a precision by how often it was right in real code, in the terms of
code scanning: very-high, high, medium or low. The reviews use those of medium precision and
better. ` + "`min-precision: low`" + ` adds what is off by default.

` + "`min-precision: high`" + ` is for those who want a review that is hardly ever wrong, and accept that it
finds little. It has private keys outside of copied libraries; keys in the form of their issuer
outside of tests, manuals, examples and comments; what a request sends and reaches a query, a
command, code, a template or a loader as it is, without a call, a condition or a list in between;
XML parsers that follow references; a stranger's text in the script of a workflow that has rights;
merge conflicts; and a focus on one of several tests. It leaves out what has to be judged: text that
is built from variables, settings, addresses of servers, and whatever may have been checked before.
The keys that it leaves out because of the path of their file are found by default.

` + "```yaml" + `
checks:
  security-review: {min-precision: high}  # or airlock check --min-precision high, for both reviews
  code-review: {on: [print-call]}  # this rule in all its forms, whatever its precision
` + "```" + `

In the column "precision", "high, medium" is a rule with forms of both: what a request sends as it
is has high precision, anything else has medium. SARIF and the findings document give each rule the
precision of the least precise form that is used.

"Real" gives how many of the findings in the pinned sources below are right, of all that are found
there, and the share; "high" gives those of forms of high precision. A finding is right if a
reviewer should act on it, or has to know why it is harmless. The rules were corrected by these
sources. "Drawn" is from those fresh draws below that have verdicts, whatever the precision was.
"Recall" is measured on the labelled snippets further down, by default and at high precision. A rule
without a count found nothing.

| rule | CWE | severity | precision | real | high | drawn | recall | recall, high | instead |
| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |
`)
	sources := readSources(t)
	all, precise, drawn := tally(sources, foundNow), tallyHigh(sources), tallyDraws(readDraws(t))
	recall := map[string]labelled{}
	for _, l := range readLabelled(t) {
		recall[l.Rule] = l
	}
	for _, r := range rules {
		off := ""
		if r.Off != "" {
			off = " Off by default: " + r.Off + "."
		}
		cwe := strings.Trim(strings.ReplaceAll(fmt.Sprint(r.CWE), " ", ", "), "[]")
		recalled, atHigh := "–", "–"
		if l, known := recall[r.ID]; known {
			recalled, atHigh = fmt.Sprintf("%.2f", l.recall()), fmt.Sprintf("%.2f", l.recallAtHigh(t))
		}
		severity := string(r.Severity)
		if r.Request != "" {
			severity += ", from a request critical"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s | %s | %s | %s | %s | %s%s |\n", r.ID, cwe, severity, r.precisions(), all[r.ID], precise[r.ID], drawn[r.ID], recalled, atHigh, r.Remediation, off)
	}
	return b.String() + describeDraws(t) + describeSources(sources, rules) + describeLabelled(t) + describeOthers(t)
}

// precisions names the precisions of a rule's forms.
func (r Rule) precisions() string {
	var names []string
	for _, p := range Precisions() {
		if p == r.Precision || slices.Contains(r.forms, p) {
			names = append(names, string(p))
		}
	}
	return strings.Join(names, ", ")
}

// describeSources describes for the document what was measured.
func describeSources(sources []realSource, rules []Rule) string {
	var b strings.Builder
	b.WriteString(`
## Precision in real sources

testdata/real pins the sources by their checksums. It has a verdict, with its reason, for
everything that was found in them. Each source was reviewed as a pull request that adds all of it.
Every finding was read with the lines around it, and with more where these were not enough; for
todo-without-issue, only the comment was read.
` + "`go test -tags real -run RealSources ./internal/reviewer`" + ` fetches the sources, reviews them
again and fails for a finding without a verdict. The seconds are those of both reviews on two cores;
-update measures them anew.

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
		for _, s := range selectSources(sources, part.keep) {
			describeSource(&b, s)
			total.Verdicts = append(total.Verdicts, s.Verdicts...)
			total.Measured.Files += s.Measured.Files
			total.Measured.Bytes += s.Measured.Bytes
			total.Measured.Seconds += s.Measured.Seconds
		}
		describeSource(&b, total)
	}
	return b.String() + describeFirst(sources, rules) + describeDefaults(sources, rules) + describeKnown(sources)
}

// describeFirst describes how precise each rule was when the sources were first read.
func describeFirst(sources []realSource, rules []Rule) string {
	var b strings.Builder
	b.WriteString(`
By rule, how many of the findings were right when the sources were first read, with the rules as
they were:

| rule | tuned | held out | again |
| --- | --- | --- | --- |
`)
	first, fresh, fresher := tally(selectSources(sources, tuned), foundFirst), tally(selectSources(sources, heldOut), foundFirst), tally(selectSources(sources, heldOutAgain), foundFirst)
	for _, r := range rules {
		if first[r.ID].All+fresh[r.ID].All+fresher[r.ID].All > 0 {
			fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", r.ID, first[r.ID], fresh[r.ID], fresher[r.ID])
		}
	}
	return b.String()
}

// describeDefaults describes how precise the rules that are on by default are, taken together.
func describeDefaults(sources []realSource, rules []Rule) string {
	sum := func(scores map[string]score) score {
		var s score
		for _, r := range rules {
			if r.Off == "" {
				s.Right, s.All = s.Right+scores[r.ID].Right, s.All+scores[r.ID].All
			}
		}
		return s
	}
	in := func(keep func(realSource) bool, when func(verdict) bool) score {
		return sum(tally(selectSources(sources, keep), when))
	}
	atHigh := func(keep func(realSource) bool) score { return sum(tallyHigh(selectSources(sources, keep))) }
	return fmt.Sprintf(`
Of all findings of the rules that are on by default, %s were right in the tuned
sources and %s in the held-out ones. With the rules corrected by these,
%s were right in the sources that were held out again. Now it is
%s, %s and %s; of those of high precision,
%s, %s and %s.
`, in(tuned, foundFirst), in(heldOut, foundFirst), in(heldOutAgain, foundFirst), in(tuned, foundNow), in(heldOut, foundNow), in(heldOutAgain, foundNow),
		atHigh(tuned), atHigh(heldOut), atHigh(heldOutAgain))
}

func describeSource(b *strings.Builder, s realSource) {
	then, since := s.score(foundFirst), s.score(foundNow)
	fmt.Fprintf(b, "| %s | %s | %d | %.1f | %.1f | %d | %d | %d | %d |\n", s.Name, strings.TrimSpace(s.Client+" "+s.Package+" "+s.Version), s.Measured.Files,
		float64(s.Measured.Bytes)/1e6, s.Measured.Seconds, then.All, then.Right, since.All, since.Right)
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
