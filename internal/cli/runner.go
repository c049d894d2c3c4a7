package cli

import (
	"fmt"
	"log/slog"

	"github.com/spf13/cobra"

	"github.com/agent-airlock/airlock/internal/exitcode"
	"github.com/agent-airlock/airlock/internal/node"
	"github.com/agent-airlock/airlock/internal/text"
)

func newRunner(env Environment) *cobra.Command {
	var cfg node.Config
	cmd := &cobra.Command{
		Use:   "runner",
		Short: "Carry out runs of a coordinator that is elsewhere",
		Long: `Carry out runs that coordinators record in a PostgreSQL database, next to other workers.

If a worker gives no sign of life for 15 seconds, the others start again what it was
running. One that cannot reach the database in time ends its own runs first, and takes
others when it can.

A run whose agent needs tags, such as gpu, is taken only by workers that have them all.

SIGTERM drains: no new run begins, and those that run have --drain to end.`,
		Example: `  airlock runner --store postgres://airlock@db/airlock --concurrency 8 --pass-env ANTHROPIC_API_KEY
  airlock runner --store postgres://airlock@db/airlock --tag gpu,linux`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := cfg.CheckRunner(); err != nil {
				return exitcode.UsageError(err)
			}
			n, err := openNode(cmd.Context(), env, cfg, slog.New(slog.NewTextHandler(env.Stderr, nil)))
			if err != nil {
				return err
			}
			defer n.Close()
			fmt.Fprintf(env.Stderr, "airlock: carrying out up to %s at once; the store is %s\n", text.Count(cfg.Concurrency, "run"), n.StoreName())
			n.Work(cmd.Context())
			return nil
		},
	}
	addNodeFlags(cmd.Flags(), &cfg)
	return cmd
}
