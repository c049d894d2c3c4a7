package cli

import (
	"github.com/spf13/cobra"

	"github.com/agent-airlock/airlock/internal/step"
)

func newAction(env Environment) *cobra.Command {
	image := step.NoImage
	cmd := &cobra.Command{
		Use:   "action",
		Short: "The entry point of the GitHub Action",
		Long: `Run as a step of a workflow: inputs come from INPUT_* variables as action.yml
documents them, and one that it does not document is an error; the environment comes
from the runner. The token is taken out of the process's environment first of all. The
step's files lie in .airlock below the workspace; the exit code follows from the input
fail-on.`,
		Example: `  - uses: agent-airlock/airlock/actions/gate@v1
    with:
      output-file: lines.ndjson
      config: |
        create-issue:`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return step.Run(cmd.Context(), step.Deps{Stdout: env.Stdout, Getenv: env.Getenv, Environ: env.Environ, Secrets: env.Secrets, Version: env.Version, Image: image})
		},
	}
	cmd.Flags().Var(&image, "image", "the image that this runs in: checks or gate. The images set it; the runner must then have set every input of action.yml")
	return cmd
}
