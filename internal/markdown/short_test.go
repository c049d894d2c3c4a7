package markdown

import (
	"os"
	"testing"

	"github.com/agent-airlock/airlock/internal/shorttest"
)

func TestMain(m *testing.M) {
	shorttest.LeaveOut( // these handle megabytes, or each cut of a text
		"TestCloseOpenIsLinear", "TestUTF16PrefixDividesNothing",
	)
	os.Exit(m.Run())
}
