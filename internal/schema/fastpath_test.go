package schema

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/agent-airlock/airlock/schemas"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
)

// compare reports a difference between the fast path, with the library as its
// fallback, and the library alone: in a violation's path, its message or its schema path.
// It also reports members that the fast path accepts although raw does not conform.
// It returns whether raw is an object in strict JSON and the fast path is sure that it conforms.
func compare(t *testing.T, name string, s *Schema, raw []byte) (sure bool) {
	t.Helper()
	l, err := s.load()
	if err != nil {
		t.Fatal(err)
	}
	want, err := l.validate(raw)
	if err != nil {
		t.Fatal(err)
	}
	got, err := s.Validate(raw)
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%s: %.2000s: the fast path changes the answer (-library +fast path): %s%v", name, raw, diff, err)
	}
	if !jsontext.Value(raw).IsValid() {
		return false
	}
	members, err := MembersOf(raw)
	if err != nil {
		return false
	}
	if l.fast.acceptsMembers(members) && len(want) > 0 {
		t.Errorf("%s: members of %.2000s: the fast path accepts them, but: %v", name, raw, want)
	}
	return l.fast.accepts(raw)
}

// comparedSchemas returns every published file, each definition of the agents'
// output, and SARIF's schema.
func comparedSchemas(t testing.TB) map[string]*Schema {
	t.Helper()
	sarif := sarifDocument(t)
	all := map[string]*Schema{"SARIF": New(func() (any, error) { return sarif, nil })}
	for _, file := range schemas.Names() {
		all[file], _ = Published(file, "")
	}
	definitions, err := schemas.Definitions(schemas.AgentOutput)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range definitions {
		all[d], _ = Published(schemas.AgentOutput, d)
	}
	return all
}

// sarifDocument returns SARIF's schema with the changes that package sarif makes.
func sarifDocument(t testing.TB) any {
	t.Helper()
	raw, err := os.ReadFile("../sarif/oasis/sarif-2.1.0.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, change := range [][2]string{
		{`"uniqueItems"\s*:\s*true`, `"$comment": ""`}, {`"format"\s*:\s*"uri(-reference)?"`, `"$comment": ""`},
		{`"\$schema"\s*:\s*"[^"]*draft-0[0-9]/schema#?"`, `"$schema": "http://json-schema.org/draft-07/schema#"`},
	} {
		raw = regexp.MustCompile(change[0]).ReplaceAll(raw, []byte(strings.ReplaceAll(change[1], "$", "$$")))
	}
	document, bad := decode(raw)
	if bad != nil {
		t.Fatal(bad)
	}
	if region, ok := resolve(document, "/definitions/region/properties").(map[string]any); ok {
		delete(region, "anyOf")
	}
	return document
}

// oddValues are the values that a keyword's check might get wrong.
var oddValues = []string{
	`""`, `"x"`, `" "`, `"abc"`, `"abcd"`, `"\n"`, `"é"`, `"\u00e9\u00e9\u00e9"`, `"7"`, `"\u0037"`, `" \u0061"`, `"\\"`, `"\"\\\""`, `"\ud83d\ude00"`, `"\ud800"`, "\"\xff\"", "\"a\xffb\"",
	`0`, `-0`, `7`, `-7`, `7.0`, `1.5`, `1e1`, `1E-1`, `51`, `2147483647`, `2147483648`, `99999999999999999999`, `0.1234567890123456789`, `1e400`, `1e401`, `1e-401`,
	`true`, `false`, `null`, `[]`, `[ ]`, `["a"]`, `["a","b"]`, `["a", "b" ,"c"]`, `["abc"]`, `["\\"]`, `[1]`, `[["a"]]`, `{}`, `{ }`, `{"x":1}`, `{"x":1e401}`, `{"\u0078":1}`, `{"x":null,"x":"x"}`,
}

func TestFastPathOnEachKeyword(t *testing.T) {
	t.Parallel()
	sources := []string{
		`{"type":"object","properties":{"a":{"type":"string","minLength":1,"maxLength":3,"pattern":"\\S"}},"required":["a"],"additionalProperties":false}`,
		`{"type":"object","properties":{"a":{"type":"integer","minimum":1,"maximum":50}}}`,
		`{"type":"object","properties":{"a":{"oneOf":[{"type":"integer","minimum":1},{"type":"string","pattern":"^[1-9]$"}]}}}`,
		`{"type":"object","properties":{"a":{"type":"array","items":{"type":"string","maxLength":2},"minItems":1,"maxItems":2}}}`,
		`{"type":"object","properties":{"a":{"type":"boolean"},"b":{"enum":["x"]},"c":{"type":"string","enum":["x","y"]}},"anyOf":[{"required":["a"]},{"required":["c"]}]}`,
		`{"type":"object","properties":{"a":{"const":"x"},"b":{"type":"object"}}}`,
		`{"type":"object","properties":{"a":{"const":"x","enum":["x","abc"]},"c":{"enum":["abc","7"],"const":"x"}}}`,
		`{"type":"object","properties":{"a":{"type":"string","format":"uri"},"c":{"$ref":"#/properties/a"}}}`,
		`{"type":"object","properties":{"a":{"type":"object","required":["x"]},"c":{"type":"array","items":{"type":"integer"}}},"minProperties":2}`,
		`{"type":"object","properties":{"a":{"enum":["x",1]},"c":{"type":["string","null"]}},"not":{"required":["c"]}}`,
		`{"type":"object","properties":{"a":{"type":"object","properties":{"x":{"type":"string"}}},"c":{"oneOf":[{"type":"integer"},{"type":"integer"}]}}}`,
		`{"type":"object","properties":{"a":{"type":"object","additionalProperties":false},"c":{"type":"integer","multipleOf":2}},"dependencies":{"a":["b"]}}`,
		`{"properties":{"a":{"minLength":2},"c":{"type":"number","minimum":-7,"maximum":1.5}}}`,
		`{"properties":{"a":{"type":"integer"},"c":{"enum":[7,true,null,"x"]}}}`,
		`{"properties":{"a":{"type":"array","items":{"type":"array"}},"c":{"additionalProperties":{"type":"integer"}}}}`,
		`{"properties":{"a":{"$ref":"#/definitions/tree"},"c":{"$ref":"#/definitions/tree"}},"definitions":{"tree":{"type":["array","string"],"items":{"oneOf":[{"$ref":"#/definitions/tree"},{"type":"integer"}]}}}}`,
		`{"properties":{"a":true,"c":false}}`,
		`{"properties":{"a":{"oneOf":[{"minLength":1},{"type":"string"}]},"c":{"oneOf":[{"type":"string"},{"type":"integer"}],"maxLength":1}}}`,
		`{"properties":{"a":{"type":"string","format":"uuid"},"c":{"format":"date-time"}},"required":["b"]}`,
		`{"properties":{"a":{"type":"string","pattern":"^.?$"},"c":{"pattern":"\\S","format":"email"}}}`,
		`{"$id":"https://schema.invalid/x","properties":{"a":{"$id":"https://schema.invalid/y","$ref":"#/definitions/s"},"c":{"items":[{"type":"string"}]}},"definitions":{"s":{"type":"string"}}}`,
	}
	sure := 0
	for _, source := range sources {
		s, err := parse([]byte(source))
		if err != nil {
			t.Fatal(err)
		}
		for i, a := range oddValues {
			values := []string{`{"a":` + a + `}`}
			for n := i % 5; n < len(oddValues); n += 5 {
				values = append(values, `{"a":`+a+`,"c":`+oddValues[n]+`}`)
			}
			for _, value := range values {
				if compare(t, source, s, []byte(value)) {
					sure++
				}
			}
		}
	}
	if sure < 400 {
		t.Errorf("the fast path was sure of %d values only", sure)
	}
}

// sarifVariants returns the rich log of package sarif, and changes of it.
func sarifVariants(t testing.TB) (variants []string) {
	t.Helper()
	raw, err := os.ReadFile("../sarif/testdata/rich.sarif")
	if err != nil {
		t.Fatal(err)
	}
	good := string(raw)
	for _, change := range [][2]string{
		{"", ""}, {`"executionSuccessful": true`, `"executionSuccessful": 1`}, {`"startLine": 2`, `"startLine": 0`}, {`"startLine": 2`, `"startLine": 2.5`},
		{`"level": "warning"`, `"level": "Warning"`}, {`"level": "warning"`, `"level": "note"`}, {`"text": "Dangling"`, `"text": 5`}, {`"text": "Dangling"`, `"markdown": "x"`},
		{`"guid": "1`, `"guid": "x`}, {`"guid": "1`, `"guid": "a`}, {`"index": 0`, `"index": -2`}, {`"index": 0`, `"indexes": 0`}, {`"name": "pack"`, `"nam": "pack"`},
		{`"locations": [{"index": 0, "executionOrder": 1}, {"location": {"physicalLocation": {"artifactLocation": {"uri": "/etc/passwd"}}}}]`, `"locations": []`},
		{`"physicalLocation": {"artifactLocation": {"uri": "gone.go"}, `, `"physicalLocation": {`}, {`"version": "2.1.0",`, ``}, {`2.50`, `1e999999999`}, {`"arguments": ["x"`, `"arguments": [7`},
		{`"tags": [`, `"tags": [1, `}, {`"columnKind": "utf16CodeUnits"`, `"columnKind": "utf16"`}, {`"results": [`, `"results": ["x", `}, {`"taxa": [{"id": "22"}]`, `"taxa": {"id": "22"}`},
	} {
		in := strings.Replace(good, change[0], change[1], 1)
		if change[0] != "" && in == good {
			t.Fatalf("there is no %s", change[0])
		}
		value, bad := decode([]byte(in))
		if bad != nil {
			variants = append(variants, in)
			continue
		}
		variants = append(variants, string(appendJSON(nil, withoutNulls(value))))
	}
	return variants
}

// withoutNulls leaves out the members that are null, as package sarif does.
func withoutNulls(value any) any {
	switch value := value.(type) {
	case map[string]any:
		for name, v := range value {
			if value[name] = withoutNulls(v); v == nil {
				delete(value, name)
			}
		}
	case []any:
		for i, v := range value {
			value[i] = withoutNulls(v)
		}
	}
	return value
}

func TestFastPathOnSARIF(t *testing.T) {
	s := comparedSchemas(t)["SARIF"]
	sure := 0
	for _, in := range sarifVariants(t) {
		if compare(t, "SARIF", s, []byte(in)) {
			sure++
		}
	}
	if sure < 3 {
		t.Errorf("the fast path is sure of %d variants only", sure)
	}
}

// TestFastPathOnGeneratedValues calls compare for values that are made from each
// schema: most conform, the others differ from it in one or a few places.
func TestFastPathOnGeneratedValues(t *testing.T) {
	t.Parallel()
	for name, s := range comparedSchemas(t) {
		l, err := s.load()
		if err != nil {
			t.Fatal(err)
		}
		g := &generator{Rand: rand.New(rand.NewPCG(9, 1)), document: l.document}
		sure := 0
		const values = 90
		for i := range values {
			g.oddOneIn = []int{1 << 20, 60, 8}[i%3]
			if compare(t, name, s, g.value(nil, l.document, 0)) {
				sure++
			}
		}
		// The fast path is never sure of a security report, because both of its forms are objects.
		// Intake validates with one form.
		if name != "create-security-report" && !l.fast.unsure && sure < values/20 {
			t.Errorf("%s: the fast path was sure of %d of %d values only", name, sure, values)
		}
	}
}

// FuzzFastPath calls compare for any bytes, each time with one schema. Its seeds are the variants
// of a SARIF log, odd values, and the lines of the examples of agents' output. A line is a seed for
// each schema whose name it contains.
func FuzzFastPath(f *testing.F) {
	all := comparedSchemas(f)
	names := slices.Sorted(maps.Keys(all))
	add := func(schema string, raw []byte) { f.Add(uint8(slices.Index(names, schema)), raw) }
	for _, v := range sarifVariants(f) {
		add("SARIF", []byte(v))
	}
	for i, v := range oddValues {
		add(names[i%len(names)], []byte(v))
	}
	files, err := filepath.Glob("../../testdata/outputs/*/*")
	if err != nil || len(files) == 0 {
		f.Fatal("there are no examples", err)
	}
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil || len(raw) > 1<<14 {
			continue
		}
		for line := range bytes.Lines(raw) {
			for _, name := range names {
				if bytes.Contains(line, []byte(name)) {
					add(name, line)
				}
			}
		}
	}
	f.Fuzz(func(t *testing.T, schema uint8, raw []byte) {
		name := names[int(schema)%len(names)]
		compare(t, name, all[name], raw)
	})
}

// generator writes values that conform to a schema, except that one choice in
// oddOneIn is replaced by an odd one.
type generator struct {
	*rand.Rand
	document any
	oddOneIn int
}

func (g *generator) odd() bool { return g.IntN(g.oddOneIn) == 0 }

func (g *generator) pick(list []any) any { return list[g.IntN(len(list))] }

func (g *generator) space(b []byte) []byte {
	return append(b, []string{"", "", "", " ", "\n\t"}[g.IntN(5)]...)
}

func (g *generator) value(b []byte, schema any, depth int) []byte {
	s, _ := schema.(map[string]any)
	if ref, ok := s["$ref"].(string); ok {
		return g.value(b, resolve(g.document, strings.TrimPrefix(ref, "#")), depth)
	}
	if g.odd() {
		return append(b, oddValues[g.IntN(len(oddValues))]...)
	}
	if c, ok := s["const"]; ok {
		return appendJSON(b, c)
	}
	if list, ok := s["enum"].([]any); ok {
		return appendJSON(b, g.pick(list))
	}
	if list, ok := s["oneOf"].([]any); ok {
		return g.value(b, g.pick(list), depth)
	}
	name, _ := s["type"].(string)
	if list, ok := s["type"].([]any); ok {
		name, _ = g.pick(list).(string)
	}
	if list, ok := s["anyOf"].([]any); ok && name == "" {
		return g.value(b, g.pick(list), depth)
	}
	switch {
	case name == "object" || name == "" && s["properties"] != nil:
		return g.object(b, s, depth)
	case name == "array":
		return g.array(b, s, depth)
	case name == "string":
		return g.text(b, s)
	case name == "integer" || name == "number":
		return g.number(b, s)
	case name == "boolean":
		return fmt.Appendf(b, "%t", g.IntN(2) == 0)
	case name == "null":
		return append(b, "null"...)
	}
	return append(b, oddValues[g.IntN(len(oddValues))]...)
}

func (g *generator) object(b []byte, s map[string]any, depth int) []byte {
	required, _ := s["required"].([]any)
	if list, ok := s["anyOf"].([]any); ok {
		alternative, _ := g.pick(list).(map[string]any)
		more, _ := alternative["required"].([]any)
		required = append(slices.Clone(required), more...)
	}
	properties, _ := s["properties"].(map[string]any)
	var names []string
	for _, name := range slices.Sorted(maps.Keys(properties)) { // a map's own order differs from run to run
		isRequired := slices.Contains(required, any(name))
		if isRequired && !g.odd() || depth < 5 && g.IntN(3+depth*4) == 0 {
			names = append(names, name)
		}
	}
	g.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	if len(names) > 0 && g.odd() {
		names = append(names, names[0]) // twice
	}
	others := s["additionalProperties"]
	if others != false && depth < 5 && g.IntN(4) == 0 || g.odd() {
		names = append(names, "other")
	}
	b = g.space(append(b, '{'))
	for i, name := range names {
		if i > 0 {
			b = g.space(append(b, ','))
		}
		if g.odd() {
			b = fmt.Appendf(b, `"\u%04x%s"`, name[0], name[1:])
		} else {
			b = appendJSON(b, name)
		}
		b = g.space(append(g.space(b), ':'))
		property, isListed := properties[name]
		if !isListed {
			property = others
		}
		b = g.space(g.value(b, property, depth+1))
	}
	return append(b, '}')
}

func (g *generator) array(b []byte, s map[string]any, depth int) []byte {
	least, _ := intKeyword(s["minItems"])
	n := least + g.IntN(3)
	if most, ok := intKeyword(s["maxItems"]); ok && n > most || depth > 5 {
		n = least
	} else if ok && g.odd() {
		n = min(most, 300) + 1
	}
	if g.odd() {
		n = max(least-1, 0)
	}
	b = g.space(append(b, '['))
	for i := range n {
		if i > 0 {
			b = g.space(append(b, ','))
		}
		b = g.space(g.value(b, s["items"], depth+1))
	}
	return append(b, ']')
}

// samples are texts for patterns and formats.
var samples = []string{"x", "1", "a/b.go", "0123456789abcdef0123456789abcdef01234567", "0123456789abcdef0123456789abcdef", "2026-01-02T03:04:05.678Z",
	"11111111-1111-4111-8111-11111111111a", "1.2.3", "https://github.com/o/r", "a/b", "$.a", "/a/b", "[x]"}

func (g *generator) text(b []byte, s map[string]any) []byte {
	text := samples[g.IntN(len(samples))]
	if most, ok := intKeyword(s["maxLength"]); ok && g.IntN(3) == 0 {
		n := min(most, 2000)
		if g.odd() {
			n++
		}
		text = strings.Repeat([]string{"x", "é", "\n"}[g.IntN(3)], n)
	}
	pattern, _ := s["pattern"].(string)
	re := regexp.MustCompile(pattern)
	for range 40 {
		if re.MatchString(text) || g.odd() {
			break
		}
		text = samples[g.IntN(len(samples))]
	}
	switch s["format"] {
	case "date-time":
		text = samples[5]
	case "uuid":
		text = samples[6]
	}
	if g.IntN(6) == 0 {
		return fmt.Appendf(b, `"%s\u%04x"`, text[:len(text)-1], text[len(text)-1]&0x7f)
	}
	return appendJSON(b, text)
}

func (g *generator) number(b []byte, s map[string]any) []byte {
	least, hasLeast := intKeyword(s["minimum"])
	most, hasMost := intKeyword(s["maximum"])
	n := least + g.IntN(5)
	switch {
	case hasMost && g.IntN(4) == 0:
		n = most
	case hasMost && g.odd():
		n = most + 1
	case hasLeast && g.odd():
		n = least - 1
	case hasMost:
		n = min(n, most)
	}
	b = fmt.Append(b, n)
	if g.odd() || s["type"] == "number" && g.IntN(4) == 0 {
		b = append(b, []string{".0", ".5", "e0", ".0000000000000001"}[g.IntN(4)]...)
	}
	return b
}

func appendJSON(b []byte, v any) []byte {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return append(b, raw...)
}
