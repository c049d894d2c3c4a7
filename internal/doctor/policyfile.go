package doctor

import (
	"cmp"
	"errors"
	"io/fs"
	"strconv"
	"strings"

	"github.com/agent-airlock/airlock/internal/config"
	"github.com/agent-airlock/airlock/internal/text"
)

// policyFile is a configuration of the repository, read once.
type policyFile struct {
	cfg   config.SafeOutputs
	known bool // cfg is what the file says
}

// policyOf returns the configuration that a step of Airlock reads, and whether it is known. What
// is wrong with it becomes findings.
func (e *Examination) policyOf(w *workflow, s *step) (config.SafeOutputs, bool) {
	inline, file := s.input("config"), strings.TrimSpace(s.input("config-file"))
	switch {
	case hasExpression(inline) || hasExpression(file):
		return config.SafeOutputs{}, false
	case !text.IsBlank(inline):
		cfg, err := config.Parse("config", []byte(inline))
		if err != nil {
			e.configProblems(w.path, s.inputLine("config"), err)
			return config.SafeOutputs{}, false
		}
		e.configWarnings(w.path, s.inputLine("config"), cfg)
		return cfg, true
	case file == "":
		return config.SafeOutputs{}, true
	}
	if p, ok := e.policies[file]; ok {
		return p.cfg, p.known
	}
	p := policyFile{}
	raw, err := e.dir.Read(file, maxFile)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		e.add(Finding{Rule: "policy-missing", Severity: Problem, File: w.path, Line: s.inputLine("config-file"),
			What: "config-file names " + strconv.Quote(text.Truncate(file, 100)) + ", which is not in the repository",
			Why:  "the gate reads it from the base commit or the default branch, and fails without it",
			Mend: "add the file, or correct the path"})
	case err != nil:
		e.add(Finding{Rule: "policy-unreadable", Severity: Problem, File: w.path, Line: s.inputLine("config-file"),
			What: text.OneLine(err.Error()),
			Why:  "the gate fails without its policy",
			Mend: "make it an ordinary file of the repository"})
	default:
		if p.cfg, err = config.Parse(file, raw); err != nil {
			e.configProblems(file, 0, err)
		} else {
			p.known = true
			e.configWarnings(file, 0, p.cfg)
		}
	}
	e.policies[file] = p
	return p.cfg, p.known
}

// configWarnings lists the warnings about a configuration. line is as for configProblems.
func (e *Examination) configWarnings(file string, line int, cfg config.SafeOutputs) {
	for _, warning := range cfg.Warnings {
		e.add(Finding{Rule: "policy-warning", Severity: Advice, File: file, Line: cmp.Or(line, warning.Line),
			What: text.OneLine(warning.Message),
			Why:  "the policy does not do what it seems to do",
			Mend: "change the line as the warning says"})
	}
}

// configProblems lists what is wrong with a configuration. line is where an inline configuration is
// in its workflow, and 0 for a file.
func (e *Examination) configProblems(file string, line int, err error) {
	problems, ok := errors.AsType[config.Problems](err)
	if !ok {
		problems = config.Problems{{Message: err.Error()}}
	}
	for _, p := range problems {
		e.add(Finding{Rule: "policy-invalid", Severity: Problem, File: file, Line: cmp.Or(line, p.Line),
			What: cmp.Or(text.OneLine(p.Message), "it cannot be read"),
			Why:  "the gate refuses to start with a policy that it cannot read in full",
			Mend: "correct it; 'airlock validate --config FILE' checks it, and so do editors that use its schema"})
	}
}
