package step

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/agent-airlock/airlock/internal/action"
	"github.com/agent-airlock/airlock/internal/checkreport"
	"github.com/agent-airlock/airlock/internal/checks"
	"github.com/agent-airlock/airlock/internal/config"
	"github.com/agent-airlock/airlock/internal/doors"
	"github.com/agent-airlock/airlock/internal/event"
	"github.com/agent-airlock/airlock/internal/exitcode"
	"github.com/agent-airlock/airlock/internal/markdown"
	"github.com/agent-airlock/airlock/internal/phase"
	"github.com/agent-airlock/airlock/internal/report"
)

// findings runs the checks, or reads the findings of an earlier job. It returns nil if the step
// does neither.
func (s *step) findings(ctx context.Context) (*checkreport.Document, error) {
	if s.settings.Findings != "" {
		doc, err := s.readFindings()
		if err != nil {
			return nil, err
		}
		s.sayFirst(doc)
		return doc, s.setCheckOutputs(doc, s.settings.Findings)
	}
	inAll := s.settings.Mode == config.ModeAll && (s.gate.SafeOutputs().Checks.Given || s.settings.ReviewsOnly)
	if inAll && !doors.KnowsCommits(s.event) {
		s.warn(whyNoChecks(s.event))
		inAll = false
	}
	if s.settings.Mode != config.ModeCheck && !inAll {
		return nil, s.setEmpty("checks", "checks-status", "findings-file")
	}
	if s.deps.Image == ImageGate {
		return nil, exitcode.UsageError(errors.New("the image of the gate has no toolchains to check with: use agent-airlock/airlock instead of agent-airlock/airlock/actions/gate for mode check, and for mode all with checks in the configuration"))
	}
	doc, err := s.check(ctx)
	invalid, isInvalid := errors.AsType[*phase.InvalidInput](err)
	switch {
	case err == nil:
		return doc, s.reportChecks(doc)
	case isInvalid && doc != nil: // the reviews need no language
		return nil, exitcode.UsageError(errors.Join(explainInput(invalid), s.reportChecks(doc)))
	case isInvalid:
		return nil, s.refuseInput(invalid)
	}
	return nil, err
}

// readFindings reads the document that the input "findings" names.
func (s *step) readFindings() (*checkreport.Document, error) {
	f, err := s.openInput("findings", s.settings.Findings)
	if err != nil {
		return nil, exitcode.UsageError(err)
	}
	defer f.Close()
	doc, err := s.gate.ReadFindings(f, s.settings.Findings, s.event)
	if err != nil {
		return nil, exitcode.UsageError(fmt.Errorf("input findings: %w", err))
	}
	return doc, nil
}

// whyNoChecks returns why mode all runs no checks: where the event does not name the commits of
// a pull request, something else is checked out by default.
func whyNoChecks(ev event.Event) string {
	if !ev.IsPull {
		return fmt.Sprintf("the checks did not run: the event %q is not about a pull request. Use mode check to check what is checked out", ev.Name)
	}
	return fmt.Sprintf("the checks did not run: the event %q does not name the commits of pull request #%d, and checks out another branch by default. Run them on the event pull_request, or use mode check after checking out the pull request", ev.Name, ev.Number)
}

// changeSet returns the changes to check: those of the pull request or, if the event does not name
// its commits, what git finds in the workspace.
func (s *step) changeSet(ctx context.Context) (*checks.ChangeSet, error) {
	root := s.env.Workspace
	src := checks.ChangeSource{Root: root, Git: s.git, Event: s.event, Client: s.client, Log: s.info,
		Exclude: doors.PathsBelow(root, root, outputDirName, s.settings.OutputFile, s.settings.AgentOutput, os.TempDir())}
	if doors.KnowsCommits(s.event) {
		src.Remote = s.remote
	}
	return src.Find(ctx)
}

// check runs the six checks on the workspace.
func (s *step) check(ctx context.Context) (*checkreport.Document, error) {
	root, owner := s.env.Workspace, s.gate.SafeOutputs().Checks
	owner.Phase.ReviewsOnly = owner.Phase.ReviewsOnly || s.settings.ReviewsOnly
	set, err := s.changeSet(ctx)
	if err != nil {
		return nil, err
	}
	owner.Network = cmp.Or(s.settings.Network, owner.Network)
	in := checks.ConfiguredInput(owner)
	in.WorkingDirectory = root
	progress := checks.StartProgress(logWriter{s.info}, s.gate.OneLine, func() int { return 0 })
	defer progress.Stop()
	_, variable := s.deps.Secrets.Token()
	return checks.Run(ctx, checks.Config{Root: root, Changes: set, Checks: owner, Input: in, Event: s.event}, checks.Deps{
		Getenv: s.deps.Getenv, Environ: s.deps.Environ, Scanner: s.gate.Scanner(), Log: s.info, Tell: progress.Report, Copied: progress.Copied, TokenVariable: variable})
}

// refuseInput sets the outputs for input that cannot be validated, and returns an error
// with what to do.
func (s *step) refuseInput(invalid *phase.InvalidInput) error {
	problems := make([]string, len(invalid.Problems))
	for i, p := range invalid.Problems {
		problems[i] = s.mask(p)
	}
	raw, err := json.Marshal(phase.Refused(problems))
	if err == nil {
		err = s.setOutputs(report.Output{Name: "checks", Value: string(raw)}, report.Output{Name: "checks-status", Value: string(phase.Fail)})
	}
	return exitcode.UsageError(errors.Join(explainInput(invalid), err))
}

// explainInput adds advice to the reason for which input cannot be validated, if it lacks a
// language.
func explainInput(invalid *phase.InvalidInput) error {
	if !invalid.NoLanguage() {
		return invalid
	}
	const example = "with:\n  config: |\n    checks:\n      language: python # or reviews-only: true"
	return fmt.Errorf("%w\n%s, under checks in the configuration, as in the workflow's step:\n%s", error(invalid), checks.HowToSetLanguage(""), example)
}

// sayFirst reports how another job's checks ended, before the step reports what it applied: a
// reader of a failed job looks for its cause.
func (s *step) sayFirst(doc *checkreport.Document) {
	headline := "Airlock: " + doc.Headline()
	var b strings.Builder
	b.WriteString("## " + markdown.EscapeText(headline) + "\n")
	failures := doc.Failures(s.gate.CheckText())
	if len(failures) > 0 {
		b.WriteByte('\n')
	}
	for _, line := range failures {
		b.WriteString("- " + markdown.EscapeText(line) + "\n")
	}
	s.addSummary(b.String())
	if !doc.Failed() {
		s.runner.Log(headline)
		return
	}
	s.runner.Annotate(action.Annotation{Level: s.failureLevel(), Title: headline, Message: strings.Join(append(failures, "The summary of the job that ran the checks has the details."), "\n")})
}

// failureLevel returns the level at which the step shows that something failed.
func (s *step) failureLevel() action.Level {
	if s.settings.FailOn == config.FailOnNever {
		return action.Warning
	}
	return action.Error
}

// withChecks returns the step's error or, if there is none and failed checks fail the
// step, ErrFindings.
func (s *step) withChecks(doc *checkreport.Document, err error) error {
	if err != nil || doc == nil || !doc.Failed() || s.settings.FailOn == config.FailOnNever {
		return err
	}
	return exitcode.ErrFindings
}

// logWriter passes lines on to a log.
type logWriter struct{ log func(string) }

// Write implements io.Writer. It is given complete lines.
func (l logWriter) Write(p []byte) (int, error) {
	l.log(strings.TrimPrefix(strings.TrimSuffix(string(p), "\n"), "airlock: "))
	return len(p), nil
}
