package step

import (
	"context"
	"errors"
	"fmt"
	"path"
	"strconv"
	"strings"
	"time"

	"github.com/agent-airlock/airlock/internal/acceptance"
	"github.com/agent-airlock/airlock/internal/action"
	"github.com/agent-airlock/airlock/internal/checks"
	"github.com/agent-airlock/airlock/internal/config"
	"github.com/agent-airlock/airlock/internal/exitcode"
	"github.com/agent-airlock/airlock/internal/githubapi"
	"github.com/agent-airlock/airlock/internal/report"
	"github.com/agent-airlock/airlock/internal/token"
	"github.com/agent-airlock/airlock/internal/verdictreport"
	"github.com/agent-airlock/airlock/internal/verify"
)

// evidenceDirName is the directory for evidence, below the one for the step's files.
const evidenceDirName = "evidence"

// criteria are the acceptance criteria of a pull request, and where they come from.
type criteria struct {
	request acceptance.Request
	trust   acceptance.Trust
	source  verdictreport.Source
	issues  []verdictreport.Issue
	notes   []string
	boxes   map[string]box // of the criteria in task lists, by their ids
}

// box is an item of an issue's task list.
type box struct {
	issue  int
	digest string
}

// verify verifies the acceptance criteria on the workspace, which is what mode verify does. It
// reads the issue first, and drops the token before any code of the pull request runs.
func (s *step) verify(ctx context.Context) error {
	if s.deps.Image == ImageGate {
		return exitcode.UsageError(errors.New("the image of the gate has no toolchains to verify with: use agent-airlock/airlock instead of agent-airlock/airlock/actions/gate for mode verify"))
	}
	c, err := s.criteria(ctx)
	if err != nil {
		return err
	}
	doc := &verdictreport.Document{Version: verdictreport.Version, Repository: s.event.Repo.FullName(), Source: c.source, Issues: c.issues, Criteria: []verdictreport.Criterion{}, Notes: c.notes}
	if s.event.IsPull {
		doc.Number = s.event.Number
	}
	if c.source != verdictreport.FromNowhere {
		set, err := s.changeSet(ctx)
		if err != nil {
			return err
		}
		s.client, s.conn.Token = nil, token.Token{} // before any code of the pull request runs
		doc.Head = set.Head()
		response, err := s.runVerification(ctx, c, set)
		if err != nil {
			return err
		}
		doc.Response = &response
		for _, one := range c.request.Criteria {
			box := c.boxes[one.ID]
			doc.Criteria = append(doc.Criteria, verdictreport.Criterion{ID: one.ID, Description: one.Description, Hint: one.Hint, Issue: box.issue, Box: box.digest})
		}
	}
	doc.Mask(s.gate.Scanner().Mask)
	return s.reportVerdict(doc)
}

func (s *step) runVerification(ctx context.Context, c criteria, set *checks.ChangeSet) (acceptance.Response, error) {
	_, variable := s.deps.Secrets.Token()
	cfg := s.gate.SafeOutputs()
	return verify.Run(ctx, verify.Config{
		Request: c.request, Trust: c.trust, Dir: s.env.Workspace, Acceptance: cfg.Acceptance, Checks: cfg.Checks,
		Changes: checks.ChangeSource{Event: s.event}, Set: set, Save: s.saveEvidence,
	}, verify.Deps{
		Deps: checks.Deps{Getenv: s.deps.Getenv, Environ: s.deps.Environ, Scanner: s.gate.Scanner(), Log: s.info, TokenVariable: variable},
		Now:  time.Now, Progress: func(one acceptance.Step) { s.info(one.Line(s.gate.OneLine)) },
	})
}

// saveEvidence keeps a file of evidence among the step's files.
func (s *step) saveEvidence(name string, data []byte) error {
	name = path.Join(evidenceDirName, name)
	for i, r := range name {
		if r != '/' {
			continue
		}
		if err := s.workspace.Mkdir(path.Join(outputDirName, name[:i])); err != nil {
			return errors.New(exitcode.Explain(err))
		}
	}
	if _, err := s.out.WriteFile(name, data); err != nil {
		return errors.New(exitcode.Explain(err))
	}
	return nil
}

// criteria returns the criteria of the input request or, without one, of the issues that the
// pull request closes.
func (s *step) criteria(ctx context.Context) (criteria, error) {
	if s.settings.Request != "" {
		req, err := acceptance.ReadRequest([]byte(s.settings.Request))
		if _, ok := errors.AsType[*acceptance.InvalidError](err); ok {
			return criteria{}, exitcode.UsageError(fmt.Errorf("input request: %w\n'airlock schema validation-request' shows what is expected", err))
		}
		return criteria{request: req, trust: acceptance.Owner, source: verdictreport.FromWorkflow}, err
	}
	if !s.event.IsPull {
		return criteria{source: verdictreport.FromNowhere, notes: []string{fmt.Sprintf("The event %q is not about a pull request, so no issue states criteria; name them by the input request.", s.event.Name)}}, nil
	}
	if s.client == nil {
		return criteria{}, exitcode.UsageError(errors.New("there is no token to read the issue with: leave the input token at its default, with the permissions 'issues: read' and 'pull-requests: read', or give the criteria by the input request"))
	}
	issues, total, err := s.client.ClosingIssues(ctx, s.repo(), s.event.Number)
	if err != nil {
		return criteria{}, exitcode.FailedError(err)
	}
	return s.criteriaOf(issues, total)
}

// criteriaOf returns the criteria that issues state. Criteria that cannot be read become one
// criterion that blocks.
func (s *step) criteriaOf(issues []githubapi.ClosingIssue, total int) (criteria, error) {
	c := criteria{source: verdictreport.FromNowhere, boxes: map[string]box{}}
	if more := total - len(issues); more > 0 {
		c.notes = append(c.notes, fmt.Sprintf("The pull request closes more issues, whose criteria are not read: %d.", more))
	}
	var list []acceptance.Criterion
	task := ""
	for _, issue := range issues {
		if !strings.EqualFold(issue.Repo, s.event.Repo.FullName()) {
			c.notes = append(c.notes, fmt.Sprintf("The issue %s#%d is another repository's; its criteria are not read.", issue.Repo, issue.Number))
			continue
		}
		stated, unboxed, err := acceptance.FromIssue(issue.Body)
		if err != nil { // a criterion without a hint blocks
			c.notes = append(c.notes, fmt.Sprintf("The criteria of #%d cannot be read: %v.", issue.Number, err))
			stated = []acceptance.IssueCriterion{{Criterion: acceptance.Criterion{ID: "unreadable", Description: fmt.Sprintf("The criteria of #%d can be read", issue.Number)}}}
		}
		if unboxed > 0 {
			c.notes = append(c.notes, fmt.Sprintf("Under \"Acceptance criteria\" of #%d, list items without a box (- [ ]) are not verified: %d.", issue.Number, unboxed))
		}
		if len(stated) == 0 {
			continue
		}
		origin := verdictreport.Issue{Number: issue.Number, Author: issue.Author.Login, EditedBy: issue.Editor.Login}
		if !issue.EditedAt.IsZero() {
			origin.EditedAt = issue.EditedAt.UTC().Format(time.RFC3339)
		}
		c.issues = append(c.issues, origin)
		for _, one := range stated {
			if len(c.issues) > 1 { // each issue numbers its criteria from 1
				one.ID = fmt.Sprintf("%d/%s", issue.Number, one.ID)
			}
			if one.Box != "" {
				c.boxes[one.ID] = box{issue.Number, one.Box}
			}
			list = append(list, one.Criterion)
		}
		if task == "" {
			task = "issue-" + strconv.Itoa(issue.Number)
		}
	}
	if len(list) == 0 {
		return c, nil
	}
	var err error
	if c.request, err = acceptance.IssueRequest(task, list); err != nil {
		return c, exitcode.UsageError(fmt.Errorf("the criteria of the issue: %w", err))
	}
	c.trust, c.source = acceptance.Stranger, verdictreport.FromIssue
	return c, nil
}

// reportVerdict writes the verdict document, and reports it in log, summary and outputs.
func (s *step) reportVerdict(doc *verdictreport.Document) error {
	name, _, err := s.out.keep(verdictFile, doc.Write)
	if err != nil {
		return exitcode.FailedError(err)
	}
	required := s.gate.SafeOutputs().Acceptance.RequireCriteria
	s.info("Airlock acceptance: " + doc.Headline())
	s.addSummary(doc.Summary(s.gate.CheckText(), required, action.MaxSummary))
	if err := s.setVerdictOutputs(doc, name); err != nil {
		return exitcode.FailedError(err)
	}
	if doc.Failed(required) {
		return s.failedVerdict(doc)
	}
	return nil
}

// failedVerdict shows why the verdict fails the step. It returns no error if the step never
// fails for findings.
func (s *step) failedVerdict(doc *verdictreport.Document) error {
	s.runner.Annotate(action.Annotation{Level: s.failureLevel(), Title: "Airlock acceptance", Message: doc.Headline()})
	if s.settings.FailOn == config.FailOnNever {
		return nil
	}
	return exitcode.ErrFindings
}

func (s *step) setVerdictOutputs(doc *verdictreport.Document, file string) error {
	verdict := ""
	if doc.Response != nil {
		verdict = string(doc.Response.Verdict)
	}
	return s.setOutputs(report.Output{Name: "verdict", Value: verdict}, report.Output{Name: "verdict-file", Value: file})
}

// readVerdict reads the verdict document that the input verdict names, and sets the outputs about
// it; nil if there is none.
func (s *step) readVerdict() (*verdictreport.Document, error) {
	if s.settings.Verdict == "" {
		return nil, nil
	}
	f, err := s.openInput("verdict", s.settings.Verdict)
	if err != nil {
		return nil, exitcode.UsageError(err)
	}
	defer f.Close()
	doc, err := s.gate.ReadVerdict(f, s.settings.Verdict, s.event)
	if err != nil {
		return nil, exitcode.UsageError(fmt.Errorf("input verdict: %w", err))
	}
	return doc, s.setVerdictOutputs(doc, s.settings.Verdict)
}
