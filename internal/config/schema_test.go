package config

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v5"

	"github.com/agent-airlock/airlock/internal/phase"
	"github.com/agent-airlock/airlock/internal/safeoutput"
	"github.com/agent-airlock/airlock/internal/shorttest"
)

const schemaFile = "../../schemas/safe-outputs-config.json"

// TestSchemaIsThatOfTheDecoder asserts that the published schema is made of the decoder's own
// tables, and does not use format; -update rewrites it.
func TestSchemaIsThatOfTheDecoder(t *testing.T) {
	want := publishedSchema()
	if *update {
		if err := os.WriteFile(schemaFile, want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(schemaFile)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s differs from the decoder's tables; run the test with -update (-want +got):\n%s", schemaFile, diff)
	}
	if format := regexp.MustCompile(`"format": "`); format.Match(got) {
		t.Error("the schema uses format, which strict validators refuse")
	}
}

// TestSchemaAndDecoderAgree asserts that the decoder and the schema accept the same values of
// every key. It tries many samples with each spelling of a key, but at the top and in kinds only
// the first few with spellings other than the key's own. The schema knows only the form of hosts,
// users and the like. So it may accept more than the decoder in documents that looseKeys matches,
// but never less.
func TestSchemaAndDecoderAgree(t *testing.T) {
	looseKeys := regexp.MustCompile(`allowed[-_]domains|mentions|reviewers|time[-_]limit|retry[-_]delay|roots|"(on|off|only)"|command`)
	schema := compileSchema(t)
	samples := []string{
		`null`, `true`, `1`, `"x"`, `["x"]`, `[1]`, `{}`, `{"x": 1}`, `false`, `0`, `-1`, `-2`, `1.5`, `1.0`, `9999999999`, `""`, `" "`, `"*"`, `"5"`, `"05"`, `"-5"`, `"a\nb"`, `"a\tb"`,
		`[]`, `[""]`, `["a\nb"]`, `[[]]`, `{"max": 1}`, `"triggering"`, `"RIGHT"`, `"warn"`, `"file"`, `"issue"`, `"blocked"`,
		`{"policy": "allowed", "exclude": ["a"]}`, `{"policy": 1}`, `{"exclude": "a"}`, `{"allowed": ["x"]}`, `{"allowed": 1}`, `{"allow-context": 1}`, `{"enabled": "x"}`,
		fmt.Sprintf("%q", strings.Repeat("é", 50)), fmt.Sprintf("%q", strings.Repeat("é", 51)), fmt.Sprintf("%q", strings.Repeat("x", 101)),
		fmt.Sprintf("%q", strings.Repeat("x", 201)), fmt.Sprintf("%q", strings.Repeat("x", 2001)), fmt.Sprintf("[%q]", strings.Repeat("x", 501)),
	}
	samples = shorttest.First(25, samples)
	check := func(document string) {
		t.Helper()
		_, err := Parse("test.json", []byte(document))
		var value any
		if jsonErr := json.Unmarshal([]byte(document), &value); jsonErr != nil {
			t.Fatal(jsonErr)
		}
		schemaErr := schema.Validate(value)
		if looseKeys.MatchString(document) && err != nil {
			return
		}
		if (err == nil) != (schemaErr == nil) {
			t.Errorf("%s\ndecoder: %v\nschema: %v", document, err, schemaErr)
		}
	}
	for _, k := range globalTable() {
		for i, name := range spellings(k.name, k.also) {
			for _, s := range samples[:someOf(i, len(samples))] {
				check(fmt.Sprintf(`{%q: %s}`, name, s))
			}
			check(fmt.Sprintf(`{"safe-outputs": {%q: {}}}`, name))
		}
	}
	for _, row := range kindTable() {
		for _, k := range row.keys {
			for i, name := range spellings(k.name, k.also) {
				for _, s := range samples[:someOf(i, len(samples))] {
					check(fmt.Sprintf(`{%q: {%q: %s}}`, row.kind, name, s))
				}
			}
		}
		check(fmt.Sprintf(`{%q: {"no-such-key": 1}}`, row.kind))
	}
	checkNested(check, samples, "checks", checksTable())
	checkNested(check, samples, "acceptance", acceptanceTable())
	checkNested(check, samples, "report", checkReportKeys(), "checks")
	checkNested(check, samples, "code-review", reviewRuleKeys(phase.CodeReview), "checks")
	checkNested(check, samples, "security_review", reviewRuleKeys(phase.SecurityReview), "checks")
	for _, k := range reviewerKeys() {
		for _, name := range spellings(k.name, k.also) {
			for _, s := range samples {
				check(fmt.Sprintf(`{"checks": {"reviewers": [{"name": "x", "command": "x", %q: %s}]}}`, name, s))
			}
		}
	}
	for _, document := range []string{
		`{"checks": {"reviewers": ["gosec"]}}`, `{"checks": {"reviewers": [{"name": "x"}]}}`, `{"checks": {"reviewers": [{"name": "x", "args": ["x"], "command": "x"}]}}`, `{"checks": {"language": "py", "informational": ["tests", "code_review", "code-review"]}}`,
		`{}`, `[]`, `1`, `"x"`, `true`, `{"safe-outputs": null}`, `{"safe_outputs": {}}`, `{"safe-outputs": 1}`, `{"safe-outputs": {}, "x": 1}`,
		`{"footer": "no"}`, `{"create-issue": {"footer": "Off"}}`, `{"create-issue": {"footer": "none"}}`,
		`{"safe-outputs": {"create-issue": null}, "add-comment": null}`, `{"no-such-key": 1}`, `{"mentions": {"no-such-key": 1}}`,
	} {
		check(document)
	}
}

// checkNested checks every key of a section, which may be below another one, with every sample.
func checkNested[T any](check func(string), samples []string, section string, keys []key[T], above ...string) {
	for _, k := range keys {
		for _, name := range spellings(k.name, k.also) {
			for _, s := range samples {
				document := fmt.Sprintf(`{%q: {%q: %s}}`, section, name, s)
				for _, a := range above {
					document = fmt.Sprintf(`{%q: %s}`, a, document)
				}
				check(document)
			}
		}
	}
}

// TestKindTableHasAllKinds asserts that every kind of safeoutput, and no other, can be configured,
// in the same order.
func TestKindTableHasAllKinds(t *testing.T) {
	rows := kindTable()
	for i, spec := range safeoutput.Kinds() {
		if i >= len(rows) || rows[i].kind != spec.Kind {
			t.Fatalf("row %d of kindRows is not that of %s", i, spec.Kind)
		}
	}
	if more := len(rows) - len(safeoutput.Kinds()); more != 0 {
		t.Errorf("%d rows are of no kind", more)
	}
}

// TestTablesAreSound asserts that no table has a name twice, that every name is in its canonical
// spelling, and that every key that is not foreign is described.
func TestTablesAreSound(t *testing.T) {
	checkTable(t, "top", globalTable())
	checkTable(t, "mentions", mentionKeys())
	checkTable(t, "allowed-secrets", secretKeys())
	checkTable(t, "checks", checksTable())
	checkTable(t, "acceptance", acceptanceTable())
	checkTable(t, "report", checkReportKeys())
	checkTable(t, "review", reviewRuleKeys(""))
	checkTable(t, "reviewers", reviewerKeys())
	for _, row := range kindTable() {
		checkTable(t, string(row.kind), row.keys)
	}
}

func checkTable[T any](t *testing.T, where string, keys []key[T]) {
	seen := map[string]bool{}
	for _, k := range keys {
		for _, name := range append([]string{k.name}, k.also...) {
			if seen[name] {
				t.Errorf("%s: %s twice", where, name)
			}
			seen[name] = true
			if name != canonical(name) {
				t.Errorf("%s: %s is not in its canonical spelling", where, name)
			}
		}
		if !k.foreign && !strings.HasSuffix(k.doc, ".") {
			t.Errorf("%s: %s is not described by a sentence", where, k.name)
		}
	}
}

// someOf returns how many of the samples to take for the spelling at index i of a key: all of them
// for the first, the key's own name, and 8 for any other.
func someOf(i, all int) int {
	if i == 0 {
		return all
	}
	return 8
}

// spellings returns a key's names, each with "-" and then with "_".
func spellings(name string, also []string) []string {
	var all []string
	for _, n := range append([]string{name}, also...) {
		all = append(all, n)
		if under := strings.ReplaceAll(n, "-", "_"); under != n {
			all = append(all, under)
		}
	}
	return all
}

func compileSchema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	raw, err := os.ReadFile(schemaFile)
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("config.json", bytes.NewReader(raw)); err != nil {
		t.Fatal(err)
	}
	schema, err := c.Compile("config.json")
	if err != nil {
		t.Fatal(err)
	}
	return schema
}

// publishedSchema writes the schema from the tables, in their order.
func publishedSchema() []byte {
	var b strings.Builder
	b.WriteString(`{"$schema": "http://json-schema.org/draft-07/schema#",
"$id": "https://raw.githubusercontent.com/agent-airlock/airlock/main/schemas/safe-outputs-config.json",
"title": "Airlock safe-outputs configuration",
"description": "What an agent may ask for, and with which limits. The kinds stand at the top or below safe-outputs; \"_\" may stand for \"-\" in every key.",
"type": "object",
"if": {"anyOf": [{"required": ["safe-outputs"]}, {"required": ["safe_outputs"]}]},
"then": {"maxProperties": 1, "patternProperties": {"^safe[-_]outputs$": {"anyOf": [{"type": "null"}, {"$ref": "#/definitions/safe-outputs"}]}}},
"else": {"$ref": "#/definitions/safe-outputs"},
"definitions": {"safe-outputs": `)
	writeSection(&b, "safe-outputs", "What holds for all kinds, and the kinds that are allowed.", globalTable())
	b.WriteString(`, "mentions": `)
	writeSection(&b, "mentions", "Which mentions stay live.", mentionKeys())
	b.WriteString(`, "allowed-secrets": `)
	writeSection(&b, "allowed-secrets", "What passes although it looks like a secret.", secretKeys())
	b.WriteString(`, "checks": `)
	writeSection(&b, "checks", "How a pull request's changed files are validated.", checksTable())
	b.WriteString(`, "checks-report": `)
	writeSection(&b, "checks-report", "Where the result of the checks is shown.", checkReportKeys())
	b.WriteString(`, "checks-review": `)
	writeSection(&b, "checks-review", "A built-in reviewer's rules.", reviewRuleKeys(""))
	b.WriteString(`, "acceptance": `)
	writeSection(&b, "acceptance", "How acceptance criteria are verified.", acceptanceTable())
	b.WriteString(`, "checks-reviewers": `)
	writeSection(&b, "checks-reviewers", "A reviewer that runs beside the built-in ones.", reviewerKeys())
	for _, row := range kindTable() {
		fmt.Fprintf(&b, `, %q: `, row.kind)
		writeSection(&b, string(row.kind), row.doc, row.keys)
	}
	b.WriteString("}}")
	var out bytes.Buffer
	if err := json.Indent(&out, []byte(b.String()), "", "  "); err != nil {
		panic(err)
	}
	return append(out.Bytes(), '\n')
}

func writeSection[T any](b *strings.Builder, name, doc string, keys []key[T]) {
	fmt.Fprintf(b, `{"type": "object", "description": %s, "additionalProperties": false, "properties": {`, jsonText(doc))
	var patterns, ignored []string
	sep := ""
	for _, k := range keys {
		if k.foreign {
			ignored = append(ignored, strings.ReplaceAll(k.name, "-", "[-_]"))
			continue
		}
		fmt.Fprintf(b, `%s%q: {"description": %s, %s`, sep, k.name, jsonText(k.doc), strings.TrimPrefix(k.takes.schema, "{"))
		sep = ", "
		// Strict validators refuse a pattern that also matches a property's name, so the own name
		// is left out.
		if others := spellings(k.name, k.also)[1:]; len(others) > 0 {
			patterns = append(patterns, fmt.Sprintf(`"^(%s)$": {"$ref": "#/definitions/%s/properties/%s"}`, strings.Join(others, "|"), name, k.name))
		}
	}
	if ignored != nil {
		patterns = append(patterns, fmt.Sprintf(`"^(%s)$": {"description": "Understood from the widely used front matter; without effect here, or it stages the kind."}`, strings.Join(ignored, "|")))
	}
	b.WriteString("}")
	if patterns != nil {
		fmt.Fprintf(b, `, "patternProperties": {%s}`, strings.Join(patterns, ", "))
	}
	b.WriteString("}")
}

func jsonText(s string) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(s); err != nil {
		panic(err)
	}
	return strings.TrimSpace(b.String())
}
