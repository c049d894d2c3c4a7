package cli

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/agent-airlock/airlock/internal/doctor"
	"github.com/agent-airlock/airlock/internal/doors"
	"github.com/agent-airlock/airlock/internal/exitcode"
	"github.com/agent-airlock/airlock/internal/githubapi"
	"github.com/agent-airlock/airlock/internal/terminal"
)

type doctorFlags struct {
	route     doors.Route
	dir, repo string
	json      bool
}

func newDoctor(env Environment) *cobra.Command {
	f := doctorFlags{route: doors.Route{Pace: time.Second}}
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Explain a repository's set-up, and what in it would fail",
		Long: `Look at the workflows of a repository that use Airlock, and at their policy: are the
permissions exactly what the policy needs, are agent, checks and gate apart, can a
stranger reach a secret, is everything pinned, do files come from one job to the
next? Each finding says what, where, why it matters, and how to mend it.

It reads files and nothing else. With --repo OWNER/NAME and a token in GITHUB_TOKEN or
GH_TOKEN it also reads the repository's settings on GitHub; what the token may not
see is listed as such.

The exit code is 0 if there is no problem (advice does not count), 1 if there is
one, 2 for wrong usage, 3 if GitHub cannot be asked.`,
		Example: `  airlock doctor
  airlock doctor --repo octo/app
  airlock doctor --json | jq -r '.findings[] | "\(.file):\(.line) \(.what)"'`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return runDoctor(cmd.Context(), env, f) },
	}
	flags := cmd.Flags()
	flags.StringVar(&f.dir, "dir", ".", "a directory of the repository")
	flags.StringVar(&f.repo, "repo", "", "the repository as owner/name, whose settings on GitHub are read too")
	flags.BoolVar(&f.json, "json", false, "print the report as JSON ('airlock schema doctor' describes it)")
	addRouteFlags(flags, &f.route)
	return cmd
}

func runDoctor(ctx context.Context, env Environment, f doctorFlags) error {
	examination, err := doctor.ExamineTree(f.dir)
	if err != nil {
		return exitcode.UsageError(err)
	}
	defer examination.Close()
	if f.repo != "" {
		err := examination.AskAbout(ctx, f.repo, func() (*githubapi.Client, error) {
			conn, err := f.route.Connection(env.Getenv, env.Version, env.progress())
			if err != nil {
				return nil, err
			}
			return conn.Client()
		})
		if err != nil {
			return err
		}
	}
	report := examination.Report()
	if f.json {
		err = env.printJSON(report)
	} else {
		err = report.Text(env.Stdout, terminal.Width(env.Stdout), terminal.ShowsColour(env.Stdout, env.Getenv))
	}
	if err == nil && report.Problems() > 0 {
		return exitcode.ErrFindings
	}
	return err
}
