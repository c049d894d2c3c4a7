package phase

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestModulesAreReadOnce asserts that modules which name each other count once, that a long list of
// modules is bounded, and that the poms are kept for the next question.
func TestModulesAreReadOnce(t *testing.T) {
	dir := t.TempDir()
	write := func(name string, modules ...string) {
		t.Helper()
		text := "<project><artifactId>x</artifactId><modules><module>" + strings.Join(modules, "</module><module>") + "</module></modules></project>"
		path := filepath.Join(dir, filepath.FromSlash(name), "pom.xml")
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	many := []string{"a", "a/pom.xml", "./a", ".", "..", "/etc", "b"}
	for i := range 3 * mostPoms {
		many = append(many, fmt.Sprint("none", i))
	}
	write("", many...)
	write("a", "../b", "..", "c")
	write("b", "../a")
	write("a/c", "../../b")
	p, err := openProject(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer p.close()
	for range 2 {
		modules, _ := p.buildOf(".")
		var got []string
		for _, m := range modules {
			got = append(got, m.dir)
		}
		if strings.Join(got, " ") != ". a b" { // the list has reached the bound before a names a/c
			t.Errorf("the modules are %q", got)
		}
		if len(p.poms) > mostPoms {
			t.Errorf("%d poms were looked for", len(p.poms))
		}
		if err := os.RemoveAll(filepath.Join(dir, "a")); err != nil { // it was read already
			t.Fatal(err)
		}
	}
	if modules, _ := p.buildOf("a"); len(modules) == 0 || modules[0].dir != "a" {
		t.Errorf("the build in a has %d modules", len(modules))
	}
}
