package cli

import (
	"github.com/spf13/cobra"

	"github.com/agent-airlock/airlock/internal/builtin"
)

// newBuiltIn returns the command by which a worker carries out an agent that is built in.
func newBuiltIn(env Environment) *cobra.Command {
	var run builtin.Run
	cmd := &cobra.Command{
		Use: "builtin NAME", Short: "Carry out an agent that is built in", Hidden: true, Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			run.Agent = args[0]
			return run.Do(cmd.Context(), builtin.Deps{Stdin: env.Stdin, Stdout: env.Stdout, Stderr: env.Stderr, Getenv: env.Getenv, Environ: env.Environ,
				Gate:    env.gate,
				Version: env.Version})
		},
	}
	cmd.Flags().StringVar(&run.Policy, "config", "", configUsage)
	cmd.Flags().StringVar(&run.Owner.Root, "root", "", "")
	cmd.Flags().StringArrayVar(&run.Owner.Fixers, "fixer", nil, "")
	cmd.Flags().StringSliceVar(&run.PassEnv, "pass-env", nil, "")
	return cmd
}
