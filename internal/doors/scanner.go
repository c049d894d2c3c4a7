package doors

import (
	"fmt"
	"strings"

	"github.com/agent-airlock/airlock/internal/secrets"
	"github.com/agent-airlock/airlock/internal/token"
)

// NewScanner returns a scanner that finds the token, further values, and what looks like a secret.
// source names the place where the further values come from.
func NewScanner(tok token.Token, source string, further []string) *secrets.Scanner {
	known := make([]secrets.Known, len(further))
	for i, v := range further {
		known[i] = secrets.Known{Name: fmt.Sprintf("value %d of %s", i+1, source), Value: token.New(v, "")}
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
	return NewScanner(EnvironmentConnection(getenv, "").Token, "AIRLOCK_SECRETS", further)
}

// IgnoredSecrets returns a sentence about the known values that a scanner does not look for, "" if
// there are none.
func IgnoredSecrets(s *secrets.Scanner) string {
	names := s.Ignored()
	if len(names) == 0 {
		return ""
	}
	return strings.Join(names, ", ") + ": a value of less than 6 bytes is not looked for, because ordinary text may contain it; give a longer one"
}
