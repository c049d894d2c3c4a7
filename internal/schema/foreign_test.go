package schema

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
)

func TestParseRefuses(t *testing.T) {
	nested := strings.Repeat(`{"not":`, 150) + `{}` + strings.Repeat(`}`, 150)
	for raw, want := range map[string]string{
		`{"type":"nope"}`:                  "not valid draft-07",
		`{`:                                "not valid JSON",
		`{"type":"object","type":"array"}`: "$.type twice",
		`{"$schema":"https://json-schema.org/draft/2020-12/schema"}`: "only draft-07",
		`{"$schema":7}`: "only draft-07",
		`{"$ref":"http://json-schema.org/draft-07/schema#"}`:              "only references within the schema",
		`{"$ref":"https://example.com/s.json"}`:                           "only references within the schema",
		`{"$ref":"file:///etc/passwd"}`:                                   "only references within the schema",
		`{"$id":"https://example.com/a","properties":{"b":{"$ref":"b"}}}`: "only references within the schema",
		`{"$ref":"#"}`: "cannot be compiled",
		`{"allOf":[{"$ref":"#/definitions/a"}],"definitions":{"a":{"not":{"$ref":"#"}}}}`: "cannot be compiled",
		`{"properties":{"a":{"pattern":"(?=x)"}}}`:                                        "at $.properties.a.pattern: the pattern '(?=x)' is not one that Go's regexp (RE2) knows: error parsing regexp: invalid or unsupported Perl syntax: `(?=`",
		`{"properties":{"a":{"pattern":"a{2000}"}}}`:                                      "invalid repeat count",
		`{"patternProperties":{"(?!a/~b)":{}}}`:                                           "the pattern '(?!a/~b)' is not one",
		`{"pattern":"` + strings.Repeat(`(a{1000})`, 50) + `"}`:                           "patterns of the schema are too large",
		`{"allOf":[` + repeat(`{"pattern":"(?i)[a-\\x{10ffff}]"}`, 200) + `]}`:            "patterns of the schema take too long to read",
		`{"pattern":"(?i)` + strings.Repeat("[a-\U0010ffff]", 200) + `"}`:                 "patterns of the schema take too long to read",
		`{"patternProperties":{"(?i)` + strings.Repeat(`\\pL`, 200) + `":true}}`:          "patterns of the schema take too long to read",
		`{"minimum":1e10000000}`:                                                          "out of range",
		`{"description":"` + strings.Repeat("x", MaxForeign) + `"}`:                       "larger than",
		nested: "nested more than",
		`{"properties":{"a":{"$ref":"#/definitions/b"}},"definitions":{"a":{"type":"x"}}}`: "draft-07",
	} {
		if _, err := Parse([]byte(raw)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Parse(%.100s) = %v, want an error with %q", raw, err, want)
		}
	}
	for _, raw := range []string{
		`{}`, `true`, `{"$schema":"http://json-schema.org/draft-07/schema#","type":"object"}`, `{"$schema":"http://json-schema.org/draft-07/schema"}`,
		`{"$id":"https://example.com/a","properties":{"b":{"$ref":"#/definitions/b"}},"definitions":{"b":{"type":"string"}}}`,
		`{"properties":{"a":{"$ref":"#"}}}`,
	} {
		if _, err := Parse([]byte(raw)); err != nil {
			t.Errorf("Parse(%s) = %v", raw, err)
		}
	}
}

func TestFormatsAreAsserted(t *testing.T) {
	for format, texts := range map[string]struct{ good, bad []string }{
		"uri":           {[]string{"https://example.com/a?b=c#d", "mailto:a@b.example", "urn:isbn:1", "http://[::1]:80/%20", "http://user:pw@h.example/"}, []string{"not-a-url", "", "/a", "//example.com", "http://a b", "http://a/b c", "http://a/<b>", `http://a\b`, "http://ä.example", "http://a/%zz", "http://a/%2", "http://a/[b]", "http://[zz]/", "1http://a", "http://a/#b#c", " http://a", "http://a\n", "http://a:port/"}},
		"uri-reference": {[]string{"/a", "a/b", "", "#c", "//example.com", "https://a"}, []string{`\\a`, "a b", "ä", "%"}},
		"iri":           {[]string{"http://ä.example/ü", "https://a"}, []string{"ä", "http://a/ b", "http://a/\u202e"}},
		"email":         {[]string{"a@b.example", "a+b@localhost", `"a b"@b.example`, "a@[127.0.0.1]", "a@[IPv6:::1]"}, []string{"a", "@b", "a@", "a b@c.example", "A <a@b.example>", " a@b.example", "a(c)@b.example", "a@-b", "ä@b.example", "a@b@c.example", ".a@b.example", "a..b@c.example", "a@[127.0.0.256]", "a@b\n"}},
		"idn-email":     {[]string{"ä@ö.example", "a@b.example"}, []string{"ä", "a b@c"}},
		"hostname":      {[]string{"a", "a-b.example", "1.example", strings.Repeat("a", 63)}, []string{"", "-a", "a-", "a.-b", "a..b", "a_b", "ä", "a.", strings.Repeat("a", 64), "a b"}},
		"idn-hostname":  {[]string{"ä.example", "a"}, []string{"", "-ä", "a b"}},
		"ipv4":          {[]string{"0.0.0.0", "255.255.255.255"}, []string{"+1.2.3.4", "1.2.3", "01.2.3.4", "1.2.3.256", "1.2.3.4 ", "::1"}},
		"ipv6":          {[]string{"::", "2001:db8::1", "::ffff:1.2.3.4"}, []string{"1.2.3.4", "fe80::1%eth0", ":::", "12345::"}},
		"date-time":     {[]string{"2026-11-22T10:00:00Z", "2026-11-22t10:00:00.5+01:00", "1998-12-31T23:59:60Z"}, []string{"2026-11-22", "2026-11-22T10:00:00", "2026-13-01T10:00:00Z", "2026-02-30T10:00:00Z", "2026-11-22 10:00:00Z", "2026-11-22T25:00:00Z"}},
		"date":          {[]string{"2024-02-29"}, []string{"2026-02-29", "26-01-01", "2026-1-1"}},
		"time":          {[]string{"10:00:00Z"}, []string{"10:00:00", "10:00", "24:00:00Z"}},
		"regex":         {[]string{"^a+$"}, []string{"(", "(?=a)"}},
		"json-pointer":  {[]string{"", "/a~0~1"}, []string{"a", "/~2"}},
		"uuid":          {[]string{"2eb8aa08-aa98-11ea-b4aa-73b441d16380"}, []string{"2eb8aa08", "2eb8aa08-aa98-11ea-b4aa-73b441d1638z"}},
		"uri-template":  {[]string{"", "https://a/{b}", "/repos{/owner,repo}{?page,per_page*}{#c:3}", "{+a.b}%20'"}, []string{"{", "}", "{}", "{a", "{a,}", "{a b}", "a b", "%2", "{a:0}", "{a:10000}", "{{a}}", "a\n"}},
		"of-our-own":    {[]string{"", "anything"}, nil},
	} {
		s, err := Parse(fmt.Appendf(nil, `{"format":%q}`, format))
		if err != nil {
			t.Fatal(err)
		}
		check := func(text string, want int) {
			t.Helper()
			if got, err := s.Validate(appendJSON(nil, text)); err != nil || len(got) != want {
				t.Errorf("%s %q: %v, %v; want %d violations", format, text, got, err, want)
			}
		}
		for _, text := range texts.good {
			check(text, 0)
		}
		for _, text := range texts.bad {
			check(text, 1)
		}
		if got, _ := s.Validate([]byte("17")); len(got) != 0 {
			t.Errorf("%s refuses a number: %v", format, got)
		}
	}
	s, _ := Parse([]byte(`{"properties":{"url":{"format":"uri"}}}`))
	got, _ := s.Validate([]byte(`{"url":"not-a-url"}`))
	if want := (Violation{"$.url", "'not-a-url' is not a valid URI", "properties.url.format"}); len(got) != 1 || got[0] != want {
		t.Errorf("got %v, want %v", got, want)
	}
}

// TestValidatingIsBounded asserts that nobody can occupy the process by a schema whose
// parts multiply, or a value that is made for it, and that large ordinary values are accepted.
func TestValidatingIsBounded(t *testing.T) {
	ladder := `{"$ref":"#/definitions/d0","definitions":{`
	for i := range 40 {
		ladder += fmt.Sprintf(`"d%d":{"allOf":[{"$ref":"#/definitions/d%d"},{"$ref":"#/definitions/d%d"}]},`, i, i+1, i+1)
	}
	ladder += `"d40":{}}}`
	for name, c := range map[string]struct{ schema, value string }{
		"ladder of references": {ladder, `{}`},
		"doubles with each level": {
			`{"anyOf":[{"properties":{"a":{"$ref":"#"}}},{"properties":{"a":{"$ref":"#"}}}]}`, strings.Repeat(`{"a":`, 60) + `1` + strings.Repeat(`}`, 60)},
		"doubles in conditions": {
			`{"if":{"items":{"$ref":"#"}},"then":{"items":{"$ref":"#"}}}`, strings.Repeat(`[`, 60) + strings.Repeat(`]`, 60)},
		"large pattern":                {`{"pattern":"(x?){900}(y?){900}z"}`, `"` + strings.Repeat("x", 1<<20) + `"`},
		"many names":                   {`{"patternProperties":{"(x?){900}z":{}}}`, `{"x":1` + manyNames(1000) + `}`},
		"properties of each item":      {`{"items":{"properties":{` + names(10_000) + `}}}`, `[{}` + strings.Repeat(",{}", 100_000) + `]`},
		"dependencies of each item":    {`{"items":{"dependencies":{` + names(10_000) + `}}}`, `[{}` + strings.Repeat(",{}", 100_000) + `]`},
		"subschemas for many names":    {`{"allOf":[true` + strings.Repeat(",true", 40_000) + `]}`, `{` + names(40_000) + `}`},
		"subschemas for many items":    {`{"allOf":[true` + strings.Repeat(",true", 40_000) + `]}`, `[` + numbers(40_000) + `]`},
		"many items under a long name": {`{"additionalProperties":{"items":{"type":"string"}}}`, `{"` + strings.Repeat("x", 500_000) + `":[` + numbers(40_000) + `]}`},
		"a long name of a definition":  {`{"items":{"$ref":"#/definitions/` + strings.Repeat("x", 100_000) + `"},"definitions":{"` + strings.Repeat("x", 100_000) + `":{"type":"string"}}}`, `[` + numbers(40_000) + `]`},
		"many times a long text":       {`{"allOf":[{"uniqueItems":true}` + strings.Repeat(`,{"uniqueItems":true}`, 8000) + `]}`, `["` + strings.Repeat("x", 1<<20) + `"]`},
		"many times a long name":       {`{"allOf":[{"uniqueItems":true}` + strings.Repeat(`,{"uniqueItems":true}`, 8000) + `]}`, `[{"` + strings.Repeat("x", 1<<20) + `":1}]`},
		"many times many items":        {`{"allOf":[{"uniqueItems":true}` + strings.Repeat(`,{"uniqueItems":true}`, 30) + `]}`, `[` + numbers(100_000) + `]`},
		"large enumeration":            {`{"items":{"enum":[` + numbers(20_000) + `]}}`, `[` + strings.Repeat("-1,", 20_000) + `-1]`},
	} {
		s, err := Parse([]byte(c.schema))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		got, err := s.Validate([]byte(c.value)) // without a limit it would take years
		if err != nil || len(got) != 1 || !strings.Contains(got[0].Message, "too large or too deeply nested") {
			t.Errorf("%s: %.200s, %v", name, fmt.Sprint(got), err)
		}
	}
	for name, c := range map[string]struct{ schema, value string }{
		"a megabyte of strings": {`{"items":{"type":"string","pattern":"^[a-z]{1,50}$"}}`, `["abc"` + strings.Repeat(`,"abcdefgh"`, 90_000) + `]`},
		"a long prompt":         {`{"properties":{"prompt":{"type":"string","minLength":1,"pattern":"\\S"}}}`, `{"prompt":"` + strings.Repeat("word ", 200_000) + `"}`},
		"unique items":          {`{"uniqueItems":true}`, `[` + numbers(100_000) + `]`},
	} {
		s, err := Parse([]byte(c.schema))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := s.Validate([]byte(c.value)); err != nil || len(got) != 0 {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
}

// TestOddNames asserts that a value is refused, and the reason described, even if its name in the
// object is odd: that of a keyword, or one that has to be escaped in a location.
func TestOddNames(t *testing.T) {
	names := []string{"plain", "required", "additionalProperties", "anyOf", "oneOf", "type", "contains", "minContains", "enum", "$ref", "properties", "propertyNames", "dependencies",
		"ü", "a b", "a%b", "%41", "#", "?", "'", "a~/b", "~1", "0", strings.Repeat("x", 100)}
	for constraint, c := range map[string]struct {
		value string
		want  []string
	}{
		`false`:                                {`{}`, []string{"{} is not allowed here"}},
		`{"required":["b"]}`:                   {`{}`, []string{"'b' is a required property"}},
		`{"additionalProperties":false}`:       {`{"c":1}`, []string{"Additional properties are not allowed ('c' was unexpected)"}},
		`{"minProperties":1,"required":["b"]}`: {`{}`, []string{"{} does not have enough properties (at least 1)", "'b' is a required property"}},
		`{"enum":[1]}`:                         {`{}`, []string{"{} is not one of [1]"}},
		`{"dependencies":{"c":["d"]}}`:         {`{"c":1}`, []string{"'d' is a required property where 'c' is given"}},
		`{"propertyNames":{"maxLength":1}}`:    {`{"cc":1}`, []string{"the name 'cc' is too long (at most 1 characters)"}},
		`{"propertyNames":false}`:              {`{"cc":1}`, []string{"the name 'cc' is not allowed here"}},
	} {
		for _, name := range names {
			quoted := appendJSON(nil, name)
			reference := appendJSON(nil, "#/definitions/"+url.PathEscape(escapePointer.Replace(name)))
			for _, document := range []string{
				fmt.Sprintf(`{"properties":{%s:%s}}`, quoted, constraint),
				fmt.Sprintf(`{"additionalProperties":{"$ref":%s},"definitions":{%s:%s}}`, reference, quoted, constraint),
			} {
				s, err := Parse([]byte(document))
				if err != nil {
					t.Errorf("%s: %v", document, err)
					continue
				}
				violations, err := s.Validate(fmt.Appendf(nil, `{%s:%s}`, quoted, c.value))
				var got []string
				for _, v := range violations {
					if !strings.HasPrefix(v.Path, PropertyPath(name)) {
						t.Errorf("%s: path %s", document, v.Path)
					}
					got = append(got, v.Message)
				}
				if err != nil || !slices.Equal(got, c.want) {
					t.Errorf("%s: %q, %v; want %q", document, got, err, c.want)
				}
			}
		}
	}
	// The library does not distinguish the name "" from the object that has it.
	s, err := Parse([]byte(`{"properties":{"":{"required":["b"]}}}`))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := s.Validate([]byte(`{"":{},"b":1}`)); err != nil || len(got) != 1 {
		t.Errorf("the name \"\": %v, %v", got, err)
	}
}

// names returns n members, each with the value true.
func names(n int) string {
	var b strings.Builder
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `"k%d":true`, i)
	}
	return b.String()
}

// numbers returns the numbers below n with commas between them.
func numbers(n int) string {
	var b strings.Builder
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprint(&b, i)
	}
	return b.String()
}

// manyNames returns n members with long names, each after a comma.
func manyNames(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `,"%d%s":1`, i, strings.Repeat("x", 1000))
	}
	return b.String()
}
