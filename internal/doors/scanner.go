package doors

import (
	"fmt"
	"strings"

	"github.com/agent-airlock/airlock/internal/secrets"
	"github.com/agent-airlock/airlock/internal/token"
)

// NewScanner returns a scanner that finds the token, the further values, and what looks
// like a secret.
func NewScanner(tok token.Token, further []string) *secrets.Scanner {
	known := make([]secrets.Known, len(further))
	for i, v := range further {
		known[i] = secrets.Known{Name: fmt.Sprintf("value %d of the input secrets", i+1), Value: token.New(v, "")}
	}
	if !tok.IsZero() {
		known = append(known, secrets.Known{Name: "the token", Value: tok})
	}
	return secrets.New(known)
}

// EnvironmentScanner returns the scanner of a command line: for the token in the
// environment, and the values in AIRLOCK_SECRETS, one a line.
func EnvironmentScanner(getenv func(string) string) *secrets.Scanner {
	var further []string
	for line := range strings.SplitSeq(getenv("AIRLOCK_SECRETS"), "\n") {
		if v := strings.TrimSpace(line); v != "" {
			further = append(further, v)
		}
	}
	return NewScanner(EnvironmentConnection(getenv, "").Token, further)
}
