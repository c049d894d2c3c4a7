package fixer_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/agent-airlock/airlock/internal/fixer"
	"github.com/agent-airlock/airlock/internal/fixloop"
	"github.com/agent-airlock/airlock/internal/shorttest"
)

var request = fixloop.Message{Type: fixloop.FixRequest, ID: "FIXREQ-7-1", Issue: 7, Iteration: 1, Max: 5, From: fixloop.Orchestrator, To: fixloop.Fixer,
	Priority: fixloop.PriorityHigh, Checks: []fixloop.Check{fixloop.Tests}, Failures: []fixloop.Failure{{Check: fixloop.Tests, Message: "TestTotal failed", Path: "shop.go", Line: 3}}}

// committed is a work tree with a commit, which work copies; TestMain sets it.
var committed string

func TestMain(m *testing.M) {
	shorttest.LeaveOut( // these start git and fixers some dozens of times
		"TestAHostileCopy", "TestWhatAFixMayNotChange", "TestAnEditMeanwhile",
	)
	shorttest.TempInMemory()
	os.Exit(func() int {
		dir, err := os.MkdirTemp("", "fixer-test-")
		if err != nil {
			panic(err)
		}
		defer os.RemoveAll(dir)
		committed = dir
		for name, content := range map[string]string{"shop.go": "package shop\n", "old.go": "package shop\n", "run.sh": "true\n", ".gitignore": "made/\n"} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644); err != nil {
				panic(err)
			}
		}
		for _, args := range [][]string{{"init", "-q", "-b", "main", "--template="}, {"add", "."}, {"-c", "user.name=t", "-c", "user.email=t@localhost", "-c", "maintenance.auto=false", "commit", "-q", "-m", "x"}} {
			if out, err := exec.Command("git", append([]string{"-C", dir}, args...)...).CombinedOutput(); err != nil {
				panic(fmt.Sprintf("git %v: %v\n%s", args, err, out))
			}
		}
		return m.Run()
	}())
}

// work makes a work tree with a commit and changes that are not committed.
func work(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(committed)); err != nil {
		t.Fatal(err)
	}
	write(t, dir, "shop.go", "package shop\n\nvar Total = 1\n")
	write(t, dir, "new.go", "package shop\n")
	return dir
}

func write(t *testing.T, dir, name, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

// read returns a file's text, or that of the error.
func read(dir, name string) string {
	data, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		return err.Error()
	}
	return string(data)
}

// config returns the configuration of a fixer for the work tree dir. Its Pass names a variable with a
// token of GitHub, which no fixer gets.
func config(dir string, words ...string) fixer.Config {
	return fixer.Config{Command: words, Root: dir, PathList: os.Getenv("PATH"), Mask: func(s string) string { return s },
		Environ: []string{"PATH=" + os.Getenv("PATH"), "HOME=" + os.Getenv("HOME"), "MODEL_KEY=abc", "OTHER=x", "GITHUB_TOKEN=ghs_secret"}, Pass: []string{"MODEL_KEY", "GITHUB_TOKEN"}}
}

func run(t *testing.T, cfg fixer.Config) fixer.Result {
	t.Helper()
	r, err := fixer.Run(t.Context(), cfg, request, nil, 1)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestWhatChangesIsTakenOver(t *testing.T) {
	t.Parallel()
	dir := work(t)
	cfg := config(dir, "sh", "-c", `
		cat > request.md                      # its standard input
		env > seen.txt
		echo 'var More = 2' >> shop.go        # changed before already
		rm old.go new.go
		chmod +x run.sh
		mkdir -p deep/er made && echo x > deep/er/file && echo y > made/ignored
		ln -s run.sh link`)
	r := run(t, cfg)
	if r.Failed != "" || r.Nonsense != "" {
		t.Fatalf("%+v", r)
	}
	want := []string{"deep/er/file", "link", "new.go", "old.go", "request.md", "run.sh", "seen.txt", "shop.go"}
	if !slices.Equal(r.Paths(), want) {
		t.Errorf("changed %q, want %q", r.Paths(), want)
	}
	if _, err := os.Stat(filepath.Join(dir, "deep")); err == nil {
		t.Error("the workspace changed before Apply")
	}
	for range 2 { // the second time finds it done
		if err := r.Apply(t.Context(), cfg); err != nil {
			t.Fatal(err)
		}
	}
	if got := read(dir, "shop.go"); got != "package shop\n\nvar Total = 1\nvar More = 2\n" {
		t.Errorf("shop.go is %q", got)
	}
	for _, name := range []string{"old.go", "new.go", "made"} {
		if _, err := os.Lstat(filepath.Join(dir, name)); err == nil {
			t.Errorf("%s is there", name)
		}
	}
	if info, err := os.Stat(filepath.Join(dir, "run.sh")); err != nil || info.Mode().Perm()&0o100 == 0 {
		t.Errorf("run.sh: %v, %v", info, err)
	}
	if target, err := os.Readlink(filepath.Join(dir, "link")); target != "run.sh" {
		t.Errorf("the link goes to %q, %v", target, err)
	}
	got := read(dir, "request.md")
	if m, err := fixloop.ParseAll(got); err != nil || m[0].ID != request.ID || !strings.Contains(got, "```json\n{") || !strings.Contains(got, "TestTotal failed") {
		t.Errorf("the fixer read %q, %v", got, err)
	}
	env := read(dir, "seen.txt")
	for name, passed := range map[string]bool{"MODEL_KEY=abc": true, "AIRLOCK_FIX_REQUEST=FIXREQ-7-1": true, "AIRLOCK_FIX_ATTEMPT=1": true, "OTHER=": false, "ghs_secret": false} {
		if strings.Contains(env, name) != passed {
			t.Errorf("the fixer's environment has %s: %t, want %t\n%s", name, !passed, passed, env)
		}
	}
}

// TestAFileTakesADirectorysPlace asserts that a fix may turn a directory into a file, and a file into a
// directory.
func TestAFileTakesADirectorysPlace(t *testing.T) {
	t.Parallel()
	dir := work(t)
	write(t, dir, "tree/leaf", "x")
	cfg := config(dir, "sh", "-c", "rm -r tree shop.go; echo y > tree; mkdir shop.go; echo z > shop.go/part")
	r := run(t, cfg)
	for range 2 {
		if err := r.Apply(t.Context(), cfg); err != nil {
			t.Fatalf("%v: %+v", err, r)
		}
	}
	if tree, part := read(dir, "tree"), read(dir, "shop.go/part"); tree != "y\n" || part != "z\n" {
		t.Errorf("%q, %q", tree, part)
	}
}

// TestWhatGitDoesNotTake asserts that a fixer's changes that git does not take are named: in
// Refused if there are no others, otherwise in Fixes. Files which git did not take before the fix
// are not named.
func TestWhatGitDoesNotTake(t *testing.T) {
	t.Parallel()
	const filter = `left out, as their content passes a filter (Git LFS, say) that does not run: "a.bin"`
	for name, c := range map[string]struct {
		script         string
		fixes, refused []string
	}{
		"nothing else":   {"echo x > a.bin", nil, []string{filter}},
		"something else": {"echo x > a.bin; echo y > b.txt", []string{"changed 1 file", filter}, nil},
		"a repository":   {"git init -q sub; echo y > b.txt", []string{"changed 1 file", `left out, as they are repositories of their own: "sub"`}, nil},
		"as before":      {"echo y > b.txt", nil, nil},
	} {
		dir := work(t)
		write(t, dir, ".gitattributes", "*.bin filter=lfs\n")
		if err := os.MkdirAll(filepath.Join(dir, "old", ".git"), 0o755); err != nil {
			t.Fatal(err)
		}
		write(t, dir, "old/.git/HEAD", "ref: refs/heads/main\n")
		r := run(t, config(dir, "sh", "-c", c.script))
		if !slices.Equal(r.Fixes, c.fixes) || !slices.Equal(r.Refused, c.refused) || r.Failed != "" {
			t.Errorf("%s: %+v", name, r)
		}
	}
}

// envelope returns what an agent that answers in JSON prints.
func envelope(answer string) string {
	raw, err := json.Marshal(map[string]any{"type": "result", "is_error": false, "message": map[string]any{"content": []any{map[string]any{"type": "text", "text": answer}}}})
	if err != nil {
		panic(err)
	}
	return string(raw)
}

func TestAnswers(t *testing.T) {
	t.Parallel()
	done := fixloop.Message{Type: fixloop.FixCompletion, ID: "FIXDONE-7-1", From: fixloop.Fixer, To: fixloop.Orchestrator, Priority: fixloop.PriorityHigh,
		Issue: 7, Iteration: 1, Time: time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC), Fixes: []string{"Corrected the total"}, Checks: []fixloop.Check{fixloop.Tests}}.Markdown()
	dir := work(t)
	for _, c := range []struct {
		name, script, fixes, failed, nonsense string
	}{
		{name: "nothing", script: `true`},
		{name: "prose", script: `echo "I mended it. ## Well done"`},
		{name: "more than is read", script: `yes | head -c 10000000`},
		{name: "a signal", script: "cat <<'E'\n" + done + "\nE", fixes: "Corrected the total"},
		{name: "another round's signal", script: "cat <<'E'\n" + strings.ReplaceAll(done, "7-1", "7-2") + "\nE", nonsense: "FIXDONE-7-2 instead of FIXDONE-7-1"},
		{name: "half a signal", script: `printf '## Fix Completion\n\n**Message ID**: FIXDONE-7-1\n'`, nonsense: "is missing"},
		{name: "a signal in JSON", script: `echo '{"type": "fix_completion", "id": "FIXDONE-7-1", "fixes": ["Corrected the total"]}'`, fixes: "Corrected the total"},
		{name: "a signal in JSON, after prose", script: "cat <<'E'\nI mended it:\n\n```json\n{\n  \"type\": \"fix_completion\",\n  \"id\": \"FIXDONE-7-1\", \"fixes\": [\"Corrected the total\"]\n}\n```\nE", fixes: "Corrected the total"},
		{name: "a signal after an echo", script: `cat; echo '{"type": "fix_completion", "id": "FIXDONE-7-1", "fixes": ["Corrected the total"]}'`, fixes: "Corrected the total"},
		{name: "a signal in JSON, after code", script: `yes '{' | head -150; echo '{"type": "fix_completion", "id": "FIXDONE-7-1", "fixes": ["Corrected the total"]}'`, fixes: "Corrected the total"},
		{name: "another round's signal in JSON", script: `echo '{"type": "fix_completion", "id": "FIXDONE-7-2"}'`, nonsense: "FIXDONE-7-2 instead of FIXDONE-7-1"},
		{name: "a signal in JSON without an id", script: `echo '{"type": "fix_completion", "fixes": []}'`, nonsense: `has no "id"`},
		{name: "a signal in JSON of the wrong type", script: `echo '{"type": "fix_completion", "id": "FIXDONE-7-1", "fixes": "the total"}'`, nonsense: `"fixes" of the fix_completion has the wrong type: string`},
		{name: "a signal in an agent's JSON", script: "cat <<'E'\n" + envelope(done) + "\nE", fixes: "Corrected the total"},
		{name: "JSON in an agent's JSON", script: "cat <<'E'\n{\"type\": \"system\"}\n" + envelope("Done.\n```json\n{\"type\": \"fix_completion\", \"id\": \"FIXDONE-7-1\", \"fixes\": [\"Corrected the total\"]}\n```") + "\nE", fixes: "Corrected the total"},
		{name: "an agent's JSON", script: "echo '{\"type\": \"result\", \"result\": \"Done.\"}'"},
		{name: "an echo", script: `cat`, nonsense: "instead of a fix completion signal, FIXDONE-7-1"},
		{name: "a failure", script: `echo "no more credit" >&2; exit 3`, failed: "it ended with exit code 3: no more credit"},
		{name: "a signal of the system", script: `kill -SEGV $$`, failed: "segmentation fault"},
		{name: "silence", script: `exit 1`, failed: "exit code 1 and said nothing"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := run(t, config(dir, "sh", "-c", c.script))
			if len(r.Files) > 0 || strings.Join(r.Fixes, ";") != c.fixes ||
				(r.Failed == "") != (c.failed == "") || !strings.Contains(r.Failed, c.failed) || (r.Nonsense == "") != (c.nonsense == "") || !strings.Contains(r.Nonsense, c.nonsense) {
				t.Errorf("%+v, want fixes %q, failed %q, nonsense %q", r, c.fixes, c.failed, c.nonsense)
			}
		})
	}
	t.Run("a secret across the cut", func(t *testing.T) { // the cut keeps only the last lines
		key := "BEGIN KEY\n" + strings.Repeat("abc\n", 30) + "END KEY"
		cfg := config(dir, "sh", "-c", "echo '"+key+"' >&2; exit 1")
		cfg.Mask = func(s string) string { return strings.ReplaceAll(s, key, "***") }
		if r := run(t, cfg); r.Failed != "it ended with exit code 1: ***" {
			t.Errorf("%+v", r)
		}
	})
	t.Run("no program", func(t *testing.T) {
		if r := run(t, config(dir, "no-such-fixer")); !strings.Contains(r.Failed, "cannot be run") {
			t.Errorf("%+v", r)
		}
	})
}

// TestGitWorksInTheCopy asserts that a fixer can use git in its copy, also where it runs as a user
// who cannot read the workspace. Changes that it commits are taken over like other changes.
func TestGitWorksInTheCopy(t *testing.T) {
	dir := work(t)
	cfg := config(dir, "sh", "-e", "-c", `
		git status --porcelain > status
		git diff shop.go > diff
		git log --format=%s > log
		git config user.name f && git config user.email f@localhost
		echo 'var More = 2' >> shop.go
		git add . && git commit -q -m Mend
		git stash list && git rm -q old.go && git commit -q -m Remove
		git fsck --no-dangling`)
	r := run(t, cfg)
	if want := []string{"diff", "log", "old.go", "shop.go", "status"}; r.Failed != "" || !slices.Equal(r.Paths(), want) {
		t.Fatalf("changed %q, want %q: %s", r.Paths(), want, r.Failed)
	}
	if err := r.Apply(t.Context(), cfg); err != nil {
		t.Fatal(err)
	}
	if got := read(dir, "status"); !strings.Contains(got, " M shop.go\n?? new.go\n") {
		t.Errorf("git status says %q", got)
	}
	if got := read(dir, "diff"); !strings.Contains(got, "+var Total = 1") {
		t.Errorf("git diff says %q", got)
	}
	if got := read(dir, "log"); got != "x\n" {
		t.Errorf("git log says %q", got)
	}
}

// TestTheCopysCloneStays asserts that a fixer which removes its copy's .git, or puts another one in its
// place, counts as failed.
func TestTheCopysCloneStays(t *testing.T) {
	other := work(t)
	for name, script := range map[string]string{"removed": "rm -rf .git", "all removed": "rm -rf ./* .git", "another": "rm -rf .git; echo 'gitdir: " + other + "/.git' > .git", "a link": "rm -rf .git; ln -s " + other + "/.git .git"} {
		if r := run(t, config(work(t), "sh", "-c", script)); !strings.Contains(r.Failed, ".git was removed, or replaced") || len(r.Files) > 0 {
			t.Errorf("%s: %+v", name, r)
		}
	}
}

func TestAHangingFixerEndsWithItsContext(t *testing.T) {
	t.Parallel()
	nobody := errors.New("nobody waits any more")
	ctx, cancel := context.WithTimeoutCause(t.Context(), 500*time.Millisecond, nobody)
	defer cancel()
	if _, err := fixer.Run(ctx, config(work(t), "sleep", "1000"), request, nil, 1); !errors.Is(err, nobody) {
		t.Errorf("Run = %v, want the context's cause", err)
	}
}

// TestAnEditMeanwhile asserts that nothing is written if somebody edited one of the fix's files
// while the fixer worked.
func TestAnEditMeanwhile(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"shop.go", "run.sh", "fresh.go"} {
		dir := work(t)
		cfg := config(dir, "sh", "-c", "echo mended > "+name+"; echo mended > other.go")
		r := run(t, cfg)
		write(t, dir, name, "by hand\n")
		if err := r.Apply(t.Context(), cfg); !errors.Is(err, fixer.ErrEdited) || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: Apply = %v, want ErrEdited", name, err)
		}
		if read(dir, name) != "by hand\n" || !strings.Contains(read(dir, "other.go"), "no such file") {
			t.Errorf("%s: something was written", name)
		}
	}
}

// TestAHostileCopy asserts that nothing is taken over if a fixer puts a link that leads out of the
// copy, or a pipe, in the place of a file, or writes too much.
func TestAHostileCopy(t *testing.T) {
	t.Parallel()
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("top secret"), 0o644); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ script, why string }{
		"a link to a secret": {`rm shop.go && ln -s ` + secret + ` shop.go`, `link: "shop.go"`},
		"a pipe":             {`rm shop.go && mkfifo shop.go`, "shop.go: it is a FIFO"},
		"too much":           {`head -c 70000000 /dev/zero > big`, "larger than 64 MiB"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := work(t)
			cfg := config(dir, "sh", "-c", c.script)
			r := run(t, cfg)
			if why := r.Failed + strings.Join(r.Refused, "\n"); len(r.Files) > 0 || !strings.Contains(why, c.why) || strings.Contains(why, "top secret") {
				t.Errorf("files %q, %q, want none and %q", r.Paths(), why, c.why)
			}
			if err := r.Apply(t.Context(), cfg); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestTokensAreNotPassed(t *testing.T) {
	t.Parallel()
	for name, ok := range map[string]bool{"ANTHROPIC_API_KEY": true, "GITHUB_TOKEN": false, "gh_token": false, "INPUT_TOKEN": false, "ACTIONS_RUNTIME_TOKEN": false} {
		if err := fixer.CheckVariable(name); (err == nil) != ok {
			t.Errorf("%s: %v", name, err)
		}
	}
}
