package action_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agent-airlock/airlock/internal/action"
)

func TestOutputs(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "output")
	if err := os.WriteFile(file, []byte("before=1\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	r := action.NewRunner(action.Env{OnRunner: true, OutputPath: file}, &log)
	values := append([]string{"", "plain", "a\nb\n", "a<<b\nc\nb\n", "x=y", "\n\n", "ü\r\n", `{"a":[1]}`}, hostile...)
	for i, v := range values {
		if err := r.SetOutput(fmt.Sprintf("out-%d", i), v); err != nil {
			t.Fatal(err)
		}
	}
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	got := parseFile(t, string(data))
	for i, v := range values {
		if got[fmt.Sprintf("out-%d", i)] != v {
			t.Errorf("%q arrives as %q", v, got[fmt.Sprintf("out-%d", i)])
		}
	}
	if len(got) != len(values)+1 || got["before"] != "1" {
		t.Errorf("%d outputs of %d", len(got), len(values)+1)
	}
	for _, name := range []string{"", "a b", "a\nb", "a=b", "a<<b", "1a", "-a", "ü"} {
		if err := r.SetOutput(name, "v"); err == nil {
			t.Errorf("the name %q is accepted", name)
		}
	}
	if err := r.SetOutput("big", strings.Repeat("x", action.MaxOutput+1)); err == nil || !strings.Contains(err.Error(), "has 1.1 MiB: GitHub takes 1 MiB") {
		t.Errorf(`err = %v, want one with "has 1.1 MiB: GitHub takes 1 MiB"`, err)
	}
	if log.Len() > 0 {
		t.Errorf("outputs are logged: %q", log.String())
	}
}

// parseFile reads a runner's command file as the runner does.
func parseFile(t *testing.T, s string) map[string]string {
	t.Helper()
	got := map[string]string{}
	for s != "" {
		line, rest, _ := strings.Cut(s, "\n")
		equals, heredoc := strings.Index(line, "="), strings.Index(line, "<<")
		switch {
		case heredoc >= 0 && (equals < 0 || heredoc < equals): // NAME<<WORD, lines, WORD
			name, word := line[:heredoc], line[heredoc+2:]
			value, after, ok := strings.Cut("\n"+rest, "\n"+word+"\n")
			if !ok {
				t.Fatalf("%s has no end", name)
			}
			got[name], s = strings.TrimPrefix(value, "\n"), after
		case equals >= 0: // NAME=VALUE
			got[line[:equals]], s = line[equals+1:], rest
		default:
			t.Fatalf("the line %q sets nothing", line)
		}
	}
	return got
}

func TestSummary(t *testing.T) {
	file := filepath.Join(t.TempDir(), "summary")
	if err := os.WriteFile(file, []byte(strings.Repeat("x", 999_000)), 0o644); err != nil {
		t.Fatal(err)
	}
	r := action.NewRunner(action.Env{OnRunner: true, SummaryPath: file}, &bytes.Buffer{})
	if ok, err := r.AddSummary("# Short\n", nil); !ok || err != nil {
		t.Fatal(ok, err)
	}
	var bytesLeft int
	cut := func(s string, maxBytes int) string { bytesLeft = maxBytes; return s[:maxBytes] }
	if ok, err := r.AddSummary(strings.Repeat("y", 5000), cut); !ok || err != nil {
		t.Fatal(ok, err)
	}
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if len(data) > action.MaxSummary || bytesLeft < 900 || !strings.Contains(string(data), "# Short\n\n"+strings.Repeat("y", bytesLeft)+"\n\n") {
		t.Errorf("the summary has %d bytes, and %d were left", len(data), bytesLeft)
	}
	if _, err := r.AddSummary("z", func(s string, _ int) string { return s }); err == nil || !strings.Contains(err.Error(), "does not fit") {
		t.Errorf(`err = %v, want one with "does not fit"`, err)
	}
}

func TestRunnersFilesAreNotTrusted(t *testing.T) {
	dir := t.TempDir()
	victim := filepath.Join(dir, "victim")
	if err := os.WriteFile(victim, []byte("keep"), 0o644); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(dir, "link")
	if err := os.Symlink(victim, link); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{link: "is a link", dir: "is a directory", filepath.Join(dir, "none"): "does not exist", "": "GITHUB_OUTPUT is not set"} {
		r := action.NewRunner(action.Env{OnRunner: true, OutputPath: path, SummaryPath: path}, &bytes.Buffer{})
		if err := r.SetOutput("a", "b"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("SetOutput to %s: %v, want %q", path, err, want)
		}
		if path == "" {
			continue
		}
		if _, err := r.AddSummary("x", nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("AddSummary to %s: %v, want %q", path, err, want)
		}
	}
	if data, _ := os.ReadFile(victim); string(data) != "keep" {
		t.Errorf("the link's target was written: %q", data)
	}
}
