//go:build unix

package plugin_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/agent-airlock/airlock/internal/changes"
	"github.com/agent-airlock/airlock/internal/command"
	"github.com/agent-airlock/airlock/internal/plugin"
)

// hostileTexts returns what a stranger may call a file or write into it.
func hostileTexts() []string {
	return []string{
		"$(touch canary)", "`touch canary`", "; touch canary", "a && touch canary", "a | touch canary", "a\ntouch canary\n", "'; touch canary; '", `"; touch canary; "`,
		"--config=evil", "-rf", "--", "-", "@evil", "{files}", "./{files}", "${IFS}touch${IFS}canary", "%s%n", "*", "?", "~", "~root", "!!", "#", "a b\tc", "\\", "\u202etxt.go", "\xff\xfe.go", ".", "..x", "a/../b",
	}
}

// TestStrangersNameNoCommand tests rule R11: the words of a command are the owner's. Only
// paths of the pull request are added to them, each as an argument of its own that
// begins with "./". The commands run for real; none leaves a canary.
func TestStrangersNameNoCommand(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	req := plugin.Request{Repository: dir, Env: []string{"PATH=" + os.Getenv("PATH"), "IFS= "}}
	for _, text := range hostileTexts() {
		req.Files = append(req.Files, plugin.File{Path: text, Language: "go"})
		req.Diff = append(req.Diff, changes.ChangedFile{Path: text, PreviousPath: "old " + text, Patch: "@@ -1 +1 @@\n-" + text + "\n+" + text + "\n"})
	}
	printed := `{"type":"create-pull-request-review-comment","path":"$(touch canary)","line":1,"body":"; touch canary"}`
	for _, cfg := range []plugin.Config{
		{Name: "words", Command: `printf '<%s>\n' {files} 'a b' --end`},
		{Name: "args", Args: []string{"printf", "<%s>\\n", "{files}", "{files}", "$HOME"}},
		{Name: "line", Command: "cat | head -n 3; echo '" + printed + "'", Diff: true, Instructions: "Look."},
		{Name: "agent", Command: "cat >/dev/null; echo '" + printed + "'", Format: plugin.SafeOutputs, Diff: true},
	} {
		t.Run(cfg.Name, func(t *testing.T) {
			owners := cfg.Args
			if cfg.Name == "words" {
				owners = []string{"printf", "<%s>\\n", "{files}", "a b", "--end"}
			} else if owners == nil {
				owners = []string{"sh", "-c", cfg.Command}
			}
			_, err := plugin.Review(t.Context(), func(ctx context.Context, spec command.Spec) (command.Result, error) {
				var added, left []string
				for _, word := range append([]string{spec.Program}, spec.Args...) {
					if slices.Contains(owners, word) {
						left = append(left, word)
					} else {
						added = append(added, word)
					}
				}
				if want := slices.DeleteFunc(slices.Clone(owners), func(w string) bool { return w == plugin.FilesWord }); !slices.Equal(left, want) {
					t.Errorf("the owner's words are %q, want %q", left, want)
				}
				if len(added) == 0 && slices.Contains(owners, plugin.FilesWord) {
					t.Error("no path was added")
				}
				for _, word := range added {
					path, prefixed := strings.CutPrefix(word, "./")
					if !prefixed || !slices.Contains(hostileTexts(), path) {
						t.Errorf("an argument %q", word)
					}
				}
				for _, v := range spec.Env {
					if !slices.Contains(req.Env, v) {
						t.Errorf("a variable %q", v)
					}
				}
				result, err := command.Run(ctx, spec)
				// Each path arrived as exactly one argument.
				for _, word := range added {
					if !strings.Contains(result.Stdout.String(), "<"+word+">\n") {
						t.Errorf("%q did not arrive as it is", word)
					}
				}
				return result, err
			}, cfg, req)
			if err != nil {
				t.Error(err)
			}
			for _, where := range []string{dir, "."} {
				if _, err := os.Lstat(filepath.Join(where, "canary")); err == nil {
					t.Fatalf("a stranger's text was run: there is a canary in %s", where)
				}
			}
		})
	}
}

// TestDirectoriesStayInTheRepository asserts that no command runs in a configured directory that is a
// link, a file or not there, and that each is noted.
func TestDirectoriesStayInTheRepository(t *testing.T) {
	t.Parallel()
	req := request(t)
	if err := os.Symlink(t.TempDir(), filepath.Join(req.Repository, "out")); err != nil {
		t.Fatal(err)
	}
	got, err := plugin.Review(t.Context(), func(_ context.Context, spec command.Spec) (command.Result, error) {
		t.Errorf("it was run in %s", spec.Dir)
		return command.Result{}, nil
	}, plugin.Config{Name: "lint", Command: "lint", Dirs: []string{"out", "a b.go", "none"}}, req)
	if err != nil || len(got.Notes) != 3 {
		t.Errorf("%v, notes %q, want 3", err, got.Notes)
	}
}
