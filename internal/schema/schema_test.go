package schema

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestValidateReportsEveryViolation(t *testing.T) {
	tests := []struct {
		name, schema, value string
		want                []Violation
	}{
		{"conforming", `{"type":"object","required":["a"]}`, `{"a":1}`, nil},
		{"missing, each by itself", `{"required":["a","b","c"]}`, `{"b":1}`, []Violation{
			{"$.a", "'a' is a required property", "required"},
			{"$.c", "'c' is a required property", "required"}}},
		{"unknown, each by itself", `{"additionalProperties":false,"properties":{"a":{}},"patternProperties":{"^x-":{}}}`, `{"a":1,"c":2,"b d":3,"x-y":4}`, []Violation{
			{"$['b d']", "Additional properties are not allowed ('b d' was unexpected)", "additionalProperties"},
			{"$.c", "Additional properties are not allowed ('c' was unexpected)", "additionalProperties"}}},
		{"types and nesting", `{"properties":{"tags":{"items":{"properties":{"e":{"type":"string"}}}}}}`, `{"tags":[{"e":"x"},{"e":5},{},{"e":null},1,1,1,1,1,1,{"e":[1,"a"]}]}`, []Violation{
			{"$.tags[1].e", "5 is not of type 'string'", "properties.tags.items.properties.e.type"},
			{"$.tags[3].e", "null is not of type 'string'", "properties.tags.items.properties.e.type"},
			{"$.tags[10].e", "[1, 'a'] is not of type 'string'", "properties.tags.items.properties.e.type"}}},
		{"several types", `{"type":["string","null"]}`, `5`, []Violation{{"$", "5 is not of type 'string', 'null'", "type"}}},
		{"formats", `{"properties":{"url":{"type":"string","format":"uri"},"m":{"format":"email"},"d":{"format":"date-time"}}}`,
			`{"url":"not-a-url","m":"x","d":"now"}`, []Violation{
				{"$.d", "'now' is not a valid date-time", "properties.d.format"},
				{"$.m", "'x' is not a valid email address", "properties.m.format"},
				{"$.url", "'not-a-url' is not a valid URI", "properties.url.format"}}},
		{"words", `{"properties":{"e":{"enum":["a",1]},"c":{"const":"k"},"p":{"pattern":"^a"},"b":{"pattern":"\\S"}}}`,
			`{"e":"b","c":"x","p":"b\nc","b":" "}`, []Violation{
				{"$.b", "' ' must not be blank", "properties.b.pattern"},
				{"$.c", "'k' was expected", "properties.c.const"},
				{"$.e", "'b' is not one of ['a', 1]", "properties.e.enum"},
				{"$.p", `'b\nc' does not match '^a'`, "properties.p.pattern"}}},
		{"bounds", `{"properties":{"a":{"minimum":1,"multipleOf":2},"b":{"maximum":3},"c":{"minLength":2},"d":{"maxLength":2},"e":{"minItems":1},"f":{"maxItems":1},"g":{"uniqueItems":true},"h":{"minProperties":1},"i":{"exclusiveMinimum":0}}}`,
			`{"a":-1,"b":4,"c":"é","d":"abc","e":[],"f":[1,2],"g":[1,1],"h":{},"i":0}`, []Violation{
				{"$.a", "-1 is less than the minimum of 1", "properties.a.minimum"},
				{"$.a", "-1 is not a multiple of 2", "properties.a.multipleOf"},
				{"$.b", "4 is greater than the maximum of 3", "properties.b.maximum"},
				{"$.c", "'é' is too short (at least 2 characters)", "properties.c.minLength"},
				{"$.d", "'abc' is too long (at most 2 characters)", "properties.d.maxLength"},
				{"$.e", "[] must not be empty", "properties.e.minItems"},
				{"$.f", "[1, 2] is too long (2 items, at most 1)", "properties.f.maxItems"},
				{"$.g", "[1, 1] has non-unique elements", "properties.g.uniqueItems"},
				{"$.h", "{} does not have enough properties (at least 1)", "properties.h.minProperties"},
				{"$.i", "0 is less than or equal to the minimum of 0", "properties.i.exclusiveMinimum"}}},
		{"references do not show", `{"properties":{"a":{"$ref":"#/definitions/n"}},"definitions":{"n":{"type":"object","required":["x"]}}}`, `{"a":{}}`, []Violation{
			{"$.a.x", "'x' is a required property", "properties.a.required"}}},
		{"one of several properties", `{"anyOf":[{"required":["a"]},{"required":["b"]}]}`, `{}`, []Violation{{"$", "one of 'a', 'b' is required", "anyOf"}}},
		{"the alternative for this type", `{"oneOf":[{"type":"integer","minimum":1},{"type":"string","pattern":"^[1-9]$"}]}`, `0`, []Violation{
			{"$", "0 is less than the minimum of 1", "oneOf.0.minimum"}}},
		{"no alternative for this type", `{"oneOf":[{"type":"integer"},{"type":"string"}]}`, `1.5`, []Violation{
			{"$", "1.5 is not of type 'integer', 'string'", "oneOf"}}},
		{"no alternative at all", `{"anyOf":[{"minimum":5},{"maximum":1}]}`, `3`, []Violation{{"$", "3 is not valid under any of the given schemas", "anyOf"}}},
		{"too many alternatives", `{"oneOf":[{"minimum":5},{"minimum":4}]}`, `6`, []Violation{{"$", "6 is valid under more than one of the given schemas", "oneOf"}}},
		{"allOf and if", `{"allOf":[{"minimum":5}],"if":{"type":"integer"},"then":{"maximum":1}}`, `3`, []Violation{
			{"$", "3 is less than the minimum of 5", "allOf.0.minimum"}, {"$", "3 is greater than the maximum of 1", "then.maximum"}}},
		{"dependencies", `{"dependencies":{"a":["b"]}}`, `{"a":1}`, []Violation{{"$.b", "'b' is a required property where 'a' is given", "dependencies.a.0"}}},
		{"contains", `{"properties":{"a":{"contains":{"const":1}},"minContains":{"contains":{"type":"null"}}}}`, `{"a":[2,3],"minContains":[]}`, []Violation{
			{"$.a", "[2, 3] does not contain an item that matches the given schema", "properties.a.contains"},
			{"$.minContains", "[] does not contain an item that matches the given schema", "properties.minContains.contains"}}},
		{"refused outright", `{"properties":{"a":false},"not":{"required":["b"]}}`, `{"a":1,"b":2}`, []Violation{
			{"$", "{…} is not allowed here", "not"}, {"$.a", "1 is not allowed here", "properties.a"}}},
		{"duplicate names: the last counts", `{"properties":{"a":{"type":"string"}}}`, `{"a":1,"a":"x"}`, nil},
		{"huge exponent", `{"properties":{"a":{"type":"integer"}}}`, `{"a":1e10000000}`, []Violation{{"$.a", "1e10000000 is out of range", ""}}},
		{"not JSON", `{}`, `{"a":`, []Violation{{"$", "not valid JSON: unexpected EOF within \"/a\" after offset 5", ""}}},
		{"two values", `{}`, `1 2`, []Violation{{"$", "not valid JSON: there is more after the value", ""}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, err := parse([]byte(tt.schema))
			if err != nil {
				t.Fatal(err)
			}
			for range 5 { // maps are ranged over in a different order each time
				got, err := s.Validate([]byte(tt.value))
				if err != nil {
					t.Fatal(err)
				}
				if d := cmp.Diff(tt.want, got); d != "" {
					t.Fatalf("Validate differs (-want +got):\n%s", d)
				}
			}
		})
	}
}

// parse returns the schema with this text, compiled.
func parse(text []byte) (*Schema, error) {
	s := fromJSON(func() (json.RawMessage, error) { return text, nil })
	l, err := s.load()
	if err != nil {
		return nil, err
	}
	_, err = l.compile()
	return s, err
}

func TestCompileRefuses(t *testing.T) {
	for schema, want := range map[string]string{
		`{"type":"nope"}`:                               "not valid draft-07",
		`{"$ref":"http://example.com/s.json"}`:          "only references within the schema",
		`{"$ref":"file:///etc/passwd"}`:                 "only references within the schema",
		`{"properties":{"a":{"$ref":"other.json#/x"}}}`: "only references within the schema",
		`{"$schema":"http://example.com/own-meta"}`:     "only references within the schema",
		`{"pattern":"(?=lookahead)"}`:                   "pattern",
		`{"minimum":1e10000000}`:                        "out of range",
		`{`:                                             "not valid JSON",
		`{"$ref":"#/definitions/none"}`:                 "not found",
	} {
		if _, err := parse([]byte(schema)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("parse(%s) = %v, want an error with %q", schema, err, want)
		}
	}
}

func TestPublished(t *testing.T) {
	s, ok := Published("agent-output.json", "noop")
	if !ok {
		t.Fatal("the definition of noop is not published")
	}
	got, err := s.Validate([]byte(`{"type":"noop","message":" "}`))
	if err != nil || len(got) != 1 || got[0].Path != "$.message" {
		t.Errorf("Validate = %v, %v", got, err)
	}
	if _, ok := Published("agent-output.json", "nope"); ok {
		t.Error("a definition that is not there is found")
	}
	if req := s.Required(); !slices.Equal(req, []string{"type", "message"}) {
		t.Errorf("Required = %v", req)
	}
	document, _ := Published("agent-output.json", "")
	if got, err := document.Validate([]byte(`{"items":[{"type":"noop","message":"a"}],"errors":[]}`)); err != nil || len(got) > 0 {
		t.Errorf("the document is refused: %v, %v", got, err)
	}
}

func TestAMillionWrongElementsAreCheap(t *testing.T) {
	t.Parallel()
	s, err := parse([]byte(`{"properties":{"l":{"type":"array","maxItems":10,"items":{"type":"string"}}}}`))
	if err != nil {
		t.Fatal(err)
	}
	raw := `{"l":[` + strings.Repeat("1,", 1_000_000) + `1]}`
	got, err := s.Validate([]byte(raw))
	// One is about the length; the others are about the first 10 elements.
	if err != nil || len(got) != 11 {
		t.Errorf("Validate gives %d violations, %v; want 11", len(got), err)
	}
	if want := "[1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, …] is too long (1000001 items, at most 10)"; got[0].Message != want {
		t.Errorf("message = %q, want %q", got[0].Message, want)
	}
}

func TestViolationsAreBounded(t *testing.T) {
	for _, c := range []struct{ schema, item string }{
		{`{"items":{"type":"string"}}`, `1`},
		{`{"items":{"type":"array","maxItems":0}}`, `[1]`},
	} {
		s, err := parse([]byte(c.schema))
		if err != nil {
			t.Fatal(err)
		}
		got, err := s.Validate([]byte(`[` + strings.Repeat(c.item+",", 1499) + c.item + `]`))
		if err != nil || len(got) != maxViolations+1 || got[maxViolations].Message != "there are 500 more violations" {
			t.Errorf("%s: Validate gives %d violations, %v, the last %v", c.schema, len(got), err, got[len(got)-1])
		}
	}
}

func TestDeepNestingIsAViolation(t *testing.T) {
	s, _ := parse([]byte(`{}`))
	for n, want := range map[int]int{maxDepth: 0, maxDepth + 2: 1, 100_000: 1} {
		got, err := s.Validate([]byte(strings.Repeat("[", n) + strings.Repeat("]", n)))
		if err != nil || len(got) != want {
			t.Errorf("%d deep: %d violations, %v; want %d", n, len(got), err, want)
		}
	}
}

func TestAcceptsMember(t *testing.T) {
	s, ok := Published("agent-output.json", "update-issue")
	if !ok {
		t.Fatal("update-issue is not published")
	}
	for m, want := range map[[2]string]bool{
		{"status", `"open"`}: true, {"status", `"Open"`}: false, {"status", `5`}: false, {"status", `"\u006fpen"`}: false, {"title", `"x"`}: true, {"state", `"open"`}: false,
	} {
		if got := s.AcceptsMember(Member{m[0], []byte(m[1])}); got != want {
			t.Errorf("AcceptsMember(%s: %s) = %v, want %v", m[0], m[1], got, want)
		}
	}
}

func FuzzValidate(f *testing.F) {
	f.Add([]byte(`{"type":"noop","message":"a"}`))
	f.Add([]byte(`{"line":1e10000000,"labels":[null,[1],{"a":"\ud800"}]}`))
	var list []*Schema
	for _, name := range []string{"create-issue", "update-issue", "create-pull-request-review-comment", "create-security-report"} {
		s, _ := Published("agent-output.json", name)
		list = append(list, s)
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		for _, s := range list {
			a, err := s.Validate(raw)
			if err != nil {
				t.Fatal(err)
			}
			b, _ := s.Validate(raw)
			if d := cmp.Diff(a, b); d != "" {
				t.Fatalf("not deterministic: %s", d)
			}
			for _, v := range a {
				if !strings.HasPrefix(v.Path, "$") || v.Message == "" || strings.ContainsAny(v.Message, "\n\x00") {
					t.Fatalf("odd violation %q", fmt.Sprint(v))
				}
			}
		}
	})
}

func TestMembersOf(t *testing.T) {
	for object, want := range map[string]string{
		`{"b": [1, {}], "a" :"x", "b":null}`: "b=[1, {}] a=\"x\" b=null ", "{}": "", "": "",
		"[1]": "error", "null": "error",
	} {
		var raw []byte
		if object != "" {
			raw = []byte(object)
		}
		members, err := MembersOf(raw)
		got := ""
		for _, m := range members {
			got += m.Name + "=" + string(m.Value) + " "
		}
		if err != nil {
			got = "error"
		}
		if got != want {
			t.Errorf("%s: %s, want %s", object, got, want)
		}
	}
}
