package pages

import (
	"os"
	"testing"

	"github.com/agent-airlock/airlock/internal/shorttest"
)

func TestMain(m *testing.M) {
	shorttest.LeaveOut( // these show long texts
		"TestOrdinaryTextsFitIntoTheBudget", "TestHostileTextsCostLittle",
	)
	os.Exit(m.Run())
}
