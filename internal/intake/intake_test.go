package intake

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/agent-airlock/airlock/internal/safeoutput"
	"github.com/google/go-cmp/cmp"
)

// collect runs NDJSON through intake, without limits unless cfg has some.
func collect(t testing.TB, cfg Config, ndjson string) Result {
	t.Helper()
	if cfg.Max == nil {
		cfg.Max = noLimits()
	}
	res, err := Collect(context.Background(), strings.NewReader(ndjson), cfg)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

func noLimits() map[safeoutput.Kind]int { return limits(-1) }

// errorsOf returns the errors of all records that were rejected.
func errorsOf(res Result) []string {
	var list []string
	for i := range res.Rejected {
		list = append(list, Outcome{Rejected: &res.Rejected[i]}.Errors()...)
	}
	return list
}

func TestRejections(t *testing.T) {
	var names []string
	for _, spec := range safeoutput.Kinds() {
		names = append(names, string(spec.Kind))
	}
	kinds := strings.Join(names, ", ")
	tests := []struct {
		name, in string
		want     []string
	}{
		{"a range that ends before it starts", "\n\n\n\n\n\n" + `{"type":"create-pull-request-review-comment","path":"a.go","line":4,"start_line":"9","body":"b"}`,
			[]string{"Line 7: create-pull-request-review-comment: 'start_line' (9) must not be after 'line' (4)"}},
		{"null as a label", `{"type":"create-issue","title":"t","body":"b","labels":[" a ",null]}`, []string{
			"Line 1: create-issue: 'labels[1]': null is not of type 'string'"}},
		{"every violation of a line", `{"type":"create-issue","labels":[5,"` + strings.Repeat("x", 51) + `","-a"]}`, []string{
			"Line 1: create-issue: 'body' is a required property",
			"Line 1: create-issue: 'labels[0]': 5 is not of type 'string'",
			"Line 1: create-issue: 'labels[1]': '" + strings.Repeat("x", 51) + "' is too long (at most 50 characters)",
			"Line 1: create-issue: 'labels[2]' ('-a'): a label must not begin with '-'",
			"Line 1: create-issue: 'title' is a required property"}},
		{"rules that the schema does not contain", `{"type":"create-pull-request-review-comment","path":"../a","line":4,"start_line":5}`, []string{
			"Line 1: create-pull-request-review-comment: 'body' is a required property",
			"Line 1: create-pull-request-review-comment: 'path' ('../a') must not contain '..'",
			"Line 1: create-pull-request-review-comment: 'start_line' (5) must not be after 'line' (4)"}},
		{"no type", `{"title":"a"}`, []string{"Line 1: 'type' is a required property; the kinds are: " + kinds}},
		{"type is not a string", `{"type":["noop"]}`, []string{"Line 1: 'type' must be a string; the kinds are: " + kinds}},
		{"type is empty", `{"type":""}`, []string{"Line 1: 'type': '' must not be blank; the kinds are: " + kinds}},
		{"a misspelt kind", `{"type":"create-isue"}`, []string{"Line 1: 'type' ('create-isue') is not a kind of safe output; did you mean 'create-issue'? The kinds are: " + kinds}},
		{"an unknown kind", `{"type":"launch-missiles"}`, []string{"Line 1: 'type' ('launch-missiles') is not a kind of safe output; the kinds are: " + kinds}},
		{"keys are matched exactly", `{"type":"noop","Message":"a"}`, []string{"Line 1: noop: 'message' is a required property ('Message' is another name: names are matched exactly)"}},
		{"a misspelt key", `{"type":"create-issue","titel":"a","body":"b"}`, []string{"Line 1: create-issue: 'title' is a required property (there is no field 'titel': did you mean 'title'?)"}},
		{"keys are matched exactly, also the key of the kind", `{"Type":"noop","message":"a"}`, []string{"Line 1: 'type' is a required property ('Type' is another name: names are matched exactly); the kinds are: " + kinds}},
		{"lines that were read together", "{\\\"type\\\":\nx\ny", []string{`Line 1: not valid JSON, and it cannot be repaired: byte 1: "\\\"type\\\":\nx\ny" stands where a key belongs; write valid JSON; lines 1 to 3 were read together`}},
		{"blank", `{"type":"create-issue","title":" ","body":"\u00a0\n"}`, []string{
			"Line 1: create-issue: 'body' must not be blank", "Line 1: create-issue: 'title': ' ' must not be blank"}},
		{"a new title must not be blank", `{"type":"update-issue","title":"\u00a0","status":"open"}`, []string{"Line 1: update-issue: 'title' must not be blank"}},
		{"numbers", `{"type":"create-pull-request-review-comment","path":"a","line":"10abc","start_line":1.5,"body":"b"}
{"type":"add-issue-comment","body":"b","issue_number":0}
{"type":"add-issue-comment","body":"b","issue_number":1e10000000}
{"type":"add-issue-comment","body":"b","issue_number":"007"}
{"type":"add-issue-comment","body":"b","issue_number":true}
{"type":"add-issue-comment","body":"b","issue_number":"9999999999"}`, []string{
			"Line 1: create-pull-request-review-comment: 'line' must be a whole number of at least 1, not '10abc'",
			"Line 1: create-pull-request-review-comment: 'start_line' must be a whole number of at least 1, not 1.5",
			"Line 2: add-issue-comment: 'issue_number' must be a whole number of at least 1, not 0",
			"Line 3: add-issue-comment: 'issue_number' must be at most 2147483647, not 1e10000000",
			"Line 4: add-issue-comment: 'issue_number' must be written without leading zeros, not '007'",
			"Line 5: add-issue-comment: 'issue_number' must be a whole number of at least 1, not true",
			"Line 6: add-issue-comment: 'issue_number' must be at most 2147483647, not '9999999999'"}},
		{"nothing to update", `{"type":"update-issue","issue_number":3}`, []string{"Line 1: update-issue: one of 'status', 'title', 'body' is required"}},
		{"words", `{"type":"update-issue","status":"reopened"}`, []string{"Line 1: update-issue: 'status': 'reopened' is not one of ['open', 'closed']"}},
		{"not an object", "null\n[1]\n\"x\"\n5\n          \"x\"", []string{
			"Line 1: an object is expected, not null; write one JSON object a line",
			"Line 2: an object is expected, not an array; write one JSON object a line",
			"Line 3: an object is expected, not a string; write one JSON object a line",
			"Line 4: an object is expected, not a number; write one JSON object a line",
			"Line 5: an object is expected, not a string; write one JSON object a line"}},
		{"both forms of a report", `{"type":"create-security-report","sarif":{"version":"2.1.0","runs":[{"tool":{"driver":{"name":"t"}}}]},"file":"a","line":1}`, []string{
			"Line 1: create-security-report: 'file' cannot be given together with 'sarif': report either a SARIF log or one finding",
			"Line 1: create-security-report: 'line' cannot be given together with 'sarif': report either a SARIF log or one finding"}},
		{"neither form", `{"type":"create-security-report"}`, []string{
			"Line 1: create-security-report: 'file' is a required property where there is no 'sarif'",
			"Line 1: create-security-report: 'line' is a required property where there is no 'sarif'",
			"Line 1: create-security-report: 'message' is a required property where there is no 'sarif'",
			"Line 1: create-security-report: 'severity' is a required property where there is no 'sarif'"}},
		{"an object that is not a SARIF log", `{"type":"create-security-report","sarif":{"runs":[{"tool":{"driver":{"name":" "}},"result":[]}]}}`, []string{
			"Line 1: create-security-report: 'sarif.runs[0].result': Additional properties are not allowed ('result' was unexpected)",
			"Line 1: create-security-report: 'sarif.runs[0].tool.driver.name': the tool's name is blank",
			"Line 1: create-security-report: 'sarif.version': 'version' is a required property"}},
		{"a log whose tool has no name after cleaning", `{"type":"create-security-report","sarif":{"version":"2.1.0","runs":[{"tool":{"driver":{"name":"\u200b"}}}]}}`, []string{
			"Line 1: create-security-report: 'sarif.runs[0].tool.driver.name': the tool's name is blank"}},
		{"two logs in a string", `{"type":"create-security-report","sarif":"{} {}"}`, []string{
			"Line 1: create-security-report: 'sarif' is a string that is not a SARIF log: it is not valid JSON, and it cannot be repaired: byte 3: a second object follows the first one; give one log, and no other text"}},
		{"a string that is not a log", `{"type":"create-security-report","sarif":"{]"}`, []string{
			"Line 1: create-security-report: 'sarif' is a string that is not a SARIF log: it is not valid JSON, and it cannot be repaired: byte 1: ']' closes nothing that is open; remove it or add its opener"}},
		{"two names of one field", `{"type":"update-issue","status":"open","issue_number":1,"item_number":2}`, []string{
			"Line 1: update-issue: 'item_number' is another name of 'issue_number', and they differ; give one of them"}},
		{"paths", `{"type":"create-pull-request-review-comment","path":"/etc/passwd","line":1,"body":"b"}
{"type":"create-pull-request-review-comment","path":"C:\\a","line":1,"body":"b"}
{"type":"create-pull-request-review-comment","path":"a\\b","line":1,"body":"b"}
{"type":"create-pull-request-review-comment","path":"a/","line":1,"body":"b"}
{"type":"create-pull-request-review-comment","path":"a\u0007","line":1,"body":"b"}
{"type":"create-pull-request-review-comment","path":"a\u202eb","line":1,"body":"b"}
{"type":"create-pull-request-review-comment","path":"https://github.com/a","line":1,"body":"b"}`, []string{
			`Line 1: create-pull-request-review-comment: 'path' ('/etc/passwd') must be relative to the repository's root`,
			`Line 2: create-pull-request-review-comment: 'path' ('C:\\a') must be relative to the repository's root`,
			`Line 3: create-pull-request-review-comment: 'path' ('a\\b') must have '/' between directories, not '\'`,
			`Line 4: create-pull-request-review-comment: 'path' ('a/') must name a file`,
			`Line 5: create-pull-request-review-comment: 'path' ('a\a') must not contain control characters`,
			`Line 6: create-pull-request-review-comment: 'path' ('a\u202eb') must not contain characters that change how it is displayed`,
			`Line 7: create-pull-request-review-comment: 'path' ('https://github.com/a') must be a path in the repository, not a URL`}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			res := collect(t, Config{}, tt.in)
			if d := cmp.Diff(tt.want, errorsOf(res)); d != "" {
				t.Errorf("errors differ (-want +got):\n%s", d)
			}
			if len(res.Accepted) > 0 {
				t.Errorf("%d items were accepted", len(res.Accepted))
			}
		})
	}
}

func TestAcceptance(t *testing.T) {
	tests := []struct {
		name, in, want string
		notes          Notes
	}{
		{"aliases of kinds and fields", `{"type":"add_comment","body":"b","item_number":"12"}`, `{"type":"add-issue-comment","body":"b","issue_number":12}`, Notes{}},
		{"numbers in other forms", `{"type":"create-pull-request-review-comment","path":"./a//b.go","line":7.0,"start_line":"3","body":"b"}`,
			`{"type":"create-pull-request-review-comment","path":"a/b.go","line":7,"body":"b","start_line":3}`, Notes{}},
		{"unknown fields are left out", `{"type":"noop","message":"m","context":1,"item_number":2}`, `{"type":"noop","message":"m"}`,
			Notes{UnknownFields: []string{"context", "item_number"}}},
		{"null for an optional field", `{"type":"create-issue","title":"t","body":"b","labels":null}`, `{"type":"create-issue","title":"t","body":"b"}`,
			Notes{Repairs: []Repair{{Kind: RepairNullField, Field: "labels", Count: 1}}}},
		{"letter case", `{"type":"create-security-report","file":"a","line":1,"severity":"Error","message":"m"}`,
			`{"type":"create-security-report","file":"a","line":1,"severity":"error","message":"m"}`,
			Notes{Repairs: []Repair{{Kind: RepairLetterCase, Field: "severity", Count: 1}}}},
		{"an operation in capitals, with '_'", `{"type":"update-issue","body":"b","operation":"REPLACE_ISLAND"}`, `{"type":"update-issue","body":"b","operation":"replace-island"}`,
			Notes{Repairs: []Repair{{Kind: RepairLetterCase, Field: "operation", Count: 1}}}},
		{"an operation left empty", `{"type":"update-issue","body":"b","operation":""}`, `{"type":"update-issue","body":"b"}`,
			Notes{Repairs: []Repair{{Kind: RepairBlankField, Field: "operation", Count: 1}}}},
		{"letter case of a side", `{"type":"create-pull-request-review-comment","path":"a","line":1,"side":"right","body":"m"}`,
			`{"type":"create-pull-request-review-comment","path":"a","line":1,"body":"m","side":"RIGHT"}`,
			Notes{Repairs: []Repair{{Kind: RepairLetterCase, Field: "side", Count: 1}}}},
		{"labels", `{"type":"create-issue","title":"t","body":"b","labels":[" bug ","a: b","BUG"]}`, `{"type":"create-issue","title":"t","body":"b","labels":["bug","a: b"]}`,
			Notes{Repairs: []Repair{{Kind: RepairLabel, Field: "labels", Count: 2}}}},
		{"a label that is too long only with its space, and begins with null", `{"type":"create-issue","title":"t","body":"b","labels":[" null` + strings.Repeat("x", 46) + ` "]}`,
			`{"type":"create-issue","title":"t","body":"b","labels":["null` + strings.Repeat("x", 46) + `"]}`,
			Notes{Repairs: []Repair{{Kind: RepairLabel, Field: "labels", Count: 1}}}},
		{"labels beyond the limit", `{"type":"add-issue-label","labels":["a","b","c","d","e"]}`, `{"type":"add-issue-label","labels":["a","b","c"]}`,
			Notes{DroppedLabels: []string{"d", "e"}, LabelLimit: 3}},
		{"a log in a string", `{"type":"create-security-report","sarif":"{\"version\":\"2.1.0\",\"runs\":[{\"tool\":{\"driver\":{\"name\":\"t\"}}}]}"}`, `{"type":"create-security-report","sarif":{"version":"2.1.0","runs":[{"tool":{"driver":{"name":"t"}}}]}}`, Notes{}},
		{"a log in a string, not quite JSON", `{"type":"create-security-report","sarif":"{\"version\":'2.1.0',\"runs\":[{\"tool\":{\"driver\":{\"name\":\"t\"}}}]}"}`, `{"type":"create-security-report","sarif":{"version":"2.1.0","runs":[{"tool":{"driver":{"name":"t"}}}]}}`,
			Notes{Repairs: []Repair{{Kind: "single-quotes", Field: "sarif", Offset: 11, Count: 1}}}},
		{"null for the other form", `{"type":"create-security-report","sarif":null,"file":"a","line":1,"severity":"note","message":"m","column":null}`,
			`{"type":"create-security-report","file":"a","line":1,"severity":"note","message":"m"}`,
			Notes{Repairs: []Repair{{Kind: RepairNullField, Field: "sarif", Count: 1}, {Kind: RepairNullField, Field: "column", Count: 1}}}},
		{"null for the fields of the other form", `{"type":"create-security-report","file":null,"sarif":{"version":"2.1.0","runs":[{"tool":{"driver":{"name":"t"}}}]},"line":null}`, `{"type":"create-security-report","sarif":{"version":"2.1.0","runs":[{"tool":{"driver":{"name":"t"}}}]}}`,
			Notes{Repairs: []Repair{{Kind: RepairNullField, Field: "file", Count: 1}, {Kind: RepairNullField, Field: "line", Count: 1}}}},
		{"two names of one field, one of them null", `{"type":"add-comment","body":"b","item_number":3,"issue_number":null}`, `{"type":"add-issue-comment","body":"b","issue_number":3}`,
			Notes{Repairs: []Repair{{Kind: RepairNullField, Field: "issue_number", Count: 1}}}},
		{"two names of one field, the first null", `{"type":"add-comment","body":"b","item_number":null,"issue_number":3}`, `{"type":"add-issue-comment","body":"b","issue_number":3}`,
			Notes{Repairs: []Repair{{Kind: RepairNullField, Field: "item_number", Count: 1}}}},
		{"two names of one field, the same number", `{"type":"add-comment","body":"b","item_number":"3","issue_number":3}`, `{"type":"add-issue-comment","body":"b","issue_number":3}`, Notes{}},
		{"a log line's prefix", `2025-01-02T03:04:05Z {"type":"noop","message":"m"}`, `{"type":"noop","message":"m"}`,
			Notes{Repairs: []Repair{{Kind: "text-around", Count: 1}}}},
		{"a terminal's colours", "\x1b[32m{\"type\":\"noop\",\"message\":\"m\"}\x1b[0m", `{"type":"noop","message":"m"}`,
			Notes{Repairs: []Repair{{Kind: "control-character", Count: 2}}}},
		{"repair", `{'type': 'noop', message: "m",}`, `{"type":"noop","message":"m"}`,
			Notes{Repairs: []Repair{{Kind: "single-quotes", Offset: 1, Count: 2}, {Kind: "bare-key", Offset: 17, Count: 1}, {Kind: "trailing-comma", Offset: 29, Count: 1}}}},
		{"a blank optional field", `{"type":"missing-tool","tool":"t","reason":"r","alternatives":"\u00a0"}`, `{"type":"missing-tool","tool":"t","reason":"r"}`,
			Notes{Repairs: []Repair{{Kind: RepairBlankField, Field: "alternatives", Count: 1}}}},
		{"an optional field that cleaning empties", `{"type":"missing-tool","tool":"t","reason":"r","alternatives":"<!-- x -->"}`, `{"type":"missing-tool","tool":"t","reason":"r"}`,
			Notes{Redactions: []Redaction{{"alternatives", "html", "comment", 1}}}},
		{"cleaning", `{"type":"create-issue","title":"for @octocat","body":"b"}`, "{\"type\":\"create-issue\",\"title\":\"for @\u200boctocat\",\"body\":\"b\"}",
			Notes{Redactions: []Redaction{{"title", "mentions", "octocat", 1}}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			res := collect(t, Config{}, tt.in)
			if len(res.Accepted) != 1 || len(res.Rejected)+len(res.Dropped) != 0 {
				t.Fatalf("not accepted: %q", errorsOf(res))
			}
			got, err := safeoutput.Encode(res.Accepted[0].Item())
			if err != nil || string(got) != tt.want {
				t.Errorf("item = %s, %v; want %s", got, err, tt.want)
			}
			if d := cmp.Diff(tt.notes, res.Accepted[0].Notes()); d != "" {
				t.Errorf("notes differ (-want +got):\n%s", d)
			}
		})
	}
}

func TestStrict(t *testing.T) {
	res := collect(t, Config{Strict: true}, `{"type":"create-issue","title":"t","body":"b","labels":null,"context":1}`)
	want := []string{
		"Line 1: create-issue: Additional properties are not allowed ('context' was unexpected)",
		"Line 1: create-issue: 'labels': null is not of type 'array'"}
	if d := cmp.Diff(want, errorsOf(res)); d != "" {
		t.Errorf("errors differ: %s", d)
	}
}

func TestLimits(t *testing.T) {
	noop := `{"type":"noop","message":"m"}` + "\n"
	res, err := Collect(context.Background(), strings.NewReader(`{"type":"noop"}`+"\n"+noop+noop), Config{})
	if err != nil {
		t.Fatal(err)
	}
	if len(res.Accepted) != 1 || res.Accepted[0].Line() != 2 {
		t.Errorf("accepted: %+v; only accepted items count", res.Accepted)
	}
	if d := cmp.Diff([]Dropped{{Line: 3, Kind: "noop", Limit: 1}}, res.Dropped); d != "" {
		t.Errorf("dropped differs: %s", d)
	}
	if got, want := res.Dropped[0].String(), "Line 3: noop: dropped: at most 1 item of this kind is accepted"; got != want {
		t.Errorf("String = %q, want %q", got, want)
	}
	res, _ = Collect(context.Background(), strings.NewReader(noop+noop+noop), Config{Max: map[safeoutput.Kind]int{"noop": 0}})
	if len(res.Dropped) != 3 {
		t.Errorf("a limit of 0 drops %d of 3", len(res.Dropped))
	}
}

func TestEnabled(t *testing.T) {
	cfg := Config{Enabled: map[safeoutput.Kind]bool{"noop": true, "create-issue": true}}
	res := collect(t, cfg, `{"type":"add-comment","body":"b"}`+"\n"+`{"type":"noop","message":"m"}`)
	want := []string{"Line 1: add-issue-comment: 'type': this kind is not enabled; the kinds enabled are: create-issue, noop"}
	if d := cmp.Diff(want, errorsOf(res)); d != "" || len(res.Accepted) != 1 {
		t.Errorf("errors differ: %s", d)
	}
}

func TestItemsThatCleaningEmptiesAreRejected(t *testing.T) {
	in := `{"type":"noop","message":"\u200b\u200b"}` + "\n" + `{"type":"noop","message":"m"}`
	res, err := Collect(context.Background(), strings.NewReader(in), Config{})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"Line 1: noop: 'message' is empty after what may not be published is removed"}
	if d := cmp.Diff(want, errorsOf(res)); d != "" || len(res.Accepted) != 1 {
		t.Errorf("accepted %d, errors differ: %s", len(res.Accepted), d)
	}
}

func TestADocumentPassesTheDoorAgain(t *testing.T) {
	res := collect(t, Config{}, `{"items":[{"type":"noop","message":"m"},{"type":"noop"},5],"errors":["Line 9: old"],"x":1}`)
	if len(res.Accepted) != 1 || len(res.Rejected) != 2 {
		t.Errorf("accepted %d, rejected %d; want 1 and 2", len(res.Accepted), len(res.Rejected))
	}
	want := Input{Records: 3, Document: true, Errors: []string{"Line 9: old"}, Unknown: []string{"x"}}
	if d := cmp.Diff(want, res.Input); d != "" {
		t.Errorf("Input differs: %s", d)
	}
}

func TestViolationAsJSON(t *testing.T) {
	res := collect(t, Config{}, `{"type":"create-issue","title":"t","body":"b","labels":[1]}`)
	got, err := json.Marshal(res.Rejected[0].Violations)
	want := `[{"line":1,"kind":"create-issue","path":"$.labels[0]","message":"1 is not of type 'string'","schema_path":"properties.labels.items.type"}]`
	if err != nil || string(got) != want {
		t.Errorf("violations = %s, %v; want %s", got, err, want)
	}
}
