package loopref_test

import (
	"os"
	"testing"

	"github.com/agent-airlock/airlock/internal/shorttest"
)

func TestMain(m *testing.M) {
	shorttest.LeaveOut( // these play a log for each forgery
		"TestForgeriesAreFound", "TestALogOfOtherRulesStaysAsItWasDecided",
	)
	shorttest.TempInMemory()
	os.Exit(m.Run())
}
