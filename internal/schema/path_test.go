package schema_test

import (
	"strings"
	"testing"

	"github.com/agent-airlock/airlock/internal/schema"
)

// TestPathsKeepNamesOfDigits asserts that a path does not show a name that consists of digits as an
// index, whichever code finds the place: the search for duplicates, the decoder, its check of
// maxItems, the compiler of schemas, or the validator.
func TestPathsKeepNamesOfDigits(t *testing.T) {
	for raw, want := range map[string]string{
		`{"1":0,"1":1}`:                     "$.1",
		`[0,{"1":0,"1":1}]`:                 "$[1].1",
		`{"1":[[],{"a~/b":{"2":0,"2":1}}]}`: `$.1[1]['a~/b'].2`,
	} {
		if path, found := schema.Duplicate([]byte(raw)); !found || path != want {
			t.Errorf("%s: %q %t, want %q", raw, path, found, want)
		}
	}
	const document = `{"properties":{"1":{"maxItems":1},"2":{"items":{"properties":{"3":{"type":"string"}}}}}}`
	s, err := schema.Parse([]byte(document))
	if err != nil {
		t.Fatal(err)
	}
	for raw, want := range map[string]string{
		`{"1":[1,2]}`:                "$.1",
		`{"2":[{},{"3":1}]}`:         "$.2[1].3",
		`{"2":[{},{"3":1e1000}]}`:    "$.2[1].3",
		`{"2":[{},[0,{"4":1e999}]]}`: "$.2[1][1].4",
	} {
		violations, err := s.Validate([]byte(raw))
		if err != nil || len(violations) != 1 || violations[0].Path != want {
			t.Errorf("%s: %v %v, want one at %s", raw, violations, err, want)
		}
	}
	_, err = schema.Parse([]byte(`{"properties":{"1":{"anyOf":[{},{"type":7}]}}}`))
	if err == nil || !strings.Contains(err.Error(), "at $.properties.1.anyOf[1].type: ") {
		t.Error(err)
	}
}

func TestLoneSurrogate(t *testing.T) {
	for raw, want := range map[string]string{
		`{"a":"x\ud800y"}`:            "$.a",
		`{"a":[{},{"b":"\uDC00"}]}`:   "$.a[1].b",
		`"\ud83d"`:                    "$",
		`{"a":"\ud83d\ud83d\ude00"}`:  "$.a",
		`{"a":"\ud83d\ude00 \u00e9"}`: "",
		`{"a":"\\ud800","a":1}`:       "",
		`{"a":"😀"}`:                   "",
	} {
		if path, found := schema.LoneSurrogate([]byte(raw)); path != want || found != (want != "") {
			t.Errorf("%s: %q %t, want %q", raw, path, found, want)
		}
	}
}
