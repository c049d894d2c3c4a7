package airlock_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestRulesNameTestsThatExist asserts that each rule in the tables of docs/rules is held by
// tests, and that these exist: package.TestName stands for a function of a package below
// internal, airlock.TestName for one of cmd/airlock, and name.txtar for a script of
// testdata/script.
func TestRulesNameTestsThatExist(t *testing.T) {
	paths, err := filepath.Glob("docs/rules/*.md")
	if err != nil || len(paths) == 0 {
		t.Fatal("there are no rules", err)
	}
	exists := map[string]bool{}
	function := regexp.MustCompile(`(?m)^func (Test\w+)\(t \*testing\.T\)`)
	for _, pattern := range []string{"internal/*/*_test.go", "internal/*/*/*_test.go", "cmd/airlock/*_test.go"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			source, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range function.FindAllStringSubmatch(string(source), -1) {
				exists[strings.TrimPrefix(filepath.ToSlash(filepath.Dir(file)), "internal/")+"."+m[1]] = true
			}
		}
	}
	cell := regexp.MustCompile("^(?:`[^`]+`(?:, |$))+$")
	seen := map[string]bool{}
	for _, path := range paths {
		raw, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		rules := 0
		for line := range strings.Lines(string(raw)) {
			row := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), " | ")
			rule, held := strings.TrimSpace(row[0]), strings.TrimSpace(row[len(row)-1])
			if !strings.HasPrefix(line, "| ") || strings.HasPrefix(rule, "---") || held == "held by" {
				continue
			}
			rules++
			if seen[rule] {
				t.Errorf("%s: the rule is there twice: %s", path, rule)
			}
			seen[rule] = true
			if !cell.MatchString(held) {
				t.Errorf("%s: write `package.TestName`, `script.txtar`, ... instead of %q", path, held)
				continue
			}
			for _, name := range strings.Split(strings.ReplaceAll(held, "`", ""), ", ") {
				if strings.HasSuffix(name, ".txtar") {
					if _, err := os.Stat(filepath.Join("testdata", "script", name)); err != nil {
						t.Errorf("%s: %s: %v", path, rule, err)
					}
				} else if !exists[strings.Replace(name, "airlock.", "cmd/airlock.", 1)] {
					t.Errorf("%s: %s: there is no test %s", path, rule, name)
				}
			}
		}
		if rules < 10 {
			t.Errorf("%s has %d rules", path, rules)
		}
	}
}
