package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/agent-airlock/airlock/internal/action"
	"github.com/agent-airlock/airlock/internal/exitcode"
	"github.com/agent-airlock/airlock/internal/gitrepo"
	"github.com/agent-airlock/airlock/internal/phase"
	"github.com/agent-airlock/airlock/internal/scaffold"
	"github.com/agent-airlock/airlock/internal/terminal"
)

type initFlags struct {
	dir, agent               string
	allow                    []string
	checks, yes, force, json bool
	dryRun                   bool
	given                    func(flag string) bool
}

func newInit(env Environment) *cobra.Command {
	var f initFlags
	cmd := &cobra.Command{
		Use:   "init",
		Short: "Set up a repository: workflows, policy and the agent's instructions",
		Long: `Set up the git repository in the current directory, by three questions or by flags:
what agents may do, which agent works, and whether pull requests are checked.

It writes the workflows, with the actions pinned by commit and exactly the
permissions that the policy needs; the policy; and what the agent is told. Then it
says what is left to do. Nothing is sent anywhere.

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
		RunE: func(cmd *cobra.Command, _ []string) error {
			f.given = cmd.Flags().Changed
			return runInit(env, f)
		},
	}
	flags := cmd.Flags()
	flags.StringSliceVar(&f.allow, "allow", nil, "what agents may do: names of the list above, or nothing (default: triage)")
	flags.StringVar(&f.agent, "agent", "", "which agent works: "+strings.Join(scaffold.AgentNames(), ", ")+" (default: other)")
	flags.BoolVar(&f.checks, "check-pull-requests", true, "whether pull requests are checked")
	flags.BoolVar(&f.yes, "yes", false, "ask nothing: take the defaults, or the answers of an earlier run, for what no flag says")
	flags.BoolVar(&f.force, "force", false, "overwrite files that somebody edited")
	flags.BoolVar(&f.dryRun, "dry-run", false, "write nothing; say what would be written")
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
	root, err := gitrepo.WorkTreeRoot(f.dir)
	if err != nil {
		return exitcode.UsageError(err)
	}
	dir, err := action.OpenDir(root)
	if err != nil {
		return exitcode.UsageError(err)
	}
	defer dir.Close()
	answers, err := f.interview(env).Answers(dir)
	if err != nil {
		return exitcode.UsageError(err)
	}
	projects, err := phase.Projects(root)
	if err != nil {
		return exitcode.UsageError(err)
	}
	report, err := scaffold.Write(dir, scaffold.Config{Answers: answers, Release: scaffold.Release{Version: env.Version, Commit: env.Commit}, Projects: projects, Force: f.force, DryRun: f.dryRun})
	if err != nil {
		return exitcode.UsageError(err)
	}
	if f.json {
		if err := printJSON(env, report); err != nil {
			return err
		}
	} else if err := report.Text(env.Stdout, f.dryRun, terminal.Width(env.Stdout)); err != nil {
		return err
	}
	if slices.ContainsFunc(report.Files, func(r scaffold.Result) bool { return r.State == scaffold.Edited }) {
		return exitcode.ErrFindings
	}
	return nil
}

// interview returns what the flags answer, and where a person answers the rest.
func (f initFlags) interview(env Environment) scaffold.Interview {
	i := scaffold.Interview{Quick: f.yes, Out: env.Stderr}
	if f.given("allow") {
		i.Allow = &f.allow
	}
	if f.given("agent") {
		i.Agent = &f.agent
	}
	if f.given("check-pull-requests") {
		i.CheckPulls = &f.checks
	}
	if terminal.Is(env.Stdin) {
		i.In = env.Stdin
	}
	return i
}
