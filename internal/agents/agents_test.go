package agents

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/agent-airlock/airlock/internal/schema"
	"github.com/google/go-cmp/cmp"
)

const crawler = `{"name":"web-crawler","type":"deterministic","description":"Crawls websites","command":["crawl","--json"],
	"parameters_schema":{"type":"object","required":["url"],"properties":{"url":{"type":"string","format":"uri"},"depth":{"type":"integer","minimum":1},
	"tags":{"type":"array","items":{"type":"object","properties":{"e":{"type":"string","format":"email"}}}}},"additionalProperties":false}}`

func mustParse(t *testing.T, raw string) Blueprint {
	t.Helper()
	b, err := Parse([]byte(raw))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestParse(t *testing.T) {
	for given, want := range map[string]Type{"agent": Agent, "autonomous": Agent, "deterministic": Deterministic, "procedural": Deterministic} {
		b := mustParse(t, `{"name":"a","type":"`+given+`","command":["x"],"parameters_schema":{"type":"object"},"time_limit_seconds":6e1,"max_attempts":3.0}`)
		if b.Type != want || b.TimeLimit() != time.Minute || b.Attempts() != 3 || b.Source != Stored {
			t.Errorf("%s: %+v", given, b)
		}
	}
	b := mustParse(t, `{"name":"researcher","type":"agent","command":["x"],"parameters_schema":null}`)
	if b.ParametersSchema != nil || !b.TakesPrompt() || b.TimeLimit() != DefaultTimeLimit || b.Attempts() != 1 {
		t.Errorf("got %+v", b)
	}
}

// TestParseRefuses asserts the places of the violations, in order.
func TestParseRefuses(t *testing.T) {
	for raw, want := range map[string]string{
		`{}`: "$.command $.name $.type",
		`[]`: "$",
		`{`:  "$",
		`{"name":"A","type":"robot","command":[],"extra":1}`:                                                                                        "$.command $.extra $.name $.type",
		`{"name":"` + strings.Repeat("a", 64) + `","type":"agent","command":["x"]}`:                                                                 "$.name",
		`{"name":"-a","type":"agent","command":["x"]}`:                                                                                              "$.name",
		`{"name":"a\n","type":"agent","command":["x"]}`:                                                                                             "$.name",
		`{"name":"a","type":"agent","command":"rm -rf /"}`:                                                                                          "$.command",
		`{"name":"a","type":"agent","command":["x","a\u0000b"]}`:                                                                                    "$.command[1]",
		`{"name":"a","type":"agent","command":[""]}`:                                                                                                "$.command[0]",
		`{"name":"a","type":"deterministic","command":["x"]}`:                                                                                       "$.parameters_schema",
		`{"name":"a","type":"deterministic","command":["x"],"parameters_schema":null}`:                                                              "$.parameters_schema",
		`{"name":"a","type":"agent","command":["x"],"parameters_schema":{"type":"string"}}`:                                                         "$.parameters_schema",
		`{"name":"a","type":"agent","command":["x"],"parameters_schema":{"properties":{}}}`:                                                         "$.parameters_schema",
		`{"name":"a","type":"agent","command":["x"],"parameters_schema":{"type":"object","properties":{"a":{"$ref":"http://example.com/x.json"}}}}`: "$.parameters_schema",
		`{"name":"a","type":"agent","command":["x"],"parameters_schema":{"type":"object","properties":{"a":{"pattern":"(?=a)"}}}}`:                  "$.parameters_schema",
		`{"name":"a","type":"agent","command":["x"],"output_schema":{"type":"nope"}}`:                                                               "$.output_schema",
		`{"name":"a","name":"b","type":"agent","command":["x"]}`:                                                                                    "$.name",
		`{"name":"a","type":"agent","command":["x"],"tags":["a","a"]}`:                                                                              "$.tags",
		`{"name":"a","type":"agent","command":["x"],"time_limit_seconds":0,"max_attempts":11}`:                                                      "$.max_attempts $.time_limit_seconds",
		`{"name":"a","type":"agent","Command":["x"]}`:                                                                                               "$.Command $.command",
	} {
		_, err := Parse([]byte(raw))
		var invalid *InvalidError
		if !errors.As(err, &invalid) {
			t.Errorf("Parse(%s) = %v", raw, err)
			continue
		}
		var paths []string
		for _, v := range invalid.Violations {
			paths = append(paths, v.Path)
			if v.Message == "" || strings.Contains(v.Message, "\n") {
				t.Errorf("Parse(%s): message %q", raw, v.Message)
			}
		}
		if got := strings.Join(paths, " "); got != want {
			t.Errorf("Parse(%s): violations at %s, want %s\n%v", raw, got, want, err)
		}
	}
}

// TestParameters asserts the violations of parameters, with the sentences for them.
func TestParameters(t *testing.T) {
	var v Validator
	researcher := mustParse(t, `{"name":"researcher","type":"agent","command":["x"]}`)
	for _, c := range []struct {
		agent      Blueprint
		parameters string
		want       []schema.Violation
	}{
		{researcher, `{"prompt":"Test"}`, nil},
		{researcher, `{}`, []schema.Violation{{Path: "$.prompt", Message: "'prompt' is a required property", SchemaPath: "required"}}},
		{researcher, `{"wrong":"field"}`, []schema.Violation{{Path: "$.prompt", Message: "'prompt' is a required property", SchemaPath: "required"},
			{Path: "$.wrong", Message: "Additional properties are not allowed ('wrong' was unexpected)", SchemaPath: "additionalProperties"}}},
		{researcher, `{"prompt":""}`, []schema.Violation{{Path: "$.prompt", Message: "'' must not be empty", SchemaPath: "properties.prompt.minLength"}}},
		{researcher, `{"prompt":1}`, []schema.Violation{{Path: "$.prompt", Message: "1 is not of type 'string'", SchemaPath: "properties.prompt.type"}}},
		{researcher, `null`, []schema.Violation{{Path: "$", Message: "null is not of type 'object'", SchemaPath: "type"}}},
		{researcher, `{"prompt":"a","prompt":"b"}`, []schema.Violation{{Path: "$.prompt", Message: "the member is there twice"}}},
		{researcher, `{"prompt":"\ud83d\ude00"}`, nil},
		{researcher, `{"prompt":"\ud83d"}`, []schema.Violation{{Path: "$.prompt", Message: `half of a surrogate pair, such as \ud800, is not a character: write both halves, or the character itself`}}},
		{mustParse(t, crawler), `{"url":"https://example.com/","depth":2}`, nil},
		{mustParse(t, crawler), `{"url":"not-a-url","depth":0,"tags":[{},{"e":"x"}]}`, []schema.Violation{
			{Path: "$.depth", Message: "0 is less than the minimum of 1", SchemaPath: "properties.depth.minimum"},
			{Path: "$.tags[1].e", Message: "'x' is not a valid email address", SchemaPath: "properties.tags.items.properties.e.format"},
			{Path: "$.url", Message: "'not-a-url' is not a valid URI", SchemaPath: "properties.url.format"}}},
	} {
		err := v.Parameters(c.agent, []byte(c.parameters))
		var refused *ParameterError
		if !errors.As(err, &refused) {
			if err != nil || c.want != nil {
				t.Errorf("%s: %v, want %v", c.parameters, err, c.want)
			}
			continue
		}
		if d := cmp.Diff(c.want, refused.Violations); d != "" {
			t.Errorf("%s (-want +got):\n%s", c.parameters, d)
		}
	}
}

func TestParameterErrorIsThatOfTheSpec(t *testing.T) {
	var v Validator
	err := v.Parameters(mustParse(t, `{"name":"researcher","type":"agent","command":["x"]}`), []byte(`{}`))
	raw, jsonErr := json.Marshal(err)
	if jsonErr != nil {
		t.Fatal(jsonErr)
	}
	want := `{"error":"parameter_validation_failed","message":"Parameters do not match agent's parameters_schema","agent_name":"researcher",` +
		`"validation_errors":[{"path":"$.prompt","message":"'prompt' is a required property","schema_path":"required"}],` +
		`"parameters_schema":` + promptSchema + `}`
	if d := cmp.Diff(want, string(raw)); d != "" {
		t.Error(d)
	}
}

// TestPatched asserts that a patch is merged by the rules of RFC 7396, also into schemas, and that
// one whose result is not a blueprint of the same name is refused. The patched one has the next
// version.
func TestPatched(t *testing.T) {
	b := mustParse(t, crawler)
	for patch, want := range map[string]func(*Blueprint){
		`{}`:                               func(*Blueprint) {},
		`{"description":null}`:             func(b *Blueprint) { b.Description = "" },
		`{"command":["y"],"tags":["gpu"]}`: func(b *Blueprint) { b.Command, b.Tags = []string{"y"}, []string{"gpu"} },
		`{"tags":null}`:                    func(*Blueprint) {},
		`{"output_schema":{"type":"object","x":null,"a":{"b":null,"c":1}}}`: func(b *Blueprint) { b.OutputSchema = json.RawMessage(`{"a":{"c":1},"type":"object"}`) },
		`{"type":"autonomous","parameters_schema":null}`:                    func(b *Blueprint) { b.Type, b.ParametersSchema = Agent, nil },
		`{"max_attempts":2}`: func(b *Blueprint) { b.MaxAttempts = 2 },
	} {
		expect := b
		expect.Version = 2
		want(&expect)
		got, err := b.Patched([]byte(patch))
		if err != nil {
			t.Errorf("%s: %v", patch, err)
			continue
		}
		if expect.ParametersSchema != nil {
			expect.ParametersSchema, got.ParametersSchema = sorted(expect.ParametersSchema), sorted(got.ParametersSchema)
		}
		if d := cmp.Diff(expect, got); d != "" {
			t.Errorf("%s (-want +got):\n%s", patch, d)
		}
	}
	nested, err := b.Patched([]byte(`{"parameters_schema":{"required":null,"properties":{"depth":null,"limit":{"type":"integer"}}}}`))
	if err != nil || (&Validator{}).Parameters(nested, []byte(`{"limit":3}`)) != nil || (&Validator{}).Parameters(nested, []byte(`{"depth":3}`)) == nil {
		t.Errorf("the parts of a schema are not merged: %s, %v", nested.ParametersSchema, err)
	}
	for _, patch := range []string{`{"name":"b"}`, `{"name":null}`, `[]`, `null`, ``, `{"command":null}`, `{"type":null}`, `{"parameters_schema":null}`, `{"x":1}`, `{"type":"agent","type":"agent"}`} {
		var invalid *InvalidError
		if _, err := b.Patched([]byte(patch)); !errors.As(err, &invalid) {
			t.Errorf("%s: %v", patch, err)
		}
	}
}

// sorted returns JSON with the members of each object in order, without white space.
func sorted(raw json.RawMessage) json.RawMessage {
	var v any
	_ = json.Unmarshal(raw, &v)
	out, _ := json.Marshal(v)
	return out
}

func TestReadDirectory(t *testing.T) {
	good := fstest.MapFS{
		"crawl.yaml":  {Data: []byte("name: crawl\ntype: procedural\ndescription: 2026-01-01\ncommand: [crawl, '1']\nparameters_schema:\n  type: object\n  properties:\n    n: {type: integer, maximum: 1.5e3}\n")},
		"ask.json":    {Data: []byte(`{"name":"ask","type":"agent","command":["ask"]}`)},
		"README.md":   {Data: []byte("not an agent")},
		"sub/no.yaml": {Data: []byte("not: read")},
	}
	list, err := ReadDirectory(good)
	if err != nil || len(list) != 2 || list[0].Name != "ask" || list[1].Name != "crawl" || list[1].Description != "2026-01-01" || list[1].Source != File {
		t.Fatalf("%+v, %v", list, err)
	}
	if string(list[1].ParametersSchema) != `{"properties":{"n":{"maximum":1.5e3,"type":"integer"}},"type":"object"}` {
		t.Errorf("schema %s", list[1].ParametersSchema)
	}
	bad := fstest.MapFS{
		"a.yaml": {Data: []byte("name: a\ntype: agent\ncommand:\n  - x\n  - 7\nextra: 1\n")},
		"b.yml":  {Data: []byte("name: b\n\ttype: agent\n")},
		"c.yaml": {Data: []byte("name: c\ntype: agent\ncommand: [x]\n---\nname: d\n")},
		"d.yaml": {Data: nil},
		"e.yaml": {Data: []byte("name: e\nname: e\n")},
		"f.yaml": {Data: []byte("name: f\ntype: deterministic\ncommand: [x]\nparameters_schema:\n  type: object\n  required: 7\n")},
		"g.yaml": {Data: []byte("a: &a [x,x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c,*c]\ne: [*d,*d,*d,*d,*d,*d,*d,*d,*d,*d]\n")},
		"h.yaml": {Data: []byte("name: h\ntype: agent\ncommand: [x]\ntime_limit_seconds: 0x10\n")},
		"i.yaml": {Data: []byte("name: ok\ntype: agent\ncommand: [x]\n")},
		"j.yaml": {Data: []byte("name: ok\ntype: agent\ncommand: [x]\n")},
	}
	_, err = ReadDirectory(bad)
	if err == nil {
		t.Fatal("no error")
	}
	for _, want := range []string{
		"a.yaml:5: $.command[1]: 7 is not of type 'string'", "a.yaml:6: $.extra: ", "b.yml: line 2: ", "c.yaml: there is more than one document", "d.yaml: the file is empty",
		"e.yaml: line 2: \"name\" is there twice", "f.yaml:5: $.parameters_schema: the schema is not valid draft-07: at $.required", "g.yaml: ", "more than 50000 values",
		"h.yaml: line 4: \"0x10\" is not a number in JSON", "j.yaml: the agent ok is in i.yaml already",
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("the error lacks %q:\n%v", want, err)
		}
	}
}

func TestBuiltIns(t *testing.T) {
	list, err := BuiltIns()
	if err != nil {
		t.Fatal(err)
	}
	var v Validator
	good := map[string]string{
		Acceptance:      `{"task_id":"t-1","validation_type":"code","acceptance_criteria":[{"id":"a","description":"b","validation_hint":"README.md"}]}`,
		FixLoop:         `{"issue":7,"directory":"/src/app","fixer":"claude"}`,
		PhaseValidation: `{"working_directory":"/src/app","changed_files":["app.py"]}`,
		CollectOutput:   `{"lines":[{"type":"noop","message":"x"}],"policy":{"noop":true}}`,
	}
	if len(list) != len(good) {
		t.Errorf("%d agents are built in, want %d", len(list), len(good))
	}
	for _, b := range list {
		if violations := checkSchema("parameters_schema", b.ParametersSchema, true); violations != nil {
			t.Errorf("%s: %v", b.Name, violations)
		}
		if _, err := v.Output(b, []byte(`{}`)); err != nil {
			t.Error(err)
		}
		if err := v.Parameters(b, []byte(good[b.Name])); err != nil {
			t.Errorf("%s: %v", b.Name, err)
		}
		if err := v.Parameters(b, []byte(`{}`)); err == nil {
			t.Errorf("%s accepts {} as its parameters", b.Name)
		}
	}
}

// BenchmarkParameters validates a typical request, which must take less than 1 ms.
func BenchmarkParameters(b *testing.B) {
	var v Validator
	agent, err := Parse([]byte(crawler))
	if err != nil {
		b.Fatal(err)
	}
	parameters := []byte(`{"url":"https://example.com/","depth":2,"tags":[{"e":"a@b.example"}]}`)
	for b.Loop() {
		if err := v.Parameters(agent, parameters); err != nil {
			b.Fatal(err)
		}
	}
}
