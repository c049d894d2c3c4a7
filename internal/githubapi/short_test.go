package githubapi_test

import (
	"os"
	"testing"

	"github.com/agent-airlock/airlock/internal/shorttest"
)

func TestMain(m *testing.M) {
	shorttest.LeaveOut( // these ask for thousands of objects, or play each pause
		"TestPaging", "TestPacing", "TestFilesStopAt3000",
	)
	os.Exit(m.Run())
}
