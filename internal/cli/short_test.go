package cli_test

import (
	"os"
	"testing"

	"github.com/agent-airlock/airlock/internal/shorttest"
)

func TestMain(m *testing.M) {
	shorttest.LeaveOut( // these start git some dozens of times, or apply twice
		"TestApplyStoresWhatGitHubDoesNotTake", "TestCheckKnowsTheCodeOfAFinding",
		"TestCheckNotesTheMissingGitDirectory", "TestCheckOfAnotherCommit", "TestCheckOfAMergeCommit",
	)
	shorttest.TempInMemory()
	os.Exit(m.Run())
}
