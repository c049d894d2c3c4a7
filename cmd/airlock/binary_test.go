package main_test

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/agent-airlock/airlock/internal/githubtest"
	"github.com/agent-airlock/airlock/internal/shorttest"
)

// binary is the built program, and root the repository's root; TestMain sets them.
var binary, root string

func TestMain(m *testing.M) {
	shorttest.InParallel(28)
	shorttest.LeaveOut(
		// These wait a second between two writes, as the action does, or longer for GitHub's lists.
		"TestRunsThatNothingDistinguishes", "TestActionLoopHoldsAnAgentsPushAgainstTheRules", "TestActionLoopWithAcceptance",
		"TestActionLoopNeedsASignedLogForAnAgent", "TestActionReportsChecks", "TestEachCallReportsItsOwn",
		"TestStrangeAnswers", "TestOneIdentityOfTwoCallsIsRefused", "TestInterruptedWhileWriting",
		"TestLongBranchStaysOurs", "TestCoordinatorLockedStore", "TestInterrupted",
		// These start the binary or git some dozens of times.
		"TestMainJob", "TestLoopJobKilled", "TestLoopKilled", "TestCertificates", "TestCodeOfEarlierCommits",
		"TestCodeWithoutAConfirmation", "TestCoordinatorBearsHostileAgents",
		"TestWhatInitWritesWorks", "TestActionVerifies", "TestBranchNamesAreSafe", "TestPeopleCommitToOurBranch",
		"TestBoxesAreTickedAfterTheMerge", "TestActionVerdictIsSuperseded", "TestNoBadLineCostsTheOthers", "TestActionLoop",
		"TestNoCommandOverTheWire", "TestActionVerifiesRequest", "TestBrokenMessages", "TestOwnerAllowsASecret",
		"TestScheduledRunsKeepTheirPullRequests", "TestCodeHalfDone", "TestCodeSources", "TestNoVariablePrintsTheToken", "TestPlantedProgramsDoNotRun",
		"TestOddTemporaryDirectories", "TestStrangeRefusals", "TestStrangeAnswersToPushes",
		"TestActionLoopRequests", "TestActionLoopReadsItsConfigurationWithTheLog", "TestCheckWithoutNetwork", "TestWhatCountsAsASecretInChanges",
		"TestFullDiskOfVerdictsAndLoops", "TestInvisibleMarksInPaths", "TestActionLogIsNotObeyed", "TestCoordinatorKnowsItsVisitors",
		"TestCoordinatorBearsHostileRequests", "TestUndeclaredInputs", "TestOutsideOfActionsEachRunIsItsOwn", "TestCoordinatorFullStore",
		"TestInterruptedCheckLeavesNoCopy", "TestVerifyOddRequests", "TestOrchestratorCorrectsItself", "TestEvidenceThatCannotBeKept",
		"TestCoordinatorKilled", "TestStoppedWhileAReviewIsPending", "TestToolsJudgeTheWorkspace", "TestKilledWithCode",
		"TestActionAnnotatesWithoutACheckRun", "TestActionNamesTheFileOfAllFindings", "TestActionRefusesFindingsThatContradictThemselves",
		"TestActionFailsBelowTheMinimum", "TestToolsOverHTTPEndWithTheirToken", "TestActionWithoutOutputs", "TestApplyLeavesNoCoreFile",
		"TestCodeSwitchesNoWorkflowsOff", "TestActionCodeRefused", "TestActionRefusesFindingsOfAnotherRepository", "TestPlanPageThatCannotBeWritten",
		"TestCoordinatorNewerStore", "TestCheckNamesNoCopy", "TestCoordinatorStoreGone", "TestSeveralServersAppendToOneFile",
		"TestPlanPageOfARealRun", "TestPlanPageOfTheAction", "TestCodeOfDeniedItem", "TestCodeRefused", "TestOutputsAreTheActions", "TestActionFailOn",
		"TestActionRefusesForgedVerdicts", "TestOneReviewIsOneReview", "TestToolsOnAFullDisk", "TestToolsRefuseWhatIsNotAFile",
		"TestActionChecksWhatTheEventIsAbout", "TestToolErrorsSayEverything", "TestBrokenMessagesOverHTTP",
		"TestTriedAgainInOneAttempt", "TestAClaimedCommitDecidesNothing", "TestActionSecrets", "TestSecretsOfTheCommandLine", "TestCodeDryRun",
		"TestCheckRefusesBesideCredentials", "TestCheckSuggestsInPlace", "TestCheckRunsApartAsRoot", "TestNobodyReads", "TestFullDisk", "TestKilled",
		"TestCheckWithoutACopy", "TestEveryToolTakesItsExample", "TestCoordinatorLimitsRequests", "TestPlanPageFollowsNoLinkOfTheAgent",
		"TestToolsOverHTTPKeepToTheTokensScopes", "TestCoordinatorAnswersWhateverIsSent", "TestActionStops", "TestToolsWithoutAnEvent",
		"TestActionTwoJobs", "TestCoordinatorAnswersHTTPWhereTLSIs", "TestTwoProcessesOfOneAttempt",
		"TestNoPartOfASecretIsInWhatTheChecksReport", "TestNoPartOfASecretIsInTheChecksFiles",
	)
	os.Exit(func() int {
		// The binary stays on disk: Linux maps it in larger parts from there than from memory, which
		// saves a fifth of the time that its start takes.
		dir := tempDir()
		defer os.RemoveAll(dir)
		binary = filepath.Join(dir, "airlock")
		if runtime.GOOS == "windows" {
			binary += ".exe"
		}
		shorttest.TempInMemory()
		sharedDir = tempDir()
		defer os.RemoveAll(sharedDir)
		if out, err := exec.Command("go", "build", "-ldflags=-s -w", "-o", binary, ".").CombinedOutput(); err != nil {
			panic(string(out))
		}
		var err error
		if root, err = filepath.Abs(filepath.Join("..", "..")); err != nil {
			panic(err)
		}
		return m.Run()
	}())
}

// tempDir makes a directory that all users may enter: some tests run programs as another user.
func tempDir() string {
	dir, err := os.MkdirTemp("", "airlock-test-")
	if err == nil {
		err = os.Chmod(dir, 0o755)
	}
	if err != nil {
		panic(err)
	}
	return dir
}

// searchPath is the variable PATH with which a shell finds the binary as "airlock".
func searchPath() string {
	return "PATH=" + filepath.Dir(binary) + string(os.PathListSeparator) + os.Getenv("PATH")
}

// result is how a run of the binary ended.
type result struct {
	code           int
	stdout, stderr string
}

// run executes the binary in dir. Of the test's own environment it gets no more than PATH and
// SYSTEMROOT. Output that contains the token fails the test.
func run(t testing.TB, dir string, env []string, stdin string, args ...string) result {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	cmd := exec.CommandContext(ctx, binary, args...)
	cmd.Dir = dir
	cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "SYSTEMROOT=" + os.Getenv("SYSTEMROOT"), "TMPDIR=" + t.TempDir()}, env...)
	cmd.Stdin = strings.NewReader(stdin)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	if _, isExit := err.(*exec.ExitError); err != nil && !isExit {
		t.Fatalf("airlock %v: %v", args, err)
	}
	res := result{cmd.ProcessState.ExitCode(), out.String(), errs.String()}
	for _, s := range []string{res.stdout, res.stderr} {
		for _, form := range secretForms(secret) {
			if strings.Contains(withoutMasks(s), form) {
				t.Errorf("airlock %v prints the token as %s:\n%s", args, form, s)
			}
		}
	}
	return res
}

// sideBySide runs all cases at once; they mostly wait, for GitHub's lists or between two writes.
// Together they count as one of the tests that run in parallel. With t.Parallel they would begin
// only after all other tests have begun.
func sideBySide[T any](t *testing.T, cases map[string]T, play func(t *testing.T, name string, c T)) {
	t.Helper()
	var playing sync.WaitGroup
	for name, c := range cases {
		playing.Go(func() { t.Run(name, func(t *testing.T) { play(t, name, c) }) })
	}
	playing.Wait()
}

// openToOthers lets every user enter a test's directory, as on a runner: where a test runs as
// root, the commands of the repository run as another user.
func openToOthers(dir string) {
	for ; dir != filepath.Clean(os.TempDir()) && dir != "/"; dir = filepath.Dir(dir) {
		_ = os.Chmod(dir, 0o755)
	}
}

// withoutMasks returns the log without the commands that register a mask: the runner
// does not show these.
func withoutMasks(log string) string {
	var b strings.Builder
	for line := range strings.Lines(log) {
		if !strings.HasPrefix(line, "::add-mask::") {
			b.WriteString(line)
		}
	}
	return b.String()
}

// secret is the token of every test. No output may contain it.
const secret = "ghs_TestOnly0123456789abcdefghijklmnop"

// pullRequestFixture returns the repository of testdata/events/pull_request.opened.json.
func pullRequestFixture() githubtest.Fixture {
	bot := githubtest.Account{Login: "github-actions[bot]", ID: 41898282}
	return githubtest.Fixture{
		Repo:   githubtest.Repo{ID: 186853002, Owner: "Codertocat", Name: "Hello-World", DefaultBranch: "master"},
		Viewer: bot,
		Tokens: []githubtest.Token{{Secret: secret, Account: bot}},
		Labels: []githubtest.Label{{Name: "automation"}},
		Issues: []*githubtest.Issue{
			{Number: 1, Title: "An issue", Body: "Text", State: "open"},
			{Number: 2, Title: "Update the README", Body: "Text", State: "open", Pull: &githubtest.Pull{
				Head:  githubtest.Branch{Ref: "changes", SHA: "ec26c3e57ca3a959ca5aad62de7213c562f8c821"},
				Base:  githubtest.Branch{Ref: "master", SHA: "f95f852bd8fca8fcc58a9a2d6c842781e32a215e"},
				Files: []githubtest.File{{Path: "README.md", Patch: "@@ -1 +1,2 @@\n-# Hello\n+# Hello, World\n+More."}},
			}},
		},
		Categories: []githubtest.Category{{Name: "General", Slug: "general"}},
		Files:      []githubtest.StoredFile{{Path: "README.md", Content: "# Hello, World\nMore.\n"}},
	}
}

// server starts a GitHub for the binary.
func server(t testing.TB, f githubtest.Fixture, o githubtest.Options) *githubtest.Server {
	t.Helper()
	s := githubtest.New(t, f, o)
	s.Start(t)
	return s
}

// workflowEnv returns the environment of a step, as the runner sets it.
func workflowEnv(s *githubtest.Server, event, payload string) []string {
	env := []string{
		"GITHUB_ACTIONS=true", "GITHUB_EVENT_NAME=" + event, "GITHUB_EVENT_PATH=" + filepath.Join(root, "testdata", "events", payload),
		"GITHUB_REPOSITORY=Codertocat/Hello-World", "GITHUB_REPOSITORY_ID=186853002", "GITHUB_SHA=ec26c3e57ca3a959ca5aad62de7213c562f8c821",
		"GITHUB_REF=refs/pull/2/merge", "GITHUB_RUN_ID=17459853211", "GITHUB_RUN_ATTEMPT=1", "GITHUB_WORKFLOW=Agents", "GITHUB_JOB=gate", "GITHUB_ACTION=airlock",
		"ACTIONS_ORCHESTRATION_ID=8f7c7a3e-0b1d-4c37-9c5e-2f1f6a1c2b3d.gate.__default",
		"GITHUB_WORKFLOW_REF=Codertocat/Hello-World/.github/workflows/agents.yml@refs/heads/master", "GITHUB_SERVER_URL=https://github.com",
		"GITHUB_TOKEN=" + secret,
	}
	if s != nil {
		env = append(env, "GITHUB_API_URL="+s.APIURL(), "GITHUB_GRAPHQL_URL="+s.APIURL()+"/graphql")
	}
	return env
}

// write writes files below a directory.
func write(t testing.TB, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		writeFile(t, filepath.Join(dir, name), text)
	}
}

// writeFile writes a file, whose directory is made if it is not there, and returns its path.
func writeFile(t testing.TB, path, text string) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// readFile returns the content of a file.
func readFile(t testing.TB, path string) string {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// parse returns the value that a text in JSON has.
func parse[T any](t testing.TB, text string) (v T) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return v
}

// sampleEvent returns the payload of an event in testdata.
func sampleEvent(t testing.TB, name string) map[string]any {
	t.Helper()
	return parse[map[string]any](t, readFile(t, filepath.Join(root, "testdata", "events", name)))
}

// jsonText returns a value as JSON.
func jsonText(t testing.TB, v any) string {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}
