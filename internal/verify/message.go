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

// ReadMessage reads what a flag names, at most as much as a message may have. read reads at most
// limit bytes of a file, and one more. The error carries its exit code.
func ReadMessage(read func(name string, limit int64) ([]byte, error), flag, name string) ([]byte, error) {
	raw, err := read(name, acceptance.MaxMessage)
	if err != nil {
		return nil, exitcode.UsageError(fmt.Errorf("%s: %w", flag, err))
	}
	return raw, nil
}

// Refuse answers a message that is not valid: each violation to people, and all of them with the
// schema as JSON to out, by which a program can correct it. mask masks secrets in the violations,
// which quote the message. Any other error keeps its exit code, or gets that of a failure.
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
