package cli

import (
	"fmt"
	"runtime"

	"github.com/spf13/cobra"
)

func newVersion(env Environment) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version of airlock",
		Long: `Print the version of airlock, the version of Go that it was built with, and the
system that it was built for. 'airlock --version' prints the version of airlock alone.`,
		Example: "  airlock version",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := fmt.Fprintf(cmd.OutOrStdout(), "airlock %s %s %s/%s\n", env.Version, runtime.Version(), runtime.GOOS, runtime.GOARCH)
			return err
		},
	}
}
