package verify

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/agent-airlock/airlock/internal/acceptance"
	"github.com/agent-airlock/airlock/internal/exitcode"
)

// Refuse answers a message that is not valid: each violation to people, and all of them with the
// schema as JSON to out, by which a program can correct it. Any other error keeps its exit code, or
// gets that of a failure.
func Refuse(err error, out, people io.Writer) error {
	if _, known := errors.AsType[*exitcode.Error](err); known {
		return err
	}
	invalid, ok := errors.AsType[*acceptance.InvalidError](err)
	if !ok {
		return exitcode.FailedError(err)
	}
	raw, e := invalid.Answer()
	if e != nil {
		return exitcode.FailedError(e)
	}
	if _, e = out.Write(raw); e != nil {
		return exitcode.FailedError(e)
	}
	for line := range strings.SplitSeq(invalid.Error(), "\n") {
		fmt.Fprintf(people, "airlock: %s\n", line)
	}
	fmt.Fprintf(people, "airlock: 'airlock schema %s' shows what is expected\n", strings.TrimSuffix(invalid.Schema, ".schema.json"))
	return &exitcode.Error{Code: exitcode.Usage}
}
