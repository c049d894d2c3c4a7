package cli

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/agent-airlock/airlock/internal/doors"
	"github.com/agent-airlock/airlock/internal/exitcode"
	"github.com/agent-airlock/airlock/internal/sanitize"
)

// maxSanitizeInput bounds what the sanitize command reads: far more than GitHub
// takes for any text.
const maxSanitizeInput = 64 << 20

func newSanitize(env Environment) *cobra.Command {
	var as string
	var cfg sanitize.Config
	cmd := &cobra.Command{
		Use:   "sanitize",
		Short: "Clean a text: standard input to standard output",
		Long: `Clean a text as Airlock cleans what agents write. The cleaned text goes to
standard output, what was done to standard error. The exit code is 0 whether or
not something had to be cleaned; it is 2 for a label that GitHub would refuse.`,
		Example: `  printf 'Fixed by @octocat' | airlock sanitize
  airlock sanitize --as title < title.txt
  airlock sanitize --allow-domain example.org --allow-mention octocat < body.md`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg.ServerHost = doors.ServerHost(env.Getenv)
			s, err := sanitize.New(cfg)
			if err != nil {
				return exitcode.UsageError(err)
			}
			raw, err := io.ReadAll(io.LimitReader(env.stoppable(env.Stdin), maxSanitizeInput+1))
			if err != nil {
				return exitcode.UsageError(fmt.Errorf("standard input: %w", err))
			}
			if len(raw) > maxSanitizeInput {
				return exitcode.UsageError(fmt.Errorf("standard input has more than %d MiB; no text on GitHub is that long", maxSanitizeInput>>20))
			}
			out, notes, err := s.As(as, string(raw))
			if err != nil {
				return exitcode.UsageError(err)
			}
			if _, err := io.WriteString(env.Stdout, out); err != nil {
				return err
			}
			for _, n := range notes {
				fmt.Fprintf(env.Stderr, "cleaned: %s %s (%d)\n", n.Rule, n.Detail, n.Count)
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&as, "as", "body", "what the text is: body, title, label or plain")
	cmd.Flags().StringArrayVar(&cfg.AllowedDomains, "allow-domain", nil, "a host that links may lead to, with its subdomains; repeatable")
	cmd.Flags().StringArrayVar(&cfg.AllowedMentions, "allow-mention", nil, "a user or team that may be mentioned; repeatable")
	cmd.Flags().BoolVar(&cfg.ClosingWords, "allow-closing-words", false, "let words such as \"fixes #1\" close issues")
	return cmd
}
