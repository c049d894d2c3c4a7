package scaffold_test

import (
	"os"
	"testing"

	"github.com/agent-airlock/airlock/internal/shorttest"
)

func TestMain(m *testing.M) {
	shorttest.LeaveOut( // these play each combination of answers
		"TestEveryChoiceIsSound",
	)
	shorttest.TempInMemory()
	os.Exit(m.Run())
}
