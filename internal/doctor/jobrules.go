package doctor

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/rhysd/actionlint"

	"github.com/agent-airlock/airlock/internal/apply"
	"github.com/agent-airlock/airlock/internal/config"
	"github.com/agent-airlock/airlock/internal/exposure"
	"github.com/agent-airlock/airlock/internal/policy"
	"github.com/agent-airlock/airlock/internal/safeoutput"
	"github.com/agent-airlock/airlock/internal/text"
)

// role is what a job does, as far as the rules distinguish it.
type role struct {
	gate        bool            // a step holds the token that writes
	ownToken    bool            // such a token is the job's own GITHUB_TOKEN
	foreignCode bool            // a step runs a pull request's code
	may         map[string]bool // permissions to write that the policies of the job's gates can need
	need        map[string]bool // the part of may that the workflow's events can lead to, without staged steps
	known       bool            // both are complete, and nothing else is needed
}

func (e *Examination) judgeJob(w *workflow, j *job) {
	r := role{may: map[string]bool{}, need: map[string]bool{}, known: true}
	for _, s := range j.steps {
		if !s.isAirlock() {
			continue
		}
		cfg, known := e.policyOf(w, s)
		e.judgeInputs(w, s)
		r.foreignCode = r.foreignCode || s.runsForeignCode(cfg)
		if s.mayWrite() {
			r.gate = true
			if s.hasOtherToken() {
				continue // the job's own needs nothing
			}
			r.ownToken = true
			ticks := cfg.Acceptance.Tick && w.startsOnClose() // which takes permissions to read, too
			r.known = r.known && known && !ticks && s.place != notAirlock && s.mode() != "" && s.mode() != config.ModeLoop
			for _, name := range needed(s, cfg) {
				r.may[name] = true
			}
			if strings.EqualFold(s.input("staged"), "true") {
				continue // it writes nothing
			}
			for _, name := range needed(s, w.triggered(cfg)) {
				r.need[name] = true
			}
		}
	}
	switch {
	case r.gate:
		e.judgeGatePermissions(w, j, r)
		e.judgeGateSteps(w, j, r)
		e.judgeHandover(w, j)
		for _, before := range w.neededJobs(j) {
			if before.isOnlyGate() {
				continue // what it does, strangers do not influence
			}
			e.judgeReader(w, before, "the gate's job "+j.id+" uses the results of this job")
		}
	case r.foreignCode:
		e.judgeReader(w, j, "this job runs a pull request's code")
		e.judgeForeignCode(w, j)
	}
}

// needed returns the permissions to write that a step of the gate can need.
func needed(s *step, cfg config.SafeOutputs) []string {
	mode := s.mode()
	findings, verdict := s.input("findings") != "", s.input("verdict") != ""
	lines := s.input("output-file") != "" || s.input("agent-output") != "" || !findings && !verdict
	if !cfg.Policy.Configured() && !findings && !verdict {
		return nil // everything is planned, and nothing is written
	}
	p := cfg.Policy
	if !lines {
		p.Kinds = map[policy.Kind]policy.KindConfig{}
	}
	if findings || mode == config.ModeAll && cfg.Checks.Given && s.place == wholeAction {
		p.Own = cfg.Checks.Report.Own(true)
	}
	if verdict {
		p.Own.CheckRun, p.Own.Comment = true, true
	}
	return p.Permissions()
}

// triggered returns a configuration that allows only what the workflow's events can lead to. An
// item acts on what the event is about, unless the policy names another target for its kind.
func (w *workflow) triggered(cfg config.SafeOutputs) config.SafeOutputs {
	on := map[safeoutput.Target]bool{}
	for _, event := range w.parsed.On {
		switch name := event.EventName(); {
		case name == "issues":
			on[safeoutput.Issue] = true
		case name == "issue_comment":
			on[safeoutput.Issue], on[safeoutput.PullRequest] = true, true
		case strings.HasPrefix(name, "pull_request"):
			on[safeoutput.PullRequest] = true
		case strings.HasPrefix(name, "discussion"):
			on[safeoutput.Discussion] = true
		case slices.Contains([]string{"workflow_dispatch", "schedule", "push", "release", "create", "delete"}, name):
		default: // another workflow, or a program, decides what the event is about
			return cfg
		}
	}
	kinds := maps.Clone(cfg.Policy.Kinds) // which may be nil
	for kind, kc := range kinds {
		if kc.Target == (policy.TargetRule{}) {
			for _, t := range safeoutput.SpecOf(kind).ActsOn {
				if !on[t] {
					kc.Excludes = append(slices.Clone(kc.Excludes), t)
				}
			}
		}
		kinds[kind] = kc
	}
	cfg.Policy.Kinds = kinds
	return cfg
}

// judgeGatePermissions compares the permissions of a gate's job with what its policy needs.
func (e *Examination) judgeGatePermissions(w *workflow, j *job, r role) {
	levels, line, declared := w.permissions(j)
	block := indented(apply.WriteBlock(slices.Sorted(maps.Keys(r.need))))
	if !declared {
		e.add(Finding{Rule: "permissions-undeclared", Severity: Problem, File: w.path, Line: line,
			What: "the job " + j.id + " holds the token and does not declare its permissions",
			Why:  "it gets whatever the repository gives by default, which may be everything or too little",
			Mend: "add to the job:\n" + block})
		return
	}
	if !r.known {
		return
	}
	missing := slices.DeleteFunc(slices.Sorted(maps.Keys(r.need)), func(name string) bool { return levels[name] == "write" })
	extra := slices.DeleteFunc(writes(levels), func(name string) bool { return r.may[name] })
	if len(missing) > 0 {
		e.add(Finding{Rule: "permissions-missing", Severity: Problem, File: w.path, Line: line,
			What: "the job " + j.id + " lacks " + levelsOf(missing),
			Why:  "items fail with 403 although the policy allows them",
			Mend: "the permissions should be:\n" + block})
	}
	if r.ownToken && levels["contents"] == "" {
		e.add(Finding{Rule: "permissions-missing", Severity: Problem, File: w.path, Line: line,
			What: "the job " + j.id + " lacks contents: read",
			Why:  "in a private repository nothing can be read: neither the policy of config-file nor a commit",
			Mend: "add contents: read"})
	}
	if len(extra) > 0 {
		e.add(Finding{Rule: "permissions-excess", Severity: Advice, File: w.path, Line: line,
			What: "the job " + j.id + " has " + levelsOf(extra) + ", which the policy does not need",
			Why:  "what is not there cannot be misused",
			Mend: "the permissions should be:\n" + block})
	}
}

// judgeGateSteps asks that a gate's job executes nothing else.
func (e *Examination) judgeGateSteps(w *workflow, j *job, r role) {
	for _, s := range j.steps {
		switch {
		case !r.foreignCode && s.isAirlock(), s.servesGate():
		case s.runsForeignCode(config.SafeOutputs{Checks: config.Checks{Given: true}}):
			e.add(Finding{Rule: "token-beside-code", Severity: Problem, File: w.path, Line: s.line,
				What: "the job " + j.id + " runs a pull request's code, and holds the token that writes",
				Why:  "Airlock keeps the two apart in one container, but whoever controls an earlier step of the job controls the token too",
				Mend: "run the checks in a job of their own with permissions: contents: read, and give the findings document to this one"})
		case s.place == notAirlock:
			e.add(Finding{Rule: "gate-runs-more", Severity: Advice, File: w.path, Line: s.line,
				What: "the job " + j.id + " holds the token, and executes " + s.name(),
				Why:  "the token is safe as long as the job executes nothing but the gate",
				Mend: "move the step into the job before, and hand its result over as an artifact"})
		}
	}
}

// isOnlyGate reports whether a job is one of the gate that surely executes nothing but Airlock.
func (j *job) isOnlyGate() bool {
	all := config.SafeOutputs{Checks: config.Checks{Given: true}}
	isMore := func(s *step) bool {
		if s.runsForeignCode(all) || s.place != notAirlock && s.mode() == "" {
			return true
		}
		return s.place == notAirlock && !s.servesGate() && !s.runsOnlyAirlock()
	}
	return slices.ContainsFunc(j.steps, (*step).mayWrite) && !slices.ContainsFunc(j.steps, isMore)
}

// judgeReader asks that a job which a stranger can influence has no permission to write, and that its
// checkouts leave no token in the workspace.
func (e *Examination) judgeReader(w *workflow, j *job, why string) {
	if j.WorkflowCall != nil || j.judged {
		return
	}
	j.judged = true
	levels, line, declared := w.permissions(j)
	if !declared {
		e.add(Finding{Rule: "permissions-undeclared", Severity: Problem, File: w.path, Line: line,
			What: "the job " + j.id + " does not declare its permissions",
			Why:  why + ", and this job's token may be able to write",
			Mend: "add to the job:\n" + indented(apply.WriteBlock(nil))})
	} else if names := writes(levels); len(names) > 0 {
		e.add(Finding{Rule: "reader-can-write", Severity: Problem, File: w.path, Line: line,
			What: "the job " + j.id + " has " + levelsOf(names),
			Why:  why + ": whoever controls what this job does can write to the repository, past the gate",
			Mend: "leave it contents: read"})
	}
	for _, s := range j.steps {
		if s.is("actions/checkout") && !strings.EqualFold(s.input("persist-credentials"), "false") {
			e.add(Finding{Rule: "credentials-left", Severity: Problem, File: w.path, Line: s.line,
				What: "the checkout in the job " + j.id + " leaves the token in the workspace",
				Why:  why + ", and every program that it runs can read the token there; in such a job, Airlock's checks refuse to start",
				Mend: "add with: persist-credentials: false"})
		}
	}
}

// judgeForeignCode asks that no secret is next to a pull request's code.
func (e *Examination) judgeForeignCode(w *workflow, j *job) {
	report := func(line int, what string) {
		e.add(Finding{Rule: "secret-beside-code", Severity: Problem, File: w.path, Line: line,
			What: what + " in the job " + j.id + ", which runs a pull request's code",
			Why:  "that code can read it; the checks refuse to start",
			Mend: "remove it from the job"})
	}
	reportVariables := func(env *actionlint.Env) {
		if env == nil {
			return
		}
		for _, name := range slices.Sorted(maps.Keys(env.Vars)) {
			v := env.Vars[name]
			if secretVariable(value(v.Name), value(v.Value)) {
				report(lineOf(v.Name.Pos), "the variable "+text.OneLine(value(v.Name))+" is")
			}
		}
	}
	reportVariables(w.parsed.Env)
	reportVariables(j.Env)
	for _, s := range j.steps {
		if s.place == setupAction {
			continue // it downloads a release, before the job has anybody's code
		}
		reportVariables(s.Env)
		if namesSecret(s.run) {
			report(s.line, "a script with a secret is")
		}
		for _, name := range inputsOf(s) {
			if namesSecret(s.input(name)) {
				report(s.inputLine(name), "the input "+name+" with a secret is")
			}
		}
	}
}

// secretVariable reports whether a variable gives a secret to the programs of a job: by its
// value, or by its name, for which the checks refuse to start.
func secretVariable(name, v string) bool {
	return namesSecret(v) || v != "" && exposure.VariableNamesCredential(name)
}

// namesSecret reports whether an expression in a text of a workflow names a secret or the job's
// token.
func namesSecret(s string) bool {
	return slices.ContainsFunc(expression.FindAllString(s, -1), func(found string) bool {
		return strings.Contains(found, "secrets.") || strings.Contains(found, "secrets[") || strings.Contains(found, "github.token")
	})
}

// judgeHandover follows the files of a gate back to the jobs that left them.
func (e *Examination) judgeHandover(w *workflow, j *job) {
	uploads := map[string]bool{} // by the artifact's name
	anyName := false
	for _, before := range w.neededJobs(j) {
		anyName = anyName || before.WorkflowCall != nil
		for _, s := range before.steps {
			if s.is("actions/upload-artifact") {
				name := s.input("name")
				anyName = anyName || hasExpression(name)
				uploads[cmp.Or(name, "artifact")] = true
				e.judgeHidden(w, s)
			}
		}
	}
	downloads := false
	for _, s := range j.steps {
		if !s.is("actions/download-artifact") {
			continue
		}
		downloads = true
		name := s.input("name")
		isKnown := name != "" && !hasExpression(name) && s.input("run-id") == "" && !anyName
		if !isKnown || uploads[name] {
			continue
		}
		e.add(Finding{Rule: "no-handover", Severity: Problem, File: w.path, Line: s.inputLine("name"),
			What: fmt.Sprintf("no job that %s needs uploads the artifact %q", j.id, text.Truncate(text.OneLine(name), 60)),
			Why:  "the download fails, or comes before the upload",
			Mend: "upload it in a job before, and name that job under needs"})
	}
	if downloads || len(j.Needs) == 0 {
		return
	}
	for _, s := range j.steps {
		if s.place != gateAction && (s.place != wholeAction || s.mode() == config.ModeAll) {
			continue // its inputs name no files of another job
		}
		for _, name := range []string{"output-file", "agent-output", "changes", "findings", "verdict"} {
			given := strings.TrimSpace(s.input(name))
			if isFile := given != "" && !strings.HasPrefix(given, "{") && !hasExpression(given); isFile {
				e.add(Finding{Rule: "no-handover", Severity: Problem, File: w.path, Line: s.inputLine(name),
					What: fmt.Sprintf("the input %s names a file, and the job %s downloads no artifact", name, j.id),
					Why:  "jobs share no files: what an earlier job wrote is not there",
					Mend: "upload the file there, and download it here: actions/download-artifact"})
			}
		}
	}
}

// judgeHidden looks for files whose names begin with a dot, which an upload leaves out.
func (e *Examination) judgeHidden(w *workflow, s *step) {
	if strings.EqualFold(s.input("include-hidden-files"), "true") {
		return
	}
	for line := range strings.Lines(s.input("path")) {
		line = strings.TrimSpace(line)
		for part := range strings.SplitSeq(path.Clean(line), "/") {
			if strings.HasPrefix(part, ".") && part != "." && part != ".." {
				e.add(Finding{Rule: "hidden-files", Severity: Problem, File: w.path, Line: s.inputLine("path"),
					What: fmt.Sprintf("the upload leaves %q out", text.Truncate(line, 80)),
					Why:  "names that begin with a dot are hidden, and are not uploaded",
					Mend: "add include-hidden-files: true"})
				return
			}
		}
	}
}

func indented(s string) string {
	return "    " + strings.ReplaceAll(strings.TrimSuffix(s, "\n"), "\n", "\n    ")
}

// levelsOf lists permissions to write in a sentence.
func levelsOf(names []string) string {
	return strings.Join(names, ": write, ") + ": write"
}
