package config

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"

	"github.com/agent-airlock/airlock/internal/safeoutput"
)

const docsFile = "../../docs/configuration.md"

// TestDocumentedKeys asserts that the tables of docs/configuration.md are made of those of the
// decoder, and of the kinds' permissions; -update rewrites them.
func TestDocumentedKeys(t *testing.T) {
	tables := map[string]string{"safe-outputs": docTable(globalTable()), "mentions": docTable(mentionKeys()), "allowed-secrets": docTable(secretKeys()),
		"checks": docTable(checksTable()), "checks-report": docTable(checkReportKeys()), "checks-review": docTable(reviewRuleKeys("")), "checks-reviewers": docTable(reviewerKeys()),
		"acceptance": docTable(acceptanceTable())}
	for _, row := range kindTable() {
		tables[string(row.kind)] = docTable(row.keys)
	}
	tables["permissions"] = permissionTable()
	raw, err := os.ReadFile(docsFile)
	if err != nil {
		t.Fatal(err)
	}
	block := regexp.MustCompile(`(?s)<!-- keys: ([a-z-]+) -->\n.*?<!-- end -->`)
	seen := map[string]bool{}
	want := block.ReplaceAllStringFunc(string(raw), func(s string) string {
		name := block.FindStringSubmatch(s)[1]
		seen[name] = true
		return "<!-- keys: " + name + " -->\n" + tables[name] + "<!-- end -->"
	})
	for name := range tables {
		if !seen[name] {
			t.Errorf("%s has no table for %s", docsFile, name)
		}
	}
	for name := range seen {
		if tables[name] == "" {
			t.Errorf("%s has a table for %s, which is not known", docsFile, name)
		}
	}
	if *update {
		if err := os.WriteFile(docsFile, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(want, string(raw)); diff != "" {
		t.Errorf("%s differs from the decoder's tables; run the test with -update (-want +got):\n%s", docsFile, diff)
	}
}

// docTable returns the table of the keys that are not foreign.
func docTable[T any](keys []key[T]) string {
	var b strings.Builder
	b.WriteString("| key | takes | what it does |\n| --- | --- | --- |\n")
	for _, k := range keys {
		if !k.foreign {
			fmt.Fprintf(&b, "| `%s` | %s | %s |\n", k.name, k.takes.wants, k.doc)
		}
	}
	return strings.ReplaceAll(b.String(), "**", "\\*\\*")
}

// TestDocumentedExamples asserts that the decoder and the schema accept every example of
// docs/configuration.md, and that only an example that begins with "noop: false" has a warning. It
// also asserts that every kind has an example, and that each of a kind's other names is mentioned.
func TestDocumentedExamples(t *testing.T) {
	raw, err := os.ReadFile(docsFile)
	if err != nil {
		t.Fatal(err)
	}
	schema := compileSchema(t)
	examples := regexp.MustCompile("(?s)```yaml\n(.*?)```").FindAllStringSubmatch(string(raw), -1)
	shown := map[string]bool{}
	for _, e := range examples {
		cfg, err := Parse("example", []byte(e[1]))
		if err != nil {
			t.Errorf("%s\n%v", e[1], err)
		}
		if len(cfg.Warnings) > 0 && !strings.HasPrefix(e[1], "noop: false") {
			t.Errorf("%s\n%v", e[1], cfg.Warnings)
		}
		for kind := range cfg.Policy.Kinds {
			shown[string(kind)] = true
		}
		var value any
		if err := yaml.Unmarshal([]byte(e[1]), &value); err != nil {
			t.Fatal(err)
		}
		if err := schema.Validate(value); err != nil {
			t.Errorf("%s\n%v", e[1], err)
		}
	}
	for _, row := range kindTable() {
		if !shown[string(row.kind)] {
			t.Errorf("no example shows %s", row.kind)
		}
		for _, name := range row.also {
			if !strings.Contains(string(raw), "`"+name+"`") {
				t.Errorf("the other name %s is not mentioned", name)
			}
		}
	}
}

// permissionTable returns the table of the permissions that each kind needs, from the kinds' specs.
func permissionTable() string {
	var b strings.Builder
	b.WriteString("| kind | on | permissions |\n| --- | --- | --- |\n")
	for _, spec := range safeoutput.Kinds() {
		byNeed := map[string][]string{}
		var order []string
		for _, t := range append([]safeoutput.Target{safeoutput.NoTarget}, spec.ActsOn...) {
			names, ok := spec.Permissions[t]
			if !ok {
				continue
			}
			need := "`" + strings.Join(names, ": write`, `") + ": write`"
			on := string(t)
			if t == safeoutput.NoTarget {
				on = "the repository"
			}
			if byNeed[need] == nil {
				order = append(order, need)
			}
			byNeed[need] = append(byNeed[need], on)
		}
		for _, need := range order {
			fmt.Fprintf(&b, "| `%s` | %s | %s |\n", spec.Kind, strings.Join(byNeed[need], ", "), need)
		}
		if len(order) == 0 {
			fmt.Fprintf(&b, "| `%s` | – | none |\n", spec.Kind)
		}
	}
	return b.String()
}
