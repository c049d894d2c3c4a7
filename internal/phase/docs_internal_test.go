package phase

import (
	"flag"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestDocumentedTools compares the table of docs/check-tools.md with the tools.
func TestDocumentedTools(t *testing.T) {
	t.Parallel()
	const path = "../../docs/check-tools.md"
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	table := regexp.MustCompile(`(?s)(<!-- tools -->\n).*?(<!-- end -->)`)
	if !table.Match(raw) {
		t.Fatal("docs/check-tools.md has no place for the table")
	}
	want := table.ReplaceAllLiteralString(string(raw), "<!-- tools -->\n"+toolTable()+"<!-- end -->")
	if f := flag.Lookup("update"); f != nil && f.Value.String() == "true" {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(string(raw), want); diff != "" {
		t.Errorf("docs/check-tools.md differs from the tools; run go test ./internal/phase -update (-document +tools):\n%s", diff)
	}
}

func toolTable() string {
	var b strings.Builder
	b.WriteString("| language | check | tool | is named by | check | fix |\n| --- | --- | --- | --- | --- | --- |\n")
	for _, l := range []Language{JavaScript, Python, Go, Rust, Ruby, Java} {
		for _, t := range toolsOf(l) {
			var signs []string
			for _, s := range t.signs {
				signs = append(signs, s.String())
			}
			named := strings.Join(signs, ", ")
			switch {
			case len(t.signs) == 0:
				named = "the language"
			case t.usual:
				named += "; otherwise the usual one"
			}
			var runs []string
			for _, line := range t.run {
				runs = append(runs, "`"+t.command(line, wording{}).line+"`")
			}
			fix := "none"
			if t.fix != "" {
				fix = "`" + t.command(t.fix, wording{}).line + "`"
			}
			fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s |\n", l, t.check, t.name, strings.ReplaceAll(named, "|", "\\|"), strings.Join(runs, ", otherwise "), fix)
		}
	}
	return b.String()
}

// TestToolsAreSound asserts that each row of the table of tools is complete, and that no language
// has two tools without signs for the same check.
func TestToolsAreSound(t *testing.T) {
	t.Parallel()
	for _, l := range []Language{JavaScript, Python, Go, Rust, Ruby, Java} {
		own := map[Check]int{}
		for _, row := range toolsOf(l) {
			if row.name == "" || len(row.run) == 0 || row.check != Formatter && row.check != Linter {
				t.Errorf("%s: %+v is incomplete", l, row)
			}
			if row.check == Formatter && (row.write == "" || row.fix == "") {
				t.Errorf("%s: %s formats, and cannot write", l, row.name)
			}
			if len(row.signs) == 0 {
				own[row.check]++
			}
			for _, s := range row.signs {
				regexp.MustCompile(s.text)
				regexp.MustCompile(s.without)
				if s.file == "" && s.key == "" && s.runs == "" && s.plugin == "" {
					t.Errorf("%s: %s has an empty sign", l, row.name)
				}
			}
		}
		for check, n := range own {
			if n > 1 {
				t.Errorf("%s has %d %ss of its own", l, n, check)
			}
		}
	}
}
