package loopturn_test

import (
	"os"
	"testing"

	"github.com/agent-airlock/airlock/internal/shorttest"
)

func TestMain(m *testing.M) {
	shorttest.LeaveOut( // each plays a loop of several turns
		"TestAnEscalationIsDecidedByAComment", "TestAKilledJobTellsNothingTwice", "TestTheScheduleLooksAtDeadlines",
		"TestAnExtensionAsksAgain",
	)
	shorttest.TempInMemory()
	os.Exit(m.Run())
}
