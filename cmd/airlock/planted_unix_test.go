//go:build unix

package main_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agent-airlock/airlock/internal/gitrepo"
)

// planted are the names of programs that a step with a token could be made to run.
var planted = []string{"git", "git-push", "git-remote-http", "git-remote-https", "git-credential-store", "git-upload-pack", "git-send-pack", "ssh", "sh", "bash", "env",
	"curl", "true", "askpass", "helper", "gpg", "less", "vi", "diff", "merge", "fsmonitor", "airlock"}

// plant makes a directory with programs that leave a trace in the file canary, and a home directory
// with files that lead git and curl to another server.
func plant(t *testing.T, other string) (programs, home, canary string) {
	t.Helper()
	dir := t.TempDir()
	programs, home, canary = filepath.Join(dir, "bin"), filepath.Join(dir, "home"), filepath.Join(dir, "canary")
	for _, d := range []string{programs, filepath.Join(home, ".config", "git"), filepath.Join(home, "templates", "hooks")} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	script := "#!/bin/sh\necho \"$0 $*\" >>" + canary + "\nexit 1\n"
	files := map[string]string{
		filepath.Join(home, ".netrc"):  "default login x password y\n",
		filepath.Join(home, ".curlrc"): "proxy = http://" + other + "\n",
	}
	for _, name := range planted {
		files[filepath.Join(programs, name)] = script
	}
	for _, hook := range []string{"pre-push", "post-commit", "reference-transaction", "pre-commit"} {
		files[filepath.Join(home, "templates", "hooks", hook)] = script
	}
	config := fmt.Sprintf("[http]\n\tproxy = http://%[2]s\n\tsslVerify = false\n\textraHeader = X-Other: 1\n[core]\n\tsshCommand = %[1]s/ssh\n\taskPass = %[1]s/askpass\n\tgitProxy = %[1]s/helper\n\tfsmonitor = %[1]s/fsmonitor\n\thooksPath = %[3]s/templates/hooks\n\tpager = %[1]s/less\n"+
		"[credential]\n\thelper = %[1]s/helper\n[url \"http://%[2]s/\"]\n\tinsteadOf = http://\n\tinsteadOf = https://\n\tpushInsteadOf = http://\n[gpg]\n\tprogram = %[1]s/gpg\n[commit]\n\tgpgSign = true\n[diff]\n\texternal = %[1]s/diff\n[init]\n\ttemplateDir = %[3]s/templates\n[safe]\n\tdirectory = *\n",
		programs, other, home)
	files[filepath.Join(home, ".gitconfig")], files[filepath.Join(home, ".config", "git", "config")] = config, config
	for name, text := range files {
		if err := os.WriteFile(name, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return programs, home, canary
}

// misleading are variables that an earlier step may set. They would make git, curl, the resolver or
// the loader run the step's programs or connect to its server. BIN and HOME stand for the
// directories that plant made, and OTHER for the server.
var misleading = []string{
	"HTTPS_PROXY=http://user:pass-of-a-proxy@OTHER", "https_proxy=http://OTHER", "HTTP_PROXY=http://OTHER", "http_proxy=http://OTHER", "ALL_PROXY=socks5://OTHER", "all_proxy=http://OTHER", "NO_PROXY=", "no_proxy=",
	"SSL_CERT_FILE=HOME/none", "SSL_CERT_DIR=HOME", "CURL_CA_BUNDLE=HOME/none", "CURL_HOME=HOME", "NETRC=HOME/.netrc", "REQUEST_METHOD=GET", "HOSTALIASES=HOME/none", "RES_OPTIONS=debug", "LOCALDOMAIN=OTHER",
	"HOME=HOME", "XDG_CONFIG_HOME=HOME/.config", "XDG_DATA_HOME=HOME", "XDG_CACHE_HOME=HOME", "XDG_CONFIG_DIRS=HOME/.config", "GNUPGHOME=HOME",
	"GIT_CONFIG_GLOBAL=HOME/.gitconfig", "GIT_CONFIG_SYSTEM=HOME/.gitconfig", "GIT_CONFIG=HOME/.gitconfig", "GIT_CONFIG_NOSYSTEM=0", "GIT_CONFIG_PARAMETERS='http.proxy=http://OTHER'",
	"GIT_CONFIG_COUNT=2", "GIT_CONFIG_KEY_0=http.proxy", "GIT_CONFIG_VALUE_0=http://OTHER", "GIT_CONFIG_KEY_1=credential.helper", "GIT_CONFIG_VALUE_1=!BIN/helper",
	"GIT_ASKPASS=BIN/askpass", "SSH_ASKPASS=BIN/askpass", "SSH_ASKPASS_REQUIRE=force", "GIT_TERMINAL_PROMPT=1", "GIT_SSH=BIN/ssh", "GIT_SSH_COMMAND=BIN/ssh", "GIT_PROXY_COMMAND=BIN/helper", "GIT_HTTP_PROXY_AUTHMETHOD=basic",
	"GIT_SSL_NO_VERIFY=1", "GIT_SSL_CAINFO=HOME/none", "GIT_SSL_CAPATH=HOME", "GIT_EXEC_PATH=BIN", "GIT_TEMPLATE_DIR=HOME/templates", "GIT_EXTERNAL_DIFF=BIN/diff", "GIT_PAGER=BIN/less", "PAGER=BIN/less",
	"GIT_EDITOR=BIN/vi", "GIT_SEQUENCE_EDITOR=BIN/vi", "VISUAL=BIN/vi", "EDITOR=BIN/vi", "GIT_MERGE_AUTOEDIT=1", "GIT_ATTR_SOURCE=HEAD", "GIT_ALLOW_PROTOCOL=ext:file:http:https:ssh", "GIT_PROTOCOL_FROM_USER=1",
	"GIT_DIR=HOME", "GIT_COMMON_DIR=HOME", "GIT_WORK_TREE=HOME", "GIT_INDEX_FILE=HOME/index", "GIT_OBJECT_DIRECTORY=HOME", "GIT_ALTERNATE_OBJECT_DIRECTORIES=HOME", "GIT_NAMESPACE=x", "GIT_SHALLOW_FILE=HOME/none", "GIT_GRAFT_FILE=HOME/none",
	"BASH_ENV=BIN/sh", "ENV=BIN/sh", "SHELL=BIN/sh", "PERL5OPT=-MCanary", "LD_PRELOAD=HOME/canary.so", "LD_AUDIT=HOME/canary.so", "LD_LIBRARY_PATH=HOME", "GCONV_PATH=HOME", "LOCPATH=HOME", "GLIBC_TUNABLES=glibc.malloc.check=3",
	"MALLOC_TRACE=HOME/trace", "GOTRACEBACK=crash", "GODEBUG=netdns=go+2", "GOCOVERDIR=HOME", "GOMAXPROCS=1",
}

// TestPlantedProgramsDoNotRun asserts rules R6, R8 and R14 after an earlier step has changed PATH,
// the home and the variables that mislead git, curl and the loader. A push goes to the repository,
// nothing connects to another server, and no planted program runs. This holds for the action and
// for the command.
func TestPlantedProgramsDoNotRun(t *testing.T) {
	t.Parallel()
	other := newElsewhere(t)
	programs, home, canary := plant(t, other.addr)
	fill := strings.NewReplacer("BIN", programs, "HOME/", home+"/", "OTHER", other.addr)
	env := []string{"PATH=" + programs + ":" + gitrepo.DefaultPath}
	for _, variable := range misleading {
		if name, value, _ := strings.Cut(variable, "="); value == "HOME" {
			env = append(env, name+"="+home)
		} else {
			env = append(env, name+"="+fill.Replace(value))
		}
	}
	for _, mode := range []string{"action", "apply"} {
		h := newHosted(t)
		ws := newCodeWorkspace(t, h, askedPull+`{"type":"add-issue-comment","body":"Hello"}`+"\n", map[string]string{"docs/new.md": "New.\n"})
		var res result
		if mode == "action" {
			res = run(t, ws.dir, ws.env(h.env(t, env...), map[string]string{"output-file": "lines.ndjson", "config": bothCodeKinds + "add-issue-comment:\n", "log-level": "debug"}), "", "action")
		} else {
			writeFile(t, filepath.Join(ws.dir, "policy.yml"), bothCodeKinds+"add-issue-comment:\n")
			res = run(t, ws.dir, h.env(t, env...), "", "apply", "--pace=0s", "--input", "lines.ndjson", "--config", "policy.yml")
		}
		if res.code != 0 {
			t.Errorf("%s: exit code %d\n%s%s", mode, res.code, res.stdout, res.stderr)
		}
		if n := len(h.server.State().Issues); n != 3 {
			t.Errorf("%s: %d issues and pull requests", mode, n)
		}
		if text := res.stdout + res.stderr; strings.Contains(text, "pass-of-a-proxy") {
			t.Errorf("%s prints the password of a proxy:\n%s", mode, text)
		}
	}
	if n := other.calls.Load(); n != 0 {
		t.Errorf("%d connections to another server", n)
	}
	if ran, err := os.ReadFile(canary); err == nil {
		t.Errorf("planted programs ran:\n%s", ran)
	}
}

// TestOddTemporaryDirectories pushes with temporary directories whose names mean something to
// git's configuration, to its lists of directories or to a shell, and with directories that cannot
// be used.
func TestOddTemporaryDirectories(t *testing.T) {
	t.Parallel()
	base := t.TempDir()
	file := writeFile(t, filepath.Join(base, "file"), "")
	for _, name := range []string{"a b", "a:b", `a"b`, `a\b`, "a'b", "a\nb", "%(prefix)", "~", "$(id)", "#a;b", "-a", "\xff", "a=b", "[a]", "*", "ä\u200bö", "here"} {
		dir := filepath.Join(base, name)
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		assertPushes(t, base, dir, 0)
		if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
			t.Errorf("%q: %v is left in it, %v", name, left, err)
		}
	}
	assertPushes(t, base, "here", 0) // relative
	assertPushes(t, base, file, 1)
	assertPushes(t, base, filepath.Join(base, "none"), 1)
}

// assertPushes runs apply in dir with a temporary directory. It asserts the exit code, and that a
// pull request is opened exactly if that is 0.
func assertPushes(t *testing.T, dir, temp string, code int) {
	t.Helper()
	h := newHosted(t)
	ws := newCodeWorkspace(t, h, askedPull, map[string]string{"docs/new.md": "New.\n"})
	writeFile(t, filepath.Join(dir, "policy.yml"), bothCodeKinds)
	res := run(t, dir, h.env(t, "TMPDIR="+temp), askedPull, "apply", "--pace=0s", "--config", "policy.yml", "--dir", ws.dir)
	if n := len(h.server.State().Issues); res.code != code || (n == 3) != (code == 0) || strings.Contains(res.stderr, "goroutine") {
		t.Errorf("TMPDIR %q: exit code %d, %d issues and pull requests\n%s", temp, res.code, n, res.stderr)
	}
}

// TestStrangeAnswersToPushes refuses pushes with texts that act on a terminal, pose as the runner's
// commands or as git's own words, contain an address, are missing or are very long. The hooks are
// real ones.
func TestStrangeAnswersToPushes(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ hook, code, says string }{
		"marks and commands": {`printf '\033]0;x\007GH013: bad \033[31mred\r::error::forged\n::set-output name=a::b\n\342\200\256\342\200\213x\n' >&2; exit 1`,
			"push-refused", "<U+200B>x"},
		"words of git":       {`printf 'fatal: Authentication failed\nfatal: unable to access: 403\n!\trefs/heads/a:refs/heads/b\t[up to date]\n' >&2; exit 1`, "push-refused", "pre-receive hook declined"},
		"an address":         {`echo 'GH013: secrets. @octocat, fixes #1: https://evil.example/unblock' >&2; exit 1`, "push-refused", "(evil.example/redacted)"},
		"no words":           {`exit 1`, "push-refused", "pre-receive hook declined"},
		"a great many words": {`yes 'no, no, no' | head -c 5000000 >&2; exit 1`, "push-refused", "no, no, no"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHosted(t)
			hook := filepath.Join(h.git.Dir(), "hooks", "pre-receive")
			if err := os.MkdirAll(filepath.Dir(hook), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(hook, []byte("#!/bin/sh\n"+c.hook+"\n"), 0o755); err != nil {
				t.Fatal(err)
			}
			ws := newCodeWorkspace(t, h, askedPull, map[string]string{"docs/new.md": "New.\n"})
			res := run(t, ws.dir, ws.env(h.env(t), map[string]string{"output-file": "lines.ndjson", "config": bothCodeKinds}), "", "action")
			if res.code != 1 || len(h.server.State().Issues) != 2 || !strings.Contains(res.stdout, c.code) || !strings.Contains(readFile(t, ws.summary), strings.NewReplacer("<", `\<`, ">", `\>`).Replace(c.says)) {
				t.Errorf("exit code %d\n%s%s", res.code, res.stdout, readFile(t, ws.summary))
			}
			assertOwnCommands(t, res.stdout, secret)
			for _, text := range []string{res.stdout, res.stderr, readFile(t, ws.summary)} {
				if i := strings.IndexFunc(text, func(r rune) bool { return r < ' ' && r != '\n' || r == '\u202e' }); i >= 0 {
					t.Errorf("it shows %q", text[i:min(len(text), i+80)])
				}
				if len(text) > 100_000 {
					t.Errorf("%d bytes are shown", len(text))
				}
			}
		})
	}
}

// TestInvisibleMarksInPaths asks for a pull request with a file in a protected directory. The
// file's name contains an invisible mark. The pull request is not opened, and the message shows the
// mark.
func TestInvisibleMarksInPaths(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		".github/workflows/x\u200b.yml":   "x<U+200B>.yml",
		".github/workflows/x\u3164.yml":   "x<U+3164>.yml",
		".github/workflows/x\ufe0f.yml":   "x<U+FE0F>.yml",
		".github/workflows/@\u2060x.yml":  `@\u2060x.yml`,
		".github/workflows/x\U000e0101":   "x<U+E0101>",
		".github/workflows/\u034fx.yml":   "<U+034F>x.yml",
		".github/workflows/x\u115fy.yml":  "x<U+115F>y.yml",
		".github/workflows/x\u202ey.yml":  `x\u202ey.yml`,
		".github/workflows/fix \u200b#1x": "fix <U+200B>#1x",
	} {
		h := newHosted(t)
		ws := newCodeWorkspace(t, h, askedPull, map[string]string{name: "on: push\n"})
		res := run(t, ws.dir, ws.env(h.env(t), map[string]string{"output-file": "lines.ndjson", "config": bothCodeKinds}), "", "action")
		if len(h.server.State().Issues) != 2 || !strings.Contains(res.stdout, want) {
			t.Errorf("%q: exit code %d, and it does not show %q\n%s", name, res.code, want, res.stdout)
		}
		summary := strings.NewReplacer(`\<`, "<", `\>`, ">", `\\`, `\`).Replace(readFile(t, ws.summary))
		if !strings.Contains(summary, want) {
			t.Errorf("%q: the summary does not show %q\n%s", name, want, summary)
		}
	}
}
