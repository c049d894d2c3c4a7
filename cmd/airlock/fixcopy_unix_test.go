//go:build linux || darwin

package main_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/agent-airlock/airlock/internal/checkreport"
	"github.com/google/go-cmp/cmp"
)

// tool plays Prettier in a project's node_modules: it finds that a.js is not formatted. With
// --write it fails unless the directory where it runs has node_modules, and neither .git nor .venv.
// There it formats a.js, by its absolute name. It then appends to src/b.js through a link, makes a
// directory that nobody may write to, and does MORE.
const tool = `#!/bin/sh
case "$*" in
*--check*) echo '[warn] a.js' >&2; exit 1;;
*--write*) test -d node_modules/.bin && test ! -e .git && test ! -e .venv || exit 3
	sed -i.bak 's/ *$//' "$PWD/a.js" && rm a.js.bak && echo x >>"$GITHUB_WORKSPACE/linked/b.js"
	mkdir -p locked/in && touch locked/in/file && chmod 500 locked/in locked
	MORE
esac
`

// newUnformatted returns a user of a checkout with a file that is not formatted. more is what tool
// does last with --write.
func newUnformatted(t *testing.T, more string) *user {
	t.Helper()
	u := newUser(t)
	u.write("repo/a.js", "exports.a = 1; \nexports.b = 2;\n")
	u.write("repo/src/b.js", "exports.b = 1;\n")
	u.write("repo/.venv/bin/python", "")
	u.write("home/checks.yml", "checks:\n  lint-command: 'true'\n  build-command: 'true'\n  test-command: 'true'\n")
	prettier := u.write("repo/node_modules/.bin/prettier", strings.Replace(tool, "MORE", more, 1))
	if err := errors.Join(os.Chmod(prettier, 0o755), os.Symlink(filepath.Join(u.repo, "src"), filepath.Join(u.repo, "linked")),
		os.Mkdir(filepath.Join(u.repo, "data"), 0o000)); err != nil { // unreadable, like a container's data
		t.Fatal(err)
	}
	u.env = append(u.env, "PWD="+u.repo, "PATH="+filepath.Dir(prettier)+string(filepath.ListSeparator)+os.Getenv("PATH"))
	return u
}

// snapshot describes all files below the user's directories except findings.json.
func (u *user) snapshot() map[string]string {
	u.t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(u.base, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.Name() == "findings.json" {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		text := ""
		if info.Mode().IsRegular() {
			raw, err := os.ReadFile(name)
			if err != nil {
				return err
			}
			text = info.ModTime().String() + string(raw)
		}
		all[name] = fmt.Sprint(info.Mode(), text)
		if d.Name() == "data" {
			return fs.SkipDir // nobody may read it
		}
		return nil
	})
	if err != nil {
		u.t.Fatal(err)
	}
	return all
}

// TestCheckSuggestsInPlace runs the commands without a sandbox, as a runner's own user does. It
// asserts that the formatter makes the suggestions in a copy, and that the checkout stays as it is.
func TestCheckSuggestsInPlace(t *testing.T) {
	t.Parallel()
	u := newUnformatted(t, "")
	for i := range 25 { // more than the notes list one by one
		if err := syscall.Mkfifo(filepath.Join(u.repo, fmt.Sprint("pipe", i)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	before := u.snapshot()
	out := filepath.Join(u.temp, "findings.json")
	res, _ := u.check("--allow-credentials", "--findings", out)
	f, err := os.Open(out)
	if err != nil {
		t.Fatalf("%v\n%s", err, res.stderr)
	}
	defer f.Close()
	doc, err := checkreport.Read(f)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range doc.Findings {
		got = append(got, fmt.Sprintf("%s:%d %q", f.Path, f.StartLine, f.Suggestion))
	}
	if diff := cmp.Diff([]string{`a.js:1 "exports.a = 1;"`}, got); diff != "" || res.code != 1 {
		t.Errorf("exit code %d\n%s\n%q\n%s", res.code, diff, doc.Notes, res.stderr)
	}
	notes := strings.Join(doc.Notes, "\n")
	if !strings.Contains(notes, "ran: data (it may not be read).") || !strings.Contains(notes, "ran: 6 more.") || strings.Count(notes, "ran: ") != 21 || strings.Contains(notes, ".git") {
		t.Errorf("%q", doc.Notes)
	}
	if diff := cmp.Diff(before, u.snapshot()); diff != "" {
		t.Errorf("the checkout was changed, or something is left\n%s", diff)
	}
}

// TestCheckNamesNoCopy asserts that no output names the directory in which a fix ran, which is
// another one each time, and that the problem is what the script reports, although it has no check
// form.
func TestCheckNamesNoCopy(t *testing.T) {
	t.Parallel()
	u := newUnformatted(t, "exit 1")
	u.write("repo/package.json", `{"scripts":{"format":"x"}}`)
	u.write("home/checks.yml", "checks:\n  format-command: npm run format\n  lint-command: 'true'\n  build-command: 'true'\n  test-command: 'true'\n")
	if err := os.WriteFile(filepath.Join(u.repo, "node_modules/.bin/npm"), []byte("#!/bin/sh\necho \"$PWD/a.js:2:1: error: broken\"; exit 1\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	before := u.snapshot()
	out := filepath.Join(u.temp, "findings.json")
	res, _ := u.check("--allow-credentials", "--findings", out)
	raw, err := os.ReadFile(out)
	if err != nil || !strings.Contains(res.stderr, "broken at a.js:2") {
		t.Fatalf("%v\n%s", err, res.stderr)
	}
	if all := string(raw) + res.stdout + res.stderr; strings.Contains(all, "airlock-scratch-") || strings.Contains(all, "has no check form") {
		t.Errorf("%s", all)
	}
	if diff := cmp.Diff(before, u.snapshot()); diff != "" {
		t.Errorf("the checkout was changed, or something is left\n%s", diff)
	}
}

// TestInterruptedCheckLeavesNoCopy ends the program while a fix runs, by the signals of a person,
// of a runner that cancels the job, and of a terminal that closes.
func TestInterruptedCheckLeavesNoCopy(t *testing.T) {
	t.Parallel()
	handled := make(chan os.Signal, 1)
	signal.Notify(handled, syscall.SIGHUP) // otherwise the program ignores it too if the test runs under nohup
	defer signal.Stop(handled)
	for _, name := range []string{"INT", "TERM", "HUP"} {
		u := newUnformatted(t, "kill -"+name+" $PPID; exec sleep 600")
		before := u.snapshot()
		res, _ := u.check("--allow-credentials")
		if res.code != 3 || !strings.Contains(res.stderr, "interrupted; the checks did not end") {
			t.Errorf("%s: exit code %d\n%s", name, res.code, res.stderr)
		}
		if diff := cmp.Diff(before, u.snapshot()); diff != "" {
			t.Errorf("%s: the checkout was changed, or something is left\n%s", name, diff)
		}
	}
}

// TestCheckWithoutACopy asserts that the check reports why there are no suggestions.
func TestCheckWithoutACopy(t *testing.T) {
	t.Parallel()
	u := newUnformatted(t, "")
	u.write("repo/temp/x", "")
	u.env = append(u.env, "TMPDIR="+filepath.Join(u.repo, "temp"))
	before := u.snapshot()
	res, _ := u.check("--allow-credentials")
	if res.code != 1 || !strings.Contains(res.stderr, "no suggestions: the workspace cannot be copied") || !strings.Contains(res.stderr, "set TMPDIR") {
		t.Errorf("exit code %d\n%s", res.code, res.stderr)
	}
	if diff := cmp.Diff(before, u.snapshot()); diff != "" {
		t.Errorf("the checkout was changed, or something is left\n%s", diff)
	}
}
