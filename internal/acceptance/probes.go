package acceptance

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/agent-airlock/airlock/internal/crash"
	"github.com/agent-airlock/airlock/internal/text"
)

// run verifies that a command ends with exit code 0.
func (v *verification) run(ctx context.Context, c *criterion, line string) part {
	if v.cfg.Trust != Owner && !slices.Contains(v.cfg.Commands, line) {
		return part{status: Blocked, evidence: fmt.Sprintf("Criteria from others may run only commands that the owner allows, and %s is not among them.", v.quote(line)), remediation: "The owner can list it under acceptance: commands."}
	}
	r, err := v.worktree.Run(ctx, line)
	if err != nil {
		what := fmt.Sprintf("'%s' could not be run", line)
		if ctx.Err() != nil {
			what = fmt.Sprintf("'%s' did not end", line)
		}
		return part{status: Blocked, evidence: v.stopped(ctx, what, err)}
	}
	printed := v.deps.Mask(strings.ToValidUTF8(string(r.Output), ""))
	v.addTest(TestResult{Command: line, ExitCode: r.ExitCode, Snippet: end(printed)})
	v.keep(v.fileName(c, "command", "txt"), c.ID, "what '"+line+"' printed", r.Output)
	switch {
	case r.TimedOut:
		return part{status: Blocked, evidence: fmt.Sprintf("'%s' was ended by the time limit of a command.", line), remediation: "Raise checks: time-limit."}
	case r.Missing != "":
		return part{status: Blocked, evidence: fmt.Sprintf("'%s' needs %s, which is not installed.", line, v.quote(r.Missing)), remediation: "Install it."}
	case r.Signal != "":
		return part{status: Fail, evidence: fmt.Sprintf("'%s' was ended by a signal (%s)%s.", line, r.Signal, lastLine(printed)), remediation: fmt.Sprintf("Make '%s' succeed.", line)}
	case r.ExitCode != 0:
		return part{status: Fail, evidence: fmt.Sprintf("'%s' ended with exit code %d%s.", line, r.ExitCode, lastLine(printed)), remediation: fmt.Sprintf("Make '%s' succeed.", line)}
	}
	return part{status: Pass, evidence: fmt.Sprintf("'%s' ended with exit code 0.", line)}
}

// stopped describes why something did not end: the time ran out, or its own error.
func (v *verification) stopped(ctx context.Context, what string, err error) string {
	if ctx.Err() != nil && errors.Is(context.Cause(ctx), errTime) {
		return fmt.Sprintf("%s: the time of the verification (%s) ran out.", what, v.req.timeout())
	}
	why := strings.ReplaceAll(strings.TrimSpace(v.deps.Mask(err.Error())), "\n", "; ") // violations are on a line each
	return fmt.Sprintf("%s: %s.", what, strings.TrimSuffix(text.OneLine(why), "."))
}

// fetch verifies that a URL answers with the probe's status or, if that is 0, with one from 200 to
// 299.
func (v *verification) fetch(ctx context.Context, c *criterion, p probe) part {
	a, err := v.deps.Fetch(ctx, Fetch{Method: p.method, URL: p.url, Redirects: p.status < 300 || p.status > 399, Trust: v.cfg.Trust})
	if err != nil {
		return part{status: Blocked, evidence: v.stopped(ctx, fmt.Sprintf("%s %s has no answer", p.method, p.url), err)}
	}
	v.addAnswer(APIResponse{Endpoint: p.url, Method: p.method, Status: a.Status, Snippet: v.begin(string(a.Body))})
	v.keep(v.fileName(c, "response", "txt"), c.ID, fmt.Sprintf("the answer to %s %s", p.method, p.url), a.Body)
	evidence, remedy := fmt.Sprintf("%s %s answers with status %d.", p.method, p.url, a.Status), "Make"
	if a.NotFollowed != "" {
		evidence = strings.TrimSuffix(evidence, ".") + "; " + a.NotFollowed + "."
		remedy = "Name the URL to which it redirects, or make"
	}
	switch {
	case p.status != 0 && a.Status != p.status:
		return part{status: Fail, evidence: evidence, remediation: fmt.Sprintf("%s it answer with status %d.", remedy, p.status)}
	case p.status == 0 && (a.Status < 200 || a.Status > 299):
		return part{status: Fail, evidence: evidence, remediation: remedy + " it answer with a status from 200 to 299."}
	}
	return part{status: Pass, evidence: evidence}
}

// shareChecks returns a function that runs all checks named by the criteria or the claim. It runs
// them when it is first called, and returns the same results after that.
func (v *verification) shareChecks(ctx context.Context) func() (map[string]Checked, error) {
	var names []string
	for _, c := range v.criteria {
		for _, p := range c.probes {
			if name, ok := checkName(p.name); ok && p.kind == namedCheck && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	if v.claimsTests() && !slices.Contains(names, "tests") {
		names = append(names, "tests")
	}
	return sync.OnceValues(func() (results map[string]Checked, err error) {
		err = crash.Try(func() error {
			results, err = v.worktree.Checks(ctx, names)
			return err
		})
		for _, name := range names {
			if r, ok := results[name]; ok && err == nil {
				r = v.masked(r)
				results[name] = r
				v.addChecked(r)
				v.keep("checks/"+name+".txt", "", "how the check "+name+" ended", []byte(checkedText(r)))
			}
		}
		return results, err
	})
}

// checkNames are the names of the six checks.
var checkNames = []string{"formatter", "linter", "build", "tests", "code_review", "security_review"}

// checkName returns the name of one of the six checks, in which "-" may replace "_".
func checkName(name string) (string, bool) {
	name = strings.ReplaceAll(name, "-", "_")
	return name, slices.Contains(checkNames, name)
}

// check verifies that one of the six checks passes.
func (v *verification) check(ctx context.Context, given string) part {
	name, ok := checkName(given)
	if !ok {
		return part{status: Blocked, evidence: fmt.Sprintf("There is no check %s.", v.quote(given)), remediation: "Name one of " + strings.Join(checkNames, ", ") + "."}
	}
	results, err := v.checks()
	if err != nil {
		return part{status: Blocked, evidence: v.stopped(ctx, "The check "+name+" could not be run", err)}
	}
	r, ok := results[name]
	if !ok {
		return part{status: Blocked, evidence: "The check " + name + " did not run."}
	}
	return r.part("The check " + name)
}

// test verifies that the tests of one name pass, and that there are any.
func (v *verification) test(ctx context.Context, c *criterion, name string) part {
	if v.cfg.Trust != Owner {
		return part{status: Blocked, evidence: fmt.Sprintf("test:%s names what to run; only the owner may do that.", name), remediation: "Use check:tests."}
	}
	r, err := v.worktree.Test(ctx, name)
	if err != nil {
		return part{status: Blocked, evidence: v.stopped(ctx, fmt.Sprintf("The test %s could not be run", v.quote(name)), err)}
	}
	r = v.masked(r)
	v.addChecked(r)
	v.keep(v.fileName(c, "test", "txt"), c.ID, "how the test "+name+" ended", []byte(checkedText(r)))
	return r.part("The test " + v.quote(name))
}

// masked returns a result with its secrets masked, before anything is cut.
func (v *verification) masked(r Checked) Checked {
	r.Command, r.Output = v.deps.Mask(r.Command), v.deps.Mask(strings.ToValidUTF8(r.Output, ""))
	r.Reasons = slices.Clone(r.Reasons)
	for i := range r.Reasons {
		r.Reasons[i] = v.deps.Mask(r.Reasons[i])
	}
	return r
}

// part returns what the result of a check or test means for a criterion. what is the name of the
// check or test for people.
func (r Checked) part(what string) part {
	ran := ""
	if r.Command != "" {
		ran = fmt.Sprintf(" ('%s')", r.Command)
	}
	reasons := ""
	if len(r.Reasons) > 0 {
		reasons = ": " + strings.TrimSuffix(text.OneLine(strings.Join(firstOf(r.Reasons, 3), "; ")), ".")
		if more := len(r.Reasons) - 3; more > 0 {
			reasons += fmt.Sprintf("; and %d more", more)
		}
	}
	switch r.Status {
	case Pass:
		return part{status: Pass, evidence: what + ran + " passes."}
	case Fail:
		return part{status: Fail, evidence: what + ran + " fails" + reasons + ".", remediation: "Make it pass."}
	case Skip:
		return part{status: Skip, evidence: what + ran + " was skipped" + reasons + "."}
	}
	return part{status: Blocked, evidence: what + ran + " could not be run" + reasons + "."}
}

// firstOf returns at most the first n elements.
func firstOf[T any](list []T, n int) []T { return list[:min(len(list), n)] }

// addChecked adds a check's command to the evidence.
func (v *verification) addChecked(r Checked) {
	if r.Command == "" {
		return
	}
	v.addTest(TestResult{Command: r.Command, ExitCode: r.ExitCode, Failed: r.Failing, Snippet: end(r.Output)})
}

// checkedText returns a check's result as a file of evidence.
func checkedText(r Checked) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n", r.Status)
	if r.Command != "" {
		fmt.Fprintf(&b, "$ %s\nexit code %d\n", r.Command, r.ExitCode)
	}
	for _, reason := range r.Reasons {
		fmt.Fprintf(&b, "- %s\n", text.OneLine(reason))
	}
	if r.Output != "" {
		fmt.Fprintf(&b, "\n%s\n", r.Output)
	}
	return b.String()
}

// lastLine returns the last line of a masked output, in brackets; "" if there is none.
func lastLine(printed string) string {
	lines := strings.Split(strings.TrimSpace(printed), "\n")
	last := text.OneLine(lines[len(lines)-1])
	if last == "" {
		return ""
	}
	return " (" + text.Truncate(last, 200) + ")"
}
