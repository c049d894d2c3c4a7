package phase_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agent-airlock/airlock/internal/phase"
	"github.com/google/go-cmp/cmp"
)

// rootsOf validates a project whose commands are all absent, and returns the roots
// that were found.
func rootsOf(t *testing.T, contents map[string]string, in phase.Input, listed ...phase.Root) ([]string, error) {
	t.Helper()
	repository := files(t, contents)
	dir := filepath.Join(repository, in.WorkingDirectory)
	in.WorkingDirectory = dir
	r, err := phase.Validate(t.Context(), phase.Job{Input: in, Repository: repository}, phase.Config{Roots: listed}, newStage(t, dir, nil).deps())
	var got []string
	for _, root := range r.Roots {
		got = append(got, fmt.Sprintf("%s %s %d", root.Dir, root.Language, len(root.Checks)))
	}
	return got, err
}

func TestLanguageAndRoots(t *testing.T) {
	t.Parallel()
	empty := func(names ...string) map[string]string {
		m := map[string]string{}
		for _, n := range names {
			m[n] = ""
		}
		return m
	}
	tests := []struct {
		name    string
		files   map[string]string
		changed []string
		input   phase.Input
		want    []string
	}{
		{"explicit", empty("go.mod"), nil, phase.Input{Language: phase.Ruby}, []string{". ruby 4"}},
		{"javascript", map[string]string{"package.json": "{}"}, nil, phase.Input{}, []string{". javascript 4"}},
		{"typescript", map[string]string{"package.json": "{}", "tsconfig.json": ""}, nil, phase.Input{}, []string{". typescript 4"}},
		{"python", empty("setup.py"), nil, phase.Input{}, []string{". python 4"}},
		{"a gemspec", empty("x.gemspec"), nil, phase.Input{}, []string{". ruby 4"}},
		{"gradle", empty("build.gradle.kts"), nil, phase.Input{}, []string{". java 4"}},
		{"several: the order", empty("Cargo.toml", "go.mod"), nil, phase.Input{}, []string{". go 4"}},
		{"several: the majority", empty("Cargo.toml", "go.mod"), []string{"a.rs", "b.rs", "c.go"}, phase.Input{}, []string{". rust 4"}},
		{"several: only markers count", empty("Cargo.toml", "go.mod"), []string{"a.py", "b.py", "c.rs"}, phase.Input{}, []string{". rust 4"}},
		{"the nearest above the files", empty("a/b/go.mod", "c/go.mod"), []string{"a/b/x/y.go"}, phase.Input{}, []string{"a/b go 4"}},
		{"a monorepo", empty("a/go.mod", "b/Cargo.toml", "b/c/setup.py"), []string{"b/c/x.py", "a/x.go", "b/x.rs", "README.md"}, phase.Input{}, []string{"a go 4", "b rust 4", "b/c python 4"}},
		{"workspaces belong to the root", empty("Cargo.toml", "crates/a/Cargo.toml"), []string{"crates/a/x.rs"}, phase.Input{}, []string{". rust 4"}},
		{"Go modules do not", empty("go.mod", "tools/go.mod"), []string{"tools/x.go"}, phase.Input{}, []string{". go 4", "tools go 4"}},
		{"another language does not", empty("go.mod", "py/setup.py"), []string{"py/x.py"}, phase.Input{}, []string{". go 4", "py python 4"}},
		{"fixtures are nobody's", empty("go.mod", "a/testdata/p/go.mod", "vendor/q/go.mod"), []string{"a/testdata/p/x.go", "vendor/q/x.go"}, phase.Input{}, []string{". go 4"}},
		{"overrides run once, at the top", empty("a/go.mod", "b/go.mod"), []string{"a/x.go", "b/x.go"}, phase.Input{TestCommand: "make test"}, []string{". go 1", "a go 3", "b go 3"}},
	}
	for _, tt := range tests {
		tt.input.ChangedFiles = tt.changed
		got, err := rootsOf(t, tt.files, tt.input)
		if diff := cmp.Diff(tt.want, got); diff != "" || err != nil {
			t.Errorf("%s: %v\n%s", tt.name, err, diff)
		}
	}
}

func TestALanguageIsNeverGuessed(t *testing.T) {
	t.Parallel()
	for _, changed := range [][]string{nil, {"a.go", "b.go"}, {"deep/x/y.py"}} {
		_, err := rootsOf(t, map[string]string{"a.go": "", "other/go.mod": ""}, phase.Input{ChangedFiles: changed})
		var invalid *phase.InvalidInput
		if !errors.As(err, &invalid) || invalid.Error() != "Cannot detect programming language. Please provide explicit 'language' parameter." {
			t.Errorf("%v: %v", changed, err)
		}
	}
}

func TestListedRootsReplaceThoseThatAreFound(t *testing.T) {
	t.Parallel()
	contents := map[string]string{"go.mod": "", "api/go.mod": "", "api/Cargo.toml": "", "api/gen/go.mod": "", "web/package.json": "{}", "bare/x.txt": "", "testdata/p/setup.py": ""}
	list := func(dirs ...string) (roots []phase.Root) {
		for _, d := range dirs {
			roots = append(roots, phase.Root{Dir: d})
		}
		return roots
	}
	tests := []struct {
		name  string
		input phase.Input
		roots []phase.Root
		want  []string
		err   string
	}{
		{"only these", phase.Input{ChangedFiles: []string{"x.go", "api/x.go"}}, list("web", "api"), []string{"api go 4", "web javascript 4"}, ""},
		{"twice the same", phase.Input{}, list("api", "./api/"), []string{"api go 4"}, ""},
		{"the majority of its own files", phase.Input{ChangedFiles: []string{"api/a.rs", "api/gen/a.go", "api/gen/b.go"}}, list("api/gen", "api"), []string{"api rust 4", "api/gen go 4"}, ""},
		{"the repository and one in it", phase.Input{}, list("api", "."), []string{". go 4", "api go 4"}, ""},
		{"where detection would not look", phase.Input{}, list("testdata/p"), []string{"testdata/p python 4"}, ""},
		{"with a language", phase.Input{}, []phase.Root{{Dir: "bare", Language: phase.Ruby}}, []string{"bare ruby 4"}, ""},
		{"the input's language", phase.Input{Language: phase.Java}, list("bare", "api"), []string{"api java 4", "bare java 4"}, ""},
		{"its own goes first", phase.Input{Language: phase.Java}, []phase.Root{{Dir: "api", Language: phase.Rust}}, []string{"api rust 4"}, ""},
		{"overrides run at the top", phase.Input{TestCommand: "make test"}, list("api", "web"), []string{". go 1", "api go 3", "web javascript 3"}, ""},
		{"below the repository", phase.Input{WorkingDirectory: "api"}, list("web", "api", "api/gen"), []string{". go 4", "gen go 4"}, ""},
		{"none there", phase.Input{WorkingDirectory: "bare"}, list("api"), nil, "none of the configured roots is in the working directory"},
		{"no such directory", phase.Input{}, list("api", "gone", "go.mod"), nil, "the root 'gone' is configured, but there is no such directory; Validation failed: the root 'go.mod'"},
		{"out of the repository", phase.Input{}, list("../x"), nil, "none of the configured roots"},
		{"no language", phase.Input{}, list("bare"), []string{".  4"}, "Cannot detect programming language. Please provide explicit 'language' parameter. (the configured root 'bare' has no package.json, go.mod or the like)"},
	}
	for _, tt := range tests {
		got, err := rootsOf(t, contents, tt.input, tt.roots...)
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s:\n%s", tt.name, diff)
		}
		var invalid *phase.InvalidInput
		if tt.err == "" && err != nil || tt.err != "" && (!errors.As(err, &invalid) || !strings.Contains(err.Error(), tt.err)) {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.err)
		}
	}
}
