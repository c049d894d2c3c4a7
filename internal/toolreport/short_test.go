package toolreport_test

import (
	"os"
	"testing"

	"github.com/agent-airlock/airlock/internal/shorttest"
)

func TestMain(m *testing.M) {
	shorttest.LeaveOut( // these read megabytes, thousands of outputs, or outputs in small pieces
		"TestASecretThatIsCutCanBeMasked",
		"TestFloods", "TestFlood", "TestManyLinesLikeAScripts", "TestMoreTasksThanAreRead",
		"TestReportsThatAreTooLong", "TestStreaming", "TestHostileReports",
	)
	os.Exit(m.Run())
}
