package pages

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/agent-airlock/airlock/internal/schema"
)

// TestFormSaysWhatWasTyped asserts which JSON each sort of field makes of a typed value, and that a
// field filled from that JSON shows the same value again.
func TestFormSaysWhatWasTyped(t *testing.T) {
	for _, c := range []struct {
		property, kind, typed string
		want                  string // "" for nothing
	}{
		{`{"type":"string"}`, "area", "two\nlines", `"two\nlines"`},
		{`{"type":"string"}`, "area", "  ", `"  "`},
		{`{"type":"string"}`, "area", "", ``},
		{`{"type":"string","maxLength":200}`, "line", "<a & b>", `"<a & b>"`},
		{`{"type":"string","maxLength":201}`, "area", "x", `"x"`},
		{`{"type":"string","format":"uri"}`, "line", "https://example.org/", `"https://example.org/"`},
		{`{"type":["null","string"],"pattern":"^a"}`, "line", "a", `"a"`},
		{`{"type":["string","integer"]}`, "json", `"12"`, `"12"`},
		{`{"type":"integer"}`, "number", " 12 ", `12`},
		{`{"type":"integer"}`, "number", "twelve", `"twelve"`},
		{`{"type":"integer"}`, "number", "0x10", `"0x10"`},
		{`{"type":"number"}`, "number", "1e400", `1e400`},
		{`{"type":"number"}`, "number", "-1.50", `-1.50`},
		{`{"type":"number"}`, "number", "true", `"true"`},
		{`{"type":"boolean"}`, "choice", "false", `false`},
		{`{"type":"boolean"}`, "choice", "", ``},
		{`{"enum":["a b",3,null,{"x":[1]}]}`, "choice", `{"x":[1]}`, `{"x":[1]}`},
		{`{"const":"only"}`, "choice", `"only"`, `"only"`},
		{`{"type":"array","items":{"type":"string"}}`, "list", "a\n b \n", `["a"," b "]`},
		{`{"type":"array","items":{"type":"integer"}}`, "list", "1\n2", `[1,2]`},
		{`{"type":"array","items":{"type":"string"}}`, "list", "\n", ``},
		{`{"type":"array"}`, "json", `[{"a": 1}]`, `[{"a": 1}]`},
		{`{"type":"object"}`, "json", "", ``},
		{`{}`, "json", `null`, `null`},
		{`true`, "json", `"x"`, `"x"`},
		{`{"$ref":"#/definitions/n"}`, "number", "7", `7`},
		{`{"$ref":"#/definitions/circle"}`, "json", "7", `7`},
		{`{"$ref":"#/definitions/none"}`, "json", "7", `7`},
		{`{"$ref":"#` + strings.Repeat("/definitions", 10_000) + `"}`, "json", "7", `7`},
	} {
		raw := `{"type":"object","properties":{"a.b c":` + c.property + `},"definitions":{"n":{"$ref":"#/definitions/m"},"m":{"type":"integer"},"circle":{"$ref":"#/definitions/circle"}}}`
		f := newParameterForm(json.RawMessage(raw))
		if len(f.Fields) != 1 || f.Fields[0].Kind != c.kind {
			t.Errorf("%.100s: %+v, want a field %s", c.property, f.Fields, c.kind)
			continue
		}
		want := `{"a.b c":` + c.want + `}`
		if c.want == "" {
			want = `{}`
		}
		got, unreadable := f.Parameters(url.Values{"p.a.b c": {c.typed}})
		if string(got) != want || unreadable != nil {
			t.Errorf("%s, %q: %s, %v, want %s", c.property, c.typed, got, unreadable, want)
		}
		again := newParameterForm(json.RawMessage(raw))
		if again.Fill(got) {
			if once, _ := again.Parameters(url.Values{"p.a.b c": {again.Fields[0].Value}}); compactJSON(once) != compactJSON(got) {
				t.Errorf("%s: %s is filled in as %q", c.property, got, again.Fields[0].Value)
			}
		} else if c.want != "" && (c.kind != "number" || c.want[0] != '"') { // text in a field for numbers does not fit
			t.Errorf("%s: %s cannot be filled in", c.property, got)
		}
	}
}

// TestBlankListIsNotExpressed asserts that Fill does not report a list of blank texts as expressed: the
// field takes blank lines alone for nothing.
func TestBlankListIsNotExpressed(t *testing.T) {
	const schema = `{"properties":{"tags":{"type":"array","items":{"type":"string"}}}}`
	for parameters, want := range map[string]bool{`{"tags":[" "]}`: false, `{"tags":[" ","\t"]}`: false, `{"tags":[" ","a"]}`: true} {
		f := newParameterForm(json.RawMessage(schema))
		if got := f.Fill(json.RawMessage(parameters)); got != want {
			t.Errorf("%s: expressed %v, want %v", parameters, got, want)
		}
	}
}

func TestFormExplains(t *testing.T) {
	f := newParameterForm(json.RawMessage(`{"properties":{"a":{},"a.b":{},"tags":{"type":"array"}}}`))
	others := f.Explain([]schema.Violation{{Path: "$.a.b", Message: "below a"}, {Path: "$['a.b']", Message: "itself"}, {Path: "$.tags[1]", Message: "an element"}, {Path: "$.ab", Message: "unknown"}, {Path: "$", Message: "all of it"}})
	var got []string
	for _, field := range f.Failing() {
		got = append(got, fmt.Sprint(field.Property, field.Errors))
	}
	if want := "a[$.a.b: below a] a.b[itself] tags[$.tags[1]: an element]"; strings.Join(got, " ") != want || len(others) != 2 {
		t.Errorf("%s; others %v", strings.Join(got, " "), others)
	}
}

// TestFormsOfHostileSchemas asserts that no schema makes a page act or grow without bounds.
func TestFormsOfHostileSchemas(t *testing.T) {
	const script = `</textarea></select></title><script>alert(1)</script><img src=x onerror=alert(1)>" autofocus onfocus="alert(1)`
	quoted, err := json.Marshal(script)
	if err != nil {
		t.Fatal(err)
	}
	q := string(quoted)
	many := make([]string, 1000)
	for i := range many {
		many[i] = fmt.Sprintf(`"p%d":{"type":"string"}`, i)
	}
	deep := strings.Repeat(`{"type":"object","properties":{"a":`, 2000) + `{}` + strings.Repeat(`}}`, 2000)
	for name, c := range map[string]struct {
		raw    string
		usable bool
	}{
		"hostile texts": {`{"properties":{` + q + `:{"title":` + q + `,"description":` + q + `,"default":` + q + `,"pattern":` + q + `,"examples":[` + q + `],"type":"string"},"e":{"enum":[` + q + `]}}}`, true},
		"1,000":         {`{"properties":{` + strings.Join(many, ",") + `}}`, false},
		"deep":          {deep, true},
		"none":          {`{"type":"object"}`, false},
		"a list":        {`[]`, false},
		"odd keywords":  {`{"properties":{"a":{"type":7,"enum":5,"minLength":{}},"b":{"type":"string","maxLength":"x"}}}`, true},
	} {
		f := newParameterForm(json.RawMessage(c.raw))
		if f.Usable() != c.usable {
			t.Errorf("%s: usable %v", name, f.Usable())
		}
		form := url.Values{}
		for _, field := range f.Fields {
			form.Set(field.Name, script)
		}
		_, unreadable := f.Parameters(form)
		others := f.Explain(append(unreadable, schema.Violation{Path: "$." + script, Message: script}))
		v := agentView{Agent: agentRecord{Name: script, Description: script, Type: script, Source: script, Tags: []string{script}}, Form: f, MayRun: true, AsJSON: !f.Usable(), JSON: script, Failure: script, Errors: others, JSONErrors: others, Schema: indented(json.RawMessage(c.raw)),
			Runs: []runRecord{{ID: script, AgentName: script, Status: script, Parameters: json.RawMessage(c.raw)}}}
		html, err := agentPage.renderWhole(frame{Stylesheet: "/s"}, coordinatorView{Title: script, Name: script, Body: v})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		s := string(html)
		// The page itself has one autofocus; all others stand in the script's text, after its quotation mark.
		inText := strings.Count(s, `&#34; autofocus`) + strings.Count(s, `%22%20autofocus`)
		if strings.Contains(s, "<script") || strings.Contains(s, "<img") || strings.Contains(s, `" onfocus`) || strings.Count(s, "autofocus") != 1+inText {
			t.Errorf("%s acts:\n%s", name, s)
		}
		if len(html) > 1<<20 {
			t.Errorf("%s: the page has %d bytes", name, len(html))
		}
	}
}

func TestLogShowsItsEnd(t *testing.T) {
	for in, want := range map[string]string{"": "", "a\r\nb\x1b[2J\x00\u202e": "a\nb", "\xff\xfe<b>": "<b>"} {
		if got, cut := logEnd([]byte(in)); got != want || cut {
			t.Errorf("%q: %q, %v", in, got, cut)
		}
	}
	long := strings.Repeat("äöü\n", maxShown)
	got, cut := logEnd([]byte(long))
	if !cut || len(got) > maxShown || !strings.HasPrefix(got, "äöü\n") || !strings.HasSuffix(got, "äöü\n") {
		t.Errorf("%d bytes, %v, %.20q", len(got), cut, got)
	}
}

func TestHintsAreWords(t *testing.T) {
	for raw, want := range map[string]string{
		`{"type":"string","minLength":1}`:                                      "at least 1 character",
		`{"type":"string","minLength":2,"maxLength":40}`:                       "2 to 40 characters",
		`{"type":"array","items":{"type":"string"},"maxItems":3}`:              "one on each line; at most 3 elements",
		`{"type":"integer","minimum":0,"exclusiveMaximum":9,"multipleOf":3}`:   "a whole number; at least 0; less than 9; a multiple of 3",
		`{"type":"string","default":"main","examples":["a","b"],"format":"x"}`: "format: x; for example a or b; default: main",
		`{"type":"object","default":{"a":[1]}}`:                                `JSON object, such as {}; default: {"a":[1]}`,
	} {
		f := newParameterForm(json.RawMessage(`{"properties":{"a":` + raw + `}}`))
		if got := strings.Join(f.Fields[0].Hints, "; "); got != want {
			t.Errorf("%s: %q, want %q", raw, got, want)
		}
	}
	for required, want := range map[string]string{`[]`: "may be left out", `["a"]`: ""} {
		f := newParameterForm(json.RawMessage(`{"properties":{"a":{"type":["string","null"]}},"required":` + required + `}`))
		if got := strings.Join(f.Fields[0].Hints, "; "); got != want {
			t.Errorf("required %s: %q, want %q", required, got, want)
		}
	}
}

// TestLargeJSONStaysSmall asserts that showing JSON of a run does not take a hundred times its
// size.
func TestLargeJSONStaysSmall(t *testing.T) {
	for _, n := range []int{10_000, 2_000_000} {
		raw := json.RawMessage(strings.Repeat("[", 60) + strings.Repeat("1,", n) + "1" + strings.Repeat("]", 60))
		if got := indented(raw); len(got) > 2<<20 && len(got) > len(raw) || (n < maxShown/2) != strings.Contains(got, "\n") {
			t.Errorf("%d bytes of JSON are shown as %d", len(raw), len(got))
		}
	}
}
