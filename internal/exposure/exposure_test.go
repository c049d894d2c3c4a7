package exposure_test

import (
	"encoding/base64"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-airlock/airlock/internal/exposure"
	"github.com/agent-airlock/airlock/internal/shorttest"
)

func TestMain(m *testing.M) {
	shorttest.TempInMemory()
	os.Exit(m.Run())
}

const leaked = "ghs_q3Zt8LwX1vRb6NcYpK0sDf7HjM2aGe9uTiQo"

// header is the header that actions/checkout makes git send, with the token in basicAuth.
var (
	basicAuth = base64.StdEncoding.EncodeToString([]byte("x-access-token:" + leaked))
	header    = "AUTHORIZATION: basic " + basicAuth
)

// machine is where credentials are looked for: a user's home directory, a workspace with
// a repository that git made, and a runner's temporary directory.
type machine struct {
	t                     *testing.T
	base, home, work, tmp string
	env                   []string
}

func newMachine(t *testing.T) *machine {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	m := &machine{t: t, base: base, home: filepath.Join(base, "home"), work: filepath.Join(base, "repo"), tmp: filepath.Join(base, "temp")}
	m.env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + m.home, "GITHUB_ACTIONS=true", "GITHUB_WORKSPACE=" + m.work, "RUNNER_TEMP=" + m.tmp}
	for _, dir := range []string{m.home, m.work, m.tmp} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	m.git(m.work, "init", "--quiet", "--initial-branch=main")
	m.git(m.work, "-c", "user.name=A", "-c", "user.email=a@b", "commit", "--quiet", "--allow-empty", "--message=first")
	m.git(m.work, "remote", "add", "origin", "https://github.com/octo/repo")
	return m
}

// git runs git, to write configuration as it is found on a machine.
func (m *machine) git(dir string, args ...string) {
	m.t.Helper()
	cmd := exec.CommandContext(m.t.Context(), "git", args...)
	cmd.Dir, cmd.Env = dir, append(slices.Clone(m.env), "GIT_CONFIG_NOSYSTEM=1")
	if out, err := cmd.CombinedOutput(); err != nil {
		m.t.Fatalf("git %q: %v\n%s", args, err, out)
	}
}

func (m *machine) write(path, text string) string {
	m.t.Helper()
	path = filepath.Join(m.base, path)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		m.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		m.t.Fatal(err)
	}
	return path
}

// places returns the variables and files in which credentials are found, relative to the
// machine, and asserts what is true of every credential. It does not assert the number of a line,
// only that the line is not blank: versions of git write a setting in different lines.
func (m *machine) places() []string {
	m.t.Helper()
	src := exposure.Config{Environ: m.env, Dir: m.work, SystemConfig: filepath.Join(m.base, "system")}
	found := exposure.Find(src)
	var places []string
	for _, c := range found {
		if !c.Refuses {
			m.t.Errorf("%s does not refuse on a runner", c)
		}
		if s := c.String(); strings.Contains(s, leaked) || strings.Contains(s, basicAuth) || strings.ContainsAny(s, "\n\x1b") || c.What == "" {
			m.t.Errorf("printed: %q", s)
		}
		place, line, numbered := strings.Cut(c.Where, ":")
		if n, err := strconv.Atoi(line); numbered && (err != nil || n < 1 || strings.TrimSpace(lineOf(place, n)) == "") {
			m.t.Errorf("there is nothing at %s", c.Where)
		}
		places = append(places, strings.Replace(place, m.base+"/", "", 1))
	}
	places = slices.Compact(places)
	src.Environ = slices.DeleteFunc(slices.Clone(m.env), func(e string) bool { return strings.HasPrefix(e, "GITHUB_ACTIONS=") })
	for _, c := range exposure.Find(src) {
		if c.Refuses {
			m.t.Errorf("%s refuses off a runner", c)
		}
	}
	return places
}

// lineOf returns a line of a file, or "".
func lineOf(path string, n int) string {
	raw, err := os.ReadFile(path)
	if lines := strings.Split(string(raw), "\n"); err == nil && n <= len(lines) {
		return lines[n-1]
	}
	return ""
}

func (m *machine) expect(want ...string) {
	m.t.Helper()
	if diff := cmp.Diff(want, m.places()); diff != "" {
		m.t.Errorf("where credentials are (-want +got)\n%s", diff)
	}
}

// TestCredentialsInVariables asserts for each variable whether it contains a credential.
func TestCredentialsInVariables(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	clean := m.env
	key := m.write("home/key.json", "{}")
	for _, c := range []struct {
		variable string
		found    bool
	}{
		{"GITHUB_TOKEN=" + leaked, true}, {"GH_TOKEN=" + leaked, true}, {"INPUT_TOKEN=" + leaked, true}, {"INPUT_GITHUB-TOKEN=" + leaked, true}, {"NPM_TOKEN=npm-of-me", true},
		{"MY_APP_SECRET=hunter2", true}, {"DB_PASSWORD=Tr0ub4dor&3", true}, {"SMTP_PASS=Tr0ub4dor", true}, {"DEPLOY_KEY=-----BEGIN OPENSSH PRIVATE KEY-----", true}, {"GITLAB_PAT=glpat-x", true},
		{"ACTIONS_ID_TOKEN_REQUEST_TOKEN=x", true}, {"ACTIONS_ID_TOKEN_REQUEST_URL=https://x", true}, {"ACTIONS_RUNTIME_TOKEN=x", true},
		{"SOMETHING=" + leaked, true}, {"GOPROXY=https://me:Tr0ub4dor@proxy.test,direct", true}, {"URL=https://" + leaked + "@github.com/a/b", true},
		{"GIT_ASKPASS=/usr/bin/askpass", true}, {"GIT_SSH_COMMAND=ssh -i /key", true}, {"GOOGLE_APPLICATION_CREDENTIALS=" + key, true}, {"GITHUB_TOKEN= ", false}, {"GITHUB_TOKEN=", false}, {"GITHUB_TOKEN=***", false},
		{"NODE_AUTH_TOKEN=XXXXX-XXXXX-XXXXX-XXXXX", false}, {"POSTGRES_PASSWORD=postgres", false}, {"DATABASE_URL=postgres://postgres:postgres@localhost/test", false}, {"TOKENIZERS_PARALLELISM=false", false}, {"MAX_TOKENS=100000", false},
		{"NPM_TOKEN=${NPM_TOKEN}", false}, {"PWD=" + m.work, false}, {"GPG_KEY=A035C8C19219BA821ECEA86B64E628F8D684696D", false}, {"CACHE_KEY=linux-go-1.26", false}, {"GIT_SSH_COMMAND=ssh -v", false},
		{"GOOGLE_APPLICATION_CREDENTIALS=" + m.home + "/none.json", false}, {"SSH_AUTH_SOCK=" + key, false}, {"REMOTE=ssh://git@github.com/a/b", false}, {"REMOTE=https://octocat@github.com/a/b", false}, {"ACTIONS_CACHE_URL=https://x", false},
	} {
		m.env = append(slices.Clone(clean), c.variable)
		name, _, _ := strings.Cut(c.variable, "=")
		var want []string
		if c.found {
			want = []string{name}
		}
		if got := m.places(); !slices.Equal(got, want) {
			t.Errorf("%s: found %q, want %q", c.variable, got, want)
		}
	}
}

// TestCredentialsOfAHostedRunner asserts that there is no credential in what a hosted runner and
// setup actions leave in a job without secrets.
func TestCredentialsOfAHostedRunner(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	m.env = append(m.env, strings.Split(`CI=true
ACCEPT_EULA=Y
AGENT_TOOLSDIRECTORY=/opt/hostedtoolcache
ACTIONS_RUNNER_ACTION_ARCHIVE_CACHE=/opt/actionarchivecache
ANDROID_HOME=/usr/local/lib/android/sdk
ANT_HOME=/usr/share/ant
AZURE_EXTENSION_DIR=/opt/az/azcliextensions
BOOTSTRAP_HASKELL_NONINTERACTIVE=1
CHROME_BIN=/usr/bin/google-chrome
CONDA=/usr/share/miniconda
DEBIAN_FRONTEND=noninteractive
DOTNET_SKIP_FIRST_TIME_EXPERIENCE=1
GITHUB_ACTION=__run_2
GITHUB_ACTOR=octocat
GITHUB_ACTOR_ID=583231
GITHUB_API_URL=https://api.github.com
GITHUB_BASE_REF=main
GITHUB_ENV=/home/runner/_temp/_runner_file_commands/set_env_9c0fb3b3-7e5f-4c07-9a4d-2f0f1d1b7a7c
GITHUB_EVENT_NAME=pull_request
GITHUB_EVENT_PATH=/home/runner/_temp/_github_workflow/event.json
GITHUB_HEAD_REF=add-token-refresh
GITHUB_JOB=check
GITHUB_REF=refs/pull/1/merge
GITHUB_REF_PROTECTED=false
GITHUB_REPOSITORY=octocat/hello-world
GITHUB_REPOSITORY_ID=1296269
GITHUB_RUN_ID=12345678901
GITHUB_SERVER_URL=https://github.com
GITHUB_SHA=6dcb09b5b57875f334f61aebed695e2e4193db5e
GITHUB_STEP_SUMMARY=/home/runner/_temp/_runner_file_commands/step_summary_9c0fb3b3-7e5f-4c07-9a4d-2f0f1d1b7a7c
GITHUB_WORKFLOW=Check
GITHUB_WORKFLOW_REF=octocat/hello-world/.github/workflows/check.yml@refs/pull/1/merge
GITHUB_WORKFLOW_SHA=6dcb09b5b57875f334f61aebed695e2e4193db5e
GOROOT_1_24_X64=/opt/hostedtoolcache/go/1.24.9/x64
HOMEBREW_CLEANUP_PERIODIC_FULL_DAYS=3650
INPUT_FAIL-ON=error
INPUT_TOKEN=
INVOCATION_ID=1c2c5b8c1f0b4e52a7a1f6f6d2a5f6a1
JAVA_HOME_21_X64=/usr/lib/jvm/temurin-21-jdk-amd64
JOURNAL_STREAM=9:12345
NODE_AUTH_TOKEN=XXXXX-XXXXX-XXXXX-XXXXX
RUNNER_ARCH=X64
RUNNER_TRACKING_ID=github_0f4c2f4e-6c3a-4c7e-8f5e-4b6f0b5f2d11
SELENIUM_JAR_PATH=/usr/share/java/selenium-server.jar
SGX_AESM_ADDR=1
SYSTEMD_EXEC_PID=1234
XDG_RUNTIME_DIR=/run/user/1001`, "\n")...)
	m.git(m.work, "config", "--global", "--add", "safe.directory", m.work)
	m.git(m.work, "config", "--local", "gc.auto", "0")
	m.write("home/.npmrc", "//registry.npmjs.org/:_authToken=${NODE_AUTH_TOKEN}\nalways-auth=false\n")
	m.write("home/.m2/settings.xml", "<settings><servers><server><id>github</id><username>${env.GITHUB_ACTOR}</username><password>${env.GITHUB_TOKEN}</password></server></servers></settings>")
	m.write("home/.docker/config.json", `{"auths": {}}`)
	m.write("home/.config/gh/config.yml", "git_protocol: https\n")
	m.write("temp/0f4c2f4e.sh", "go test ./...\n")
	m.write("temp/_github_workflow/event.json", `{"action": "opened"}`)
	m.expect()
}

// TestCredentialsOfParents asserts that a variable which was taken out of the
// environment is found where it can still be read.
func TestCredentialsOfParents(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	m.env = append(m.env, "NPM_TOKEN=known-already")
	for path, text := range map[string]string{
		"self/status": "Name:\tairlock\nPPid:\t30\n",
		"30/status":   "Name:\tsh\nPPid:\t20\n", "30/environ": "PATH=/bin\x00GITHUB_TOKEN=" + leaked + "\x00NPM_TOKEN=known-already\x00EMPTY_TOKEN=\x00",
		"20/status": "PPid:\t10\n", "20/environ": "GITHUB_TOKEN=" + leaked + "\x00GH_TOKEN=" + leaked,
		"10/status": "PPid:\t20\n", // a loop, which no system has
		"99/status": "PPid:\t1\n", "99/environ": "OTHER_TOKEN=" + leaked,
	} {
		m.write("proc/"+path, text)
	}
	var got []string
	for _, c := range exposure.Find(exposure.Config{Environ: m.env, Dir: m.work, SystemConfig: m.base + "/system", Proc: m.base + "/proc"}) {
		got = append(got, c.Where)
	}
	want := []string{"GH_TOKEN in the environment of process 20", "GITHUB_TOKEN in the environment of process 30", "NPM_TOKEN"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}
