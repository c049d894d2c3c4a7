package schema

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// spent returns what is left of the budget after it is spent on a value, whether the value may be
// invalid by that, and a function that reports whether the library finds it invalid.
func spent(t *testing.T, schema, value string) (left int, mayFail bool, fails func() bool) {
	t.Helper()
	s, err := Parse([]byte(schema))
	if err != nil {
		t.Fatal(err)
	}
	l, err := s.load()
	if err != nil {
		t.Fatal(err)
	}
	root, err := l.compile()
	if err != nil {
		t.Fatal(err)
	}
	v, bad := decode([]byte(value))
	if bad != nil {
		t.Fatal(bad)
	}
	v, _ = trim(root, v, "", "")
	b := budget{left: maxSteps, patterns: l.patterns}
	mayFail = b.spend(root, v, place{})
	return b.left, mayFail, func() bool { return root.Validate(v) != nil }
}

// repeat returns a list of n times the same text.
func repeat(text string, n int) string { return strings.Repeat(text+",", n-1) + text }

// TestEachKeywordIsPaidFor asserts that values of at most 1 MiB are refused for which the library
// would take many seconds, or gigabytes, because of one keyword.
func TestEachKeywordIsPaidFor(t *testing.T) {
	t.Parallel()
	all := func(sub string, n int) string { return `{"allOf":[` + repeat(sub, n) + `]}` }
	each := func(sub string) string { return `{"items":` + sub + `}` }
	list := func(item string, n int) string { return "[" + repeat(item, n) + "]" }
	text := func(s string, n int) string { return `"` + strings.Repeat(s, n) + `"` }
	chain := ""
	for i := range 6000 {
		chain += fmt.Sprintf(`"%d":{"$ref":"#/definitions/%d"},`, i, i+1)
	}
	words := strings.ReplaceAll(names(15_000), ":true", "")
	nines := strings.Repeat("9", 380)
	for name, c := range map[string]struct{ schema, value string }{
		"minimum":                      {each(all(`{"minimum":-1e-400}`, 11)), list("1e-400", 120_000)},
		"maximum, long":                {each(all(`{"maximum":1e-400}`, 300)), list("0."+nines, 2_600)},
		"exclusiveMinimum":             {each(all(`{"exclusiveMinimum":-1e-400}`, 11)), list("1e400", 120_000)},
		"exclusiveMaximum, long":       {each(all(`{"exclusiveMaximum":0.`+nines+`e-400}`, 11)), list("1", 500_000)},
		"multipleOf":                   {each(all(`{"multipleOf":1e-400}`, 11)), list("1e-400", 120_000)},
		"multipleOf, long":             {each(all(`{"multipleOf":0.`+nines+`e-400}`, 300)), list("0."+nines+"e-400", 2_500)},
		"integer":                      {each(all(`{"type":"integer"}`, 11)), list("1e-400", 120_000)},
		"integer, among others":        {each(all(`{"type":["string","integer"]}`, 11)), list("1e-400", 120_000)},
		"const, a long number":         {each(all(`{"const":`+nines+`}`, 400)), list(nines, 2_500)},
		"const, many numbers":          {each(all(`{"const":[`+repeat("1e400", 300)+`]}`, 100)), list("["+repeat("1e-400", 300)+"]", 400)},
		"enum, many numbers":           {each(`{"enum":[` + numbers(20_000) + `]}`), list("-1", 100)},
		"const, a long text":           {each(`{"const":` + text("x", 250_000) + `}`), list("1", 200)},
		"const, the name of a member":  {each(`{"const":{` + text("x", 250_000) + `:1}}`), list("1", 200)},
		"enum, a long text":            {each(`{"enum":[` + text("x", 250_000) + `]}`), list("1", 200)},
		"enum, a text with verbs":      {each(`{"enum":[` + text("%d", 1000) + `]}`), list("1", 50_000)},
		"minLength":                    {all(`{"minLength":2000000}`, 8_000), text("x", 1_000_000)},
		"maxLength":                    {all(`{"maxLength":2000000}`, 8_000), text("ä", 500_000)},
		"pattern, a long text":         {all(`{"pattern":"[^x]y"}`, 500), text("x", 1_000_000)},
		"pattern, long itself":         {each(`{"pattern":"[` + strings.Repeat("x", 100_000) + `]"}`), list(`""`, 500)},
		"format":                       {all(`{"format":"date"}`, 8_000), text("x", 1_000_000)},
		"format, to escape":            {all(`{"format":"date"}`, 8_000), text(`\u0001`, 160_000)},
		"format idn-hostname":          {all(`{"format":"idn-hostname"}`, 8_000), text("äöüßéèê", 35)},
		"format regex":                 {each(`{"format":"regex"}`), list(text("a.", 5_000), 100)},
		"format regex, classes":        {each(`{"format":"regex"}`), list(text(`\\pL|`, 1_000), 100)},
		"format regex, letter case":    {each(`{"format":"regex"}`), list(`"(?i)[a-\\x{10ffff}]"`, 10_000)},
		"format regex, raw characters": {each(`{"format":"regex"}`), list("\"(?i)[a-\U0010ffff]\"", 10_000)},
		"required":                     {each(`{"required":[` + text("x", 250_000) + `]}`), list("{}", 200)},
		"dependencies, many":           {each(`{"dependencies":{"a":[` + words + `]}}`), list(`{"a":1}`, 200)},
		"dependencies, a long name":    {each(`{"dependencies":{"a":[` + text("x", 250_000) + `]}}`), list(`{"a":1}`, 200)},
		"dependencies of a long name":  {`{"dependencies":{` + text("x", 100_000) + `:[` + words + `]}}`, `{` + text("x", 100_000) + `:1}`},
		"additionalProperties":         {all(`{"additionalProperties":false}`, 8_000), `{` + names(40_000) + `}`},
		"additionalProperties, long":   {all(`{"additionalProperties":false}`, 8_000), `{` + text("x", 1_000_000) + `:1}`},
		"patternProperties":            {all(`{"patternProperties":{"[^x]y":true}}`, 4_000), `{` + text("x", 1_000_000) + `:1}`},
		"propertyNames":                {all(`{"propertyNames":false}`, 8_000), `{` + names(40_000) + `}`},
		"any schema, many members":     {all(`{}`, 40_000), `{` + names(40_000) + `}`},
		"any schema, long names":       {all(`{}`, 40_000), `{` + text("x", 500_000) + `:1,` + text("y", 500_000) + `:1}`},
		"any schema, many items":       {all(`{}`, 40_000), list("1", 500_000)},
		"false, many items":            {all(`false`, 40_000), list("1", 500_000)},
		"$ref, a chain that fails":     {`{"items":{"$ref":"#/definitions/0"},"definitions":{` + chain + `"6000":false}}`, list("1", 10)},
		"$ref, a chain that does not":  {`{"items":{"$ref":"#/definitions/0"},"definitions":{` + chain + `"6000":true}}`, list("1", 100)},
		"anyOf, nested":                {each(strings.Repeat(`{"anyOf":[`, 45) + `false` + strings.Repeat(`]}`, 45)), list("1", 20_000)},
		"maxItems at each level":       {`{"items":{"$ref":"#"},"allOf":[` + repeat(`{"contains":false}`, 300) + `]}`, strings.Repeat("[", 500) + strings.Repeat("]", 500)},
	} {
		if len(c.schema) > MaxForeign || len(c.value) > 1<<20 {
			t.Errorf("%s: the schema has %d bytes, the value %d", name, len(c.schema), len(c.value))
			continue
		}
		if left, _, _ := spent(t, c.schema, c.value); left >= 0 {
			t.Errorf("%s: %d steps are left", name, left)
		}
	}
}

// TestOrdinaryValuesAreAffordable asserts that values are not refused because of what their schema
// would cost for other values.
func TestOrdinaryValuesAreAffordable(t *testing.T) {
	t.Parallel()
	node := `{"type":"object","required":["type","name"],"additionalProperties":false,"properties":{"type":{"enum":["node","leaf"]},"name":{"type":"string","maxLength":100,"pattern":"^[a-z]+$"},` +
		`"children":{"type":"array","maxItems":1000,"items":{"$ref":"#/definitions/node"}}}}`
	tree := `{"$ref":"#/definitions/node","definitions":{"node":` + node + `}}`
	leaf := `{"type":"leaf","name":"x","children":[]}`
	wide, deep := leaf, leaf
	for range 6 {
		wide = `{"type":"node","name":"abc","children":[` + repeat(wide, 5) + `]}`
	}
	for range 200 {
		deep = `{"type":"node","name":"abc","children":[` + leaf + `,` + deep + `]}`
	}
	for name, c := range map[string]struct{ schema, value string }{
		"digits":          {`{"properties":{"data":{"type":"array","items":{"type":"integer","minimum":0,"maximum":9}}}}`, `{"data":[` + repeat("1", 524_000) + `]}`},
		"numbers":         {`{"items":{"type":"number","minimum":-1e300,"maximum":1e300,"multipleOf":0.001}}`, `[` + repeat("1.234", 170_000) + `]`},
		"a list of words": {`{"items":{"enum":["red","green","blue"]}}`, `[` + repeat(`"red"`, 170_000) + `]`},
		"alternatives":    {`{"items":{"anyOf":[{"type":"string"},{"type":"integer","minimum":0},{"type":"null"}]}}`, `[` + repeat("12345", 170_000) + `]`},
		"records":         {`{"items":{"type":"object","required":["id"],"additionalProperties":false,"properties":{"id":{"type":"integer","minimum":1},"name":{"minLength":1,"maxLength":80},"url":{"format":"uri"}}}}`, `[` + repeat(`{"id":123,"name":"some name","url":"https://example.com/a"}`, 17_000) + `]`},
		"a map":           {`{"patternProperties":{"^k[0-9]+$":{"type":"boolean"}},"additionalProperties":false}`, `{` + names(70_000) + `}`},
		"a wide tree":     {tree, wide},
		"a deep tree":     {tree, deep},
		"a long text":     {`{"properties":{"a":{"type":"string","minLength":1,"pattern":"\\S","format":"uri"}}}`, `{"a":"https://example.com/` + strings.Repeat("x", 1_000_000) + `"}`},
		"names of hosts":  {`{"items":{"format":"idn-hostname"}}`, `[` + repeat(`"www.exämple.com"`, 50_000) + `]`},
		"expressions":     {`{"items":{"format":"regex"}}`, `[` + repeat(`"^[a-z]+-\\d{2,3}(foo|bar)$"`, 5_000) + `]`},
		"and in any case": {`{"items":{"format":"regex"}}`, `[` + repeat(`"(?i)^[a-z]+-\\d{2,3}(foo|bar)$"`, 5_000) + `]`},
	} {
		if left, _, _ := spent(t, c.schema, c.value); left < 0 {
			t.Errorf("%s: %d steps are missing", name, -left)
		}
	}
}

// TestWhatCannotFailIsValid asserts that the budget expects a failure wherever there is one, because
// failures cost most.
func TestWhatCannotFailIsValid(t *testing.T) {
	t.Parallel()
	parts := []string{
		`true`, `false`, `{}`, `{"type":"integer"}`, `{"type":["string","null"]}`, `{"type":"boolean"}`, `{"type":"object"}`, `{"type":"array"}`, `{"type":"number"}`,
		`{"const":1}`, `{"const":"a"}`, `{"const":null}`, `{"const":[1]}`, `{"const":{}}`, `{"enum":["a",1,true,null,[],{}]}`, `{"enum":[false,"b"]}`,
		`{"minLength":2}`, `{"maxLength":1}`, `{"pattern":"^a"}`, `{"pattern":"^a{1,900}$"}`, `{"format":"ipv4"}`, `{"minimum":1}`, `{"exclusiveMaximum":1}`, `{"multipleOf":2}`,
		`{"minItems":1}`, `{"maxItems":1}`, `{"uniqueItems":true}`, `{"contains":{"type":"string"}}`, `{"items":[{"type":"string"}],"additionalItems":false}`, `{"items":[true],"additionalItems":{"type":"string"}}`,
		`{"required":["a"]}`, `{"minProperties":1}`, `{"maxProperties":1}`, `{"additionalProperties":false}`, `{"properties":{"a":true},"additionalProperties":false}`, `{"propertyNames":{"maxLength":1}}`, `{"patternProperties":{"^a":{"type":"string"}},"additionalProperties":false}`,
		`{"dependencies":{"a":["b"]}}`, `{"dependencies":{"a":{"required":["b"]}}}`,
	}
	values := []string{`null`, `true`, `false`, `1`, `1.5`, `10e-1`, `-2`, `""`, `"a"`, `"ää"`, `"b"`, `"127.0.0.1"`, `[]`, `[1]`, `[1,1]`, `["a"]`, `["a",1]`, `[[],{}]`, `{}`, `{"a":1}`, `{"a":"a"}`, `{"b":null}`, `{"a":[],"b":{}}`, `{"abc":1,"d":2}`}
	var schemas []string
	for i, one := range parts {
		two, three := parts[(i*7+3)%len(parts)], parts[(i*11+5)%len(parts)]
		schemas = append(schemas, one)
		for _, whole := range []string{
			`{"not":A}`, `{"allOf":[A,B]}`, `{"anyOf":[A,B]}`, `{"oneOf":[A,B]}`, `{"if":A,"then":B,"else":C}`, `{"if":A,"else":B}`, `{"$ref":"#/definitions/a","definitions":{"a":A}}`,
			`{"items":A}`, `{"items":[A,B],"additionalItems":C}`, `{"contains":A}`, `{"properties":{"a":A,"b":B},"additionalProperties":C}`, `{"patternProperties":{"a":A,".":B}}`, `{"propertyNames":A}`, `{"dependencies":{"a":A}}`, `{"not":{"items":A}}`,
		} {
			schemas = append(schemas, strings.NewReplacer("A", one, "B", two, "C", three).Replace(whole))
		}
	}
	sure := 0
	for _, text := range schemas {
		for _, value := range values {
			_, mayFail, fails := spent(t, text, value)
			switch {
			case mayFail:
			case fails():
				t.Errorf("%s: %s is invalid, which was not expected", text, value)
			default:
				sure++
			}
		}
	}
	if sure < len(schemas)*len(values)/4 {
		t.Errorf("only %d of %d values cannot fail", sure, len(schemas)*len(values))
	}
}

// TestALongListIsShownSoon asserts that a message about a list of lists does not take time for all
// that the message does not show.
func TestALongListIsShownSoon(t *testing.T) {
	t.Parallel()
	value := "1"
	for range 5 {
		value = "[" + repeat(value, 12) + "]"
	}
	s, err := Parse([]byte(`{"allOf":[` + repeat(`{"minItems":20}`, 900) + `]}`))
	if err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	got, err := s.Validate([]byte(value))
	want := "[[[[[1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1], [1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1], … is too short (12 items, at least 20)"
	if took := time.Since(start); err != nil || len(got) != 900 || !strings.HasPrefix(got[0].Message, want) || took > 3*time.Second { // it takes a tenth of a second
		t.Errorf("%d violations, the first is %.200v, %v after %v", len(got), got[:min(len(got), 1)], err, took)
	}
}
