package doctor

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/rhysd/actionlint"

	"github.com/agent-airlock/airlock/internal/config"
	"github.com/agent-airlock/airlock/internal/crash"
	"github.com/agent-airlock/airlock/internal/text"
)

const (
	workflowDirectory = ".github/workflows"
	maxWorkflows      = 500     // files that are looked at
	maxFile           = 1 << 20 // bytes of a file
)

// workflow is a workflow that uses Airlock.
type workflow struct {
	path   string
	parsed *actionlint.Workflow
	jobs   []*job // in the order of the file
}

// job is a job of such a workflow.
type job struct {
	*actionlint.Job
	id     string
	steps  []*step
	judged bool // judgeReader has applied its rules to the job
}

// step is a step of a job, which uses an action or runs a script.
type step struct {
	*actionlint.Step
	line  int
	uses  *actionlint.ExecAction // nil for a script
	run   string                 // the script
	place airlockPlace
}

// airlockPlace is which part of Airlock an action is.
type airlockPlace int

const (
	notAirlock  airlockPlace = iota
	wholeAction              // the image with the toolchains of the checks
	gateAction
	setupAction
	imageAlone // an image without its action.yml
)

// readWorkflows reads the workflows that use Airlock.
func (e *Examination) readWorkflows() error {
	names, err := e.dir.List(workflowDirectory, maxWorkflows)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, name := range names {
		if ending := path.Ext(name); ending != ".yml" && ending != ".yaml" {
			continue
		}
		file := path.Join(workflowDirectory, name)
		raw, err := e.dir.Read(file, maxFile)
		if err != nil {
			e.broken = true
			e.add(Finding{Rule: "unreadable", Severity: Unknown, File: file,
				What: text.OneLine(err.Error()),
				Why:  "a workflow that uses Airlock may be in it",
				Mend: "look at the file"})
			continue
		}
		if !strings.Contains(strings.ToLower(string(raw)), "airlock") {
			continue
		}
		e.readWorkflow(file, raw)
	}
	return nil
}

// readWorkflow reads one workflow, whose text may be anybody's.
func (e *Examination) readWorkflow(file string, raw []byte) {
	var parsed *actionlint.Workflow
	var problems []*actionlint.Error
	if err := crash.Try(func() error { parsed, problems = actionlint.Parse(raw); return nil }); err != nil {
		e.broken = true
		e.add(Finding{Rule: "syntax", Severity: Unknown, File: file,
			What: "the workflow cannot be read",
			Why:  "whether it is sound is not known",
			Mend: "check it with actionlint"})
		return
	}
	e.broken = e.broken || len(problems) > 0
	for _, p := range problems {
		e.add(Finding{Rule: "syntax", Severity: Problem, File: file, Line: p.Line,
			What: text.Truncate(text.OneLine(p.Message), 300),
			Why:  "GitHub refuses the workflow, or reads it in another way than it is meant",
			Mend: "correct the line; actionlint explains it"})
	}
	if parsed == nil {
		return
	}
	if w := newWorkflow(file, parsed); w.usesAirlock() {
		e.workflows = append(e.workflows, w)
	}
}

func newWorkflow(file string, parsed *actionlint.Workflow) *workflow {
	w := &workflow{path: file, parsed: parsed}
	for id, j := range parsed.Jobs {
		if j == nil {
			continue
		}
		own := &job{Job: j, id: id}
		for _, s := range j.Steps {
			if s == nil {
				continue
			}
			st := &step{Step: s, line: lineOf(s.Pos)}
			switch exec := s.Exec.(type) {
			case *actionlint.ExecAction:
				st.uses, st.place = exec, placeOf(value(exec.Uses))
				if exec.Uses != nil {
					st.line = lineOf(exec.Uses.Pos)
				}
			case *actionlint.ExecRun:
				st.run = value(exec.Run)
			}
			own.steps = append(own.steps, st)
		}
		w.jobs = append(w.jobs, own)
	}
	slices.SortFunc(w.jobs, func(a, b *job) int { return cmp.Or(cmp.Compare(lineOf(a.Pos), lineOf(b.Pos)), cmp.Compare(a.id, b.id)) })
	return w
}

func (w *workflow) usesAirlock() bool {
	return slices.ContainsFunc(w.jobs, func(j *job) bool {
		return slices.ContainsFunc(j.steps, (*step).isAirlock)
	})
}

// job returns the job with an id, without regard to case; nil if there is none.
func (w *workflow) job(id string) *job {
	for _, j := range w.jobs {
		if strings.EqualFold(j.id, id) {
			return j
		}
	}
	return nil
}

// neededJobs returns the jobs that a job needs, directly or not.
func (w *workflow) neededJobs(j *job) []*job {
	seen := map[*job]bool{}
	var visit func(*job)
	visit = func(j *job) {
		for _, need := range j.Needs {
			if n := w.job(value(need)); n != nil && !seen[n] {
				seen[n] = true
				visit(n)
			}
		}
	}
	visit(j)
	return slices.DeleteFunc(slices.Clone(w.jobs), func(other *job) bool { return !seen[other] })
}

// startsOn reports whether an event starts the workflow, and in which line that is said, 0 for an
// event such as schedule, which is not a webhook's.
func (w *workflow) startsOn(name string) (line int, ok bool) {
	for _, event := range w.parsed.On {
		if event.EventName() != name {
			continue
		}
		if hook, isHook := event.(*actionlint.WebhookEvent); isHook {
			line = lineOf(hook.Pos)
		}
		return line, true
	}
	return 0, false
}

// startsOnClose reports whether the end of a pull request starts the workflow.
func (w *workflow) startsOnClose() bool {
	return slices.ContainsFunc(w.parsed.On, func(event actionlint.Event) bool {
		hook, isHook := event.(*actionlint.WebhookEvent)
		return isHook && strings.HasPrefix(hook.EventName(), "pull_request") &&
			slices.ContainsFunc(hook.Types, func(t *actionlint.String) bool { return value(t) == "closed" })
	})
}

// placeOf returns which part of Airlock a step uses, whoever owns its repository. GitHub reads the
// names of repositories without regard to case.
func placeOf(uses string) airlockPlace {
	name, _, _ := strings.Cut(uses, "@")
	name = strings.ToLower(strings.TrimSuffix(name, "/"))
	if image, ok := strings.CutPrefix(uses, "docker://"); ok {
		image, _, _ = strings.Cut(image, "@")
		image, _, _ = strings.Cut(path.Base(image), ":")
		if image == "airlock" || image == "airlock-gate" {
			return imageAlone
		}
		return notAirlock
	}
	switch {
	case strings.HasSuffix(name, "/airlock/actions/gate"), name == "./actions/gate":
		return gateAction
	case strings.HasSuffix(name, "/airlock/actions/setup"), name == "./actions/setup":
		return setupAction
	case strings.Count(name, "/") == 1 && strings.HasSuffix(name, "/airlock") && !strings.HasPrefix(name, "."):
		return wholeAction
	}
	return notAirlock
}

// input returns the text of an input of the step's action, "" if it is not given.
func (s *step) input(name string) string {
	if s.uses == nil || s.uses.Inputs[name] == nil {
		return ""
	}
	return value(s.uses.Inputs[name].Value)
}

// inputLine returns where an input is given, or else the step's line.
func (s *step) inputLine(name string) int {
	if s.uses == nil || s.uses.Inputs[name] == nil || s.uses.Inputs[name].Value == nil {
		return s.line
	}
	return lineOf(s.uses.Inputs[name].Value.Pos)
}

// is reports whether the step uses an action, in any version.
func (s *step) is(action string) bool {
	if s.uses == nil {
		return false
	}
	name, _, _ := strings.Cut(value(s.uses.Uses), "@")
	return strings.EqualFold(name, action)
}

// hasExpression reports whether a text of a workflow is known only when it runs.
func hasExpression(text string) bool { return strings.Contains(text, "${{") }

// mode returns what Airlock's action does in the step, "" where an expression says it.
func (s *step) mode() config.Mode {
	mode := strings.TrimSpace(s.input("mode"))
	if hasExpression(mode) {
		return ""
	}
	return cmp.Or(config.Mode(mode), config.ModeAll)
}

// commands returns the commands of airlock that a script runs, such as "apply" and "loop start",
// except for those with --dry-run, which write nothing.
func (s *step) commands() (list []string) {
	for command := range s.scriptCommands() {
		words := strings.Fields(command)
		if slices.Contains(words, "--dry-run") || slices.Contains(words, "--dry-run=true") {
			continue
		}
		for i, word := range words {
			if isProgram(word) && i+1 < len(words) {
				list = append(list, commandOf(words[i+1:]))
			}
		}
	}
	return list
}

// scriptCommands returns the commands of the step's script, of all programs.
func (s *step) scriptCommands() iter.Seq[string] {
	// A continued line is one command, and the & of a redirection ends none.
	script := strings.NewReplacer("\\\n", " ", ">&", ">", "&>", ">").Replace(s.run)
	return strings.FieldsFuncSeq(script, func(r rune) bool { return strings.ContainsRune("\n;&|", r) })
}

// isProgram reports whether a word of a script is the program airlock.
func isProgram(word string) bool { return word == "airlock" || strings.HasSuffix(word, "/airlock") }

// runsOnlyAirlock reports whether the step is a script whose commands all begin with airlock and
// contain no other command.
func (s *step) runsOnlyAirlock() bool {
	for command := range s.scriptCommands() {
		words := strings.Fields(command)
		if len(words) > 0 && !isProgram(words[0]) || strings.ContainsAny(command, "`(") {
			return false
		}
	}
	return len(s.commands()) > 0
}

// commandOf returns the command that the arguments of airlock name. Flags may stand before it. A
// command of loop counts as "loop start" unless it surely is another one.
func commandOf(args []string) string {
	i := 0
	if strings.HasPrefix(args[0], "-") { // what follows may be the flag's value
		i = max(0, slices.IndexFunc(args, func(arg string) bool { return slices.Contains([]string{"apply", "check", "verify", "loop"}, arg) }))
	}
	name, rest := args[i], args[i+1:]
	switch {
	case name != "loop" || len(rest) == 0:
		return name
	case slices.Contains([]string{"decide", "log", "status"}, rest[0]):
		return name + " " + rest[0]
	}
	return "loop start"
}

// runsForeignCode reports whether the step runs code of a pull request. The checks run such code,
// and the verification of acceptance criteria may run it. If an expression gives the mode of an
// action, the result is false.
func (s *step) runsForeignCode(cfg config.SafeOutputs) bool {
	if s.place == wholeAction || s.place == imageAlone {
		mode := s.mode()
		return mode == config.ModeCheck || mode == config.ModeVerify || mode == config.ModeAll && cfg.Checks.Given
	}
	return slices.ContainsFunc(s.commands(), func(c string) bool { return c == "check" || c == "verify" || c == "loop start" })
}

// mayWrite reports whether the step writes to GitHub. If an expression gives its mode, it may write,
// so the result is true.
func (s *step) mayWrite() bool {
	switch s.place {
	case wholeAction, gateAction, imageAlone:
		mode := s.mode()
		return mode == config.ModeAll || mode == config.ModeApply || mode == config.ModeLoop || mode == ""
	}
	return slices.Contains(s.commands(), "apply")
}

// isAirlock reports whether the step uses one of Airlock's actions or images, or runs a command of
// airlock.
func (s *step) isAirlock() bool { return s.place != notAirlock || len(s.commands()) > 0 }

// servesGate reports whether the step uses an action that brings the gate files or a token, and
// executes nothing of others.
func (s *step) servesGate() bool {
	return slices.ContainsFunc([]string{"actions/checkout", "actions/download-artifact", "actions/upload-artifact", "actions/create-github-app-token"}, s.is)
}

// hasOtherToken reports whether the step is given another token than the job's own, such as an App's.
func (s *step) hasOtherToken() bool {
	given := strings.ToLower(s.input("token"))
	return given != "" && !strings.Contains(given, "github.token") && !strings.Contains(given, "github_token")
}

// name names the step for people.
func (s *step) name() string {
	switch {
	case s.uses != nil:
		return text.Truncate(text.OneLine(value(s.uses.Uses)), 100)
	case s.Name != nil:
		return fmt.Sprintf("the step %q", text.Truncate(text.OneLine(value(s.Name)), 60))
	}
	return "a script"
}

func value(s *actionlint.String) string {
	if s == nil {
		return ""
	}
	return s.Value
}

func lineOf(p *actionlint.Pos) int {
	if p == nil {
		return 0
	}
	return p.Line
}

// scopes returns the level of each permission of a block, in which write-all and read-all stand for
// all of them.
func scopes(p *actionlint.Permissions) map[string]string {
	all := map[string]string{}
	if p.All != nil {
		level := map[string]string{"write-all": "write", "read-all": "read"}[value(p.All)]
		for _, name := range []string{"actions", "checks", "contents", "deployments", "discussions", "id-token", "issues", "packages", "pages", "pull-requests", "security-events", "statuses"} {
			all[name] = level
		}
		return all
	}
	for name, s := range p.Scopes {
		all[name] = value(s.Value)
	}
	return all
}

// permissions returns the permissions of a job's token, the line where they are declared, and whether
// they are; if not, the line is the job's.
func (w *workflow) permissions(j *job) (levels map[string]string, line int, declared bool) {
	switch {
	case j.Permissions != nil:
		return scopes(j.Permissions), lineOf(j.Permissions.Pos), true
	case w.parsed.Permissions != nil:
		return scopes(w.parsed.Permissions), lineOf(w.parsed.Permissions.Pos), true
	}
	return nil, lineOf(j.Pos), false
}

// writes returns the names of the permissions to write among levels, sorted.
func writes(levels map[string]string) []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(levels)), func(name string) bool { return levels[name] != "write" })
}
