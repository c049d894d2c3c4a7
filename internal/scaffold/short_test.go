package scaffold_test

import (
	"os"
	"testing"

	"github.com/agent-airlock/airlock/internal/shorttest"
)

func TestMain(m *testing.M) {
	shorttest.LeaveOut( // it lints the workflows of every choice, for every agent
		"TestEveryChoiceIsSound",
	)
	shorttest.TempInMemory()
	os.Exit(m.Run())
}
