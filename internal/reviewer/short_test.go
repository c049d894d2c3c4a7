package reviewer

import (
	"os"
	"testing"

	"github.com/agent-airlock/airlock/internal/shorttest"
)

func TestMain(m *testing.M) {
	shorttest.LeaveOut( // these handle megabytes
		"TestHostileTextsEnd",
	)
	os.Exit(m.Run())
}
