package verify

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/agent-airlock/airlock/internal/acceptance"
	"github.com/agent-airlock/airlock/internal/exitcode"
)

// ReadMessage reads the message that a flag names. read reads at most limit+1 bytes of a file: the
// last one only shows that a message is too large. The error carries its exit code.
func ReadMessage(read func(name string, limit int64) ([]byte, error), flag, name string) ([]byte, error) {
	raw, err := read(name, acceptance.MaxMessage)
	if err != nil {
		return nil, exitcode.UsageError(fmt.Errorf("%s: %w", flag, err))
	}
	return raw, nil
}

// Refuse reports why a message is not valid. It writes the violations as text to people, and as JSON,
// with the schema, to out, so that a program can correct the message. It returns an error with the
// exit code of wrong usage. The violations quote the message, so mask removes secrets from them. If
// err is not an *acceptance.InvalidError, Refuse writes nothing: the error keeps its exit code, or
// gets that of a failure.
func Refuse(err error, mask func(string) string, out, people io.Writer) error {
	if _, known := errors.AsType[*exitcode.Error](err); known {
		return err
	}
	invalid, ok := errors.AsType[*acceptance.InvalidError](err)
	if !ok {
		return exitcode.FailedError(err)
	}
	masked := *invalid
	masked.Violations = slices.Clone(invalid.Violations)
	for i, v := range masked.Violations {
		masked.Violations[i].Path, masked.Violations[i].Message = mask(v.Path), mask(v.Message)
	}
	raw, e := masked.Answer()
	if e != nil {
		return exitcode.FailedError(e)
	}
	if _, e = out.Write(raw); e != nil {
		return exitcode.FailedError(e)
	}
	for line := range strings.SplitSeq(masked.Error(), "\n") {
		fmt.Fprintf(people, "airlock: %s\n", line)
	}
	fmt.Fprintf(people, "airlock: 'airlock schema %s' shows what is expected\n", strings.TrimSuffix(invalid.Schema, ".schema.json"))
	return &exitcode.Error{Code: exitcode.Usage}
}
