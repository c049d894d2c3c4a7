package intake

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/agent-airlock/airlock/internal/safeoutput"
	"github.com/agent-airlock/airlock/internal/schema"
	"github.com/google/go-cmp/cmp"
)

// definitionsOf returns the published definitions that describe a kind.
func definitionsOf(kind safeoutput.Kind) []string {
	if kind == safeoutput.KindCreateSecurityReport {
		return []string{formSARIF, formFinding}
	}
	return []string{string(kind)}
}

type definition struct {
	Required   []string
	Properties map[string]struct {
		Type  string
		Const string
		OneOf []struct{ Type string }
		Items struct{ Type string }
	}
}

func definitions(t *testing.T) map[string]definition {
	t.Helper()
	raw, ok := schema.Source(unionFile)
	if !ok {
		t.Fatal("the union's schema is not published")
	}
	var doc struct{ Definitions map[string]definition }
	if err := json.Unmarshal(raw, &doc); err != nil {
		t.Fatal(err)
	}
	return doc.Definitions
}

// TestSchemaAndTypesAgree: every field of the schema exists in the kind's Go type, with
// a Go type that fits, and the other way round.
func TestSchemaAndTypesAgree(t *testing.T) {
	defs := definitions(t)
	for _, spec := range safeoutput.Kinds() {
		it, inSchema := spec.New(), []string{}
		for _, form := range definitionsOf(spec.Kind) {
			def := defs[form]
			if def.Properties["type"].Const != string(spec.Kind) || !slices.Contains(def.Required, "type") {
				t.Errorf("%s: the definition %s is not of this kind", spec.Kind, form)
			}
			for name, p := range def.Properties {
				if name == "type" {
					continue
				}
				if !slices.Contains(inSchema, name) {
					inSchema = append(inSchema, name)
				}
				want := map[string]string{"string": "*string", "boolean": "**bool", "array": "*[]string"}[p.Type]
				if len(p.OneOf) > 0 {
					want = map[string]string{"integer": "*int", "object": "*json.RawMessage"}[p.OneOf[0].Type]
				}
				if spec.Kind == safeoutput.KindUpdateIssue && p.Type == "string" && name != "repo" && name != "operation" {
					want = "**string" // not given is not the same as empty
				}
				if got := reflect.TypeOf(safeoutput.Field(it, name)); got == nil || got.String() != want {
					t.Errorf("%s.%s is %v in Go, but %q in the schema", form, name, got, p.Type)
				}
			}
		}
		names := safeoutput.FieldNames(spec.Kind)
		slices.Sort(names)
		slices.Sort(inSchema)
		if d := cmp.Diff(inSchema, names); d != "" {
			t.Errorf("%s: fields differ (-schema +Go):\n%s", spec.Kind, d)
		}
	}
}

// notTexts are the string fields that are not texts, each with the reason why it is
// harmless.
var notTexts = map[string]string{
	"create-pull-request-review-comment.path": "a relative path without control characters; compared with the diff",
	"create-pull-request-review-comment.side": "one of two words, by the schema",
	"create-pull-request.base":                "compared with the branch that is used, and never written",
	"push-to-branch.branch":                   "compared with the branch that is pushed to, and never written",
	"update-issue.operation":                  "one of four words, by the schema",
	"update-issue.status":                     "one of two words, by the schema",
	"create-security-report.file":             "a relative path without control characters",
	"create-security-report.severity":         "one of four words, by the schema",
	"create-security-report.ruleIdSuffix":     "letters, digits, '-' and '_', by the schema",
	"create-security-report.sarif":            "cleaned by package sarif",
	"create-issue.repo":                       "an owner and a name of ASCII letters, digits, '.', '_' and '-', by the schema; compared and left out",
	"add-issue-comment.repo":                  "an owner and a name of ASCII letters, digits, '.', '_' and '-', by the schema; compared and left out",
	"create-pull-request.repo":                "an owner and a name of ASCII letters, digits, '.', '_' and '-', by the schema; compared and left out",
	"add-issue-label.repo":                    "an owner and a name of ASCII letters, digits, '.', '_' and '-', by the schema; compared and left out",
	"update-issue.repo":                       "an owner and a name of ASCII letters, digits, '.', '_' and '-', by the schema; compared and left out",
	"push-to-branch.repo":                     "an owner and a name of ASCII letters, digits, '.', '_' and '-', by the schema; compared and left out",
	"create-pull-request-review-comment.repo": "an owner and a name of ASCII letters, digits, '.', '_' and '-', by the schema; compared and left out",
	"create-discussion.repo":                  "an owner and a name of ASCII letters, digits, '.', '_' and '-', by the schema; compared and left out",
	"create-security-report.repo":             "an owner and a name of ASCII letters, digits, '.', '_' and '-', by the schema; compared and left out",
}

// TestEveryStringIsATextOrExempt fills every string field of every kind and asserts that
// Texts returns it, unless notTexts lists it.
func TestEveryStringIsATextOrExempt(t *testing.T) {
	for _, spec := range safeoutput.Kinds() {
		it := spec.New()
		var strs []string
		for _, name := range safeoutput.FieldNames(spec.Kind) {
			switch p := safeoutput.Field(it, name).(type) {
			case *string:
				*p = "x"
			case **string:
				*p = new(string)
			case *[]string:
				*p = []string{"x"}
				name += "[0]"
			case *json.RawMessage:
			default:
				continue
			}
			strs = append(strs, name)
		}
		var texts []string
		for _, x := range it.Texts() {
			texts = append(texts, x.Field)
		}
		for _, name := range strs {
			_, exempt := notTexts[string(spec.Kind)+"."+name]
			if exempt == slices.Contains(texts, name) {
				t.Errorf("%s.%s is in notTexts: %t, returned by Texts: %t; want one of the two", spec.Kind, name, exempt, exempt)
			}
		}
	}
}

// TestEveryTextIsCleaned asserts that no text field lets an invisible or control character pass. A
// live mention or a closing word may pass only in labels and in what code scanning shows, where it
// has no effect.
func TestEveryTextIsCleaned(t *testing.T) {
	const hostile = "x\u202e\x1b[31m @octocat fixes #1"
	defs := definitions(t)
	for _, spec := range safeoutput.Kinds() {
		for _, form := range definitionsOf(spec.Kind) {
			item := map[string]any{"type": spec.Kind}
			for name, p := range defs[form].Properties {
				switch {
				case name == "type" || name == "discussion_number": // contradicts pull_request_number
				case name == "repo":
					item[name] = "octo/repo"
				case name == "base" || spec.Kind == safeoutput.KindPushToBranch && name == "branch":
					item[name] = "main"
				case name == "operation":
					item[name] = "append"
				case name == "sarif":
					tool := map[string]any{"driver": map[string]any{"name": hostile, "properties": map[string]any{hostile: hostile}}}
					item[name] = map[string]any{"version": "2.1.0", "runs": []any{map[string]any{"tool": tool, "language": "en", "properties": map[string]any{hostile: hostile}}}}
				case name == "status":
					item[name] = "open"
				case name == "side":
					item[name] = "LEFT"
				case name == "severity":
					item[name] = "note"
				case name == "ruleIdSuffix":
					item[name] = "r"
				case name == "path" || name == "file":
					item[name] = "a"
				case p.Type == "array":
					item[name] = []string{hostile}
				case p.Type == "boolean":
					item[name] = true
				case len(p.OneOf) > 0:
					item[name] = 1
				default:
					item[name] = hostile
				}
			}
			raw, err := json.Marshal(item)
			if err != nil {
				t.Fatal(err)
			}
			res := collect(t, Config{}, string(raw))
			if len(res.Accepted) != 1 {
				t.Errorf("%s: %q", form, errorsOf(res))
				continue
			}
			out, err := safeoutput.Encode(res.Accepted[0].Item())
			if err != nil {
				t.Fatal(err)
			}
			if strings.Contains(string(out), "\u202e") || strings.Contains(string(out), `\u001b`) || strings.Contains(string(out), "[31m") { // JSON escapes ESC
				t.Errorf("%s: not cleaned: %s", form, out)
			}
			for _, text := range res.Accepted[0].Item().Texts() {
				isInert := text.Mode == safeoutput.Label || text.Mode == safeoutput.Message
				if !isInert && (strings.Contains(*text.Value, "@octocat") || strings.Contains(*text.Value, "fixes #1")) {
					t.Errorf("%s: %s is %q", form, text.Field, *text.Value)
				}
			}
		}
	}
}

// TestKindTableExamples asserts that each example that the kind table shows to
// agents is accepted without a change.
func TestKindTableExamples(t *testing.T) {
	for _, spec := range safeoutput.Kinds() {
		res := collect(t, Config{Strict: true}, spec.Example)
		if len(res.Accepted) != 1 || !res.Accepted[0].Notes().Empty() {
			t.Errorf("%s: the example is not accepted as it is: %q", spec.Kind, errorsOf(res))
			continue
		}
		if got, err := safeoutput.Encode(res.Accepted[0].Item()); err != nil || string(got) != spec.Example || spec.Summary == "" {
			t.Errorf("%s: the example is not canonical: %s, %v", spec.Kind, got, err)
		}
	}
}

func TestNearestKind(t *testing.T) {
	for name, want := range map[string]string{
		"create-isue": "create-issue", "createissue": "create-issue", "create_Issue": "create-issue", "comment": "add-issue-comment", "add-coment": "add-issue-comment",
		"labels": "add-issue-label", "review-comment": "create-pull-request-review-comment", "create-pr": "create-pull-request", "nop": "noop", "missing tool": "missing-tool",
		"close-issue": "update-issue", "open PR": "create-pull-request", "": "", "launch-missiles": "", strings.Repeat("x", 1000): "",
	} {
		if got := nearestKind(name); got != want {
			t.Errorf("nearestKind(%.40q) = %q, want %q", name, got, want)
		}
	}
}
