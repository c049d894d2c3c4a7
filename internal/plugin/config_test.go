package plugin

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/agent-airlock/airlock/internal/finding"
	"github.com/agent-airlock/airlock/internal/phase"
)

func TestPresetsAreSound(t *testing.T) {
	t.Parallel()
	if !slices.IsSorted(Presets()) {
		t.Errorf("not in the order of their names: %v", Presets())
	}
	for _, name := range Presets() {
		c, ok := Preset(name)
		if !ok || c.Name != name || c.Check == "" {
			t.Errorf("%s: %+v", name, c)
		}
		if err := c.Validate(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, ok := Preset("gosek"); ok {
		t.Error("there is a reviewer gosek")
	}
}

// TestPresetsAreDocumented compares the table in the documents with what is run.
func TestPresetsAreDocumented(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile("../../docs/configuration.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range presets() {
		if row := "| `" + c.Name + "` | `" + strings.Join(c.Args, " ") + "`"; !strings.Contains(string(raw), "\n"+row) {
			t.Errorf("docs/configuration.md has no row that begins %s", row)
		}
	}
}

func TestValidate(t *testing.T) {
	t.Parallel()
	sound := Config{Name: "lint", Command: "lint -x {files}"}
	for _, c := range []struct {
		change func(*Config)
		want   []string // in the error; none if there is none
	}{
		{func(*Config) {}, nil},
		{func(c *Config) { c.Command, c.Args = "", []string{"lint", "a b", "{files}"} }, nil},
		{func(c *Config) { c.Command = "lint | head; x=$(y)" }, nil},
		{func(c *Config) { c.Name = "" }, []string{`invalid name ""`}},
		{func(c *Config) { c.Name = "a/b" }, []string{`invalid name "a/b"`}},
		{func(c *Config) { c.Name = "Airlock" }, []string{"built-in"}},
		{func(c *Config) { c.Command = "" }, []string{"no command", "gosec"}},
		{func(c *Config) { c.Args = []string{"x"} }, []string{"not both"}},
		{func(c *Config) { c.Command = "lint {files} | head" }, []string{"needs a shell"}},
		{func(c *Config) { c.Command = "lint $(cat {files})" }, []string{"needs a shell"}},
		{func(c *Config) { c.Command = `bash -c "lint {files}"` }, []string{"a word of its own"}},
		{func(c *Config) { c.Command = "lint --f={files}" }, []string{"a word of its own"}},
		{func(c *Config) { c.Command = "{files} x" }, []string{"no program"}},
		{func(c *Config) { c.Command, c.Args = "", []string{"{files}"} }, []string{"the program"}},
		{func(c *Config) { c.Command = "lint\x00" }, []string{"NUL"}},
		{func(c *Config) { c.Command, c.Args = "", []string{"lint", "\x00"} }, []string{"NUL"}},
		{func(c *Config) { c.Check = phase.Tests }, []string{`the check "tests"`}},
		{func(c *Config) { c.Format = "xml" }, []string{`the format "xml"`}},
		{func(c *Config) { c.Format = Text }, []string{"needs patterns"}},
		{func(c *Config) { c.Format, c.Patterns = SARIF, []string{"%f:%l: %m"} }, []string{"belong to the format"}},
		{func(c *Config) { c.Patterns = []string{"%A%f"} }, []string{"several lines"}},
		{func(c *Config) { c.Dirs = []string{"a/../.."} }, []string{`invalid directory "a/../.."`}},
		{func(c *Config) { c.Instructions = "look" }, []string{"input: diff"}},
		{func(c *Config) { c.Diff, c.Instructions = true, strings.Repeat("x", MaxInstructions+1) }, []string{"more than"}},
		{func(c *Config) { c.Severity = map[string]finding.Severity{"a": "bad"} }, []string{`"bad"`}},
		{func(c *Config) { c.MinSeverity, c.Precision = "x", "y" }, []string{`"x"`, `"y"`}},
		{func(c *Config) { c.FoundExits, c.TimeLimit = []int{0}, -1 }, []string{"exit code 0", "negative"}},
	} {
		cfg := sound
		c.change(&cfg)
		err := cfg.Validate()
		if (err == nil) != (c.want == nil) {
			t.Errorf("%+v: %v, want %q", cfg, err, c.want)
			continue
		}
		for _, w := range c.want {
			if !strings.Contains(err.Error(), w) {
				t.Errorf("%+v: %v; want %q in it", cfg, err, w)
			}
		}
	}
}
