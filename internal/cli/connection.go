package cli

import (
	"fmt"
	"time"

	"github.com/spf13/pflag"

	"github.com/agent-airlock/airlock/internal/doors"
	"github.com/agent-airlock/airlock/internal/exitcode"
	"github.com/agent-airlock/airlock/internal/githubapi"
)

// connectionFlags are those of every command that asks GitHub.
type connectionFlags struct {
	proxy, caFile string
	trustEnv      bool
	pace          time.Duration // between two writes; 0 paces nothing
}

func (f *connectionFlags) add(flags *pflag.FlagSet) {
	flags.StringVar(&f.proxy, "proxy", "", "the proxy for requests to the API")
	flags.StringVar(&f.caFile, "ca-file", "", "PEM certificates to trust besides the system's")
	flags.BoolVar(&f.trustEnv, "trust-env", false, "take proxy and certificates from the environment")
}

// connection returns how GitHub is reached.
func (f connectionFlags) connection(env Environment) (doors.Connection, error) {
	c := doors.EnvironmentConnection(env.Getenv, env.Version)
	c.Proxy, c.Log = f.proxy, progress(env)
	c.Pace = githubapi.PaceConfig{Spacing: f.pace}
	if f.pace <= 0 {
		c.Pace = githubapi.Unpaced()
	}
	if f.caFile != "" {
		pem, err := doors.ReadCertificates(f.caFile)
		if err != nil {
			return c, exitcode.UsageError(fmt.Errorf("--ca-file: %w", err))
		}
		c.CAFile = pem
	}
	if f.trustEnv {
		if err := c.TrustEnvironment(env.Getenv); err != nil {
			return c, exitcode.UsageError(err)
		}
	}
	return c, nil
}
