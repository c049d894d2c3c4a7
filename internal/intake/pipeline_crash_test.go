package intake

import (
	"errors"
	"strings"
	"testing"

	"github.com/agent-airlock/airlock/internal/crash"
	"github.com/agent-airlock/airlock/internal/safeoutput"
)

// TestACrashCostsItsOwnRecord asserts that a panic while a record is judged becomes the rejection
// of that record, and that safeOutcome returns a panic as an error. A pipeline without a door
// panics.
func TestACrashCostsItsOwnRecord(t *testing.T) {
	p := &pipeline{}
	_, err := p.judgeLine(newParser(), &batch{}, safeoutput.Line{No: 3, Raw: []byte(`{"type":"noop"}`)})
	if !crash.Is(err) {
		t.Fatalf("judgeLine: %v", err)
	}
	v := crashed(3, err)
	out, err := p.safeOutcome(&v)
	if err != nil || out.Rejected == nil || !out.Rejected.Crashed() || out.Rejected.Line != 3 {
		t.Errorf("%+v, %v", out, err)
	}
	if message := out.Rejected.Violations[0].Message; !strings.Contains(message, "Airlock itself failed") {
		t.Errorf("message %q", message)
	}
	if _, err = p.safeOutcome(nil); err == nil || !crash.Is(err) {
		t.Errorf("safeOutcome: %v", errors.Unwrap(err))
	}
}
