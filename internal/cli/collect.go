package cli

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/agent-airlock/airlock/internal/action"
	"github.com/agent-airlock/airlock/internal/intake"
)

// maxShown is how many problems collect tells a person; the report holds all.
const maxShown = 50

type collectFlags struct {
	input, config, output, report string
	strict, schemas               bool
}

func newCollect(w World) *cobra.Command {
	var f collectFlags
	cmd := &cobra.Command{
		Use:   "collect",
		Short: "Turn an agent's lines into checked agent output",
		Long: `Read the lines of JSON that an agent wrote, repair what can be repaired safely,
validate and clean each, and write {"items": [...], "errors": [...]} to standard
output or a file. Nothing of GitHub is touched and no token is needed.

The exit code is 1 if a line was rejected or over a limit, or lost labels that are
over one; the document is written all the same, and --report says everything about
every line.`,
		Example: `  airlock collect --input agent.ndjson
  airlock collect --input agent.ndjson --output agent-output.json --report report.json
  cat agent.ndjson | airlock collect --config policy.yml`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return runCollect(cmd.Context(), w, f) },
	}
	flags := cmd.Flags()
	flags.StringVar(&f.input, "input", "", "the agent's lines; - is standard input (default: GH_AW_SAFE_OUTPUTS, else standard input)")
	flags.StringVar(&f.config, "config", "", configUsage)
	flags.StringVar(&f.output, "output", "", "write the agent output to this file (default: standard output)")
	flags.StringVar(&f.report, "report", "", "write a report to this file: rejections with their place in the schema, repairs, what was cleaned and dropped")
	flags.BoolVar(&f.schemas, "report-schemas", false, "add to the report the schema of each kind that was rejected, so that an agent can correct itself")
	flags.BoolVar(&f.strict, "strict", false, "reject lines with fields that the schema does not know")
	return cmd
}

func runCollect(ctx context.Context, w World, f collectFlags) error {
	cfg, err := loadConfig(w, f.config)
	if err != nil {
		return err
	}
	g, err := newGate(cfg, serverHost(w.Getenv), f.strict, scannerFromEnv(w))
	if err != nil {
		return err
	}
	for _, name := range []string{"GH_AW_SAFE_OUTPUTS", "GITHUB_AW_SAFE_OUTPUTS"} {
		if f.input == "" {
			f.input = w.Getenv(name)
		}
	}
	in, err := openInput(w, f.input)
	if err != nil {
		return usageError(err)
	}
	defer in.Close()

	docs := intake.Documents{Output: w.Stdout, Schemas: f.schemas}
	files := pendingFiles{}
	defer files.abort()
	if docs.Output, err = files.create(f.output, w.Stdout); err != nil {
		return usageError(fmt.Errorf("--output: %w", err))
	}
	if docs.Report, err = files.create(f.report, nil); err != nil {
		return usageError(fmt.Errorf("--report: %w", err))
	}
	told := 0
	docs.Each = func(o intake.Outcome) {
		for _, e := range o.Errors() {
			if told++; told <= maxShown {
				fmt.Fprintln(w.Stderr, g.words(e))
			}
		}
	}
	counts, err := intake.Write(ctx, in, g.intake(true), docs)
	if err != nil {
		return inputError(ctx, err)
	}
	if err := files.commit(); err != nil {
		return failedError(err)
	}
	if told > maxShown {
		fmt.Fprintf(w.Stderr, "… and %d more; --report lists them all\n", told-maxShown)
	}
	fmt.Fprintf(w.Stderr, "%d accepted, %d rejected, %d over a limit\n", counts.Accepted, counts.Rejected, counts.Dropped)
	if told > 0 {
		return findings()
	}
	return nil
}

// pendingFiles are the files of one command, which appear together at its end.
type pendingFiles []*action.Pending

// create begins a file; without a path the writer is otherwise, which may be nil.
func (p *pendingFiles) create(path string, otherwise io.Writer) (io.Writer, error) {
	if path == "" || path == "-" && otherwise != nil {
		return otherwise, nil
	}
	f, err := action.CreateUser(path)
	if err != nil {
		return nil, err
	}
	*p = append(*p, f)
	return sink{w: f}, nil
}

func (p *pendingFiles) commit() error {
	for _, f := range *p {
		if err := f.Commit(); err != nil {
			return err
		}
	}
	return nil
}

// abort removes what was not committed.
func (p *pendingFiles) abort() {
	for _, f := range *p {
		_ = f.Abort() // nothing can be done about it, and the command's own error says more
	}
}
