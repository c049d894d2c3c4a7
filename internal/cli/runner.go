package cli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/spf13/cobra"

	"github.com/agent-airlock/airlock/internal/exitcode"
	"github.com/agent-airlock/airlock/internal/store"
)

func newRunner(env Environment) *cobra.Command {
	var f workerFlags
	cmd := &cobra.Command{
		Use:   "runner",
		Short: "Carry out runs of a coordinator that is elsewhere",
		Long: `Carry out runs that coordinators record in a PostgreSQL database, next to other workers.

If a worker gives no sign of life for 15 seconds, the others start again what it was
running. One that cannot reach the database in time ends its own runs first, and takes
others when it can.

A run whose agent needs tags, such as gpu, is taken by workers alone that have them all.

SIGTERM drains: no new run begins, and those that run have --drain to end.`,
		Example: `  airlock runner --store postgres://airlock@db/airlock --concurrency 8 --pass-env ANTHROPIC_API_KEY
  airlock runner --store postgres://airlock@db/airlock --tag gpu,linux`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return runRunner(cmd.Context(), env, f) },
	}
	f.add(cmd)
	return cmd
}

func runRunner(ctx context.Context, env Environment, f workerFlags) error {
	if !store.IsURL(f.Location) {
		return exitcode.UsageError(errors.New("--store: a runner needs the URL of a PostgreSQL database; with a file, 'airlock serve' carries out the runs itself"))
	}
	if f.Concurrency == 0 {
		return exitcode.UsageError(errors.New("--concurrency: a runner carries out at least one run at once"))
	}
	if err := f.Check(); err != nil {
		return exitcode.UsageError(err)
	}
	log := slog.New(slog.NewTextHandler(env.Stderr, nil))
	n, err := f.open(ctx, env, log)
	if err != nil {
		return err
	}
	defer n.Close()
	fmt.Fprintf(env.Stderr, "airlock: carrying out up to %d runs at once of %s\n", f.Concurrency, n.StoreName())
	<-ctx.Done()
	log.Info("shutting down", "drain", f.Drain)
	n.Drain(ctx)
	return nil
}
