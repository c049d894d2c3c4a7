package fixloop

import (
	"os"
	"testing"

	"github.com/agent-airlock/airlock/internal/shorttest"
)

func TestMain(m *testing.M) {
	shorttest.LeaveOut( // these play thousands of events, or draw long loops
		"TestWhatIsOfferedIsTaken", "TestADiagramStaysSmall",
	)
	os.Exit(m.Run())
}
