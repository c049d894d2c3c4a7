package cli

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/agent-airlock/airlock/internal/secrets"
	"github.com/agent-airlock/airlock/internal/token"
)

// scanner looks for the token, for the further values, and for what looks like a
// secret.
func scanner(tok token.Token, further []string) *secrets.Scanner {
	known := make([]secrets.Known, len(further))
	for i, v := range further {
		known[i] = secrets.Known{Name: fmt.Sprintf("value %d of the input secrets", i+1), Value: token.New(v, "")}
	}
	if !tok.IsZero() {
		known = append(known, secrets.Known{Name: "the token", Value: tok})
	}
	return secrets.New(known)
}

// scannerFromEnv is the scanner of a command line: the token in the environment,
// and the values in AIRLOCK_SECRETS, one a line.
func scannerFromEnv(w World) *secrets.Scanner {
	var further []string
	for line := range strings.SplitSeq(w.Getenv("AIRLOCK_SECRETS"), "\n") {
		if v := strings.TrimSpace(line); v != "" {
			further = append(further, v)
		}
	}
	return scanner(connectFromEnv(w).tok, further)
}

// belowDir returns those of the paths that lie below dir, relative to it and with
// slashes. Relative paths are relative to from. Empty ones, and those elsewhere,
// are left out.
func belowDir(dir, from string, paths ...string) []string {
	root, err := filepath.Abs(dir)
	if err != nil {
		return nil
	}
	var below []string
	for _, p := range paths {
		if p == "" || p == "-" || strings.HasPrefix(p, "{") {
			continue
		}
		if !filepath.IsAbs(p) {
			p = filepath.Join(from, p)
		}
		abs, err := filepath.Abs(p)
		if err != nil {
			continue
		}
		if rel, err := filepath.Rel(root, abs); err == nil && filepath.IsLocal(rel) && rel != "." {
			below = append(below, filepath.ToSlash(rel))
		}
	}
	return below
}
