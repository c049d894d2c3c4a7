package cli

import (
	"fmt"

	"github.com/agent-airlock/airlock/internal/action"
	"github.com/agent-airlock/airlock/internal/config"
	"github.com/agent-airlock/airlock/internal/markdown"
	"github.com/agent-airlock/airlock/internal/report"
)

// set sets outputs of the step, up to the first that fails.
func (s *step) set(list []report.Output) error {
	for _, o := range list {
		if err := s.runner.SetOutput(o.Name, o.Value); err != nil {
			return err
		}
	}
	return nil
}

// annotate writes as many annotations of each level as GitHub shows; a file holds them
// all.
func (s *step) annotate(list []report.Annotation, file string) {
	n, left := map[report.Level]int{}, 0
	for _, a := range list {
		if n[a.Level]++; n[a.Level] > action.MaxAnnotations {
			left++
			continue
		}
		s.runner.Annotate(annotation(a))
	}
	if left > 0 {
		s.runner.Log(fmt.Sprintf("%d more are in %s: GitHub shows %d annotations of a level", left, file, action.MaxAnnotations))
	}
}

// annotation turns a report's annotation into the runner's.
func annotation(a report.Annotation) action.Annotation {
	level := map[report.Level]action.Level{report.Error: action.Error, report.Warning: action.Warning, report.Notice: action.Notice}[a.Level]
	out := action.Annotation{Level: level, Title: a.Title, Message: a.Message, File: a.Path, Line: a.StartLine, EndLine: a.EndLine}
	if out.Line == 0 {
		out.Line = a.EndLine
	}
	return out
}

// cutBytes cuts Markdown to at most so many bytes: a UTF-16 unit takes at most three.
func cutBytes(md string, maxBytes int) string {
	out, _ := markdown.Cut(md, maxBytes/3, "*The rest was cut: a job summary holds no more.*")
	return out
}

// info logs what happens, where the step wants to know it.
func (s *step) info(line string) {
	switch s.settings.LogLevel {
	case config.LogInfo, config.LogDebug, "":
		s.runner.Log(line)
	}
}

// debug logs what only somebody who looks for a cause wants to know.
func (s *step) debug(line string) {
	if s.settings.LogLevel == config.LogDebug {
		s.runner.Log(line)
		return
	}
	s.runner.Debug(line)
}

func (s *step) warn(what any) {
	s.runner.Annotate(action.Annotation{Level: action.Warning, Title: "Airlock", Message: fmt.Sprint(what)})
}
