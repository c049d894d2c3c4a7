package toolreport

import (
	"fmt"
	"io"
	"slices"
	"testing"
)

// TestBiomeJSON asserts that the findings of Biome's JSON have their places in both of its forms, and
// that those which it did not print are counted.
func TestBiomeJSON(t *testing.T) {
	t.Parallel()
	for name, output := range map[string]string{
		"2.6": `{"summary":{"errors":3,"diagnosticsNotPrinted":2},"diagnostics":[
{"severity":"error","message":"Use ===.","category":"lint/suspicious/noDoubleEquals","location":{"path":"a.js","start":{"line":2,"column":11},"end":{"line":2,"column":13}},"advices":[]},
{"severity":"error","message":"Formatter would have printed the following content:","category":"format","location":{"path":"a.js","start":{"line":0,"column":0},"end":{"line":0,"column":0}},"advices":[]},
{"severity":"error","message":"Expected an expression","category":"parse","location":{"path":"bad.js","start":{"line":1,"column":7},"end":{"line":1,"column":8}},"advices":[]}],"command":"check"}`,
		"1.9": `{"summary":{"errors":3,"diagnosticsNotPrinted":2},"diagnostics":[
{"category":"lint/suspicious/noDoubleEquals","severity":"error","description":"Use ===.","message":[{"elements":[],"content":"Use "},{"elements":["Emphasis"],"content":"===."}],"location":{"path":{"file":"a.js"},"span":[23,25],"sourceCode":"größe();\nif (größe == 1) {}\n"}},
{"category":"format","severity":"error","description":"Formatter would have printed the following content:","message":[],"location":{"path":{"file":"a.js"},"span":null,"sourceCode":"x"}},
{"category":"parse","severity":"error","description":"Expected an expression","message":[],"location":{"path":{"file":"bad.js"},"span":[6,7],"sourceCode":"let = ;\n"}}],"command":"check"}`,
	} {
		r, err := New(Tool{Command: []string{"biome check --reporter=json ."}, Check: "linter"})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(r.Stdout(), output); err != nil {
			t.Fatal(err)
		}
		report := r.Report(Exit{Code: 1})
		var got []string
		for _, f := range report.Findings {
			got = append(got, fmt.Sprintf("%s %d:%d %d:%d %s %s %s", f.Path, f.Range.StartLine, f.Range.StartColumn, f.Range.EndLine, f.Range.EndColumn, f.Severity, f.Rule, f.Message))
		}
		want := []string{ // sorted by place
			"a.js 0:0 0:0 low  " + Unformatted,
			"a.js 2:11 2:13 high lint/suspicious/noDoubleEquals Use ===.",
			"bad.js 1:7 1:8 high  Expected an expression",
		}
		if !slices.Equal(got, want) || !slices.Equal(report.Unparsed, []string{"bad.js"}) || report.Omitted != 2 || len(report.Notes) > 0 || report.Tool != "biome" {
			t.Errorf("%s: %q, %+v", name, got, report)
		}
	}
}
