package report_test

import (
	"fmt"
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-airlock/airlock/internal/apply"
	"github.com/agent-airlock/airlock/internal/checkreport"
	"github.com/agent-airlock/airlock/internal/intake"
	"github.com/agent-airlock/airlock/internal/phase"
	"github.com/agent-airlock/airlock/internal/report"
)

// documented are the types whose JSON form docs/output.md describes, by the name
// that the document gives them.
var documented = map[string]reflect.Type{
	"results": reflect.TypeFor[report.Report](), "counts": reflect.TypeFor[report.Counts](), "rejected": reflect.TypeFor[report.Rejected](), "dropped": reflect.TypeFor[report.Dropped](),
	"result": reflect.TypeFor[apply.Result](), "object": reflect.TypeFor[apply.Object](), "cleaning": reflect.TypeFor[apply.Cleaning](),
	"mending": reflect.TypeFor[apply.Repair](), "fallback": reflect.TypeFor[apply.Fallback](),
	"plan": reflect.TypeFor[apply.Plan](), "operation": reflect.TypeFor[apply.Operation](), "member": reflect.TypeFor[apply.Member](),
	"request": reflect.TypeFor[apply.Request](), "permission": reflect.TypeFor[apply.Permission](),
	"report": reflect.TypeFor[intake.Report](), "record": reflect.TypeFor[intake.Record](), "violation": reflect.TypeFor[intake.Violation](),
	"repair": reflect.TypeFor[intake.Repair](), "redaction": reflect.TypeFor[intake.Redaction](), "input": reflect.TypeFor[intake.Input](), "totals": reflect.TypeFor[intake.Counts](),
	"validation": reflect.TypeFor[phase.Output](), "checks": reflect.TypeFor[phase.Checks](), "style": reflect.TypeFor[phase.StyleCheck](), "build": reflect.TypeFor[phase.BuildCheck](),
	"tests": reflect.TypeFor[phase.TestsCheck](), "review": reflect.TypeFor[phase.CodeReviewCheck](), "security": reflect.TypeFor[phase.SecurityReviewCheck](),
	"findings": reflect.TypeFor[checkreport.Document](), "check": reflect.TypeFor[checkreport.Check](), "failure": reflect.TypeFor[checkreport.Failure](), "finding": reflect.TypeFor[checkreport.Finding](),
	"rule": reflect.TypeFor[checkreport.Rule](), "suppressed": reflect.TypeFor[checkreport.Suppressed](), "silence": reflect.TypeFor[checkreport.NewSuppression](), "skipped": reflect.TypeFor[checkreport.Skipped](), "missing": reflect.TypeFor[checkreport.MissingTool](),
}

// TestDocumentIsTheTypes asserts that docs/output.md lists the members of the Go types with
// their types, and no others. -update rewrites the first two columns.
func TestDocumentIsTheTypes(t *testing.T) {
	const path = "../../docs/output.md"
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	table := regexp.MustCompile(`(?s)<!-- members: (\w+) -->\n.*?<!-- end -->\n`)
	seen := map[string]bool{}
	want := table.ReplaceAllStringFunc(string(raw), func(found string) string {
		name := table.FindStringSubmatch(found)[1]
		seen[name] = true
		typ, ok := documented[name]
		if !ok {
			t.Fatalf("docs/output.md has a table for %s, which is not a type", name)
		}
		return fmt.Sprintf("<!-- members: %s -->\n%s<!-- end -->\n", name, members(typ, descriptions(found)))
	})
	for name := range documented {
		if !seen[name] {
			t.Errorf("docs/output.md has no table for %s", name)
		}
	}
	if strings.Contains(want, "| ? |") {
		t.Error("docs/output.md has a member without a description, written as ?")
	}
	if *update {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(string(raw), want); diff != "" {
		t.Errorf("docs/output.md is not what the types are (-document +types); run go test ./internal/report -update:\n%s", diff)
	}
}

// descriptions returns the last column of a table by its first.
func descriptions(table string) map[string]string {
	words := map[string]string{}
	for line := range strings.Lines(table) {
		cells := strings.SplitN(strings.TrimSpace(line), "|", 4)
		if len(cells) == 4 {
			words[strings.Trim(cells[1], " `")] = strings.TrimSuffix(strings.TrimSpace(cells[3]), "|")
		}
	}
	return words
}

// members returns the table of a type's members. descriptions has the last column by member.
func members(typ reflect.Type, descriptions map[string]string) string {
	table := "| member | type | what it says |\n| --- | --- | --- |\n"
	for _, f := range reflect.VisibleFields(typ) {
		tag := f.Tag.Get("json")
		if !f.IsExported() || f.Anonymous || tag == "-" {
			continue
		}
		name, options, _ := strings.Cut(tag, ",")
		kind := typeName(f.Type)
		if strings.Contains(options, "omitempty") {
			kind += ", optional"
		}
		description := strings.TrimSpace(descriptions[name])
		if description == "" {
			description = "?"
		}
		table += fmt.Sprintf("| `%s` | %s | %s |\n", name, kind, description)
	}
	return table
}

// typeName returns the name of a type as readers of JSON know it.
func typeName(typ reflect.Type) string {
	for name, d := range documented {
		if d == typ {
			return "[" + name + "](#" + name + ")"
		}
	}
	switch typ.Kind() {
	case reflect.String:
		return "string"
	case reflect.Bool:
		return "boolean"
	case reflect.Pointer:
		return typeName(typ.Elem())
	case reflect.Slice:
		if typ.Elem().Kind() == reflect.Uint8 {
			return "any JSON"
		}
		return "list of " + typeName(typ.Elem())
	case reflect.Map:
		return "object of " + typeName(typ.Elem()) + " by kind"
	}
	return "number"
}
