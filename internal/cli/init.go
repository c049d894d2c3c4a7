package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/agent-airlock/airlock/internal/exitcode"
	"github.com/agent-airlock/airlock/internal/scaffold"
	"github.com/agent-airlock/airlock/internal/terminal"
)

type initFlags struct {
	scaffold.Interview
	scaffold.Config
	dir  string
	json bool
}

func newInit(env Environment) *cobra.Command {
	var f initFlags
	cmd := &cobra.Command{
		Use:   "init",
		Short: "Set up a repository: workflows, policy and the agent's instructions",
		Long: `Set up the git repository in the current directory, by three questions or by flags:
what agents may do, which agent works, and whether pull requests are checked.

It writes the workflows, with the actions pinned by commit (by tag, if this build
does not know their commit) and exactly the permissions that the policy needs; the
policy; and what the agent is told. Then it says what is left to do. Nothing is sent
anywhere.

It can be run again. A file that somebody edited is left as it is, and shown with
the difference (exit code 1), unless --force is given; in a file of instructions
only the section between the markers of airlock changes.

What agents may do (--allow), one or several:

` + choiceLines() + `
or any kind of safe output, such as create-issue; and "nothing".`,
		Example: `  airlock init
  airlock init --allow triage,code --agent claude-code --check-pull-requests
  airlock init --allow create-issue --agent other --dry-run
  airlock init --yes`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error { return runInit(env, f) },
	}
	flags := cmd.Flags()
	optional(flags, flags.StringSliceVar, &f.Allow, "allow", nil, "what agents may do: names of the list above, or nothing (default: triage)")
	optional(flags, flags.StringVar, &f.Agent, "agent", "", "which agent works: "+strings.Join(scaffold.AgentNames(), ", ")+" (default: other)")
	optional(flags, flags.BoolVar, &f.CheckPulls, "check-pull-requests", true, "whether pull requests are checked")
	flags.BoolVar(&f.Quick, "yes", false, "ask nothing: take the defaults, or the answers of an earlier run, for what no flag says")
	flags.BoolVar(&f.Force, "force", false, "overwrite files that somebody edited")
	flags.BoolVar(&f.DryRun, "dry-run", false, "write nothing; say what would be written")
	flags.BoolVar(&f.json, "json", false, "print the result as JSON")
	flags.StringVar(&f.dir, "dir", ".", "a directory of the repository")
	return cmd
}

func choiceLines() string {
	var b strings.Builder
	for _, p := range scaffold.Presets() {
		fmt.Fprintf(&b, "  %-8s %s\n", p.Name, p.Summary)
	}
	return b.String()
}

func runInit(env Environment, f initFlags) error {
	f.Out, f.Release = env.Stderr, scaffold.Release{Version: env.Version, Commit: env.Commit}
	if terminal.Is(env.Stdin) {
		f.In = env.stoppable(env.Stdin)
	}
	report, err := scaffold.SetUp(f.dir, f.Interview, f.Config)
	if err != nil {
		return exitcode.UsageError(err)
	}
	if f.json {
		err = env.printJSON(report)
	} else {
		err = report.Text(env.Stdout, f.DryRun, terminal.Width(env.Stdout))
	}
	if err == nil && report.Edited() {
		return exitcode.ErrFindings
	}
	return err
}
