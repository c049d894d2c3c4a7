package doctor

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/rhysd/actionlint"

	"github.com/agent-airlock/airlock/internal/config"
	"github.com/agent-airlock/airlock/internal/lazyregexp"
	"github.com/agent-airlock/airlock/internal/text"
)

// judgeWorkflow applies the rules for every job and step of a workflow, whether or not they use
// Airlock, and those about the workflow itself.
func (e *Examination) judgeWorkflow(w *workflow) {
	line, privileged := w.startsOn("pull_request_target")
	event := "pull_request_target"
	if !privileged {
		line, privileged = w.startsOn("workflow_run")
		event = "workflow_run"
	}
	for _, j := range w.jobs {
		for _, s := range j.steps {
			ref := s.input("ref")
			checksOutPull := s.is("actions/checkout") && (strings.Contains(ref, "head") || strings.Contains(ref, "refs/pull"))
			if privileged && checksOutPull {
				e.add(Finding{Rule: "foreign-code-with-secrets", Severity: Problem, File: w.path, Line: s.inputLine("ref"),
					What: fmt.Sprintf("the job %s checks out a stranger's commit in a workflow that %s starts (line %d)", j.id, event, line),
					Why:  "such a run has the secrets and the token of the base repository, whoever opened the pull request",
					Mend: "start it on pull_request, where a fork gets neither; hand over what it found as an artifact"})
			}
			e.judgePin(w, s)
			e.judgeExpressions(w, s)
		}
	}
	e.judgeOrder(w)
}

var fullCommit = lazyregexp.New(`@[0-9a-f]{40}$`)

// judgePin asks for actions and images that nobody can exchange, and reports Airlock's image where
// it runs without its action.
func (e *Examination) judgePin(w *workflow, s *step) {
	if s.uses == nil {
		return
	}
	uses := value(s.uses.Uses)
	switch {
	case s.place == imageAlone:
		e.add(Finding{Rule: "image-alone", Severity: Problem, File: w.path, Line: s.line,
			What: s.name() + " runs Airlock's image without its action.yml",
			Why:  "an earlier step could set any input that the workflow leaves out, such as a proxy that receives the token; the image refuses to start",
			Mend: "use the action: agent-airlock/airlock/actions/gate"})
	case strings.HasPrefix(uses, "./"), hasExpression(uses):
	case strings.HasPrefix(uses, "docker://"):
		if !strings.Contains(uses, "@sha256:") {
			e.add(Finding{Rule: "not-pinned", Severity: Advice, File: w.path, Line: s.line,
				What: s.name() + " is not named by its digest",
				Why:  "whoever can move the tag runs in this job",
				Mend: "write docker://IMAGE@sha256:…"})
		}
	case !fullCommit.MatchString(uses):
		e.add(Finding{Rule: "not-pinned", Severity: Advice, File: w.path, Line: s.line,
			What: s.name() + " is not named by its commit",
			Why:  "whoever can move the tag or branch runs in this job",
			Mend: "write the 40 digits of the commit, and the version in a comment: git ls-remote prints it, and Dependabot keeps it up to date"})
	}
}

// judgeExpressions looks for texts of strangers in scripts, where a shell runs them, and in
// Airlock's inputs.
func (e *Examination) judgeExpressions(w *workflow, s *step) {
	if expr := untrusted(s.run); expr != "" {
		e.add(Finding{Rule: "text-in-script", Severity: Problem, File: w.path, Line: s.line,
			What: "a script contains " + expr + ", which a stranger writes",
			Why:  "the shell executes what stands in it",
			Mend: "give it to the step as an environment variable, and write \"$NAME\" in the script"})
	}
	if s.place == notAirlock {
		return
	}
	for _, name := range inputsOf(s) {
		if expr := untrusted(s.input(name)); expr != "" {
			e.add(Finding{Rule: "text-in-input", Severity: Problem, File: w.path, Line: s.inputLine(name),
				What: fmt.Sprintf("the input %s contains %s, which a stranger writes", name, expr),
				Why:  "inputs are the owner's word: with it a stranger changes what is allowed, or which file is read",
				Mend: "write the value into the workflow, or read it from a file of the default branch"})
		}
	}
}

// expression matches one expression of a workflow.
var expression = lazyregexp.New(`\$\{\{(?:[^}']|'[^']*'|\}[^}])*\}\}`)

// untrusted returns, in quotes, the first expression in s whose value a stranger can write, or "".
func untrusted(s string) string {
	for _, found := range expression.FindAllString(s, -1) {
		tree, err := actionlint.NewExprParser().Parse(actionlint.NewExprLexer(found[len("${{"):]))
		if err != nil {
			continue // GitHub refuses it too
		}
		_, errs := actionlint.NewExprSemanticsChecker(true, nil).Check(tree)
		for _, err := range errs {
			if strings.Contains(err.Message, "potentially untrusted") {
				return strconv.Quote(text.Truncate(text.OneLine(found), 80))
			}
		}
	}
	return ""
}

// judgeOrder asks for limits on time, and on runs at once.
func (e *Examination) judgeOrder(w *workflow) {
	for _, j := range w.jobs {
		if j.TimeoutMinutes == nil && j.WorkflowCall == nil {
			e.add(Finding{Rule: "no-timeout", Severity: Advice, File: w.path, Line: lineOf(j.Pos),
				What: "the job " + j.id + " has no timeout-minutes",
				Why:  "what hangs, such as an agent or a test, occupies a runner for six hours",
				Mend: "add timeout-minutes: 30"})
		}
	}
	_, onPull := w.startsOn("pull_request")
	_, onIssues := w.startsOn("issues")
	_, onComment := w.startsOn("issue_comment")
	own := slices.ContainsFunc(w.jobs, func(j *job) bool { return j.Concurrency != nil })
	// Runs for a fix loop need no group, because the loop's log orders its turns. A group would
	// lose decisions: of the runs that wait for it, GitHub keeps the newest and cancels the others.
	loop := slices.ContainsFunc(w.jobs, func(j *job) bool {
		return slices.ContainsFunc(j.steps, func(s *step) bool { return s.mayWrite() && s.mode() == config.ModeLoop })
	})
	if (onPull || onIssues || onComment) && w.parsed.Concurrency == nil && !own && !loop {
		e.add(Finding{Rule: "no-concurrency", Severity: Advice, File: w.path, Line: 1,
			What: "the workflow has no concurrency",
			Why:  "two runs about one pull request or issue work at the same time, and can say things twice",
			Mend: "add concurrency with a group of the number, such as airlock-${{ github.event.issue.number || github.event.pull_request.number || github.run_id }}"})
	}
}

// inputsOf returns the names of a step's inputs, sorted; none for a script.
func inputsOf(s *step) []string {
	if s.uses == nil {
		return nil
	}
	return slices.DeleteFunc(slices.Sorted(maps.Keys(s.uses.Inputs)), func(name string) bool { return s.uses.Inputs[name] == nil })
}

// judgeInputs applies the rules about the inputs of Airlock's actions: their names and values, modes
// that do not fit the action's image, and trust-env.
func (e *Examination) judgeInputs(w *workflow, s *step) {
	if s.place != wholeAction && s.place != gateAction {
		return
	}
	names := inputsOf(s)
	problems := func(err error) {
		list, _ := errors.AsType[config.Problems](err)
		for _, p := range list {
			name := strings.TrimPrefix(p.Source, "input ")
			if hasExpression(s.input(name)) {
				continue
			}
			e.add(Finding{Rule: "input", Severity: Problem, File: w.path, Line: s.inputLine(name),
				What: "input " + name + ": " + text.OneLine(p.Message),
				Why:  "the step refuses to start",
				Mend: "correct it; docs/action.md lists the inputs"})
		}
	}
	problems(config.CheckInputs(names, false))
	_, err := config.ParseSettings(func(name string) string {
		if v := s.input(name); !hasExpression(v) || name == "mode" { // an empty mode would mean the mode all
			return v
		}
		return ""
	})
	problems(err)
	mode := s.mode()
	if s.place == gateAction && (mode == config.ModeCheck || mode == config.ModeVerify) {
		e.add(Finding{Rule: "wrong-image", Severity: Problem, File: w.path, Line: s.inputLine("mode"),
			What: fmt.Sprintf("actions/gate cannot do mode: %s", mode),
			Why:  "its image has no toolchains",
			Mend: "use agent-airlock/airlock in a job that can only read"})
	}
	if s.place == wholeAction && (mode == config.ModeApply || mode == config.ModeLoop || mode == config.ModeCollect) {
		e.add(Finding{Rule: "large-image", Severity: Advice, File: w.path, Line: s.line,
			What: fmt.Sprintf("the image with the toolchains of the checks does mode: %s", mode),
			Why:  "it is large, and holds the token next to programs that it does not need",
			Mend: "use agent-airlock/airlock/actions/gate with the same inputs"})
	}
	if strings.EqualFold(s.input("trust-env"), "true") {
		e.add(Finding{Rule: "policy-from-environment", Severity: Problem, File: w.path, Line: s.inputLine("trust-env"),
			What: "trust-env takes the policy, the proxy and the certificates from the environment",
			Why:  "every earlier step of the job, the agent's too, can set those",
			Mend: "remove it, and give config, config-file, proxy and ca-file"})
	}
}
