package schema

import (
	"os"
	"testing"

	"github.com/agent-airlock/airlock/internal/shorttest"
)

func TestMain(m *testing.M) {
	shorttest.LeaveOut( // these compare thousands of values, or validate very large ones
		"TestValidatingIsBounded", "TestFastPathOnGeneratedValues", "TestFastPathOnEachKeyword",
		"TestAMillionWrongElementsAreCheap", "TestUniqueItemsIsLinear", "TestEachKeywordIsPaidFor", "TestWhatCannotFailIsValid",
	)
	os.Exit(m.Run())
}
