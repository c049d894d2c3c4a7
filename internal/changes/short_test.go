package changes_test

import (
	"os"
	"testing"

	"github.com/agent-airlock/airlock/internal/shorttest"
)

func TestMain(m *testing.M) {
	shorttest.LeaveOut( // these start git some dozens of times
		"TestSetFromGitOfAShallowClone", "TestAttributesAsGitReadsThem",
	)
	shorttest.TempInMemory()
	os.Exit(m.Run())
}
