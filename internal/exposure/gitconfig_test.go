package exposure_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agent-airlock/airlock/internal/shorttest"
)

// TestCredentialsOfCheckout leaves credentials as versions of actions/checkout do, by the same
// commands. It asserts that these are found, and so are those of other repositories in the
// workspace.
func TestCredentialsOfCheckout(t *testing.T) {
	t.Parallel()
	const key, placeholder = "http.https://github.com/.extraheader", "AUTHORIZATION: basic ***"
	replace := func(m *machine, path string) {
		raw, err := os.ReadFile(path)
		if err != nil || strings.Count(string(raw), placeholder) != 1 {
			m.t.Fatalf("%v: %s", err, raw)
		}
		if err := os.WriteFile(path, []byte(strings.Replace(string(raw), placeholder, header, 1)), 0o600); err != nil {
			m.t.Fatal(err)
		}
	}
	t.Run("up to version 5", func(t *testing.T) {
		t.Parallel()
		m := newMachine(t)
		m.git(m.work, "config", "--local", key, placeholder)
		replace(m, filepath.Join(m.work, ".git/config"))
		m.expect("repo/.git/config")
		m.git(m.work, "config", "--local", "--unset-all", key)
		m.expect()
	})
	t.Run("from version 6", func(t *testing.T) {
		t.Parallel()
		m := newMachine(t)
		const name = "git-credentials-0f4c2f4e-6c3a-4c7e-8f5e-4b6f0b5f2d11.config"
		file := filepath.Join(m.tmp, name)
		m.git(m.work, "config", "--file", file, key, placeholder)
		replace(m, file)
		dir := filepath.Join(m.work, ".git")
		for _, include := range []struct{ gitDir, file string }{
			{dir, file}, {dir + "/worktrees/*", file}, {"/github/workspace/.git", "/github/runner_temp/" + name}, {"/github/workspace/.git/worktrees/*", "/github/runner_temp/" + name},
		} {
			m.git(m.work, "config", "--local", "includeIf.gitdir:"+include.gitDir+".path", include.file)
		}
		m.expect("temp/" + name)
		// Nothing but the include leads to it, as where the temporary directory is
		// mounted in another place.
		m.env = append(m.env, "RUNNER_TEMP=")
		m.expect("temp/" + name)
		// Only the temporary directory leads to it, as for a job whose repository was removed.
		m.env = append(m.env, "RUNNER_TEMP="+m.tmp)
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
		m.expect("temp/" + name)
		if err := os.Remove(file); err != nil {
			t.Fatal(err)
		}
		m.expect()
	})
	t.Run("with an SSH key", func(t *testing.T) {
		t.Parallel()
		m := newMachine(t)
		m.write("temp/0f4c2f4e", "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjEA\n-----END OPENSSH PRIVATE KEY-----\n")
		m.write("temp/0f4c2f4e_known_hosts", "github.com ssh-rsa AAAAB3NzaC1yc2EAAAADAQAB\n")
		m.git(m.work, "config", "--local", "core.sshCommand", `"/usr/bin/ssh" -i "$RUNNER_TEMP/0f4c2f4e" -o StrictHostKeyChecking=yes -o CheckHostIP=no -o "UserKnownHostsFile=$RUNNER_TEMP/0f4c2f4e_known_hosts"`)
		m.expect("repo/.git/config", "temp/0f4c2f4e")
	})
	t.Run("of submodules, work trees and nested checkouts", func(t *testing.T) {
		t.Parallel()
		m := newMachine(t)
		if err := os.MkdirAll(m.work+"/.git/modules/lib/a/modules", 0o755); err != nil {
			t.Fatal(err)
		}
		m.git(m.work, "init", "--quiet", "--separate-git-dir", ".git/modules/lib/a", "lib/a")
		m.git(m.work+"/lib/a", "config", key, header)
		m.git(m.work+"/lib/a", "init", "--quiet", "--separate-git-dir", "../../.git/modules/lib/a/modules/deep", "deep")
		m.git(m.work+"/lib/a/deep", "config", "remote.origin.url", "https://x-access-token:"+leaked+"@github.com/a/b")
		m.git(m.work, "worktree", "add", "--quiet", "../other")
		m.git(m.work, "config", "extensions.worktreeConfig", "true")
		m.git(m.base+"/other", "config", "--worktree", key, header)
		m.git(m.work, "init", "--quiet", "vendor/tool")
		m.git(m.work+"/vendor/tool", "config", key, header)
		m.git(m.work, "init", "--quiet", "--bare", "mirror.git")
		m.git(m.work+"/mirror.git", "config", key, header)
		all := []string{
			"repo/.git/modules/lib/a/config", "repo/.git/modules/lib/a/modules/deep/config", "repo/.git/worktrees/other/config.worktree", "repo/mirror.git/config", "repo/vendor/tool/.git/config",
		}
		m.expect(all...)
		// From the other work tree, of which only git's file is known.
		m.env = append(m.env, "GITHUB_WORKSPACE=")
		m.work = filepath.Join(m.base, "other")
		m.expect(all[:3]...)
		// And from a directory below.
		m.work = filepath.Join(m.base, "repo/lib/a/deep/down")
		if err := os.Mkdir(m.work, 0o755); err != nil {
			t.Fatal(err)
		}
		m.expect(all[1])
	})
}

// TestCredentialsInGitConfiguration asserts where credentials are found, for each way to give git one,
// that none is found in settings which only look like it, and that what cannot be judged is
// reported.
func TestCredentialsInGitConfiguration(t *testing.T) {
	t.Parallel()
	for _, c := range shorttest.First(3, []struct {
		name string
		set  func(m *machine)
		want []string
	}{
		{"helper of the user", func(m *machine) { m.git(m.work, "config", "--global", "credential.helper", "cache") }, []string{"home/.gitconfig"}},
		{"helper for one host", func(m *machine) {
			m.git(m.work, "config", "--global", "credential.https://github.com.helper", "!gh auth git-credential")
		}, []string{"home/.gitconfig"}},
		{"helper that is taken back", func(m *machine) { m.git(m.work, "config", "credential.helper", "") }, nil},
		{"helper of the system", func(m *machine) { m.git(m.work, "config", "--file", m.base+"/system", "Credential.Helper", "store") }, []string{"system"}},
		{"what a helper stores", func(m *machine) { m.write("home/.git-credentials", "https://me:"+leaked+"@github.com\n") }, []string{"home/.git-credentials"}},
		{"where a helper stores", func(m *machine) {
			m.write("home/kept", "\nhttps://me:"+leaked+"@github.com\n")
			m.git(m.work, "config", "credential.helper", "store --file ~/kept")
		}, []string{"home/kept", "repo/.git/config"}},
		{"configuration in .config", func(m *machine) { m.write("home/.config/git/config", "[credential] helper = x\n") }, []string{"home/.config/git/config"}},
		{"configuration elsewhere", func(m *machine) {
			m.env = append(m.env, "XDG_CONFIG_HOME="+m.base+"/xdg")
			m.write("xdg/git/config", "[credential] helper = x\n")
			m.write("xdg/git/credentials", "https://me:"+leaked+"@github.com\n")
		}, []string{"xdg/git/config", "xdg/git/credentials"}},
		{"configuration by variable", func(m *machine) {
			m.env = append(m.env, "GIT_CONFIG_GLOBAL="+m.write("g", "[http] extraheader = x: y"), "GIT_CONFIG_SYSTEM="+m.write("s", "[http \"https://x\"]\n extraHeader = \"x: y\""))
		}, []string{"g", "s"}},
		{"counted variables", func(m *machine) {
			m.env = append(m.env, "GIT_CONFIG_COUNT=2", "GIT_CONFIG_KEY_0=http.https://github.com/.extraHeader", "GIT_CONFIG_VALUE_0="+header, "GIT_CONFIG_KEY_1=a.b", "GIT_CONFIG_VALUE_1=c")
		}, []string{"GIT_CONFIG_VALUE_0"}},
		{"git -c", func(m *machine) {
			m.env = append(m.env, `GIT_CONFIG_PARAMETERS='a.b'='it'\''s' 'http.extraheader'='`+header+`'`)
		}, []string{"GIT_CONFIG_PARAMETERS"}},
		{"git -c of older versions", func(m *machine) { m.env = append(m.env, `GIT_CONFIG_PARAMETERS='a.b=c' 'http.extraheader=`+header+`'`) }, []string{"GIT_CONFIG_PARAMETERS"}},
		{"harmless git -c", func(m *machine) { m.env = append(m.env, `GIT_CONFIG_PARAMETERS='a.b'='c d' 'e.f'= 'g.h'`) }, nil},
		{"unreadable git -c", func(m *machine) { m.env = append(m.env, `GIT_CONFIG_PARAMETERS=http.extraheader`) }, []string{"GIT_CONFIG_PARAMETERS"}},
		{"included by git -c", func(m *machine) {
			m.env = append(m.env, `GIT_CONFIG_PARAMETERS='include.path'='`+m.write("inc", "[http] extraheader = x")+`'`)
		}, []string{"inc"}},
		{"git's directory by variable", func(m *machine) {
			m.git(m.base, "init", "--quiet", "--bare", "far.git")
			m.git(m.base+"/far.git", "config", "http.extraheader", header)
			m.env = append(m.env, "GIT_DIR=../far.git")
		}, []string{"far.git/config"}},
		{"remote", func(m *machine) {
			m.git(m.work, "remote", "set-url", "origin", "https://x-access-token:"+leaked+"@github.com/a/b")
		}, []string{"repo/.git/config"}},
		{"remote with a token as its user", func(m *machine) {
			m.git(m.work, "remote", "set-url", "--push", "origin", "https://"+leaked+"@github.com/a/b")
		}, []string{"repo/.git/config"}},
		{"insteadOf", func(m *machine) {
			m.git(m.work, "config", "--global", "url.https://me:"+leaked+"@github.com/.insteadOf", "https://github.com/")
		}, []string{"home/.gitconfig"}},
		{"section for a URL with a password", func(m *machine) { m.git(m.work, "config", "http.https://me:Tr0ub4dor@github.com/.sslVerify", "true") }, []string{"repo/.git/config"}},
		{"remote with a user", func(m *machine) { m.git(m.work, "remote", "set-url", "origin", "ssh://git@github.com/a/b") }, nil},
		{"askpass", func(m *machine) { m.git(m.work, "config", "core.askPass", "/usr/bin/askpass") }, []string{"repo/.git/config"}},
		{"cookies", func(m *machine) { m.git(m.work, "config", "http.cookieFile", m.write("home/jar", "x")) }, []string{"repo/.git/config"}},
		{"cookies that are not there", func(m *machine) { m.git(m.work, "config", "http.cookieFile", "~/none") }, nil},
		{"a client's key", func(m *machine) {
			m.write("home/tls", "x")
			m.git(m.work, "config", "http.sslKey", "~/tls")
		}, []string{"repo/.git/config"}},
		{"token of a tool", func(m *machine) { m.git(m.work, "config", "--global", "github.oauth-token", "abcdef") }, []string{"home/.gitconfig"}},
		{"mail", func(m *machine) { m.git(m.work, "config", "--global", "sendemail.smtpPass", "Tr0ub4dor") }, []string{"home/.gitconfig"}},
		{"in a comment", func(m *machine) { m.write("home/.gitconfig", "[user]\n# was "+leaked+"\n") }, []string{"home/.gitconfig"}},
		{"relative include", func(m *machine) {
			m.write("home/more/a", "[include]\npath = b\n")
			m.write("home/more/b", "[http]\nextraheader = x\n")
			m.git(m.work, "config", "--global", "include.path", "more/a")
		}, []string{"home/more/b"}},
		{"include in the user's directory", func(m *machine) {
			m.write("home/more", "[http]\nextraheader = x\n")
			m.git(m.work, "config", "includeIf.onbranch:none.path", "~/more")
		}, []string{"home/more"}},
		{"include of another user", func(m *machine) { m.git(m.work, "config", "include.path", "~root/x") }, []string{"repo/.git/config"}},
		{"include of itself", func(m *machine) {
			m.write("home/.gitconfig", "[include]\npath = .gitconfig\npath = ../home/.gitconfig\n[http]\nextraheader = x\n")
		}, []string{"home/.gitconfig"}},
		{"include of what is not there", func(m *machine) { m.git(m.work, "config", "include.path", "none") }, nil},
		{"ordinary settings", func(m *machine) {
			for _, e := range []string{"user.name=A", "user.signingKey=ABCDEF0123456789", "commit.gpgSign=true", "core.sshCommand=ssh -v", "http.sslCertPasswordProtected=true", "credential.username=me", "branch.token-refresh.remote=origin", "submodule.lib.url=../lib"} {
				key, value, _ := strings.Cut(e, "=")
				m.git(m.work, "config", key, value)
			}
		}, nil},
	}) {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			m := newMachine(t)
			c.set(m)
			m.expect(c.want...)
		})
	}
}
