package config

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-airlock/airlock/internal/policy"
)

// repository writes files below a directory that has a .git, and returns it.
func repository(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, ".git"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

const workflow = ".github/workflows/triage.md"

// load loads the workflow of a repository.
func load(t *testing.T, dir string) SafeOutputs {
	t.Helper()
	cfg, err := Load(Sources{File: filepath.Join(dir, filepath.FromSlash(workflow))})
	if err != nil {
		t.Fatal(err)
	}
	return cfg
}

// effects returns the effects of the keys, without the name of the directory.
func effects(dir string, cfg SafeOutputs) string {
	var lines []string
	for _, k := range cfg.Keys {
		lines = append(lines, strings.Replace(k.String(), filepath.Join(dir, filepath.FromSlash(workflow)), workflow, 1))
	}
	return strings.Join(lines, "\n")
}

func TestImportsAreFollowed(t *testing.T) {
	dir := repository(t, map[string]string{
		workflow:                             "---\non: issues\nnetwork:\n  allowed: [defaults, \"*.example.com\", \"*\"]\nimports:\n  - shared/base.md\n  - uses: .github/agents/helper.md\nsafe-outputs:\n  add-comment:\n    max: 2\n  allowed-domains: [example.org]\n---\nTriage.\n",
		".github/workflows/shared/base.md":   "---\nimports: [more.md]\nsafe-outputs:\n  create-issue:\n    title-prefix: \"[bot] \"\n  add-issue-comment:\n    max: 9\n  allowed-domains: [terraform]\n---\n",
		".github/workflows/shared/more.md":   "---\nimports: [base.md]\nsafe-outputs:\n  add-labels:\n    allowed: [bug]\n  close-issue:\n---\n",
		".github/agents/helper.md":           "# Helper\n\n* Be kind: @octocat\n\t{{\n",
		".github/workflows/shared/unused.md": "---\nsafe-outputs:\n  noop: false\n---\n",
	})
	cfg := load(t, dir)
	kinds := map[policy.Kind]bool{}
	for kind := range cfg.Policy.Kinds {
		kinds[kind] = true
	}
	if diff := cmp.Diff(map[policy.Kind]bool{"add-issue-comment": true, "create-issue": true, "add-issue-label": true}, kinds); diff != "" || cfg.Policy.Staged {
		t.Errorf("staged is %t; kinds (-want +got):\n%s", cfg.Policy.Staged, diff)
	}
	if m := cfg.Policy.Kinds["add-issue-comment"].Max; m == nil || *m != 2 || cfg.Policy.Kinds["create-issue"].TitlePrefix != "[bot] " {
		t.Errorf("%+v", cfg.Policy.Kinds)
	}
	domains := strings.Join(cfg.AllowedDomains, " ")
	for _, want := range []string{"example.org", "example.com", "json-schema.org", "registry.terraform.io"} {
		if !strings.Contains(domains, want) {
			t.Errorf("%s is missing among %s", want, domains)
		}
	}
	got := effects(dir, cfg)
	for _, want := range []string{
		workflow + `:2:1: ignored: on: the workflow that runs the agent decides this`,
		workflow + `:4:40: changed: network: "*" is not the name of a host, so links there stay redacted`,
		workflow + `:6:5: honoured: imports: .github/workflows/shared/base.md: 5 keys below safe-outputs`,
		workflow + `:10:5: honoured: add-issue-comment: max`,
		`.github/workflows/shared/base.md:5:5: honoured: create-issue: title-prefix`,
		`.github/workflows/shared/base.md:6:3: changed: add-issue-comment: .github/workflows/triage.md also has this key, on line 9; its value counts, not this one`,
		`.github/workflows/shared/more.md:6:3: missing: close-issue: Airlock does not have this kind; lines that ask for it are rejected: no issue is closed; update-issue with "status:" closes one`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("the effects lack %q:\n%s", want, got)
		}
	}
}

// TestAKeyInSeveralFiles asserts that the note about a key that does not count names the file whose
// value counts, wherever the two files are among the imports.
func TestAKeyInSeveralFiles(t *testing.T) {
	const a, b = ".github/workflows/a.md", ".github/workflows/b.md"
	for name, c := range map[string]struct {
		files map[string]string // the front matters
		want  string
	}{
		"the importing file": {map[string]string{
			workflow: "imports: [b.md]\nsafe-outputs:\n  create-issue:\n", b: "safe-outputs:\n  create-issue:\n",
		}, b + ":3:3: changed: create-issue: " + workflow + " also has this key, on line 4; its value counts, not this one"},
		"two imports of one file": {map[string]string{
			workflow: "imports: [a.md, b.md]\nsafe-outputs:\n  noop:\n", a: "on: push\nsafe-outputs:\n  create-issue:\n", b: "safe-outputs:\n  create-issue:\n",
		}, b + ":3:3: changed: create-issue: " + a + " also has this key, on line 4; its value counts, not this one"},
		"an import of an import": {map[string]string{
			workflow: "imports: [a.md]\nsafe-outputs:\n  create-issue:\n", a: "imports: [b.md]\nsafe-outputs:\n  noop:\n", b: "safe-outputs:\n  create-issue:\n",
		}, b + ":3:3: changed: create-issue: " + workflow + " also has this key, on line 4; its value counts, not this one"},
		"an import's own import": {map[string]string{
			workflow: "imports: [a.md]\nsafe-outputs:\n  noop:\n", a: "imports: [b.md]\nsafe-outputs:\n  create-issue:\n", b: "safe-outputs:\n  create-issue:\n",
		}, b + ":3:3: changed: create-issue: " + a + " also has this key, on line 4; its value counts, not this one"},
	} {
		t.Run(name, func(t *testing.T) {
			for name, matter := range c.files {
				c.files[name] = "---\n" + matter + "---\n"
			}
			dir := repository(t, c.files)
			if got := effects(dir, load(t, dir)); !strings.Contains(got, c.want) {
				t.Errorf("the effects lack %q:\n%s", c.want, got)
			}
		})
	}
}

// TestEverySpellingIsOneKey asserts that a key of the importing file wins over each spelling of it in
// an import, for all keys and in both directions.
func TestEverySpellingIsOneKey(t *testing.T) {
	for _, k := range globalTable() {
		names := spellings(k.name, k.also)
		for _, own := range names {
			for _, theirs := range names {
				d := &decoder{}
				im := &importing{d: d}
				merged := im.mergeEntries([]entry{{key: own}}, []entry{{key: theirs}})
				if isList := k.name == "allowed-domains"; len(merged) != 1 || merged[0].key != own || len(d.warnings) == 0 != isList {
					t.Errorf("%s here and %s in an import: %+v, warnings %v", own, theirs, merged, d.warnings)
				}
			}
		}
	}

	dir := repository(t, map[string]string{
		workflow:                    "---\nimports: [base.md]\nsafe-outputs:\n  create-issue:\n  allow-closing-words: true\n---\n",
		".github/workflows/base.md": "---\nsafe-outputs:\n  closing_words: false\n---\n",
	})
	cfg := load(t, dir)
	if want := "base.md:3:3: changed: closing_words: " + workflow + " also has this key, on line 5; its value counts, not this one"; !cfg.ClosingWords || !strings.Contains(effects(dir, cfg), want) {
		t.Errorf("closing words are %t; want %q among the effects:\n%s", cfg.ClosingWords, want, effects(dir, cfg))
	}
}

// TestAKeyTwiceInAnImport asserts that an imported file that has one key in two spellings is refused,
// as the file alone is.
func TestAKeyTwiceInAnImport(t *testing.T) {
	for _, keys := range [][2]string{{"allow-closing-words", "closing-words"}, {"create-issue", "create_issue"}, {"add-issue-comment", "add-comment"}, {"allowed-domains", "allowed_domains"}} {
		value := ": [example.com]\n"
		switch {
		case strings.HasSuffix(keys[0], "-words"):
			value = ": true\n"
		case !strings.HasSuffix(keys[0], "-domains"):
			value = ":\n"
		}
		dir := repository(t, map[string]string{
			workflow:                    "---\nimports: [base.md]\nsafe-outputs:\n  noop:\n---\n",
			".github/workflows/base.md": "---\nsafe-outputs:\n  " + keys[0] + value + "  " + keys[1] + value + "---\n",
		})
		_, err := Load(Sources{File: filepath.Join(dir, filepath.FromSlash(workflow))})
		want := fmt.Sprintf("base.md:4:3: %q means the same as %q on line 3; remove one of them", keys[1], keys[0])
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error is %v; want %s", err, want)
		}
	}
}

// TestSafeOutputsThatAreNotRead asserts that safe-outputs that is not a mapping, and a second key of
// that name in the other spelling, is an error in a front matter and in an imported one.
func TestSafeOutputsThatAreNotRead(t *testing.T) {
	for matter, want := range map[string]string{
		"safe-outputs: [create-issue]\n":                           `2:15: safe-outputs: expected a mapping, such as "create-issue: {max: 1}", found a list`,
		"safe-outputs: create-issue\n":                             `2:15: safe-outputs: expected a mapping, such as "create-issue: {max: 1}", found the text "create-issue"`,
		"safe_outputs: true\n":                                     `2:15: safe-outputs: expected a mapping, such as "create-issue: {max: 1}", found true`,
		"safe-outputs: 1\nimports: [c.md]\n":                       `2:15: safe-outputs: expected a mapping, such as "create-issue: {max: 1}", found 1`,
		"safe-outputs:\n  create-issue:\nsafe_outputs:\n  noop:\n": `4:1: "safe_outputs" means the same as "safe-outputs" on line 2; remove one of them`,
		"safe_outputs:\non: push\nsafe-outputs:\n":                 `4:1: "safe-outputs" means the same as "safe_outputs" on line 2; remove one of them`,
	} {
		for file, files := range map[string]map[string]string{
			workflow:                 {workflow: matter},
			".github/workflows/b.md": {workflow: "imports: [b.md]\nsafe-outputs:\n  create-issue:\n", ".github/workflows/b.md": matter},
			".github/workflows/c.md": {workflow: "imports: [b.md]\n", ".github/workflows/b.md": "imports: [c.md]\n", ".github/workflows/c.md": matter},
		} {
			for name, text := range files {
				files[name] = "---\n" + text + "---\n"
			}
			dir := repository(t, files)
			_, err := Load(Sources{File: filepath.Join(dir, filepath.FromSlash(workflow))})
			if err == nil || !strings.HasSuffix(err.Error(), file+":"+want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("%s in %s: error is %v; want %s", matter, file, err, want)
			}
		}
	}
}

// TestImportsThatAreNotFollowed asserts that an import that was not read stages everything, because
// it may restrict what is allowed, and that a warning gives the reason.
func TestImportsThatAreNotFollowed(t *testing.T) {
	outside := filepath.Join(t.TempDir(), "secret.md")
	if err := os.WriteFile(outside, []byte("---\nsafe-outputs:\n  create-discussion:\n---\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	many := make([]string, 70)
	for i := range many {
		many[i] = fmt.Sprintf("shared/m%d.md", i)
	}
	for name, c := range map[string]struct{ imports, why string }{
		"remote":      {"[octo/shared/triage.md@v1]", "a file of another repository is not read"},
		"url":         {"['https://example.com/a.md']", "a file of another repository is not read"},
		"gone":        {"[shared/gone.md]", "there is no such file in the repository"},
		"outside":     {"[../../../secret.md]", "it leads out of the repository"},
		"backslash":   {"['shared\\base.md']", "a path with a backslash is not read"},
		"absolute":    {"[/../secret.md]", "it leads out of the repository"},
		"link":        {"[shared/link.md]", "it cannot be read: "},
		"large":       {"[shared/large.md]", "it is too large"},
		"many":        {"[" + strings.Join(many, ", ") + "]", "more than 64 files are imported"},
		"deep":        {"[shared/d0.md]", "nested more than 8 files deep"},
		"a directory": {"[shared]", "it is not an ordinary file"},
		"no text":     {"[5]", `:2:11: missing: imports: 5: it names no file by a text, such as "uses: shared/a.md"`},
		"no name":     {"{aw: [with: {a: 1}]}", ":2:16: missing: imports: a mapping: it names no file by a text"},
		"a list":      {"[uses: [a.md]]", ":2:11: missing: imports: a mapping: it names no file by a text"},
	} {
		t.Run(name, func(t *testing.T) {
			files := map[string]string{workflow: "---\nimports: " + c.imports + "\nsafe-outputs:\n  create-issue:\n---\n", ".github/workflows/shared/large.md": strings.Repeat("a", maxBytes+1)}
			for i := range many {
				files[".github/workflows/"+many[i]] = "---\non: push\n---\n"
			}
			for i := range 12 {
				files[fmt.Sprintf(".github/workflows/shared/d%d.md", i)] = fmt.Sprintf("---\nimports: [d%d.md]\n---\n", i+1)
			}
			dir := repository(t, files)
			if err := os.Symlink(outside, filepath.Join(dir, ".github/workflows/shared/link.md")); err != nil {
				t.Fatal(err)
			}
			cfg := load(t, dir)
			if _, ok := cfg.Policy.Kinds["create-discussion"]; ok || !cfg.Policy.Staged || !strings.Contains(effects(dir, cfg), c.why) {
				t.Errorf("staged is %t:\n%s", cfg.Policy.Staged, effects(dir, cfg))
			}
		})
	}
}

// TestAnImportThatIsNoList asserts that a mapping which names a file is read as a list of it is.
func TestAnImportThatIsNoList(t *testing.T) {
	for imports, want := range map[string]bool{
		"{uses: b.md}": true, "{path: b.md, with: {}}": true, "{uses: b.md, aw: [c.md]}": true, "{aw: b.md}": true, "{aw: {uses: b.md}}": true, "{aw: [c.md]}": false, "{with: {}}": false,
	} {
		dir := repository(t, map[string]string{
			workflow:                 "---\nimports: " + imports + "\nsafe-outputs:\n  create-issue:\n---\n",
			".github/workflows/b.md": "---\nsafe-outputs:\n  staged: true\n---\n", ".github/workflows/c.md": "---\nsafe-outputs:\n  noop:\n---\n",
		})
		cfg, err := Load(Sources{File: filepath.Join(dir, filepath.FromSlash(workflow))})
		if err != nil || cfg.Policy.Staged != want {
			t.Errorf("%s: staged is %t, error %v", imports, cfg.Policy.Staged, err)
		}
	}
}

// TestImportsOfWhichAPartIsNotRead asserts that an import with two keys that mean the same, or with
// inputs that are not a mapping, is an error.
func TestImportsOfWhichAPartIsNotRead(t *testing.T) {
	for entry, want := range map[string]string{
		"{uses: b.md, path: c.md}":           `3:18: imports: "path" means the same as "uses" on line 3; remove one of them`,
		"{inputs: {}, path: b.md, with: {}}": `3:30: imports: "with" means the same as "inputs" on line 3; remove one of them`,
		"{uses: b.md, with: [a]}":            `3:24: imports: the inputs are a mapping, such as "with: {name: value}", not a list`,
		"{uses: b.md, inputs: a}":            `3:26: imports: the inputs are a mapping, such as "with: {name: value}", not the text "a"`,
		"{uses: b.md, with: }":               "",
		"b.md":                               "",
		"":                                   "",
	} {
		dir := repository(t, map[string]string{workflow: "---\nimports:\n  - " + entry + "\nsafe-outputs:\n  noop:\n---\n", ".github/workflows/b.md": "---\nsafe-outputs:\n---\n"})
		cfg, err := Load(Sources{File: filepath.Join(dir, filepath.FromSlash(workflow))})
		switch {
		case want == "" && (err != nil || cfg.Policy.Staged):
			t.Errorf("%s: staged is %t, error %v", entry, cfg.Policy.Staged, err)
		case want != "" && (err == nil || !strings.HasSuffix(err.Error(), workflow+":"+want)):
			t.Errorf("%s: error is %v; want %s", entry, err, want)
		}
	}
}

// TestImportsFromATree asserts that imports are read by Sources.ReadFile, as the workflow itself
// is, and that ReadFile is never given a name that leads out of the tree.
func TestImportsFromATree(t *testing.T) {
	files := map[string]string{workflow: "---\nimports: [shared/base.md, ../../x.md, ../../../x.md]\nsafe-outputs:\n---\n",
		".github/workflows/shared/base.md": "---\nsafe-outputs:\n  create-issue:\n    labels: ${{ vars.LABEL }}\n---\n"}
	var asked []string
	_, err := Load(Sources{File: workflow, ReadFile: func(name string) ([]byte, error) {
		asked = append(asked, name)
		if text, ok := files[name]; ok {
			return []byte(text), nil
		}
		return nil, os.ErrNotExist
	}})
	if err == nil || !strings.Contains(err.Error(), ".github/workflows/shared/base.md:4:13: labels: \"${{ vars.LABEL }}\" is an expression") {
		t.Errorf("error is %v", err)
	}
	if diff := cmp.Diff([]string{workflow, ".github/workflows/shared/base.md", "x.md"}, asked); diff != "" {
		t.Errorf("read (-want +got):\n%s", diff)
	}
}

// TestExpressionsThatARunnerHasEvaluated asserts that a text in the input config that looks like an
// expression stays text: the runner has evaluated the real ones. In a file it is an error.
func TestExpressionsThatARunnerHasEvaluated(t *testing.T) {
	const text = "create-issue:\n  title-prefix: \"[${{ x }}] \"\n"
	cfg, err := Load(Sources{Inline: text})
	if err != nil || cfg.Policy.Kinds["create-issue"].TitlePrefix != "[${{ x }}] " {
		t.Errorf("%+v, error %v", cfg.Policy.Kinds, err)
	}
	if _, err := Parse("policy.yml", []byte(text)); err == nil || !strings.Contains(err.Error(), "it would be taken literally") {
		t.Errorf("error is %v", err)
	}
	if _, err := Parse("policy.yml", []byte("checks:\n  roots: [{dir: \"${{ x }}\"}]\n")); err == nil || !strings.Contains(err.Error(), "policy.yml:2:17: roots: \"${{ x }}\" is an expression") {
		t.Errorf("error is %v", err)
	}
}

// TestEcosystemsAreHosts asserts that the ecosystems have hosts, and that allowed-domains takes all
// of them.
func TestEcosystemsAreHosts(t *testing.T) {
	for _, name := range []string{"defaults", "python", "node", "go", "github", "containers", "java", "ruby", "rust", "dotnet", "terraform", "linux-distros", "playwright", "dev-tools", "local", "default-safe-outputs"} {
		if hosts, known := ecosystemHosts(name); !known || len(hosts) == 0 {
			t.Errorf("%s has no hosts", name)
		}
	}
	for name, hosts := range ecosystems() {
		if _, err := Parse("x", []byte("create-issue:\nallowed-domains: ["+strings.Join(hosts, ", ")+"]\n")); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestManyImportedKeysAreCheap asserts that merging takes time linear in the number of keys, which
// are wrong here.
func TestManyImportedKeysAreCheap(t *testing.T) {
	t.Parallel()
	const keys = 9_000
	list := func(prefix string) string {
		var b strings.Builder
		for i := range keys {
			fmt.Fprintf(&b, "  %s%d:\n", prefix, i)
		}
		return b.String()
	}
	dir := repository(t, map[string]string{
		workflow:                 "---\nimports: [b.md]\nsafe-outputs:\n" + list("a") + "---\n",
		".github/workflows/b.md": "---\nsafe-outputs:\n" + list("b") + "---\n",
	})
	started := time.Now()
	_, err := Load(Sources{File: filepath.Join(dir, filepath.FromSlash(workflow))})
	if err == nil || !strings.Contains(err.Error(), `unknown key "a0"`) {
		t.Errorf("error is %.200v", err)
	}
	if took := time.Since(started); took > 5*time.Second {
		t.Errorf("took %v", took)
	}
}
