package step

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/agent-airlock/airlock/internal/action"
	"github.com/agent-airlock/airlock/internal/apply"
	"github.com/agent-airlock/airlock/internal/checkreport"
	"github.com/agent-airlock/airlock/internal/config"
	"github.com/agent-airlock/airlock/internal/crash"
	"github.com/agent-airlock/airlock/internal/doors"
	"github.com/agent-airlock/airlock/internal/exitcode"
	"github.com/agent-airlock/airlock/internal/finding"
	"github.com/agent-airlock/airlock/internal/markdown"
	"github.com/agent-airlock/airlock/internal/report"
)

// How large a text may be to be an output as well as a file, in bytes: GitHub takes 1 MB
// for all outputs of a job together.
const (
	maxInlineResults = 900_000
	maxInlineChecks  = 80_000
)

// finish reports how the items ended, in the log, annotations, summary and outputs, and
// returns the error that the step's exit code follows from.
func (s *step) finish(rep *report.Report) error {
	var crashes []error
	show := func(part func()) { // where one part crashes, the others are shown
		crashes = append(crashes, crash.Try(func() error { part(); return nil }))
	}
	show(func() {
		var log strings.Builder
		_ = doors.WriteReport(&log, rep, false) // a builder takes everything
		s.runner.Group("Airlock: "+rep.Headline(), func() { s.runner.Log(log.String()) })
	})
	show(func() { s.annotate(rep.Annotations(), "the file of the results") })
	show(func() { s.addSummary(rep.Summary(action.MaxSummary)); s.reported = true })
	if err := crash.Try(func() error { return s.setResultOutputs(rep) }); err != nil {
		return exitcode.FailedError(fmt.Errorf("the outputs cannot be set, this log says what was done: %w", err))
	}
	if err := errors.Join(crashes...); err != nil {
		return exitcode.FailedError(err)
	}
	failed := rep.Counts.Failed > 0 || rep.FailedOwn() || rep.TooFew()
	switch {
	case rep.Crashed():
		return &exitcode.Error{Code: exitcode.Failed}
	case s.settings.FailOn == config.FailOnNever:
		return nil
	case failed, s.settings.FailOn == config.FailOnRejected && !rep.Clean():
		return exitcode.ErrFindings
	}
	return nil
}

// setResultOutputs writes the file of the results and sets the outputs about items.
func (s *step) setResultOutputs(rep *report.Report) error {
	path, results, err := s.out.keep(resultsFile, func(w io.Writer) error { return rep.JSON(w, "") })
	if err != nil {
		return err
	}
	return s.setOutputs(append(rep.Outputs(), report.Output{Name: "results", Value: inline(results, maxInlineResults)}, report.Output{Name: "results-file", Value: path})...)
}

// inline returns a text as an output's value, which is empty where it is too large.
func inline(raw []byte, limit int) string {
	if len(raw) > limit {
		return ""
	}
	return string(raw)
}

// writePlan stores the plan before anything of it is carried out, so that after
// a step was killed it is known what it was about to do.
func (s *step) writePlan(plan *apply.Plan) error {
	path, _, err := s.out.keep(planFile, func(w io.Writer) error { return doors.WriteJSON(w, plan) })
	if err != nil {
		return err
	}
	return s.setOutputs(report.Output{Name: "plan-file", Value: path})
}

// writePage stores the page of the plan: before anything of it is carried out, and again with the
// results. doc is the findings document; nil where there is none.
func (s *step) writePage(rep *report.Report, doc *checkreport.Document) error {
	path, _, err := s.out.keep(planPageFile, func(w io.Writer) error { return s.gate.WritePage(w, rep, doc) })
	if err != nil {
		return err
	}
	return s.setOutputs(report.Output{Name: "plan-page", Value: path})
}

// reportChecks writes the findings document and reports in log, summary and outputs how
// the checks ended. If annotatesChecks returns true, annotations show the findings.
func (s *step) reportChecks(doc *checkreport.Document) error {
	show := s.gate.CheckText()
	var log strings.Builder
	_ = doc.Text(&log, show, false) // a builder takes everything
	name, _, err := s.out.keep(findingsFile, doc.Write)
	if err != nil {
		return exitcode.FailedError(err)
	}
	for _, o := range doc.Outputs(show) {
		s.runner.Group("Airlock: "+o.Title, func() { s.runner.Log(o.Text) })
	}
	s.runner.Group("Airlock: "+doc.Headline(), func() { s.runner.Log(log.String()) })
	if s.annotatesChecks() {
		s.annotateFindings(doc.Annotations(show))
	}
	s.addSummary(doc.Summary(show, action.MaxSummary))
	s.checked = true
	return s.setCheckOutputs(doc, name)
}

func (s *step) setCheckOutputs(doc *checkreport.Document, file string) error {
	raw, err := json.Marshal(doc.Output)
	if err != nil {
		return exitcode.FailedError(err)
	}
	return s.setOutputs(report.Output{Name: "findings-file", Value: file}, report.Output{Name: "checks", Value: inline(raw, maxInlineChecks)},
		report.Output{Name: "checks-status", Value: string(doc.Output.Status)})
}

// annotatesChecks reports whether the job that runs the checks shows every finding itself. By
// default, a job whose input fail-on is "never" leaves that to another job, which reports the
// findings and fails for them.
func (s *step) annotatesChecks() bool {
	if s.settings.Mode != config.ModeCheck {
		return false
	}
	switch s.gate.SafeOutputs().Checks.Report.Annotations {
	case config.AnnotateAlways:
		return true
	case config.AnnotateNever:
		return false
	}
	return s.settings.FailOn != config.FailOnNever
}

// annotateFindings writes annotations, with which GitHub shows the findings next to their lines.
func (s *step) annotateFindings(findings []checkreport.Annotation) {
	var list []action.Annotation
	for _, a := range findings {
		list = append(list, action.Annotation{Level: annotationLevel(a.Severity), Title: "Airlock " + a.Title, Message: a.Message, File: a.Path, Line: cmp.Or(a.StartLine, a.EndLine), EndLine: a.EndLine})
	}
	s.annotate(list, "the findings document")
}

// annotationLevel returns the level at which the runner shows a finding.
func annotationLevel(severity finding.Severity) action.Level {
	switch severity {
	case finding.Critical, finding.High:
		return action.Error
	case finding.Medium:
		return action.Warning
	}
	return action.Notice
}

// annotate writes as many annotations of each level as GitHub shows; file names the
// file that lists them all.
func (s *step) annotate(list []action.Annotation, file string) {
	count, more := map[action.Level]int{}, 0
	for _, a := range list {
		count[a.Level]++
		if count[a.Level] > action.MaxAnnotations {
			more++
			continue
		}
		s.runner.Annotate(a)
	}
	if more > 0 {
		s.runner.Log(fmt.Sprintf("%d more in %s: GitHub shows %d annotations of a level", more, file, action.MaxAnnotations))
	}
}

// addSummary adds Markdown to the job summary, cut to the space that is left. A failure is
// a warning in the log.
func (s *step) addSummary(md string) {
	cut := func(md string, maxBytes int) string {
		units := maxBytes / 3 // a UTF-16 unit takes at most three bytes
		out, _ := markdown.Cut(md, units, "*The rest was cut: a job summary holds no more.*")
		return out
	}
	if _, err := s.runner.AddSummary(md, cut); err != nil {
		s.warn(err)
	}
}

// setOutputs sets outputs of the step, up to the first that fails.
func (s *step) setOutputs(list ...report.Output) error {
	for _, o := range list {
		if err := s.runner.SetOutput(o.Name, o.Value); err != nil {
			return err
		}
	}
	return nil
}

// setEmpty sets outputs of the step to nothing.
func (s *step) setEmpty(names ...string) error {
	list := make([]report.Output, len(names))
	for i, name := range names {
		list[i].Name = name
	}
	return s.setOutputs(list...)
}

// info logs what happens, unless the step logs less.
func (s *step) info(line string) {
	switch s.settings.LogLevel {
	case config.LogInfo, config.LogDebug, "":
		s.runner.Log(s.mask(line))
	}
}

// debug logs a line that helps to find the cause of a failure.
func (s *step) debug(line string) {
	if s.settings.LogLevel == config.LogDebug {
		s.runner.Log(s.mask(line))
		return
	}
	s.runner.Debug(s.mask(line))
}

func (s *step) warn(what any) {
	s.runner.Annotate(action.Annotation{Level: action.Warning, Title: "Airlock", Message: s.mask(fmt.Sprint(what))})
}

// mask masks secrets in a text. The runner does so too, but it does not mask parts of secrets.
func (s *step) mask(text string) string {
	if s.conceal == nil {
		return text
	}
	return s.conceal(text)
}
