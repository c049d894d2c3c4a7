package airlock_test

import (
	"os"
	"testing"

	"github.com/agent-airlock/airlock/internal/shorttest"
)

func TestMain(m *testing.M) {
	shorttest.LeaveOut( // these build and run the program
		"TestReadme", "TestGeneratedDocuments",
	)
	os.Exit(m.Run())
}
