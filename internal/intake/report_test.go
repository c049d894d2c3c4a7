package intake

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/agent-airlock/airlock/internal/jsonrepair"
	"github.com/agent-airlock/airlock/internal/schema"
	"github.com/google/go-cmp/cmp"
)

// reportObject is one object of the report's schema.
type reportObject struct {
	Properties map[string]struct {
		Description string
		reportObject
	}
	Required []string
}

func reportSchema(t *testing.T) (root reportObject, definitions map[string]reportObject) {
	t.Helper()
	raw, ok := schema.Source("collect-report")
	if !ok {
		t.Fatal("the report's schema is not published")
	}
	var doc struct {
		reportObject
		Definitions map[string]reportObject
	}
	if err := json.Unmarshal(raw, &doc); err != nil {
		t.Fatal(err)
	}
	return doc.reportObject, doc.Definitions
}

// jsonNames returns the names of a struct's members in JSON, those of embedded
// structs included, and which of them are always written.
func jsonNames(typ reflect.Type) (all, always []string) {
	for i := range typ.NumField() {
		f := typ.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous:
			a, w := jsonNames(f.Type)
			all, always = append(all, a...), append(always, w...)
		case name != "-":
			all = append(all, name)
			if options != "omitempty" {
				always = append(always, name)
			}
		}
	}
	slices.Sort(all)
	slices.Sort(always)
	return all, always
}

// TestReportSchemaAndTypesAgree asserts that the report's schema lists and describes the members
// that the report can have, and requires those that it always has.
func TestReportSchemaAndTypesAgree(t *testing.T) {
	root, definitions := reportSchema(t)
	for typ, object := range map[reflect.Type]reportObject{
		reflect.TypeFor[Report]():    root,
		reflect.TypeFor[Input]():     root.Properties["input"].reportObject,
		reflect.TypeFor[Counts]():    root.Properties["counts"].reportObject,
		reflect.TypeFor[Record]():    definitions["record"],
		reflect.TypeFor[Violation](): definitions["violation"],
		reflect.TypeFor[Repair]():    definitions["repair"],
		reflect.TypeFor[Redaction](): definitions["redaction"],
	} {
		all, always := jsonNames(typ)
		var names []string
		for name, p := range object.Properties {
			names = append(names, name)
			if p.Description == "" {
				t.Errorf("%s: %s has no description", typ, name)
			}
		}
		slices.Sort(names)
		slices.Sort(object.Required)
		if d := cmp.Diff(names, all); d != "" {
			t.Errorf("%s: members differ (-schema +Go):\n%s", typ, d)
		}
		if d := cmp.Diff(object.Required, always); d != "" {
			t.Errorf("%s: required members differ (-schema +Go):\n%s", typ, d)
		}
	}
}

// TestReportSchemaNamesEachRepair: the schema names every kind of repair for readers of the report.
func TestReportSchemaNamesEachRepair(t *testing.T) {
	_, definitions := reportSchema(t)
	text := definitions["repair"].Properties["kind"].Description
	for _, kind := range []string{
		jsonrepair.TextAround, jsonrepair.ByteOrderMark, jsonrepair.Comment, jsonrepair.OddSpace, jsonrepair.SingleQuotes, jsonrepair.SmartQuotes,
		jsonrepair.TripleQuotes, jsonrepair.MissingComma, jsonrepair.BareKey, jsonrepair.TrailingComma, jsonrepair.InnerQuote, jsonrepair.ControlCharacter, jsonrepair.BadEscape, jsonrepair.LoneSurrogate,
		jsonrepair.InvalidUTF8, jsonrepair.MissingCloser, jsonrepair.ExtraCloser, jsonrepair.PythonLiteral,
		jsonrepair.ProseAround, RepairNullField, RepairLetterCase, RepairBlankField, RepairLabel,
	} {
		if !strings.Contains(text, kind) {
			t.Errorf("the schema does not name %q", kind)
		}
	}
}
