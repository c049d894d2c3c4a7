package cli

import (
	"github.com/spf13/cobra"

	"github.com/agent-airlock/airlock/internal/acceptance"
	"github.com/agent-airlock/airlock/internal/verify"
)

func newVerify(env Environment) *cobra.Command {
	var job verify.Job
	cmd := &cobra.Command{
		Use:   "verify --request FILE|-  (or --dispatch, --response, --pending)",
		Short: "Verify acceptance criteria, with evidence and a verdict",
		Long: `Verify the acceptance criteria of a validation request, and answer with a verdict.

The request is JSON ('airlock schema validation-request'): as it is, as a JSON
string, in the first fenced block of a text, or in the content of a message. What a
criterion's hint asks for is evaluated by machine:

  docs/guide.md                     the path exists, also as "Check docs/guide.md";
                                    the last parts of a path are enough
  README.md contains "Usage"        the file contains the text
  $ make smoke                      the command ends with exit code 0
  GET https://example.com -> 200    the address answers with the status
  check:linter                      one of the six checks passes
  test:TestLogin                    the tests of that name pass

Several may stand in one sentence. That a path exists counts only in a hint of these
forms alone, or with "Check" or "exists" next to another of them. Every other hint is
for the validator (--validator), a command that reads the request from standard input
and prints a response; without one, the criterion is BLOCKED. Requests of the type
browser or both need --browser.

Commands run where 'airlock check' runs them. Private addresses are refused unless
--allow-host names their host. Claims of the request are checked: files against what
the branch changes, the commit against the branch, tests by running them again.

Where the validator is elsewhere, --dispatch stores a request and prints it with a
dispatch_id, and --response takes the answer: it is refused if nothing was dispatched
for its task (2), and if there is an answer already (2); one that comes late, or is
about another commit, is kept and not applied (1). --pending lists all dispatches,
and ends with 1 if an answer is missing.

The response goes to standard output ('airlock schema validation-response').
Exit codes: 0 for the verdict PASS, 1 for any other one or if a gate does not let the
task pass, 2 for an invalid request (its violations go to standard output), 3 if
Airlock itself failed.`,
		Example: `  airlock verify --request request.json --evidence evidence
  airlock verify --request - --validator './validate' < message.txt
  airlock verify --request request.json --dir . --envelope team-lead`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return job.Run(cmd.Context(), verify.JobDeps{Deps: env.checkDeps(), Gate: env.gate, Read: env.read, Out: env.Stdout, People: env.Stderr})
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&job.Request, "request", "", "the validation request; - is standard input")
	flags.StringVar(&job.Dispatch, "dispatch", "", "store this validation request as sent to a validator; - is standard input")
	flags.StringVar(&job.Response, "response", "", "take this validation response to a dispatched request; - is standard input")
	flags.BoolVar(&job.Pending, "pending", false, "list the dispatched requests and their answers")
	flags.StringVar(&job.Store, "store", ".airlock/dispatches", "the directory of dispatched requests")
	flags.StringVar(&job.Dir, "dir", "", "the work tree (default: the request's worktree_path, otherwise the current directory)")
	flags.StringVar(&job.Base, "base", "", "the branch, tag or commit to compare with, for claims (default: the default branch)")
	flags.StringVar(&job.Policy, "config", "", configUsage)
	flags.StringVar(&job.Evidence, "evidence", "", "keep evidence as files in this directory")
	optional(flags, flags.StringVar, &job.Validator, "validator", "", "the command that judges what no machine can")
	optional(flags, flags.StringVar, &job.Browser, "browser", "", "the command that judges by looking at the application in a browser")
	optional(flags, flags.StringVar, &job.Judge, "judge", "", "the command that has the last word on the verdict PASS")
	flags.StringSliceVar(&job.PassEnv, "pass-env", nil, "names of variables that the validator, the browser command and the judge get in addition to the usual ones")
	flags.StringSliceVar(&job.Hosts, "allow-host", nil, "a host, or host:port, that may be asked although its address is private")
	flags.StringVar(&job.Envelope, "envelope", "", "answer in a message to this recipient")
	flags.Lookup("envelope").NoOptDefVal = acceptance.DefaultRecipient
	flags.BoolVar(&job.AllowCredentials, "allow-credentials", false, "on a runner, run commands although they can use the job's credentials")
	return cmd
}
