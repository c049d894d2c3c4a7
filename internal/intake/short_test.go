package intake

import (
	"os"
	"testing"

	"github.com/agent-airlock/airlock/internal/shorttest"
)

func TestMain(m *testing.M) {
	shorttest.LeaveOut( // these read thousands of lines or very long ones, or give each kind many fields
		"TestWorkersCleanAheadOfTheCount", "TestFieldsThatChangeWhatIsDone", "TestTargetByAnyName",
		"TestNumberUnderAnyName", "TestLargeLines",
	)
	os.Exit(m.Run())
}
