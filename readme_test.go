package airlock_test

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

var update = flag.Bool("update", false, "rewrite what the README shows")

// TestReadme executes the README: its main command, its examples, and its tables
// against action.yml. Every other document has a test where it is made.
func TestReadme(t *testing.T) {
	raw, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	text := string(raw)

	t.Run("main command", func(t *testing.T) {
		command := regexp.MustCompile("```sh\n(go run [^\n]+)\n```").FindStringSubmatch(text)
		if command == nil {
			t.Fatal("the README has no main command")
		}
		// One line of five is rejected on purpose, so the exit code is 1.
		cmd := exec.Command("go", strings.Fields(command[1])[1:]...)
		cmd.Env = append(os.Environ(), "GITHUB_TOKEN=", "GH_TOKEN=", "GITHUB_ACTIONS=", "GITHUB_EVENT_NAME=", "GITHUB_REPOSITORY=")
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		err := cmd.Run()
		if _, isExit := err.(*exec.ExitError); !isExit {
			t.Fatalf("%s: %v\n%s", command[1], err, stderr.String())
		}
		for _, want := range []string{"Plan for Codertocat/Hello-World", "POST /repos/Codertocat/Hello-World/issues\n", "4 of 5 requests would be done, nothing was written"} {
			if !strings.Contains(stderr.String(), want) {
				t.Errorf("the plan lacks %q:\n%s", want, stderr.String())
			}
		}
	})

	want := replaceBlocks(t, text)
	want = between(t, want, "inputs", inputsTable(t))
	want = between(t, want, "outputs", outputsTable(t))
	if want == text {
		return
	}
	if !*update {
		t.Fatal("the README shows something else than the program does; run go test . -update and read the difference")
	}
	if err := os.WriteFile("README.md", []byte(want), 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestGatesActionIsTheSame holds actions/gate/action.yml to action.yml: it has the same
// inputs and outputs, in the image of the gate.
func TestGatesActionIsTheSame(t *testing.T) {
	whole, err := os.ReadFile("action.yml")
	if err != nil {
		t.Fatal(err)
	}
	gate, err := os.ReadFile("actions/gate/action.yml")
	if err != nil {
		t.Fatal(err)
	}
	head, _, ok := strings.Cut(string(gate), "\ninputs:\n")
	_, tail, found := strings.Cut(string(whole), "\ninputs:\n")
	want := head + "\ninputs:\n" + strings.Replace(tail, "  image: Dockerfile\n", "  image: ../../Dockerfile.gate\n", 1)
	switch {
	case !ok || !found || !strings.Contains(want, "Dockerfile.gate"):
		t.Fatal("the actions have no inputs, or name no Dockerfile")
	case want == string(gate):
	case !*update:
		t.Fatal("actions/gate/action.yml has other inputs or outputs than action.yml; run go test . -update")
	default:
		if err := os.WriteFile("actions/gate/action.yml", []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// TestPinImages runs what a release does with the actions, on a copy.
func TestPinImages(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"script/pin-images", "action.yml", "actions/gate/action.yml"} {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	checks, gate := "sha256:"+strings.Repeat("1a", 32), "sha256:"+strings.Repeat("2b", 32)
	pin := func(args ...string) error {
		return exec.Command("sh", append([]string{filepath.Join(dir, "script", "pin-images")}, args...)...).Run()
	}
	if pin("o", checks, "") == nil || pin("o", "latest", gate) == nil {
		t.Error("a missing or invalid digest was accepted")
	}
	if err := pin("o", checks, gate); err != nil {
		t.Error(err)
	}
	for name, want := range map[string]string{
		"action.yml": "\n  image: docker://ghcr.io/o/airlock@" + checks + "\n", "actions/gate/action.yml": "\n  image: docker://ghcr.io/o/airlock-gate@" + gate + "\n",
	} {
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil || !strings.HasSuffix(string(data), want) {
			t.Errorf("%s does not end with %q: %v", name, want, err)
		}
	}
	if pin("o", checks, gate) == nil {
		t.Error("actions that build nothing were pinned again")
	}
}

// replaceBlocks fills the blocks that show a file or the output of a command.
func replaceBlocks(t *testing.T, text string) string {
	t.Helper()
	block := regexp.MustCompile("(?s)<!-- (file|output): ([^\n]+) -->\n```json\n.*?```\n")
	return block.ReplaceAllStringFunc(text, func(found string) string {
		m := block.FindStringSubmatch(found)
		var shown []byte
		var err error
		if m[1] == "file" {
			shown, err = os.ReadFile(m[2])
		} else {
			cmd := exec.Command("go", append([]string{"run", "./cmd/airlock"}, strings.Fields(m[2])...)...)
			shown, err = cmd.Output()
			if _, isExit := err.(*exec.ExitError); isExit {
				err = nil // the example has an error on purpose
			}
		}
		if err != nil || len(shown) == 0 {
			t.Fatalf("%s %s: %v", m[1], m[2], err)
		}
		return fmt.Sprintf("<!-- %s: %s -->\n```json\n%s```\n", m[1], m[2], shown)
	})
}

// between puts a table after its marker.
func between(t *testing.T, text, name, table string) string {
	t.Helper()
	section := regexp.MustCompile(`(?s)<!-- ` + name + ` -->\n.*?\n(### |## )`)
	if !section.MatchString(text) {
		t.Fatalf("the README has no marker for the table of %s", name)
	}
	return section.ReplaceAllString(text, "<!-- "+name+" -->\n\n"+strings.ReplaceAll(table, "$", "$$")+"\n$1")
}

// metadata is what action.yml says, in its order.
type metadata struct {
	Inputs  yaml.Node `yaml:"inputs"`
	Outputs yaml.Node `yaml:"outputs"`
}

func actionMetadata(t *testing.T) metadata {
	t.Helper()
	raw, err := os.ReadFile("action.yml")
	if err != nil {
		t.Fatal(err)
	}
	var m metadata
	if err := yaml.Unmarshal(raw, &m); err != nil {
		t.Fatal(err)
	}
	return m
}

func inputsTable(t *testing.T) string {
	t.Helper()
	table := "| input | default | what it does |\n| --- | --- | --- |\n"
	for name, in := range entries(t, actionMetadata(t).Inputs) {
		def := in["default"]
		if def != "" {
			def = "`" + def + "`"
		}
		table += fmt.Sprintf("| `%s` | %s | %s |\n", name, def, in["description"])
	}
	return table
}

func outputsTable(t *testing.T) string {
	t.Helper()
	table := "| output | what it contains |\n| --- | --- |\n"
	for name, out := range entries(t, actionMetadata(t).Outputs) {
		table += fmt.Sprintf("| `%s` | %s |\n", name, out["description"])
	}
	return table
}

// entries iterates over a mapping of mappings in the file's order.
func entries(t *testing.T, n yaml.Node) func(func(string, map[string]string) bool) {
	t.Helper()
	return func(yield func(string, map[string]string) bool) {
		for i := 0; i+1 < len(n.Content); i += 2 {
			var value map[string]string
			if err := n.Content[i+1].Decode(&value); err != nil {
				t.Fatal(err)
			}
			if !yield(n.Content[i].Value, value) {
				return
			}
		}
	}
}
