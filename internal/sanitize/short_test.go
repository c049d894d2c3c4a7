package sanitize

import (
	"os"
	"testing"

	"github.com/agent-airlock/airlock/internal/shorttest"
)

func TestMain(m *testing.M) {
	shorttest.LeaveOut( // these clean thousands of texts, or long ones
		"TestOpeners", "TestNested",
	)
	os.Exit(m.Run())
}
