package pages

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/agent-airlock/airlock/internal/schema"
)

// TestFormsOfEachKeyword asserts, for each keyword of draft-07 that restricts values, that a form
// has a field for such a value: a valid one can be typed there, and an invalid one is explained
// next to the field.
func TestFormsOfEachKeyword(t *testing.T) {
	for keyword, c := range map[string]struct{ property, good, bad string }{
		"type":                               {`{"type":"integer"}`, "3", "three"},
		"several types":                      {`{"type":["integer","boolean"]}`, "true", `"true"`},
		"type null":                          {`{"type":"null"}`, "null", "0"},
		"enum":                               {`{"enum":["a",1,null,true,[1]]}`, "[1]", `"b"`},
		"const":                              {`{"const":{"a":1}}`, `{"a":1}`, `{"a":2}`},
		"multipleOf":                         {`{"type":"number","multipleOf":0.5}`, "1.5", "1.2"},
		"minimum, maximum":                   {`{"type":"integer","minimum":1,"maximum":5}`, "5", "6"},
		"exclusiveMinimum, exclusiveMaximum": {`{"type":"number","exclusiveMinimum":0,"exclusiveMaximum":1}`, "0.5", "1"},
		"minLength, maxLength":               {`{"type":"string","minLength":2,"maxLength":3}`, "äö", "ä"},
		"pattern":                            {`{"type":"string","pattern":"^a+$"}`, "aa", "ab"},
		"format uri":                         {`{"type":"string","format":"uri"}`, "https://example.org/", "no"},
		"format email":                       {`{"type":"string","format":"email"}`, "a@example.org", "a"},
		"format date-time":                   {`{"type":"string","format":"date-time"}`, "2026-11-23T14:00:00Z", "today"},
		"items":                              {`{"type":"array","items":{"type":"integer"}}`, "1\n2", "1\nx"},
		"items of objects":                   {`{"type":"array","items":{"type":"object","required":["a"]}}`, `[{"a":1}]`, `[{}]`},
		"items as a tuple":                   {`{"type":"array","items":[{"type":"string"},{"type":"integer"}],"additionalItems":false}`, `["a",1]`, `["a",1,2]`},
		"contains":                           {`{"type":"array","items":{"type":"integer"},"contains":{"const":7}}`, "6\n7", "6"},
		"minItems, maxItems":                 {`{"type":"array","items":{"type":"string"},"minItems":2,"maxItems":2}`, "a\nb", "a"},
		"uniqueItems":                        {`{"type":"array","items":{"type":"string"},"uniqueItems":true}`, "a\nb", "a\na"},
		"properties":                         {`{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}`, `{"n":1}`, `{"n":"x"}`},
		"patternProperties":                  {`{"type":"object","patternProperties":{"^n":{"type":"integer"}}}`, `{"n1":1}`, `{"n1":"x"}`},
		"additionalProperties":               {`{"type":"object","additionalProperties":{"type":"integer"}}`, `{"a":1}`, `{"a":"x"}`},
		"propertyNames":                      {`{"type":"object","propertyNames":{"maxLength":1}}`, `{"a":1}`, `{"ab":1}`},
		"minProperties, maxProperties":       {`{"type":"object","minProperties":1,"maxProperties":1}`, `{"a":1}`, `{}`},
		"dependencies":                       {`{"type":"object","dependencies":{"a":["b"]}}`, `{"a":1,"b":1}`, `{"a":1}`},
		"oneOf":                              {`{"oneOf":[{"type":"string"},{"type":"integer"}]}`, `"a"`, "true"},
		"anyOf":                              {`{"anyOf":[{"type":"string"},{"type":"object"}]}`, `{}`, "[]"},
		"allOf":                              {`{"allOf":[{"type":"string"},{"minLength":2}]}`, `"ab"`, `"a"`},
		"not":                                {`{"not":{"type":"string"}}`, "1", `"a"`},
		"if":                                 {`{"if":{"type":"string"},"then":{"minLength":2},"else":{"const":0}}`, "0", `"a"`},
		"$ref":                               {`{"$ref":"#/definitions/few"}`, "2", "9"},
		"default and examples":               {`{"type":"string","default":"a","examples":["b"],"enum":["a","b"]}`, `"b"`, `"c"`},
		"false":                              {`false`, "", "1"},
	} {
		raw := json.RawMessage(fmt.Sprintf(`{"type":"object","properties":{"before":{"type":"string"},"it":%s},"definitions":{"few":{"type":"integer","maximum":3}}}`, c.property))
		s, err := schema.Parse(raw)
		if err != nil {
			t.Fatalf("%s: %v", keyword, err)
		}
		for typed, valid := range map[string]bool{c.good: true, c.bad: false} {
			f := newParameterForm(raw)
			if !f.Usable() || len(f.Fields) != 2 {
				t.Fatalf("%s: %+v", keyword, f)
			}
			parameters, unreadable := f.Parameters(url.Values{"p.it": {typed}})
			violations, err := s.Validate(parameters)
			if err != nil || unreadable != nil || (len(violations) == 0) != valid {
				t.Errorf("%s: %q is %s: %v, %v, %v", keyword, typed, parameters, violations, unreadable, err)
			}
			if others := f.Explain(violations); len(others) > 0 || (len(f.Fields[1].Errors) > 0) == valid || len(f.Fields[0].Errors) > 0 {
				t.Errorf("%s: %q: next to the field %q, elsewhere %v", keyword, typed, f.Fields[1].Errors, others)
			}
			if f.Fields[1].Value != typed {
				t.Errorf("%s: %q is kept as %q", keyword, typed, f.Fields[1].Value)
			}
			html, err := agentPage.renderWhole(frame{Stylesheet: "/s"}, coordinatorView{Title: "A", Body: agentView{Agent: agentRecord{Name: "a"}, Form: f, MayRun: true}})
			if err != nil || strings.Count(string(html), `name="p.it"`) != 1 {
				t.Errorf("%s: %v\n%s", keyword, err, html)
			}
		}
	}
}
