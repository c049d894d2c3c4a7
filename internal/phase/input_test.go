package phase_test

import (
	"encoding/json"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agent-airlock/airlock/internal/phase"
	"github.com/google/go-cmp/cmp"
)

// inDir returns an input as JSON, with the directory put in and members added.
func inDir(t *testing.T, dir string, members map[string]any) []byte {
	t.Helper()
	doc := map[string]any{"working_directory": dir, "changed_files": []string{}}
	maps.Copy(doc, members)
	raw, err := json.Marshal(doc)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func TestReadInputResolvesAliasesAndDefaults(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	got, err := phase.ReadInput(inDir(t, dir+"/./", map[string]any{"changed_files": []string{"./a//b.go", "c.go"}}))
	want := phase.Input{WorkingDirectory: dir, ChangedFiles: []string{"a/b.go", "c.go"}, MaxRetries: 3}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v\n%s", err, diff)
	}
	got, err = phase.ReadInput(inDir(t, dir, map[string]any{
		"max_retries": 0, "skip_build": true, "skip_tests": true,
		"format_command": "f", "lint_command": "l", "build_command": "b", "test_command": "t",
	}))
	want = phase.Input{
		WorkingDirectory: dir, SkipBuild: true, SkipTests: true,
		FormatCommand: "f", LintCommand: "l", BuildCommand: "b", TestCommand: "t",
	}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v\n%s", err, diff)
	}
	for alias, want := range map[string]phase.Language{
		"js": "javascript", "ts": "typescript", "py": "python", "golang": "go", "rs": "rust", "rb": "ruby", "java": "java", "go": "go",
	} {
		if got, err := phase.ReadInput(inDir(t, dir, map[string]any{"language": alias})); err != nil || got.Language != want {
			t.Errorf("%s is read as %q, %v", alias, got.Language, err)
		}
	}
	if _, err := phase.ReadInput(append([]byte("\ufeff\r\n"), inDir(t, dir, nil)...)); err != nil {
		t.Errorf("a byte order mark: %v", err)
	}
	if got, err := phase.ReadInput(inDir(t, dir, map[string]any{"max_retries": json.Number("5.0")})); err != nil || got.MaxRetries != 5 {
		t.Errorf("5.0 is an integer of the schema, read as %d, %v", got.MaxRetries, err)
	}
}

func TestReadInputListsEveryProblem(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name, raw string
		want      []string // first the problems that the schema finds, by parameter
	}{
		{"the spec's example", `{"changed_files":["src/api.ts"]}`, []string{"missing required parameter 'working_directory'"}},
		{"nothing given", `{}`, []string{"missing required parameter 'changed_files'", "missing required parameter 'working_directory'"}},
		{"all at once", `{"working_directory":"relative","language":"cobol","max_retries":11,"skip_build":"yes","colour":1,"changed_files":["/a","../b","",3]}`, []string{
			"invalid parameter 'changed_files[2]': '' must not be empty",
			"invalid parameter 'changed_files[3]': 3 is not of type 'string'",
			"unknown parameter 'colour'",
			"invalid parameter 'language': 'cobol' is not javascript (js), typescript (ts), python (py), go (golang), rust (rs), ruby (rb) or java",
			"invalid parameter 'max_retries': 11 is greater than the maximum of 10",
			"invalid parameter 'skip_build': 'yes' is not of type 'boolean'",
			"invalid parameter 'working_directory': it must be an absolute path, starting with '/'",
			"invalid parameter 'changed_files[0]': it must be relative to working_directory ('/a')",
			"invalid parameter 'changed_files[1]': it must not contain '..' ('../b')",
		}},
		{"no directory", `{"working_directory":"/nonexistent/x","changed_files":["a/../../b"]}`, []string{
			"invalid parameter 'working_directory': there is no such directory ('/nonexistent/x')",
			"invalid parameter 'changed_files[0]': it must not contain '..' ('a/../../b')",
		}},
		{"a file", string(inDir(t, file, nil)), []string{"invalid parameter 'working_directory': it is not a directory ('" + file + "')"}},
		{"NUL", `{"working_directory":"/a\u0000b","changed_files":["a\u0000"]}`, []string{
			`invalid parameter 'working_directory': it contains a NUL character ('/a\x00b')`,
			`invalid parameter 'changed_files[0]': it contains a NUL character ('a\x00')`,
		}},
		{"a parameter twice", `{"working_directory":"/nonexistent/x","changed_files":[],"changed_files":["a"]}`, []string{
			"invalid parameter 'changed_files': it is given twice",
			"invalid parameter 'working_directory': there is no such directory ('/nonexistent/x')",
		}},
		{"almost the names", `{"working_directory":"/","changedFiles":[],"skip_test":true,"retries":1}`, []string{
			`unknown parameter 'changedFiles'; did you mean "changed_files"?`, "missing required parameter 'changed_files'",
			"unknown parameter 'retries'", `unknown parameter 'skip_test'; did you mean "skip_tests"?`,
		}},
		{"commands that cannot be run", string(inDir(t, dir, map[string]any{"format_command": " ", "lint_command": "\t", "build_command": "", "test_command": "pytest '{files}"})), []string{
			"invalid parameter 'build_command': '' must not be empty",
			"invalid parameter 'format_command': it names no command",
			"invalid parameter 'lint_command': it names no command",
			`invalid parameter 'test_command': the command "pytest '{files}" cannot be run with {files}: the quote ' is not closed`,
		}},
		{"the directory itself", string(inDir(t, dir, map[string]any{"changed_files": []string{"a", ".", ".//"}})), []string{
			"invalid parameter 'changed_files[1]': it is not the path of a file ('.')",
			"invalid parameter 'changed_files[2]': it is not the path of a file ('.//')",
		}},
		{"no object", `[]`, []string{"the input is invalid: [] is not of type 'object'"}},
	}
	for _, tt := range tests {
		_, err := phase.ReadInput([]byte(tt.raw))
		var invalid *phase.InvalidInput
		if !errors.As(err, &invalid) {
			t.Errorf("%s: %v, want an InvalidInput", tt.name, err)
			continue
		}
		var got []string
		for _, p := range invalid.Problems {
			rest, ok := strings.CutPrefix(p, "Validation failed: ")
			if !ok {
				t.Errorf("%s: %q lacks the spec's beginning", tt.name, p)
			}
			got = append(got, rest)
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s:\n%s", tt.name, diff)
		}
	}
}

func TestReadInputOfHostileBytes(t *testing.T) {
	t.Parallel()
	for _, raw := range []string{"", "nul", "{", `{"working_directory":`, "\xff\xfe", `{"a":1,"a":2}`, strings.Repeat("[", 100_000)} {
		var invalid *phase.InvalidInput
		if _, err := phase.ReadInput([]byte(raw)); !errors.As(err, &invalid) || len(invalid.Problems) == 0 {
			t.Errorf("%.20q: %v, want an InvalidInput", raw, err)
		}
	}
}
