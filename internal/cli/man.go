package cli

import (
	"github.com/spf13/cobra"

	"github.com/agent-airlock/airlock/internal/usage"
)

func newMan(env Environment) *cobra.Command {
	return &cobra.Command{
		Use:   "man DIR",
		Short: "Write the manual pages of all commands into a directory",
		Long: `Write a manual page for each command into a directory, which is made if it is not
there. Each release contains the same pages in an archive.`,
		Example: `  airlock man ~/.local/share/man/man1 && man airlock-apply`,
		Args:    cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			return usage.WriteManual(newRoot(env), args[0], env.Version)
		},
	}
}
