package config

import (
	"os"
	"testing"

	"github.com/agent-airlock/airlock/internal/shorttest"
)

func TestMain(m *testing.M) {
	shorttest.LeaveOut( // these decode thousands of documents
		"TestSchemaAndDecoderAgree", "TestHostileDocuments",
	)
	os.Exit(m.Run())
}
