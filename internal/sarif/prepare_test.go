package sarif

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agent-airlock/airlock/internal/finding"
	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the golden files")

// files reads one of a few files, as from a checkout.
func files(path string) ([]byte, error) {
	content, ok := map[string]string{
		"src/a.go":        "package a\n\nfunc F() {}\n",
		"lib/b.go":        "package b\n",
		"db/hash.go":      "package db\n\nimport \"crypto/md5\"\n",
		"db/query one.go": "package db\n\nfunc Q() {\n}\n",
		"a.go":            "package main\n",
		"README.md":       "# Title\n",
		"naïve/文件 #1.go":  "package x\n",
	}[path]
	if !ok {
		return nil, errors.New("no such file")
	}
	return []byte(content), nil
}

func rich(t testing.TB) []byte {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("testdata", "rich.sarif"))
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// prepare returns the upload that Prepare makes of sources. It asserts that the log is valid, that
// its indexes lead to the right places, and that the packed log is the same.
func prepare(t *testing.T, opts Options, sources ...Source) *Upload {
	t.Helper()
	u, err := Prepare(sources, opts)
	if err != nil {
		t.Fatal(err)
	}
	wantValid(t, u.SARIF)
	wantNoDanglingIndex(t, u.SARIF)
	unpacked := unpack(t, u.Packed)
	if !bytes.Equal(unpacked, u.SARIF) {
		t.Error("the packed log differs from the log")
	}
	return u
}

// unpack undoes pack.
func unpack(t *testing.T, packed string) []byte {
	t.Helper()
	z, err := gzip.NewReader(base64.NewDecoder(base64.StdEncoding, strings.NewReader(packed)))
	if err != nil {
		t.Fatal(err)
	}
	log, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return log
}

// wantNoDanglingIndex asserts that the results of a log lead to their own rules and to invocations
// that exist, and have no other indexes.
func wantNoDanglingIndex(t *testing.T, raw []byte) {
	t.Helper()
	for _, run := range objects(list(tree(t, raw), "runs")) {
		rules := objects(list(child(child(run, "tool"), "driver"), "rules"))
		extensions := objects(list(child(run, "tool"), "extensions"))
		invocations := list(run, "invocations")
		for i, r := range objects(list(run, "results")) {
			if n, ok := r["ruleIndex"].(float64); ok {
				if n < 0 || int(n) >= len(rules) || !isRuleOrBelow(stringMember(r, "ruleId"), stringMember(rules[int(n)], "id")) {
					t.Fatalf("result %d: ruleIndex %v of %d, ruleId %q", i, n, len(rules), stringMember(r, "ruleId"))
				}
			} else {
				e, ok := lookup(t, r, "rule/toolComponent/index").(float64)
				n, _ := lookup(t, r, "rule/index").(float64)
				if !ok || e < 0 || int(e) >= len(extensions) || int(n) >= len(list(extensions[int(e)], "rules")) {
					t.Fatalf("result %d: rule %v of extension %v", i, n, e)
				}
				if own := stringMember(objects(list(extensions[int(e)], "rules"))[int(n)], "id"); !isRuleOrBelow(stringMember(r, "ruleId"), own) {
					t.Fatalf("result %d: ruleId %q, but its rule is %q", i, stringMember(r, "ruleId"), own)
				}
			}
			if v, ok := child(r, "provenance")["invocationIndex"].(float64); ok && int(v) >= len(invocations) {
				t.Fatalf("result %d: invocation %v of %d", i, v, len(invocations))
			}
			delete(r, "rule")       // its index was looked up above
			delete(r, "properties") // a tool's own names
		}
		for _, name := range []string{"index", "parentIndex", "runGraphIndex"} {
			if strings.Contains(string(encode(run["results"])), `"`+name+`":`) {
				t.Fatalf("there is still a member %q", name)
			}
		}
	}
}

// isRuleOrBelow reports whether an id is that of the rule or a hierarchical one below it.
func isRuleOrBelow(id, rule string) bool { return id == rule || strings.HasPrefix(id, rule+"/") }

func TestPrepareGolden(t *testing.T) {
	clean, cleaned, err := cleanLog(rich(t), fakeCleaner{})
	if err != nil {
		t.Fatal(err)
	}
	wantValid(t, clean)
	u := prepare(t, Options{ReadFile: files}, Source{SARIF: clean})
	var b bytes.Buffer
	if err := json.Indent(&b, u.SARIF, "", "  "); err != nil {
		t.Fatal(err)
	}
	for _, n := range append(cleaned, u.Notes...) {
		fmt.Fprintf(&b, "\n%s", n)
	}
	b.WriteByte('\n')
	golden := filepath.Join("testdata", "rich.golden")
	if *update {
		if err := os.WriteFile(golden, b.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), b.String()); diff != "" {
		t.Error(diff)
	}
}

func TestPrepareIsIdempotent(t *testing.T) {
	first := prepare(t, Options{ReadFile: files}, Source{SARIF: rich(t)})
	second := prepare(t, Options{ReadFile: files}, Source{SARIF: first.SARIF})
	if diff := cmp.Diff(string(first.SARIF), string(second.SARIF)); diff != "" {
		t.Error(diff)
	}
	if first.Packed != second.Packed {
		t.Error("the same log packs differently")
	}
}

func TestPrepareMergesOneToolAndCategory(t *testing.T) {
	u := prepare(t, Options{ReadFile: files},
		Source{SARIF: rich(t)},
		Source{SARIF: rich(t), Category: "other"},
		Source{SARIF: rich(t)},
		Source{SARIF: json.RawMessage(`{"version":"2.1.0","runs":[{"tool":{"driver":{"name":"Scanner","version":"2","organization":"O","rules":[
			{"id":"S2","name":"Named"},{"id":"Z"},{"id":"Z","name":"Again"}]}},"automationDetails":{"id":"scan/"},"invocations":[{"executionSuccessful":true}],
			"results":[{"ruleIndex":1,"message":{"text":"z"},"provenance":{"invocationIndex":0},"locations":[{"physicalLocation":{"artifactLocation":{"uri":"a.go"},"region":{"startLine":1}}}]},
			{"ruleIndex":2,"message":{"text":"z2"},"locations":[{"physicalLocation":{"artifactLocation":{"uri":"a.go"},"region":{"startLine":1}}}]}]}]}`)},
	)
	log := tree(t, u.SARIF)
	runs := lookup(t, log, "runs").([]any)
	if len(runs) != 2 || u.Results != 5+5+2+5 {
		t.Fatalf("%d runs, %d results", len(runs), u.Results)
	}
	wantAt(t, runs[0], "automationDetails", object{"id": "scan/"})
	wantAt(t, runs[1], "automationDetails", object{"id": "other/"})
	wantAt(t, runs[0], "tool/driver/version", "1.0")
	wantAt(t, runs[0], "tool/driver/organization", "O")
	wantAt(t, runs[0], "tool/driver/rules/1/shortDescription/text", "Second")
	var ids []string
	for _, r := range objects(lookup(t, runs[0], "tool/driver/rules").([]any)) {
		ids = append(ids, stringMember(r, "id"))
	}
	if diff := cmp.Diff([]string{"S1", "S2", "new-rule", "unnamed-rule", "Z"}, ids); diff != "" {
		t.Error(diff)
	}
	if n := len(lookup(t, runs[0], "tool/extensions").([]any)); n != 1 {
		t.Errorf("%d extensions: equal ones were not merged", n)
	}
	wantAt(t, runs[0], "results/10/ruleId", "Z")
	wantAt(t, runs[0], "results/10/provenance/invocationIndex", 2.0)
	wantAt(t, runs[0], "results/11/ruleIndex", 4.0)
}

func TestPrepareReadsEachFileOnce(t *testing.T) {
	reads := map[string]int{}
	u := prepare(t, Options{ReadFile: func(path string) ([]byte, error) {
		reads[path]++
		return []byte(strings.Repeat("x\n", 5)), nil
	}}, Source{SARIF: simple("t", 2000, func(int) string { return "error" })})
	for path, n := range reads {
		if n != 1 {
			t.Fatalf("%s was read %d times", path, n)
		}
	}
	if n := noted(u.Notes, RuleHashes); n != 800 { // lines 7 to 10 of files with 5 lines and an empty one
		t.Errorf("%d results without a hash", n)
	}
	want := lineHashes(strings.Repeat("x\n", 5))
	for _, r := range objects(lookup(t, tree(t, u.SARIF), "runs/0/results").([]any)) {
		line := lookup(t, r, "locations/0/physicalLocation/region/startLine").(float64)
		if line <= 6 {
			wantAt(t, r, "partialFingerprints/primaryLocationLineHash", want[int(line)-1])
		} else if r["partialFingerprints"] != nil {
			t.Fatalf("line %v has a fingerprint", line)
		}
	}
}

func TestPrepareBuilt(t *testing.T) {
	raw, err := Build(Tool{Name: "airlock", Version: "1"}, "checks", sampleFindings(), sampleRules)
	if err != nil {
		t.Fatal(err)
	}
	u := prepare(t, Options{ReadFile: files}, Source{SARIF: raw})
	if diff := cmp.Diff([]Note(nil), u.Notes); diff != "" {
		t.Errorf("Airlock's own log had to be repaired: %s", diff)
	}
	agent := AgentFinding("agent", "README.md", 1, 0, "note", "Test.", "suffix")
	raw, err = Build(Tool{Name: "agent"}, "", []finding.Finding{agent}, nil)
	if err != nil {
		t.Fatal(err)
	}
	u = prepare(t, Options{ReadFile: files}, Source{SARIF: raw, Category: "nightly/agent/"})
	log := tree(t, u.SARIF)
	wantAt(t, log, "runs/0/automationDetails/id", "nightly/agent/")
	wantAt(t, log, "runs/0/results/0/partialFingerprints/primaryLocationLineHash", lineHashes("# Title\n")[0])
}

func TestPrepareErrorsNameTheReport(t *testing.T) {
	_, err := Prepare([]Source{{SARIF: simple("t", 1, func(int) string { return "note" })}, {SARIF: json.RawMessage(`[]`)}}, Options{})
	if err == nil || !strings.HasPrefix(err.Error(), "security report 2: ") {
		t.Errorf("%v", err)
	}
}

func TestAutomationID(t *testing.T) {
	for category, want := range map[string]string{"": "", " ": "", "/": "", "a": "a/", "a/": "a/", "a/b": "a/b/", " a/b// ": "a/b/"} {
		if got := automationID(category); got != want {
			t.Errorf("automationID(%q) = %q, want %q", category, got, want)
		}
	}
}

// TestPrepareIsTheSameEachTime asserts that a log whose parts are left out for different reasons
// always has the same notes.
func TestPrepareIsTheSameEachTime(t *testing.T) {
	location := func(uri string) string {
		return `[{"physicalLocation": {"artifactLocation": {"uri": "` + uri + `"}}}]`
	}
	log := []byte(`{"version": "2.1.0", "runs": [{"tool": {"driver": {"name": "x"}}, "results": [{"message": {"text": "m"}, "locations": ` + location("a.go") + `}, {"message": {"text": "m"},
		"locations": ` + location("../b") + `, "relatedLocations": ` + location("") + `,
		"stacks": [{"frames": [{"location": {"physicalLocation": {"artifactLocation": {"uri": "https://example.com/c"}}}}]}],
		"codeFlows": [{"threadFlows": [{"locations": [{"location": {"physicalLocation": {"artifactLocation": {"uri": "file:///etc/d"}}}}]}]}],
		"graphs": [{"nodes": [{"id": "1", "location": {"physicalLocation": {"artifactLocation": {"uri": "data:,e"}}}}]}]}]}]}`)
	first := prepare(t, Options{}, Source{SARIF: log})
	if len(first.Notes) == 0 {
		t.Fatal("there are no notes")
	}
	for range 20 {
		if diff := cmp.Diff(first.Notes, prepare(t, Options{}, Source{SARIF: log}).Notes); diff != "" {
			t.Fatal(diff)
		}
	}
}
