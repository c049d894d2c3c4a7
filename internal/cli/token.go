package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/agent-airlock/airlock/internal/access"
	"github.com/agent-airlock/airlock/internal/exitcode"
	"github.com/agent-airlock/airlock/internal/store"
)

func newToken(env Environment) *cobra.Command {
	var location string
	var scopes []string
	cmd := &cobra.Command{
		Use:   "token",
		Short: "Add, list and revoke tokens of the coordinator's API",
		Long: `Tokens by which others may use 'airlock serve'. Only a hash of each is stored.

Without any token the server answers its own user on the same machine, and nobody
else. From the first token on, everybody needs one.`,
		Example: `  airlock token add orchestrator --scope run
  airlock token list`,
	}
	cmd.PersistentFlags().StringVar(&location, "store", "", storeUsage)
	// withTokens calls do with the tokens of a store, or returns err, the error of opening it.
	withTokens := func(s *store.Store, err error, do func(*access.Tokens) error) error {
		if err != nil {
			return err
		}
		defer s.Close()
		return exitcode.FailedUnless(access.IsRefusal, do(access.New(s)))
	}
	withExisting := func(ctx context.Context, do func(*access.Tokens) error) error {
		s, err := store.OpenNamedExisting(ctx, location, "airlock token add", env.Getenv, access.Tables)
		return withTokens(s, err, do)
	}
	add := &cobra.Command{
		Use: "add NAME", Short: "Make a token and print it, this once", Args: cobra.ExactArgs(1),
		Example: `  airlock token add orchestrator --scope run
  airlock token add release-manager --scope run,decide`,
		RunE: func(cmd *cobra.Command, args []string) error {
			granted, err := access.ScopesNamed(scopes)
			if err != nil {
				return exitcode.UsageError(fmt.Errorf("--scope: %w", err))
			}
			s, err := store.OpenNamed(cmd.Context(), location, env.Getenv, access.Tables)
			return withTokens(s, err, func(t *access.Tokens) error {
				secret, err := t.Add(cmd.Context(), args[0], granted...)
				if err == nil {
					_, err = fmt.Fprintln(env.Stdout, secret)
				}
				return err
			})
		},
	}
	add.Flags().StringSliceVar(&scopes, "scope", []string{"run"}, "what the token allows: read, run, decide (on escalations), admin (everything, such as adding agents)")
	list := &cobra.Command{
		Use: "list", Short: "List the names and scopes of the tokens", Args: cobra.NoArgs,
		Example: "  airlock token list",
		RunE: func(cmd *cobra.Command, _ []string) error {
			return withExisting(cmd.Context(), func(t *access.Tokens) error {
				list, err := t.List(cmd.Context())
				if err != nil {
					return err
				}
				return printList(env, false, "tokens", list, []any{"NAME", "SCOPES", "CREATED"}, func(l access.Listed) []any {
					return []any{l.Name, strings.Trim(fmt.Sprint(l.Scopes), "[]"), l.Created.Format("2006-01-02 15:04")}
				})
			})
		},
	}
	revoke := &cobra.Command{
		Use: "revoke NAME", Short: "Revoke a token: servers refuse it within a second", Args: cobra.ExactArgs(1),
		Example: "  airlock token revoke orchestrator",
		RunE: func(cmd *cobra.Command, args []string) error {
			return withExisting(cmd.Context(), func(t *access.Tokens) error { return t.Revoke(cmd.Context(), args[0]) })
		},
	}
	cmd.AddCommand(add, list, revoke)
	return cmd
}
