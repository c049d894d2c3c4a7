package airlock_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"iter"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

var update = flag.Bool("update", false, "rewrite what documents show")

// TestReadme executes the README's main command, and asserts that it succeeds, shows the plan, and
// writes the page.
func TestReadme(t *testing.T) {
	raw, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	command := regexp.MustCompile("```sh\n(go run [^\n]+ --plan-html )plan.html\n```").FindStringSubmatch(string(raw))
	if command == nil {
		t.Fatal("the README has no main command")
	}
	page := filepath.Join(t.TempDir(), "plan.html")
	cmd := exec.Command("go", append(strings.Fields(command[1])[1:], page)...)
	cmd.Env = append(os.Environ(), "GITHUB_TOKEN=", "GH_TOKEN=", "GITHUB_ACTIONS=", "GITHUB_EVENT_NAME=", "GITHUB_REPOSITORY=")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Run(); err != nil {
		t.Fatalf("%s: %v\n%s", command[1], err, stderr.String())
	}
	for _, want := range []string{"Plan for Codertocat/Hello-World", "POST /repos/Codertocat/Hello-World/issues\n", "Seen since #41. cc @&#8203;octocat", "4 of 4 requests would be done, nothing was written", page} {
		if !strings.Contains(stderr.String(), want) {
			t.Errorf("the plan lacks %q:\n%s", want, stderr.String())
		}
	}
	if html, err := os.ReadFile(page); err != nil || !strings.Contains(string(html), "TestParse fails one run in ten") {
		t.Errorf("the page: %v\n%.500s", err, html)
	}
}

// TestGeneratedDocuments compares what documents show with the program and with action.yml.
func TestGeneratedDocuments(t *testing.T) {
	for _, path := range []string{"README.md", "docs/lines.md", "docs/action.md"} {
		raw, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		want := replaceBlocks(t, string(raw))
		if path == "docs/action.md" {
			want = replaceTable(t, want, "inputs", inputsTable(t))
			want = replaceTable(t, want, "outputs", outputsTable(t))
		}
		switch {
		case want == string(raw):
		case !*update:
			t.Errorf("%s shows something else than the program does; run go test . -update and read the difference", path)
		default:
			if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// TestReadmeIsShort asserts that the README has at most 900 words before its reference, counting
// those of code and tables, and that its sentences have at most 15 words in the mean. A sentence
// also ends at a colon, and where a paragraph, a list's item or a block of code begins.
func TestReadmeIsShort(t *testing.T) {
	raw, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	text, _, found := strings.Cut(string(raw), "\n## Reference\n")
	if n := len(strings.Fields(text)); !found || n > 900 {
		t.Errorf("%d words before the reference (found: %t), want the reference after at most 900", n, found)
	}
	prose := regexp.MustCompile("(?ms)^ *```.*?^ *```$|^<!--.*?-->$|^#.*?$|^!\\[.*?$").ReplaceAllString(text, "\n\n")
	words, sentences := 0, 0
	for _, sentence := range regexp.MustCompile(`[.?!:]\s|\n\n|\n *(?:-|\d\.) `).Split(prose, -1) {
		if n := len(strings.Fields(sentence)); n > 0 {
			words, sentences = words+n, sentences+1
		}
	}
	if sentences == 0 || words > 15*sentences {
		t.Errorf("%d words in %d sentences, more than 15 in the mean", words, sentences)
	}
}

// TestGatesActionIsTheSame compares actions/gate/action.yml with action.yml: it has the same
// inputs and outputs, and runs in the image of the gate.
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
		t.Fatal("actions/gate/action.yml has other inputs, outputs or runs than action.yml; run go test . -update")
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

// TestFormula writes the Homebrew formula of a release as the release does. Where Ruby is installed,
// it checks the formula's syntax.
func TestFormula(t *testing.T) {
	names := []string{"airlock_darwin_amd64", "airlock_darwin_arm64", "airlock_linux_amd64", "airlock_linux_arm64", "airlock_man_and_completions.tar.gz", "airlock_windows_amd64.exe"}
	var sums strings.Builder
	for i, name := range names {
		fmt.Fprintf(&sums, "%s  %s\n", strings.Repeat(fmt.Sprint(i), 64), name)
	}
	path := filepath.Join(t.TempDir(), "checksums.txt")
	if err := os.WriteFile(path, []byte(sums.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	formula, err := exec.Command("sh", "script/formula", "v1.2.3", path).Output()
	if err != nil {
		t.Fatal(err)
	}
	for i, name := range names[:5] {
		if want := fmt.Sprintf("url \"https://github.com/agent-airlock/airlock/releases/download/v1.2.3/%s\"\n", name); !strings.Contains(string(formula), want) || !strings.Contains(string(formula), "sha256 \""+strings.Repeat(fmt.Sprint(i), 64)+"\"") {
			t.Errorf("the formula lacks %s or its checksum:\n%s", name, formula)
		}
	}
	if !strings.Contains(string(formula), "version \"1.2.3\"") {
		t.Errorf("the formula has another version:\n%s", formula)
	}
	if ruby, err := exec.LookPath("ruby"); err == nil {
		cmd := exec.Command(ruby, "-wc")
		cmd.Stdin = bytes.NewReader(formula)
		if out, err := cmd.CombinedOutput(); err != nil || strings.TrimSpace(string(out)) != "Syntax OK" {
			t.Errorf("ruby: %v\n%s", err, out)
		}
	}
	for _, args := range [][]string{{"1.2.3", path}, {"v1", path}, {"v1.2.3", os.DevNull}} {
		if out, err := exec.Command("sh", append([]string{"script/formula"}, args...)...).Output(); err == nil {
			t.Errorf("%v: %s", args, out)
		}
	}
}

// TestSchemaHasAnAddress compares the schema's own address with the entry for SchemaStore.
func TestSchemaHasAnAddress(t *testing.T) {
	var entry struct{ URL string }
	var schema struct {
		ID string `json:"$id"`
	}
	for path, into := range map[string]any{"docs/schemastore-entry.json": &entry, "schemas/safe-outputs-config.json": &schema} {
		raw, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(raw, into); err != nil {
			t.Fatal(err)
		}
	}
	if entry.URL != schema.ID || !strings.HasSuffix(entry.URL, "/main/schemas/safe-outputs-config.json") {
		t.Errorf("the entry names %s, and the schema is %s", entry.URL, schema.ID)
	}
}

// replaceBlocks fills the blocks that show a file or the output of a command.
func replaceBlocks(t *testing.T, text string) string {
	t.Helper()
	block := regexp.MustCompile("(?s)<!-- (file|output): ([^\n]+) -->\n```json\n(?:.*?\n)??```\n")
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

// replaceTable returns text with another table after the marker of that name.
func replaceTable(t *testing.T, text, name, table string) string {
	t.Helper()
	section := regexp.MustCompile(`(?s)<!-- ` + name + ` -->\n.*?\n?(### |## )`)
	if !section.MatchString(text) {
		t.Fatalf("there is no marker for the table of %s", name)
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
func entries(t *testing.T, n yaml.Node) iter.Seq2[string, map[string]string] {
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
