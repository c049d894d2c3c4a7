package toolreport_test

import (
	"os"
	"testing"

	"github.com/agent-airlock/airlock/internal/shorttest"
)

func TestMain(m *testing.M) {
	shorttest.LeaveOut( // these read tens of megabytes, or thousands of outputs
		"TestASecretThatIsCutCanBeMasked",
		"TestFloods", "TestFlood", "TestManyLinesLikeAScripts", "TestMoreTasksThanAreRead",
		"TestReportsThatAreTooLong", "TestStreaming", "TestHostileReports",
	)
	os.Exit(m.Run())
}
