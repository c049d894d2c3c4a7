package schema

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v5"
)

// TestUniqueItemsAgreesWithTheLibrary asserts that two items count as equal if the library's own
// keyword takes them to be equal, in short arrays and in long ones.
func TestUniqueItemsAgreesWithTheLibrary(t *testing.T) {
	t.Parallel()
	items := []string{
		`null`, `true`, `false`, `"null"`, `"true"`, `""`, `"a"`, `"A"`, `"\u0061"`, `"1"`, `"é"`, `"e\u0301"`, `"4:null"`, `"\"1:a"`,
		`0`, `-0`, `0.0`, `0e5`, `-0.00e-3`, `1`, `-1`, `1.0`, `1e0`, `1E+0`, `10e-1`, `0.1e1`, `0.01e+2`, `10`, `1e1`, `100`, `0.1`, `1e-1`, `0.10`, `0.01`,
		`1e400`, `10e399`, `1e-400`, `0.1e-399`, `12345678901234567890`, `12345678901234567891`, `12345678901234567890.0`, `1.5`, `15e-1`, `-1.5`,
		`[]`, `[[]]`, `[[],[]]`, `[[[]]]`, `[null]`, `[1]`, `[1.0]`, `[1,2]`, `[[1],2]`, `[[1,2]]`, `["a","b"]`, `["b","a"]`, `["a\u0003b"]`, `["a,b"]`, `["a,\"1:b"]`,
		`{}`, `{"a":1}`, `{"a":1.0}`, `{"a":1,"b":[2]}`, `{"b":[2e0],"a":1}`, `{"a":[2],"b":1}`, `{"a":{"b":1}}`, `{"a":{},"b":1}`, `{"a":null}`, `{"1:a":1}`, `[{"a":1},{}]`, `[{},{"a":1}]`,
	}
	padding := make([]string, 20)
	for i := range padding {
		padding[i] = fmt.Sprintf(`"padding %d"`, i)
	}
	const text = `{"uniqueItems":true}`
	own, err := parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	library, err := jsonschema.CompileString("library.json", text)
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range items {
		for _, b := range items {
			for _, array := range []string{"[" + a + "," + b + "]", "[" + strings.Join(slices.Concat([]string{a}, padding, []string{b}), ",") + "]"} {
				v, bad := decode([]byte(array))
				if bad != nil {
					t.Fatal(bad)
				}
				want := library.Validate(v) != nil
				got, err := own.Validate([]byte(array))
				if err != nil || len(got) > 0 != want {
					t.Errorf("%s: the library finds equal items: %t; Validate returns %v, %v", array, want, got, err)
				}
			}
		}
	}
}

// TestUniqueItemsWhereverItIs asserts that the keyword is not lost in any place where a schema can
// have one, and that it does not concern other values than arrays.
func TestUniqueItemsWhereverItIs(t *testing.T) {
	t.Parallel()
	const unique = `{"uniqueItems":true}`
	for schema, value := range map[string]string{
		unique: `[1,1]`,
		`{"$ref":"#/definitions/u","definitions":{"u":` + unique + `}}`: `[1,1]`,
		`{"allOf":[{},` + unique + `]}`:                                 `[1,1]`,
		`{"anyOf":[` + unique + `]}`:                                    `[1,1]`,
		`{"oneOf":[` + unique + `]}`:                                    `[1,1]`,
		`{"not":{"not":` + unique + `}}`:                                `[1,1]`,
		`{"if":true,"then":` + unique + `}`:                             `[1,1]`,
		`{"if":false,"else":` + unique + `}`:                            `[1,1]`,
		`{"if":` + unique + `,"else":false}`:                            `[1,1]`,
		`{"items":` + unique + `}`:                                      `[[1,1]]`,
		`{"items":[{},` + unique + `]}`:                                 `[1,[1,1]]`,
		`{"items":[true],"additionalItems":` + unique + `}`:             `[0,[1,1]]`,
		`{"contains":` + unique + `}`:                                   `[[1,1]]`,
		`{"properties":{"a":` + unique + `}}`:                           `{"a":[1,1]}`,
		`{"patternProperties":{"a":` + unique + `}}`:                    `{"a":[1,1]}`,
		`{"additionalProperties":` + unique + `}`:                       `{"a":[1,1]}`,
		`{"dependencies":{"a":{"properties":{"b":` + unique + `}}}}`:    `{"a":1,"b":[1,1]}`,
	} {
		for name, read := range map[string]func([]byte) (*Schema, error){"ours": parse, "another's": Parse} {
			s, err := read([]byte(schema))
			if err != nil {
				t.Fatal(err)
			}
			if got, err := s.Validate([]byte(value)); err != nil || len(got) == 0 {
				t.Errorf("%s, %s: %s is valid: %v", name, schema, value, err)
			}
			if got, err := s.Validate([]byte(strings.Replace(value, "[1,1]", "[1,2]", 1))); err != nil || len(got) > 0 {
				t.Errorf("%s, %s: %v, %v", name, schema, got, err)
			}
		}
	}
	s, err := Parse([]byte(unique))
	if err != nil {
		t.Fatal(err)
	}
	for _, value := range []string{`{}`, `"aa"`, `11`, `null`} {
		if got, err := s.Validate([]byte(value)); err != nil || len(got) > 0 {
			t.Errorf("%s: %v, %v", value, got, err)
		}
	}
}

// TestUniqueItemsIsLinear asserts that arrays for which the library's own keyword takes very long
// are validated soon: few items that are equal except for their ends, and many with the same hash.
func TestUniqueItemsIsLinear(t *testing.T) {
	var long []string
	for i := range 20 {
		long = append(long, "["+strings.Repeat("1e400,", 8000)+fmt.Sprint(i)+"]")
	}
	for name, items := range map[string][]string{"long items": long, "the same hash": nests(16, 28_000)} {
		for whose, read := range map[string]func([]byte) (*Schema, error){"ours": parse, "another's": Parse} {
			s, err := read([]byte(`{"uniqueItems":true}`))
			if err != nil {
				t.Fatal(err)
			}
			start := time.Now()
			got, err := s.Validate([]byte("[" + strings.Join(items, ",") + "]"))
			if took := time.Since(start); err != nil || len(got) > 0 || took > 3*time.Second { // it takes a tenth of a second
				t.Errorf("%s, %s: %v, %v after %v", name, whose, got, err, took)
			}
		}
	}
}

// nests returns count different arrays that consist of the given number of arrays.
func nests(arrays, count int) (texts []string) {
	var add func(text string, open, left int)
	add = func(text string, open, left int) {
		if len(texts) == count {
			return
		}
		if left == 0 {
			texts = append(texts, text+strings.Repeat("]", open))
			return
		}
		for closed := range open {
			next := text + strings.Repeat("]", closed)
			if closed > 0 {
				next += ","
			}
			add(next+"[", open-closed+1, left-1)
		}
	}
	add("[", 1, arrays-1)
	return texts
}
