package sarif

import (
	"os"
	"testing"

	"github.com/agent-airlock/airlock/internal/shorttest"
)

func TestMain(m *testing.M) {
	shorttest.LeaveOut( // these handle texts or logs as large as the limits allow
		"TestPrepareCutsTheLeastSevere", "TestPrepareCutsToTheSizeLimit", "TestPrepareCutsRunsExtensionsAndRules",
		"TestLineHashesOfLongTexts",
	)
	os.Exit(m.Run())
}
