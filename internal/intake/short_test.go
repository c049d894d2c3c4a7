package intake

import (
	"os"
	"testing"

	"github.com/agent-airlock/airlock/internal/shorttest"
)

func TestMain(m *testing.M) {
	shorttest.LeaveOut( // these read thousands of lines, or play each field of each kind
		"TestWorkersCleanAheadOfTheCount", "TestFieldsThatChangeWhatIsDone", "TestTargetByAnyName",
		"TestNumberUnderAnyName", "TestLargeLines",
	)
	os.Exit(m.Run())
}
