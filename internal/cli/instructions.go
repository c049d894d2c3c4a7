package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/agent-airlock/airlock/internal/exitcode"
	"github.com/agent-airlock/airlock/internal/guide"
)

func newInstructions(env Environment) *cobra.Command {
	var file, lines string
	cmd := &cobra.Command{
		Use:   "instructions",
		Short: "Print the prompt text that tells an agent what it may ask for",
		Long: `Print the text to put into an agent's prompt: how to ask, and exactly the kinds,
fields and limits that the configuration allows, with an example each. Every
example is one that the gate accepts.`,
		Example: `  airlock instructions --config policy.yml >> prompt.md
  airlock instructions --config policy.yml --lines out/lines.ndjson`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := env.loadConfig(file)
			if err != nil {
				return err
			}
			text, err := guide.Prompt(cfg, lines)
			if err != nil {
				return exitcode.FailedError(err)
			}
			_, err = fmt.Fprint(env.Stdout, text)
			return err
		},
	}
	cmd.Flags().StringVar(&file, "config", "", configUsage+"; without any, every kind with its default limits")
	cmd.Flags().StringVar(&lines, "lines", "", "the file that the agent appends to (default: the one that GH_AW_SAFE_OUTPUTS names)")
	return cmd
}
