package sarif

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// fakeCleaner is a sanitizer with simple rules: texts lose U+0001, Markdown "<b>" as well, messages
// their embedded links to evil.example, and a URL must be on github.com.
type fakeCleaner struct{}

func (fakeCleaner) Plain(s string) (string, []Note) {
	clean := strings.ReplaceAll(s, "\x01", "")
	if clean == s {
		return s, nil
	}
	return clean, []Note{{Rule: "characters", Detail: "control", Count: len(s) - len(clean)}}
}

func (f fakeCleaner) Message(s string) (string, []Note) {
	clean, notes := f.Plain(s)
	const denied = "](https://evil.example)"
	if strings.Contains(clean, denied) {
		notes = append(notes, Note{Rule: RuleLinks, Detail: "evil.example", Count: strings.Count(clean, denied)})
	}
	return strings.ReplaceAll(clean, denied, "]"), notes
}

func (f fakeCleaner) Body(s string) (string, []Note) {
	clean, notes := f.Plain(s)
	if strings.Contains(clean, "<b>") {
		notes = append(notes, Note{Rule: "html", Detail: "b", Count: strings.Count(clean, "<b>")})
	}
	return strings.ReplaceAll(clean, "<b>", ""), notes
}

func (fakeCleaner) URL(address string) (string, bool) {
	if strings.HasPrefix(address, "https://github.com/") {
		return address, true
	}
	return "(evil.example/redacted)", false
}

// cleanLog returns a log as Clean leaves it.
func cleanLog(raw json.RawMessage, c Cleaner) (json.RawMessage, []Note, error) {
	log, err := Read(raw)
	if err != nil {
		return nil, nil, err
	}
	found := log.Clean(c)
	return log.JSON(), found, nil
}

func TestCleanReachesEveryString(t *testing.T) {
	in := `{"version":"2.1.0","$schema":"https://json.schemastore.org/sarif-2.1.0.json","properties":{"a\u0001b":"x\u0001","ab":1,"n":null},"runs":[{
		"tool":{"driver":{"name":"T\u0001","informationUri":"https://evil.example/x","downloadUri":"https://github.com/x","rules":[
			{"id":"r\u0001","helpUri":"javascript:alert(1)","help":{"text":"<b>t\u0001","markdown":"<b>m\u0001"},"messageStrings":{"k\u0001":{"text":"x\u0001"}},
			 "properties":{"tags":["t\u0001",7,{"deep":["y\u0001"]}]}}]}},
		"versionControlProvenance":[{"repositoryUri":"https://evil.example/r"},{"repositoryUri":"https://github.com/r"}],
		"results":[{"ruleId":"r\u0001","hostedViewerUri":"https://evil.example/v","workItemUris":["https://github.com/1","https://evil.example/2"],
			"message":{"text":"<b>\u0001","markdown":"a<b>b"},"locations":[{"physicalLocation":{"artifactLocation":{"uri":"a\u0001.go"},"region":{"startLine":1,"snippet":{"text":"if a <b> c\u0001"}}}}]}]}]}`
	got, notes, err := cleanLog(json.RawMessage(in), fakeCleaner{})
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(got), `\u0001`) || strings.Contains(string(got), "evil.example") || strings.Contains(string(got), "javascript") {
		t.Errorf("something was not cleaned: %s", got)
	}
	log := tree(t, got)
	wantAt(t, log, "properties", object{"ab": 1.0})
	wantAt(t, log, "runs/0/versionControlProvenance", []any{object{"repositoryUri": "https://github.com/r"}})
	wantAt(t, log, "runs/0/tool/driver/rules/0/help", object{"text": "<b>t", "markdown": "m"})
	wantAt(t, log, "runs/0/tool/driver/rules/0/properties/tags", []any{"t", 7.0, object{"deep": []any{"y"}}})
	wantAt(t, log, "runs/0/results/0/workItemUris", []any{"https://github.com/1"})
	wantAt(t, log, "runs/0/results/0/message", object{"text": "<b>", "markdown": "ab"})
	wantAt(t, log, "runs/0/results/0/locations/0/physicalLocation/region/snippet/text", "if a <b> c")
	want := []Note{
		{"characters", "control", 14},
		{"html", "b", 2},
		{RuleLinks, "evil.example", 5},
		{RuleNames, "", 1},
		{RuleNulls, "", 1},
	}
	if diff := cmp.Diff(want, notes); diff != "" {
		t.Error(diff)
	}
}

// TestCleanJudgesEmbeddedLinks asserts that the links in a text are judged wherever SARIF lets one
// embed links, and that code stays as it is.
func TestCleanJudgesEmbeddedLinks(t *testing.T) {
	const link = `"see [it](https://evil.example)"`
	in := `{"version":"2.1.0","runs":[{"tool":{"driver":{"name":"t","rules":[{"id":"r","help":{"text":` + link + `},
		"shortDescription":{"text":` + link + `},"messageStrings":{"default":{"text":` + link + `}}}]}},
		"results":[{"message":{"text":` + link + `},"locations":[{"message":{"text":` + link + `},"physicalLocation":{"region":{"snippet":{"text":` + link + `}}}}]}]}]}`
	got, notes, err := cleanLog(json.RawMessage(in), fakeCleaner{})
	if err != nil {
		t.Fatal(err)
	}
	log := tree(t, got)
	wantAt(t, log, "runs/0/results/0/message/text", "see [it]")
	wantAt(t, log, "runs/0/results/0/locations/0/physicalLocation/region/snippet/text", "see [it](https://evil.example)")
	if diff := cmp.Diff([]Note{{RuleLinks, "evil.example", 5}}, notes); diff != "" || strings.Count(string(got), "evil.example") != 1 {
		t.Errorf("%s\n%s", got, diff)
	}
}

func TestCleanLeavesOutRelativeLinks(t *testing.T) {
	in := `{"version":"2.1.0","runs":[{"tool":{"driver":{"name":"t","informationUri":"docs/","rules":[{"id":"r","helpUri":"https://github.com/r"}]}}}]}`
	got, notes, err := cleanLog(json.RawMessage(in), anyLink{})
	if err != nil || len(notes) != 1 || strings.Contains(string(got), "informationUri") || !strings.Contains(string(got), "https://github.com/r") {
		t.Errorf("%s, %+v, %v", got, notes, err)
	}
}

// anyLink allows every link.
type anyLink struct{ fakeCleaner }

func (anyLink) URL(address string) (string, bool) { return address, true }

func TestCleanKeepsUnknownMembersAndNumbers(t *testing.T) {
	in := `{"version":"2.1.0","runs":[],"properties":{"big":123456789012345678901234567890,"small":1.50,"e":1e3,"t":true,"deep":{"x":[[],{}]}}}`
	got, notes, err := cleanLog(json.RawMessage(in), fakeCleaner{})
	if err != nil || len(notes) > 0 {
		t.Fatal(notes, err)
	}
	// The version comes first, and all other members are sorted by name.
	want := `{"version":"2.1.0","properties":{"big":123456789012345678901234567890,"deep":{"x":[[],{}]},"e":1e3,"small":1.50,"t":true},"runs":[]}`
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Error(diff)
	}
}

func TestCleanErrors(t *testing.T) {
	for name, in := range map[string]string{
		"not JSON":     `{`,
		"two values":   `{}{}`,
		"array":        `[]`,
		"null":         `null`,
		"string":       `"{}"`,
		"too deep":     strings.Repeat(`{"a":`, maxDepth+2) + "1" + strings.Repeat("}", maxDepth+2),
		"far too deep": strings.Repeat("[", 1<<20),
	} {
		if got, _, err := cleanLog(json.RawMessage(in), fakeCleaner{}); err == nil {
			t.Errorf("%s: %.60s", name, got)
		}
	}
}

func TestValidate(t *testing.T) {
	for name, c := range map[string]struct{ in, path, message string }{
		"not JSON":            {`{`, "$", "not valid JSON"},
		"array":               {`[]`, "$", "not a JSON object"},
		"nothing":             {`{}`, "$.runs", "required"},
		"wrong version":       {`{"version":"2.0.0","runs":[{"tool":{"driver":{"name":"t"}}}]}`, "$.version", "2.1.0"},
		"no runs":             {`{"version":"2.1.0","runs":[]}`, "$.runs", "no run"},
		"runs of wrong type":  {`{"version":"2.1.0","runs":{}}`, "$.runs", "array"},
		"run is null":         {`{"version":"2.1.0","runs":[null]}`, "$.runs[0]", "object"},
		"no tool":             {`{"version":"2.1.0","runs":[{}]}`, "$.runs[0].tool", "required"},
		"tool is null":        {`{"version":"2.1.0","runs":[{"tool":null}]}`, "$.runs[0].tool", "required"},
		"blank name":          {`{"version":"2.1.0","runs":[{"tool":{"driver":{"name":" "}}}]}`, "$.runs[0].tool.driver.name", "blank"},
		"result without text": {`{"version":"2.1.0","runs":[{"tool":{"driver":{"name":"t"}},"results":[{"message":{}}]}]}`, "$.runs[0].results[0].message", "required"},
		"unknown member":      {`{"version":"2.1.0","runs":[{"tool":{"driver":{"name":"t"}},"result":[]}]}`, "$.runs[0].result", ""},
		"unknown level":       {`{"version":"2.1.0","runs":[{"tool":{"driver":{"name":"t"}},"results":[{"message":{"text":"m"},"level":"high"}]}]}`, "$.runs[0].results[0].level", ""},
		"index below -1":      {`{"version":"2.1.0","runs":[{"tool":{"driver":{"name":"t"}},"results":[{"message":{"text":"m"},"ruleIndex":-2}]}]}`, "$.runs[0].results[0].ruleIndex", ""},
		"index is text":       {`{"version":"2.1.0","runs":[{"tool":{"driver":{"name":"t"}},"results":[{"message":{"text":"m"},"ruleIndex":"0"}]}]}`, "$.runs[0].results[0].ruleIndex", "integer"},
		"results nowhere":     {`{"version":"2.1.0","runs":[{"tool":{"driver":{"name":"t"}},"results":[{"message":{"text":"m"}}]}]}`, "$.runs[0].results", "none of the results has a location"},
		"nowhere after null":  {`{"version":"2.1.0","runs":[null,{"tool":{"driver":{"name":"t"}},"results":[{"message":{"text":"m"}}]}]}`, "$.runs[1].results", "none of the results has a location"},
		"bad GUID":            {`{"version":"2.1.0","runs":[{"tool":{"driver":{"name":"t","guid":"x"}}}]}`, "$.runs[0].tool.driver.guid", "UUID"},
		"huge number":         {`{"version":"2.1.0","runs":[{"tool":{"driver":{"name":"t"}},"results":[{"message":{"text":"m"},"rank":1e1000000000}]}]}`, "$.runs[0].results[0].rank", "range"},
		"too deep":            {`{"properties":` + strings.Repeat("[", maxDepth+1) + strings.Repeat("]", maxDepth+1) + `}`, "$", "nested"},
		"too many results":    {`{"version":"2.1.0","runs":[{"tool":{"driver":{"name":"t"}},"results":[` + strings.Repeat("1,", maxInputResults) + `1]}]}`, "$.runs", "at most"},
	} {
		t.Run(name, func(t *testing.T) {
			found, err := Validate([]byte(c.in))
			if err != nil {
				t.Fatal(err)
			}
			for _, v := range found {
				if v.Path == c.path && strings.Contains(v.Message, c.message) {
					return
				}
			}
			t.Errorf("want %s: %q; got %+v", c.path, c.message, found)
		})
	}
}

func TestValidateAccepts(t *testing.T) {
	for name, in := range map[string]string{
		"the least":             `{"version":"2.1.0","runs":[{"tool":{"driver":{"name":"t"}}}]}`,
		"nulls":                 `{"version":"2.1.0","runs":[{"tool":{"driver":{"name":"t","rules":[{"id":"r","shortDescription":null}]}},"results":null}]}`,
		"no rule index":         `{"version":"2.1.0","runs":[{"tool":{"driver":{"name":"t"}},"results":[{"message":{"text":"m"},"ruleIndex":-1,"locations":[{}]}]}]}`,
		"duplicate rules":       `{"version":"2.1.0","runs":[{"tool":{"driver":{"name":"t","rules":[{"id":"r"},{"id":"r"}]}}}]}`,
		"address with braces":   `{"version":"2.1.0","runs":[{"tool":{"driver":{"name":"t","informationUri":"https://x/{y}"}}}]}`,
		"members of properties": `{"version":"2.1.0","runs":[{"tool":{"driver":{"name":"t"}},"properties":{"x":{"y":[1]}}}]}`,
		"a rich log":            string(rich(t)),
	} {
		found, err := Validate([]byte(in))
		if err != nil || len(found) > 0 {
			t.Errorf("%s: %+v, %v", name, found, err)
		}
	}
}

func TestTypesComeFromTheSchema(t *testing.T) {
	for typ, want := range map[string]map[string]member{
		logType:            {"runs": {"run", array, 0}},
		"result":           {"message": {"message", single, 0}, "codeFlows": {"codeFlow", array, 0}},
		"threadFlow":       {"locations": {"threadFlowLocation", array, 1}, "initialState": {"multiformatMessageString", dictionary, 0}},
		"physicalLocation": {"artifactLocation": {"artifactLocation", single, 0}},
	} {
		info, ok := types()[typ]
		if !ok {
			t.Fatalf("there is no type %s", typ)
		}
		for name, m := range want {
			if got := info.members[name]; got != m {
				t.Errorf("%s.%s: %+v, want %+v", typ, name, got, m)
			}
		}
	}
	if !slices.Contains(types()["reportingDescriptor"].links, "helpUri") || !slices.Contains(types()["result"].links, "workItemUris") {
		t.Error("links are missing")
	}
}
