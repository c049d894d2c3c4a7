package sarif

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// simple returns a log of one tool with n results. level returns the level of the result with an
// index.
func simple(tool string, n int, level func(i int) string) json.RawMessage {
	var b bytes.Buffer
	fmt.Fprintf(&b, `{"version":"2.1.0","runs":[{"tool":{"driver":{"name":%q,"rules":[{"id":"r0"},{"id":"r1"},{"id":"r2"}]}},"results":[`, tool)
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"ruleIndex":%d,"level":%q,"message":{"text":"Message number %d about something that was found here"},"locations":[{"physicalLocation":{"artifactLocation":{"uri":"dir%d/file%d.go"},"region":{"startLine":%d,"startColumn":3}}}]}`,
			i%3, level(i), i, i%50, i%400, i%10+1)
	}
	b.WriteString(`]}]}`)
	return b.Bytes()
}

func TestPrepareCutsTheLeastSevere(t *testing.T) {
	t.Parallel()
	u := prepare(t, Options{}, Source{SARIF: simple("t", maxResults+7, func(i int) string {
		if i >= maxResults-3 {
			return "error"
		}
		return "note"
	})})
	if u.Results != maxResults || noted(u.Notes, RuleResults) != 7 {
		t.Errorf("%d results, %d noted", u.Results, noted(u.Notes, RuleResults))
	}
	log := tree(t, u.SARIF)
	wantAt(t, log, "runs/0/results/0/message/text", "Message number 0 about something that was found here")
	for i := range 10 {
		wantAt(t, log, fmt.Sprintf("runs/0/results/%d/level", maxResults-1-i), "error")
	}
	wantAt(t, log, fmt.Sprintf("runs/0/results/%d/level", maxResults-11), "note")
}

// noted returns how often the notes say that a rule was applied.
func noted(notes []Note, rule string) (n int) {
	for _, note := range notes {
		if note.Rule == rule {
			n += note.Count
		}
	}
	return n
}

func TestPrepareCutsToTheSizeLimit(t *testing.T) {
	t.Parallel()
	const most = 20_000
	const results, errors, warnings = 5000, 1667, 1666
	source := Source{SARIF: simple("t", results, func(i int) string { return []string{"note", "error", "warning"}[i%3] })}
	uncut := prepare(t, Options{}, source)
	u := prepare(t, Options{MaxPacked: most}, source)
	if size := len(u.Packed) / 4 * 3; size > most+2 || size < most/4 {
		t.Errorf("packed to %d bytes, the limit is %d", size, most)
	}
	if cut := noted(u.Notes, RuleSize); cut == 0 || cut+u.Results != uncut.Results {
		t.Errorf("%d cut, %d left of %d", cut, u.Results, uncut.Results)
	}
	kept := map[string]int{}
	for _, r := range objects(lookup(t, tree(t, u.SARIF), "runs/0/results").([]any)) {
		kept[stringMember(r, "level")]++
	}
	if kept["error"] != min(errors, u.Results) || kept["warning"] != max(0, min(warnings, u.Results-errors)) {
		t.Errorf("%v of %d results were kept, although the least severe are cut first", kept, u.Results)
	}
	if _, err := Prepare([]Source{source}, Options{MaxPacked: 10}); err == nil || !strings.Contains(err.Error(), "shorten its rules") {
		t.Errorf("a limit that cannot be met: %v", err)
	}
}

func TestPrepareCutsRunsExtensionsAndRules(t *testing.T) {
	t.Parallel()
	var sources []Source
	for i := range maxRuns + 2 {
		level := "note"
		if i > 1 {
			level = "error"
		}
		sources = append(sources, Source{SARIF: simple(fmt.Sprintf("t%d", i), 3, func(int) string { return level })})
	}
	u := prepare(t, Options{}, sources...)
	if len(u.Tools) != maxRuns || u.Tools[0] != "t2" || noted(u.Notes, RuleRuns) != 2 || noted(u.Notes, RuleResults) != 6 {
		t.Errorf("tools %v, notes %v", u.Tools, u.Notes)
	}

	var extensions, rules, results []string
	for i := range maxExtensions + 5 {
		extensions = append(extensions, fmt.Sprintf(`{"name":"x%d","rules":[{"id":"x%d/r"}]}`, i, i))
		results = append(results, fmt.Sprintf(`{"rule":{"index":0,"toolComponent":{"index":%d}},"message":{"text":"m"},"locations":[{"physicalLocation":{"artifactLocation":{"uri":"a.go"}}}]}`, i))
	}
	for i := range maxRules + 5 {
		rules = append(rules, fmt.Sprintf(`{"id":"r%d"}`, i))
	}
	results = append(results, fmt.Sprintf(`{"ruleIndex":%d,"message":{"text":"last"},"locations":[{"physicalLocation":{"artifactLocation":{"uri":"a.go"}}}]}`, maxRules+4))
	u = prepare(t, Options{ReadFile: files}, Source{SARIF: json.RawMessage(fmt.Sprintf(`{"version":"2.1.0","runs":[{"tool":{"driver":{"name":"t","rules":[%s]},"extensions":[%s]},"results":[%s]}]}`,
		strings.Join(rules, ","), strings.Join(extensions, ","), strings.Join(results, ",")))})
	log := tree(t, u.SARIF)
	if n := len(lookup(t, log, "runs/0/tool/extensions").([]any)); n != maxExtensions || noted(u.Notes, RuleExtensions) != 5 {
		t.Errorf("%d extensions, notes %v", n, u.Notes)
	}
	// The driver gets the rules of the 5 extensions that are cut, and has 5 too many itself.
	if n := len(lookup(t, log, "runs/0/tool/driver/rules").([]any)); n != maxRules || noted(u.Notes, RuleRules) != 10 {
		t.Errorf("%d rules, notes %v", n, u.Notes)
	}
	if u.Results != maxExtensions+6 {
		t.Errorf("%d results", u.Results)
	}
}
