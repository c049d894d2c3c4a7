package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"

	"github.com/agent-airlock/airlock/internal/action"
	"github.com/agent-airlock/airlock/internal/checkreport"
	"github.com/agent-airlock/airlock/internal/config"
	"github.com/agent-airlock/airlock/internal/finding"
	"github.com/agent-airlock/airlock/internal/report"
)

// tellChecks writes the findings document, and says in the log and the summary how the
// checks ended. Where nothing else can, annotations show the findings, too.
func (s *step) tellChecks(doc *checkreport.Document, here surroundings) error {
	words := here.gate.checkWords()
	var file, text bytes.Buffer
	if err := errors.Join(doc.Write(&file), doc.Text(&text, words, false)); err != nil {
		return failedError(err)
	}
	name, err := here.out.WriteFile(findingsFile, file.Bytes())
	if err != nil {
		return failedError(err)
	}
	for _, o := range doc.Outputs(words) {
		s.runner.Group("Airlock: "+o.Title, func() { s.runner.Log(o.Text) })
	}
	s.runner.Group("Airlock: "+doc.Headline(), func() { s.runner.Log(text.String()) })
	if s.settings.Mode == config.ModeCheck {
		s.annotateChecks(doc, here)
	}
	if _, err := s.runner.AddSummary(doc.Summary(words, action.MaxSummary), cutBytes); err != nil {
		s.warn(err)
	}
	return s.setChecks(doc, name)
}

// annotateChecks shows the findings beside their lines.
func (s *step) annotateChecks(doc *checkreport.Document, here surroundings) {
	var list []report.Annotation
	for _, a := range doc.Annotations(here.gate.checkWords()) {
		list = append(list, report.Annotation{Level: annotationLevel(a.Severity), Title: "Airlock " + a.Title, Message: a.Message, Path: a.Path, StartLine: a.StartLine, EndLine: a.EndLine})
	}
	s.annotate(list, "the findings document")
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
