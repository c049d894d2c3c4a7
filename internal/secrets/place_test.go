package secrets

import (
	"strings"
	"testing"

	"github.com/agent-airlock/airlock/internal/finding"
)

func TestLinesAndColumns(t *testing.T) {
	s := New([]Known{known("word", "open-sesame"), known("lines", "first line\nsecond line")})
	type place struct{ line, column, endLine, endColumn int }
	for name, c := range map[string]struct {
		text string
		want []place
	}{
		"first":             {"open-sesame", []place{{1, 1, 1, 12}}},
		"second line":       {"a\n open-sesame\n", []place{{2, 2, 2, 13}}},
		"CRLF":              {"a\r\nopen-sesame\r\nopen-sesame", []place{{2, 1, 2, 12}, {3, 1, 3, 12}}},
		"two on a line":     {"open-sesame open-sesame", []place{{1, 1, 1, 12}, {1, 13, 1, 24}}},
		"behind letters":    {"äöü open-sesame", []place{{1, 5, 1, 16}}},
		"behind a pair":     {"𝄞👍 open-sesame", []place{{1, 6, 1, 17}}},
		"behind odd bytes":  {"\xff\xfe\x80 open-sesame", []place{{1, 5, 1, 16}}},
		"lone return":       {"a\ropen-sesame", []place{{1, 3, 1, 14}}},
		"over lines":        {"x first line\nsecond line.", []place{{1, 3, 2, 12}}},
		"at the end of all": {"\n\n\nopen-sesame", []place{{4, 1, 4, 12}}},
	} {
		var got []place
		for _, h := range s.Scan(c.text) {
			got = append(got, place{h.Line, h.Column, h.EndLine, h.EndColumn})
			if found := c.text[h.Start:h.End]; found != "open-sesame" && found != "first line\nsecond line" {
				t.Errorf("%s: found %q", name, found)
			}
		}
		if len(got) != len(c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
			continue
		}
		for i := range got {
			if got[i] != c.want[i] {
				t.Errorf("%s: %v, want %v", name, got, c.want)
			}
		}
	}
}

func TestOfOverlappingHitsTheMostTellingStays(t *testing.T) {
	hit := func(rule string, start, end int) Hit { return Hit{Rule: rule, Start: start, End: end} }
	for name, c := range map[string]struct{ in, want []Hit }{
		"none":                    {nil, nil},
		"apart":                   {[]Hit{hit("b", 5, 9), hit("a", 0, 5)}, []Hit{hit("a", 0, 5), hit("b", 5, 9)}},
		"same place":              {[]Hit{hit(GeneralRule, 0, 9), hit("a", 0, 9), hit(KnownRule, 0, 9)}, []Hit{hit(KnownRule, 0, 9)}},
		"a vendor in the general": {[]Hit{hit(GeneralRule, 0, 20), hit("a", 5, 9)}, []Hit{hit("a", 5, 9)}},
		"the longer":              {[]Hit{hit("a", 0, 5), hit("b", 0, 9), hit("c", 3, 6)}, []Hit{hit("b", 0, 9)}},
		// The middle overlaps both; what it displaces must not take the third along.
		"a chain":                        {[]Hit{hit("a", 0, 6), hit(GeneralRule, 5, 20), hit("b", 19, 30)}, []Hit{hit("a", 0, 6), hit("b", 19, 30)}},
		"a chain under the known":        {[]Hit{hit("a", 0, 6), hit(KnownRule, 5, 10), hit("b", 9, 30)}, []Hit{hit(KnownRule, 5, 10)}},
		"two in one":                     {[]Hit{hit(GeneralRule, 0, 30), hit("a", 2, 5), hit("b", 7, 9)}, []Hit{hit("a", 2, 5), hit("b", 7, 9)}},
		"an earlier one that ends later": {[]Hit{hit("a", 0, 30), hit("b", 31, 40), hit(GeneralRule, 30, 31)}, []Hit{hit("a", 0, 30), hit(GeneralRule, 30, 31), hit("b", 31, 40)}},
	} {
		t.Run(name, func(t *testing.T) {
			got := distinct(c.in)
			if len(got) != len(c.want) {
				t.Fatalf("%v, want %v", got, c.want)
			}
			for i := range got {
				if got[i] != c.want[i] {
					t.Errorf("%v, want %v", got, c.want)
				}
			}
		})
	}
}

func TestFindings(t *testing.T) {
	make := newSamples()
	pat := make.of(t, `ghp_[0-9a-zA-Z]{36}`)
	general := make.of(t, `[a-f0-9]{40}`)
	s := New([]Known{known("the token", "open-sesame")})
	for text, want := range map[string]finding.Finding{
		" open-sesame":                 {Rule: "secret/known-value", Severity: finding.Critical, Message: "This looks like the token. ", Range: finding.Range{StartLine: 1, StartColumn: 2, EndLine: 1, EndColumn: 13}},
		"\n" + pat:                     {Rule: "secret/github-pat", Severity: finding.Critical, Message: "This looks like a GitHub Personal Access Token. ", Range: finding.Range{StartLine: 2, StartColumn: 1, EndLine: 2, EndColumn: 41}},
		"secret = '" + general + "'":   {Rule: "secret/generic-api-key", Severity: finding.Medium, Message: "This looks like a Generic API Key. ", Range: finding.Range{StartLine: 1, StartColumn: 11, EndLine: 1, EndColumn: 51}},
		"x b3Blbi1zZXNhbWUgaXMgaXQ= y": {Rule: "secret/known-value", Severity: finding.Critical, Message: "This looks like the token, encoded. ", Range: finding.Range{StartLine: 1, StartColumn: 3, EndLine: 1, EndColumn: 18}},
	} {
		hits := s.ScanFile("src/a.go", text)
		if len(hits) != 1 {
			t.Errorf("%q: %v", text, hits)
			continue
		}
		got := hits[0].Finding("src/a.go")
		if got.Rule != want.Rule || got.Severity != want.Severity || got.Range != want.Range || got.Path != "src/a.go" || !strings.HasPrefix(got.Message, want.Message) {
			t.Errorf("%q: %+v", text, got)
		}
		rule := hits[0].FindingRule()
		if rule.ID != got.Rule || rule.Help == "" || rule.Severity != got.Severity || len(rule.CWE) != 1 {
			t.Errorf("rule: %+v", rule)
		}
	}
}

func TestEveryRuleHasANameForPeople(t *testing.T) {
	set, err := loadRules()
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range set.rules {
		if !strings.HasPrefix(r.name, "a ") && !strings.HasPrefix(r.name, "an ") || strings.HasSuffix(r.name, ".") {
			t.Errorf("%s: %q", r.id, r.name)
		}
	}
}
