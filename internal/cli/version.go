package cli

import (
	"cmp"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

func newVersion(env Environment) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version of airlock",
		Long: `Print the version of airlock, with those of Go and the system that it was built for.
'airlock --version' prints it alone.`,
		Example: "  airlock version",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := fmt.Fprintf(cmd.OutOrStdout(), "airlock %s %s %s/%s\n", env.Version, runtime.Version(), runtime.GOOS, runtime.GOARCH)
			return err
		},
	}
}

// identified returns the environment with the version and the commit of this program: those of a
// release, otherwise those that the Go toolchain recorded.
func (env Environment) identified() Environment {
	info, ok := debug.ReadBuildInfo()
	if env.Version == "" && env.Commit == "" && ok {
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				env.Commit = s.Value
			}
		}
	}
	if env.Version == "" && ok && info.Main.Version != "(devel)" {
		env.Version = info.Main.Version
	}
	env.Version = cmp.Or(env.Version, "devel")
	return env
}
