//go:build unix

package main_test

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/agent-airlock/airlock/internal/shorttest"
)

// user is somebody on a runner who is not root, with a checkout, a home directory, and one for
// temporary files.
type user struct {
	t                      *testing.T
	base, repo, home, temp string
	env                    []string
}

func newUser(t *testing.T) *user {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(filepath.Dir(base), 0o755); err != nil { // as directories usually are
		t.Fatal(err)
	}
	u := &user{t: t, base: base, repo: filepath.Join(base, "repo"), home: filepath.Join(base, "home"), temp: filepath.Join(base, "temp")}
	u.env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + u.home, "TMPDIR=" + u.temp, "RUNNER_TEMP=" + u.temp, "GITHUB_ACTIONS=true", "GITHUB_WORKSPACE=" + u.repo}
	u.write("repo/package.json", "{}\n")
	u.write("repo/a.js", "exports.a = 1;\n")
	u.write("home/checks.yml", "checks:\n  format-command: touch ran\n  lint-command: touch ran\n  build-command: touch ran\n  test-command: touch ran\n")
	u.write("temp/_runner_file_commands/set_env", "")
	u.git("init", "--quiet", "--initial-branch=main")
	u.git("remote", "add", "origin", "https://github.com/octo/repo")
	return u
}

func (u *user) write(path, text string) string {
	u.t.Helper()
	path = filepath.Join(u.base, path)
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o600)); err != nil {
		u.t.Fatal(err)
	}
	return path
}

func (u *user) git(args ...string) {
	u.t.Helper()
	cmd := exec.CommandContext(u.t.Context(), "git", args...)
	cmd.Dir, cmd.Env = u.repo, append(slices.Clone(u.env), "GIT_CONFIG_NOSYSTEM=1")
	if out, err := cmd.CombinedOutput(); err != nil {
		u.t.Fatalf("git %q: %v\n%s", args, err, out)
	}
}

// check runs `airlock check` as the user: not as root, even if the test runs as root. ran reports
// whether one of the commands ran.
func (u *user) check(args ...string) (res result, ran bool) {
	u.t.Helper()
	cmd := exec.CommandContext(u.t.Context(), binary, append([]string{"check", "--config", filepath.Join(u.home, "checks.yml"), "--changed-files", "a.js"}, args...)...)
	if os.Getuid() == 0 {
		const other = 54321 // an id that no sandbox claims
		err := filepath.WalkDir(u.base, func(path string, _ fs.DirEntry, err error) error {
			return errors.Join(err, os.Lchown(path, other, other))
		})
		if err != nil {
			u.t.Fatal(err)
		}
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: other, Gid: other}}
	}
	var out, errs bytes.Buffer
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = u.repo, u.env, &out, &errs
	var exit *exec.ExitError
	if err := cmd.Run(); err != nil && !errors.As(err, &exit) {
		u.t.Fatal(err)
	}
	res = result{cmd.ProcessState.ExitCode(), out.String(), errs.String()}
	for _, form := range secretForms(secret) {
		if strings.Contains(res.stdout+res.stderr, form) {
			u.t.Errorf("it prints the secret:\n%s%s", res.stdout, res.stderr)
		}
	}
	_, err := os.Stat(filepath.Join(u.repo, "ran"))
	return res, err == nil
}

// TestCheckRefusesBesideCredentials asserts that check runs no command where a credential can be
// seen, unless --allow-credentials is given (rule R2). Each case is about one source.
func TestCheckRefusesBesideCredentials(t *testing.T) {
	t.Parallel()
	const header = "http.https://github.com/.extraheader"
	for _, c := range shorttest.First(2, []struct {
		name  string
		set   func(u *user)
		where string
	}{
		{"token", func(u *user) { u.env = append(u.env, "GITHUB_TOKEN="+secret) }, "GITHUB_TOKEN: "},
		{"token of another service", func(u *user) { u.env = append(u.env, "NPM_TOKEN="+secret) }, "NPM_TOKEN: "},
		{"input", func(u *user) { u.env = append(u.env, "INPUT_TOKEN="+secret) }, "INPUT_TOKEN: "},
		{"OIDC request token", func(u *user) { u.env = append(u.env, "ACTIONS_ID_TOKEN_REQUEST_TOKEN=x") }, "ACTIONS_ID_TOKEN_REQUEST_TOKEN: "},
		{"OIDC request URL", func(u *user) { u.env = append(u.env, "ACTIONS_ID_TOKEN_REQUEST_URL=https://x") }, "ACTIONS_ID_TOKEN_REQUEST_URL: "},
		{"runtime token", func(u *user) { u.env = append(u.env, "ACTIONS_RUNTIME_TOKEN=x") }, "ACTIONS_RUNTIME_TOKEN: "},
		{"extraheader", func(u *user) { u.git("config", "--local", header, "AUTHORIZATION: basic "+secret) }, "repo/.git/config:"},
		{"includeIf", func(u *user) {
			file := filepath.Join(u.base, "elsewhere/git-credentials-1.config")
			u.write("elsewhere/git-credentials-1.config", "")
			u.git("config", "--file", file, header, "AUTHORIZATION: basic "+secret)
			u.git("config", "--local", "includeIf.gitdir:"+u.repo+"/.git.path", file)
		}, "elsewhere/git-credentials-1.config:"},
		{"include of the container", func(u *user) {
			u.git("config", "--file", filepath.Join(u.temp, "git-credentials-1.config"), header, "AUTHORIZATION: basic "+secret)
			u.git("config", "--local", "includeIf.gitdir:/github/workspace/.git.path", "/github/runner_temp/git-credentials-1.config")
		}, "temp/git-credentials-1.config:"},
		{"helper", func(u *user) { u.git("config", "--global", "credential.helper", "store") }, "home/.gitconfig:"},
		{"what a helper stored", func(u *user) { u.write("home/.git-credentials", "https://x:"+secret+"@github.com\n") }, "home/.git-credentials:"},
		{"remote", func(u *user) { u.git("remote", "set-url", "origin", "https://x:"+secret+"@github.com/octo/repo") }, "repo/.git/config:"},
		{"git's variables", func(u *user) {
			u.env = append(u.env, "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0="+header, "GIT_CONFIG_VALUE_0="+secret)
		}, "GIT_CONFIG_VALUE_0: "},
		{"netrc", func(u *user) { u.write("home/.netrc", "machine github.com login x password "+secret) }, "home/.netrc:"},
		{"registry", func(u *user) { u.write("home/.docker/config.json", `{"auths": {"ghcr.io": {"auth": "`+secret+`"}}}`) }, "home/.docker/config.json:"},
	}) {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			u := newUser(t)
			c.set(u)
			res, ran := u.check()
			if res.code != 2 || ran || res.stdout != "" || !strings.Contains(res.stderr, "refusing to run the repository's code: a token or git credential can be seen here") || !strings.Contains(res.stderr, c.where) {
				t.Errorf("exit code %d, ran %v, want 2 with %q\n%s%s", res.code, ran, c.where, res.stdout, res.stderr)
			}
			res, ran = u.check("--allow-credentials")
			if res.code != 0 || !ran || !strings.Contains(res.stderr, "WARNING: --allow-credentials") || !strings.Contains(res.stderr, c.where) {
				t.Errorf("with --allow-credentials: exit code %d, ran %v, want 0 and %q\n%s", res.code, ran, c.where, res.stderr)
			}
		})
	}
	t.Run("none", func(t *testing.T) {
		// The user has no credential. Only the machine's own configuration, /etc/gitconfig, may name a
		// helper: each place that a refusal lists must be in that file.
		helper, _ := exec.Command("git", "config", "--system", "--get-regexp", `^credential\..*helper$`).Output() // status 1 if there is none
		res, ran := newUser(t).check()
		if want := len(helper) == 0; ran != want || (res.code == 0) != want {
			t.Errorf("exit code %d, ran %v, want %v\n%s", res.code, ran, want, res.stderr)
		}
		const place = "airlock:   " // begins the line of each place
		if strings.Count(res.stderr, place) != strings.Count(res.stderr, place+"/etc/gitconfig:") {
			t.Errorf("a credential is found elsewhere than in /etc/gitconfig:\n%s", res.stderr)
		}
	})
	t.Run("off a runner", func(t *testing.T) {
		u := newUser(t)
		u.env = append(u.env, "GITHUB_ACTIONS=")
		u.git("config", "--global", "credential.helper", "store")
		res, ran := u.check()
		if res.code != 0 || !ran || !strings.Contains(res.stderr, "the commands run as you, so they can use your credentials, such as ") {
			t.Errorf("exit code %d, ran %v\n%s", res.code, ran, res.stderr)
		}
	})
}

// TestCheckRunsApartAsRoot asserts that root needs no refusal: the commands see no
// credential.
func TestCheckRunsApartAsRoot(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	u.write("repo/test.sh", `if env | grep ghs_ || cat `+u.repo+`/.git/config .git/config "$1"/.gitconfig; then exit 1; fi 2>/dev/null`)
	u.write("home/checks.yml", "checks:\n  format-command: 'true'\n  lint-command: 'true'\n  build-command: 'true'\n  test-command: sh test.sh "+u.home+"\n")
	u.env = append(u.env, "GITHUB_TOKEN="+secret)
	u.git("config", "--local", "http.https://github.com/.extraheader", "AUTHORIZATION: basic "+secret)
	if os.Getuid() != 0 { // such a user is refused
		if res, ran := u.check(); res.code != 2 || ran {
			t.Errorf("exit code %d, ran %v\n%s", res.code, ran, res.stderr)
		}
		return
	}
	// The commands run as another user, in a copy of the checkout below TMPDIR.
	if err := os.Chmod(u.temp, 0o777); err != nil {
		t.Fatal(err)
	}
	env := slices.DeleteFunc(slices.Clone(u.env), func(e string) bool { return strings.HasPrefix(e, "RUNNER_TEMP=") })
	res := run(t, u.repo, env, "", "check", "--config", filepath.Join(u.home, "checks.yml"), "--changed-files", "a.js")
	if res.code != 0 || strings.Contains(res.stderr, "WARNING") {
		t.Errorf("exit code %d\n%s%s", res.code, res.stdout, res.stderr)
	}
}
