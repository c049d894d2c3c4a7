package cli

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/agent-airlock/airlock/internal/action"
	"github.com/agent-airlock/airlock/internal/checkreport"
	"github.com/agent-airlock/airlock/internal/config"
	"github.com/agent-airlock/airlock/internal/event"
	"github.com/agent-airlock/airlock/internal/finding"
	"github.com/agent-airlock/airlock/internal/githubapi"
	"github.com/agent-airlock/airlock/internal/gitrepo"
	"github.com/agent-airlock/airlock/internal/phase"
	"github.com/agent-airlock/airlock/internal/report"
)

// checkStep is what a step's checks are made with.
type checkStep struct {
	gate   *gate
	event  event.Event
	client *githubapi.Client // nil without a token
	git    *localGit         // nil without a clone
	conn   connection
	out    *outputs
}

// findings runs the checks, or reads what an earlier job found; nil where the step
// has nothing to do with checks.
func (s *step) findings(ctx context.Context, c checkStep) (*checkreport.Document, error) {
	checks := c.gate.cfg.Checks
	switch {
	case s.settings.Findings != "":
		doc, err := s.readFindings(c.event, c.gate)
		if err != nil {
			return nil, err
		}
		return doc, s.setChecks(doc, s.settings.Findings)
	case s.settings.Mode == config.ModeCheck:
	case s.settings.Mode == config.ModeAll && checks.Given && knowsCommits(c.event):
	default:
		if s.settings.Mode == config.ModeAll && checks.Given {
			s.warn(withoutChecks(c.event))
		}
		return nil, s.set([]report.Output{{Name: "checks"}, {Name: "checks-status"}, {Name: "findings-file"}})
	}
	doc, err := s.check(ctx, c, checks)
	var invalid *phase.InvalidInput
	if errors.As(err, &invalid) {
		raw, encoding := json.Marshal(phase.Refused(invalid.Problems))
		if encoding == nil {
			encoding = s.set([]report.Output{{Name: "checks", Value: string(raw)}, {Name: "checks-status", Value: string(phase.Fail)}})
		}
		return nil, usageError(errors.Join(err, encoding))
	}
	if err != nil {
		return nil, err
	}
	return doc, s.tellChecks(doc, c)
}

// readFindings reads the findings document of an earlier job, whose job ran the pull
// request's code: it is held against its schema, and against the event.
func (s *step) readFindings(ev event.Event, g *gate) (*checkreport.Document, error) {
	if s.settings.Mode == config.ModeCheck {
		return nil, usageError(errors.New("input findings: mode check finds them itself; use it with mode apply"))
	}
	f, err := s.openBelow("findings", s.settings.Findings)
	if err != nil {
		return nil, usageError(err)
	}
	defer f.Close()
	doc, err := checkreport.Read(f)
	if err != nil {
		return nil, usageError(fmt.Errorf("input findings: %s: %w", s.settings.Findings, err))
	}
	if err := aboutEvent(doc, ev); err != nil {
		return nil, usageError(fmt.Errorf("input findings: %w", err))
	}
	doc.Mask(g.secrets.Mask)
	return doc, nil
}

// knowsCommits reports whether an event is about a pull request and tells its commits.
func knowsCommits(ev event.Event) bool {
	return ev.IsPull && ev.Head.SHA != "" && ev.Base.SHA != ""
}

// withoutChecks says why mode all runs no checks: what an event without the commits
// of a pull request checks out is the default branch.
func withoutChecks(ev event.Event) string {
	if !ev.IsPull {
		return fmt.Sprintf("the checks did not run: the event %q is about no pull request. Use mode check to check what is checked out", ev.Name)
	}
	return fmt.Sprintf("the checks did not run: the event %q does not tell the commits of pull request #%d, and checks out another branch by default. Run them on the event pull_request, or use mode check after checking out the pull request", ev.Name, ev.Number)
}

// aboutEvent refuses findings about another repository or pull request.
func aboutEvent(doc *checkreport.Document, ev event.Event) error {
	if here := ev.Repo.FullName(); doc.Repository != "" && here != "" && !strings.EqualFold(doc.Repository, here) {
		return fmt.Errorf("they are about %s, and the event is about %s", doc.Repository, here)
	}
	if doc.Number != 0 && ev.IsPull && doc.Number != ev.Number {
		return fmt.Errorf("they are about pull request #%d, and the event is about #%d", doc.Number, ev.Number)
	}
	return nil
}

// check runs the six checks on the workspace.
func (s *step) check(ctx context.Context, c checkStep, checks config.Checks) (*checkreport.Document, error) {
	root := s.env.Workspace
	src := changedSource{root: root, git: c.git, ev: c.event, client: c.client, log: s.info,
		exclude: belowDir(root, root, outputDir, s.settings.OutputFile, s.settings.AgentOutput, os.TempDir())}
	if src.pull() {
		src.remote = c.remote(s.env.ServerURL)
	}
	set, err := src.find(ctx)
	if err != nil {
		return nil, err
	}
	in := configured(checks)
	in.WorkingDirectory = root
	v := newValidation(s.w, c.gate, checks, in, root, ".", set)
	v.beside.token = !c.conn.tok.IsZero()
	v.say = s.info
	v.phase.NewOnly = set.diff && (checks.NewOnly == nil && src.pull() || checks.NewOnly != nil && *checks.NewOnly)
	v.repository = c.event.Repo.FullName()
	if c.event.IsPull {
		v.number = c.event.Number
	}
	progress := startProgress(logWriter{s.info}, c.gate.words, func() int { return 0 })
	defer progress.end()
	v.tell = progress.tell
	return v.run(ctx)
}

// remote returns how the repository's own commits are fetched: from where GitHub
// says that it is or, without a token, from its usual address.
func (c checkStep) remote(server string) func(context.Context) (*gitrepo.Remote, error) {
	return func(ctx context.Context) (*gitrepo.Remote, error) {
		url := strings.TrimRight(cmp.Or(server, "https://github.com"), "/") + "/" + c.event.Repo.FullName() + ".git"
		if c.client != nil {
			repo, err := c.client.GetRepo(ctx, githubapi.Repo{Owner: c.event.Repo.Owner, Name: c.event.Repo.Name})
			if err != nil {
				return nil, failedError(err)
			}
			url = repo.CloneURL
		}
		return c.conn.remote(url)
	}
}

// tellChecks writes the findings document, and says in the log, the summary and
// annotations how the checks ended.
func (s *step) tellChecks(doc *checkreport.Document, c checkStep) error {
	words := c.gate.checkWords()
	var file, text bytes.Buffer
	if err := errors.Join(doc.Write(&file), doc.Text(&text, words, false)); err != nil {
		return failedError(err)
	}
	name, err := c.out.WriteFile(findingsFile, file.Bytes())
	if err != nil {
		return failedError(err)
	}
	for _, o := range doc.Outputs(words) {
		s.runner.Group("Airlock: "+o.Title, func() { s.runner.Log(o.Text) })
	}
	s.runner.Group("Airlock: "+doc.Headline(), func() { s.runner.Log(text.String()) })
	var list []report.Annotation
	for _, a := range doc.Annotations(words) {
		list = append(list, report.Annotation{Level: annotationLevel(a.Severity), Title: "Airlock " + a.Title, Message: a.Message, Path: a.Path, StartLine: a.StartLine, EndLine: a.EndLine})
	}
	s.annotate(list)
	if _, err := s.runner.AddSummary(doc.Summary(words, action.MaxSummary), cutBytes); err != nil {
		s.warn(err)
	}
	return s.setChecks(doc, name)
}

// maxInlineChecks is how large the checks' result may be to be an output: the
// results of the items need the rest of what GitHub takes.
const maxInlineChecks = 80_000

// setChecks sets the outputs that tell of the checks.
func (s *step) setChecks(doc *checkreport.Document, file string) error {
	raw, err := json.Marshal(doc.Output)
	if err != nil {
		return failedError(err)
	}
	if len(raw) > maxInlineChecks {
		raw = nil
	}
	return s.set([]report.Output{{Name: "findings-file", Value: file}, {Name: "checks", Value: string(raw)}, {Name: "checks-status", Value: string(doc.Output.Status)}})
}

// annotationLevel is how the runner shows a finding.
func annotationLevel(severity finding.Severity) report.Level {
	switch severity {
	case finding.Critical, finding.High:
		return report.Error
	case finding.Medium:
		return report.Warning
	}
	return report.Notice
}

// checked adds to how a step ended that the checks failed.
func (s *step) checked(doc *checkreport.Document, err error) error {
	if err != nil || doc == nil || !doc.Failed() || s.settings.FailOn == config.FailOnNever {
		return err
	}
	return findings()
}

// logWriter passes lines on to a log.
type logWriter struct{ log func(string) }

// Write implements io.Writer. It is given whole lines.
func (l logWriter) Write(p []byte) (int, error) {
	l.log(strings.TrimPrefix(strings.TrimSuffix(string(p), "\n"), "airlock: "))
	return len(p), nil
}
