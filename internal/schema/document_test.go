package schema_test

import (
	"errors"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/agent-airlock/airlock/internal/schema"
)

func TestReadDocument(t *testing.T) {
	const file, what = "verdict.json", "a verdict"
	var v struct{ Source string }
	if err := schema.ReadDocument(strings.NewReader(`{"version":1,"source":"none","criteria":[],"new":{"x":1}}`), file, what, 1<<20, &v); err != nil || v.Source != "none" {
		t.Errorf("%+v %v", v, err)
	}
	for text, want := range map[string]string{
		"":                       "it is not JSON in UTF-8",
		"{\"version\":1":         "it is not JSON in UTF-8",
		"{\"version\":\"\xff\"}": "it is not JSON in UTF-8",
		`{"version":1}{}`:        "it is not JSON in UTF-8",
		`{"version":1,"version":1,"source":"none"}`: "two members of one name: $.version",
		`[]`:                         "it is not a verdict, as 'airlock schema verdict' describes it: $: ",
		`{"version":2,"source":"x"}`: "$.criteria: 'criteria' is a required property; $.source: ",
		`{"version":1,"source":"issue","criteria":[` + strings.TrimSuffix(strings.Repeat(`{},`, 30), ",") + `]}`: "and 50 more",
		strings.Repeat(" ", 1<<20) + "{}": "it is larger than 1 MiB, the limit of a verdict",
	} {
		if err := schema.ReadDocument(strings.NewReader(text), file, what, 1<<20, &v); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60q: %v, want %q", text, err, want)
		}
	}
	broken := errors.New("the disk is gone")
	if err := schema.ReadDocument(iotest.ErrReader(broken), file, what, 1, &v); !errors.Is(err, broken) {
		t.Error(err)
	}
}
