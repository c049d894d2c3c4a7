package apply

import (
	"cmp"
	"context"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strings"
	"sync"
	"testing"

	"github.com/agent-airlock/airlock/internal/agentchanges"
	"github.com/agent-airlock/airlock/internal/event"
	"github.com/agent-airlock/airlock/internal/githubapi"
	"github.com/agent-airlock/airlock/internal/githubtest"
	"github.com/agent-airlock/airlock/internal/gitrepo"
	"github.com/agent-airlock/airlock/internal/policy"
	"github.com/agent-airlock/airlock/internal/safeoutput"
	"github.com/agent-airlock/airlock/internal/secrets"
	"github.com/agent-airlock/airlock/internal/shorttest"
	"github.com/agent-airlock/airlock/internal/token"
)

// codeBench is a bench whose server has a real git repository, with a workspace in which an
// agent works.
type codeBench struct {
	*bench
	git      *githubtest.Git
	dir      string // the workspace
	base     string // the first commit of main
	pathList string // where git is looked for; "": PATH
}

// origin is the repository of every codeBench, with the branches main and topic, and
// workspaces that were checked out at them. It is made once, by the first test that needs
// it, and copied.
var origin struct {
	sync.Mutex
	git        *githubtest.Git
	workspaces map[string]string // directories by commit
}

// lasting makes directories that outlive one test. TestMain removes them.
type lasting struct{ testing.TB }

func (lasting) TempDir() string {
	dir, err := os.MkdirTemp(lastingDir, "")
	if err != nil {
		panic(err)
	}
	return dir
}

var lastingDir string

func TestMain(m *testing.M) {
	shorttest.LeaveOut(
		// These start git a hundred times or more.
		"TestOthersCommitToOurBranch", "TestNewBranchesGetOutOfTheWay", "TestEveryCommitIsJudged", "TestWhatLooksLikeASecretInChanges",
		"TestWhateverHappensSubjectsStayApart", "TestWhatIsNotOurs",
		"TestManyFilesTakeFewRunsOfGit", "TestRunsWithoutANumberKeepTheirSubjects", "TestCommitsThatTakeEverythingBack",
		"TestLargeFileThatIsGoneAgain", "TestExcludedFilesAreLeftOut", "TestMemoryStaysFlat", "TestEachItemHasABranchOfItsOwn",
		"TestABranchThatCannotBeComparedYet", "TestEveryCommitIsJudgedOnPush", "TestRulesetWithoutForcePushes",
		"TestPushToAMovedBranch", "TestPullRequestIsUpdated", "TestAmendedCommitStays", "TestFailureReportsWhatIsThere",
		"TestTextsOfLostCode", "TestMoreCommitsThanOnePage",
		// These start git some dozens of times. The tests that still run cover what these have in
		// common.
		"TestChangesStayOnTheirBase", "TestBrokenObjectsOfCommits", "TestFetchFaults", "TestForgedTrailerPassesNoRule",
		"TestPatchWhereTheHistoryIsCutOff", "TestIssueOfCodeIsThereOnce", "TestPullRequestOnAMovedBase", "TestMessagesSpeakForNobodyElse",
		"TestSignedCommitsGoOnAfterAFailure", "TestRetargetedPullRequestIsLeftAlone", "TestPullRequestForbidden", "TestSoundCommitsStayApart",
		"TestPullRequestAfterAClosedOne", "TestReviewersAreAskedOnce", "TestUnsignableCommitBeforeTheLast", "TestLostCodeIsKnownBeforehand",
		"TestDefaultBranchIsNeverTakenOver", "TestMessageOfCreditsAlone", "TestSignedCommitsRefusedByARule", "TestMessagesSwitchNoWorkflowsOff",
		"TestRulesThatCannotBeRead", "TestBranchesThatItemsName", "TestPatchOfAFailedPush", "TestNamesOfFilesShowNoSecret",
		"TestPushIsCheckedAgainstTheRules", "TestPushFaults",
		// These play thousands of requests.
		"TestLimitsAreNeverPassed", "TestALongQueueEndsInTime", "TestResolvingIsCompleted", "TestStrangeAnswersToWrites",
		"TestKilledWhileARefusedReviewIsPosted", "TestFaultsOnCode", "TestFaultsOnReviewsThatArePending", "TestTwoJobsReviewAtOnce",
		"TestLostAnswersAreReadBack", "TestResolvingWhereAnswersAreLost", "TestStoppedWhileAReviewIsPending", "TestEventsWithRealPayloads",
		"TestHostileSARIFIsInert", "TestEnterpriseHosts", "TestSignedCommitsThatMovedTheBranch",
	)
	shorttest.TempInMemory()
	// The server's description of GitHub's API stays in memory, and reading through it again and again
	// for garbage took a seventh of the tests' time.
	debug.SetGCPercent(300)
	var err error
	if lastingDir, err = os.MkdirTemp("", "airlock-apply-"); err != nil {
		panic(err)
	}
	code := m.Run()
	_ = os.RemoveAll(lastingDir)
	os.Exit(code)
}

// copyOfOrigin returns a repository of the test's own, and the first commit of main.
func copyOfOrigin(t testing.TB) (git *githubtest.Git, base string) {
	t.Helper()
	origin.Lock()
	defer origin.Unlock()
	if origin.git == nil {
		g := githubtest.NewGit(lasting{t})
		base := g.Commit("main", map[string]string{"README.md": "# Demo\n", "src/main.go": "package main\n\nfunc main() {}\n", "docs/a.md": "one\ntwo\nthree\n"}, "Begin")
		g.SetBranch("topic", base)
		topic := g.Commit("topic", map[string]string{"topic.txt": "topic\n", "main.go": strings.Repeat("line\n", 9)}, "Work on the topic")
		g.Run("repack", "-adq") // fewer directories to copy
		origin.workspaces = map[string]string{}
		for _, commit := range []string{base, topic} {
			origin.workspaces[commit] = filepath.Join(lasting{t}.TempDir(), "work")
			clone(t, g.Dir(), origin.workspaces[commit], commit)
		}
		githubtest.New(t, codeFixture(), githubtest.Options{Git: g}).State() // caches git's answers, which the copies of g take over
		origin.git = g
	}
	return origin.git.Copy(t), origin.git.SHA("main")
}

// codeFixture returns the fixture for a server with a copy of origin. Its pull request #7 comes
// from the branch topic.
func codeFixture() githubtest.Fixture {
	f := fixture()
	f.Repo.DefaultBranch = "main"
	f.Repo.Collaborators = []githubtest.Account{{Login: "octocat", ID: 583231}}
	f.Viewer = githubtest.Account{Login: "github-actions[bot]", ID: actionsBot}
	return f
}

// newCodeBench returns a codeBench with a workspace at the branch main. The server also has the
// branch topic, which is the head of pull request #7.
func newCodeBench(t testing.TB, change ...func(*githubtest.Fixture)) *codeBench {
	t.Helper()
	b := newBareBench(t, change...)
	b.checkout(b.base)
	return b
}

// newPullBench returns a codeBench whose run was triggered by pull request #7.
func newPullBench(t testing.TB, change ...func(*githubtest.Fixture)) *codeBench {
	t.Helper()
	b := newBareBench(t, change...)
	b.onPull()
	return b
}

// newBareBench returns a codeBench without a workspace.
func newBareBench(t testing.TB, change ...func(*githubtest.Fixture)) *codeBench {
	t.Helper()
	git, base := copyOfOrigin(t)
	f := codeFixture()
	for _, c := range change {
		c(&f)
	}
	b := newBench(t, f, githubtest.Options{Git: git})
	b.srv.Start(t)
	b.ev.SHA = base
	b.cfg.Run.WorkflowPath = ".github/workflows/agent.yml"
	b.cfg.Secrets = secrets.New([]secrets.Known{{Name: "the deploy key", Value: token.New("correct-horse-battery", "")}})
	return &codeBench{bench: b, git: git, base: base}
}

// clone makes a workspace at a commit of a repository.
func clone(t testing.TB, from, to, commit string) {
	t.Helper()
	sh(t, "", "clone", "--quiet", "--no-hardlinks", "--no-checkout", "--template=", from, to)
	sh(t, to, "checkout", "--quiet", "--detach", commit)
}

// checkout makes a fresh workspace at a commit, from which the agent's changes are then read.
func (b *codeBench) checkout(commit string) {
	b.t.Helper()
	b.dir = filepath.Join(b.t.TempDir(), "work")
	origin.Lock()
	copied := origin.workspaces[commit]
	origin.Unlock()
	if copied == "" {
		clone(b.t, b.git.Dir(), b.dir, commit)
	} else if err := os.CopyFS(b.dir, os.DirFS(copied)); err != nil {
		b.t.Fatal(err)
	}
	clone, err := gitrepo.Locate(b.dir)
	if err != nil {
		b.t.Fatal(err)
	}
	repo, err := gitrepo.New(clone, gitrepo.Options{PathList: cmp.Or(b.pathList, os.Getenv("PATH"))})
	if err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(func() { _ = repo.Close() })
	b.deps.Code = &Code{
		Repo: repo,
		Series: func(ctx context.Context, bases []string) (gitrepo.Series, error) {
			return agentchanges.FromWorkspace(ctx, agentchanges.WorkspaceConfig{Repo: repo, Dir: b.dir, Bases: append([]string{commit}, bases...)})
		},
		Connect: func(url string) (*gitrepo.Remote, error) {
			return gitrepo.NewRemote(gitrepo.RemoteOptions{URL: url, Token: token.New(b.token, b.srv.APIURL()), AllowLoopback: true})
		},
	}
}

// sh runs git for the agent or for other people.
func (b *codeBench) sh(dir string, args ...string) string {
	b.t.Helper()
	return sh(b.t, dir, args...)
}

func sh(t testing.TB, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + os.DevNull, "GIT_CONFIG_NOSYSTEM=1", "LC_ALL=C",
		"GIT_AUTHOR_NAME=Ada Lovelace", "GIT_AUTHOR_EMAIL=ada@example.com", "GIT_COMMITTER_NAME=Agent", "GIT_COMMITTER_EMAIL=agent@example.com",
		"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=maintenance.auto", "GIT_CONFIG_VALUE_0=false"} // no second process after each commit
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %s: %v: %s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// write puts files into the workspace.
func (b *codeBench) write(files map[string]string) *codeBench {
	b.t.Helper()
	for name, data := range files {
		path := filepath.Join(b.dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			b.t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(data), 0o644); err != nil {
			b.t.Fatal(err)
		}
	}
	return b
}

// commit commits everything in the workspace.
func (b *codeBench) commit(message string) *codeBench {
	b.t.Helper()
	b.sh(b.dir, "add", "-A")
	b.sh(b.dir, "commit", "--quiet", "--allow-empty", "-m", message)
	return b
}

// nextRun moves on to a later run of the same workflow, with a workspace of its own.
func (b *codeBench) nextRun() {
	b.cfg.Run.ID++
	b.cfg.Run.Attempt = 1
	b.checkout(b.git.SHA("main"))
	b.ev.SHA = b.git.SHA("main")
}

// pull changes the policy of create-pull-request.
func (b *codeBench) pull(f func(*policy.ChangeSettings)) *codeBench {
	b.kind(safeoutput.KindCreatePullRequest, func(k *policy.KindConfig) { f(&k.Changes) })
	return b
}

func (b *codeBench) push(f func(*policy.ChangeSettings)) *codeBench {
	b.kind(safeoutput.KindPushToBranch, func(k *policy.KindConfig) { f(&k.Changes) })
	return b
}

// branches returns the branches on the server below some refs.
func (b *codeBench) branches(refs ...string) []string {
	return strings.Fields(b.git.Run(append([]string{"for-each-ref", "--format=%(refname:lstrip=2)"}, refs...)...))
}

// file returns a file of a branch on the server.
func (b *codeBench) file(branch, name string) string { return b.git.Run("show", branch+":"+name) }

// messages returns author, committer and message of the commits that a branch has and main has not,
// the newest first.
func (b *codeBench) messages(branch string) string {
	return b.git.Run("log", "--format=%an <%ae>|%cn|%B", "main.."+branch)
}

// pulls returns the pull requests that are not in the fixture.
func (b *codeBench) pulls() (pulls []*githubtest.Issue) {
	for _, i := range b.srv.State().Issues {
		if i.Pull != nil && i.Number != pullNumber {
			pulls = append(pulls, i)
		}
	}
	return pulls
}

// fingerprint returns a value that changes when anything below a directory changes.
func fingerprint(t testing.TB, dir string) string {
	t.Helper()
	var fields []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		fields = append(fields, path, info.Mode().String()+info.ModTime().String())
		if info.Mode().IsRegular() {
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			fields = append(fields, string(data))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return hashFields(fields...)
}

const (
	aPull = `{"type":"create-pull-request","title":"Mend the demo","body":"It was broken.","labels":["bug"]}`
	aPush = `{"type":"push-to-branch","message":"Apply the review"}`
)

// onPull makes pull request #7 the trigger of the run.
func (b *codeBench) onPull() {
	b.on("pull_request", pullNumber)
	b.ev.Head = event.Ref{Ref: "topic", SHA: b.git.SHA("topic"), Repo: "octo/repo"}
	b.ev.Base = event.Ref{Ref: "main", SHA: b.git.SHA("main"), Repo: "octo/repo"}
	b.ev.SHA = b.git.SHA("topic")
	b.checkout(b.ev.SHA)
}

// texts returns the bodies of all issues, pull requests and discussions on the server, and of the
// comments and reviews of issues and pull requests.
func (b *codeBench) texts() (out []string) {
	st := b.srv.State()
	for _, i := range st.Issues {
		out = append(out, i.Body)
		for _, c := range i.Comments {
			out = append(out, c.Body)
		}
		if i.Pull != nil {
			for _, r := range i.Pull.Reviews {
				out = append(out, r.Body)
			}
			for _, c := range i.Pull.Comments {
				out = append(out, c.Body)
			}
		}
	}
	for _, d := range st.Discussions {
		out = append(out, d.Body)
	}
	return out
}

// viewer returns the account that the token belongs to.
func (b *codeBench) viewer() githubapi.Actor {
	b.t.Helper()
	v, err := b.client().Viewer(b.t.Context())
	if err != nil {
		b.t.Fatal(err)
	}
	return v
}
