package checkreport

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/agent-airlock/airlock/internal/finding"
	"github.com/agent-airlock/airlock/internal/phase"
)

// Input is everything that a document is made from.
type Input struct {
	Result phase.Result // required
	// Repository, Number and Head are what was validated, as far as that is known.
	Repository string
	Number     int
	Head       string
	// Informational are the checks whose failure does not fail the validation.
	Informational []phase.Check
	// Rules returns what is known about a finding's rule. It may be nil.
	Rules      finding.Rules
	Suppressed []Suppressed
	// NewSuppressions are in the order in which people read them.
	NewSuppressions []NewSuppression
	Skipped         []Skipped
	Notes           []string
	// Mask masks the secrets in a text. If it is nil, all texts stay as they are.
	Mask func(string) string
	// Code returns the lines of a file as they were checked, "" if they are not known. It
	// may be nil.
	Code func(path string, start, end int) string
	// Place moves a finding from its lines in the checked code to the same lines at Head; ok is
	// false if they are not there. If Place is nil, all findings stay at their lines.
	Place func(path string, start, end int) (newStart, newEnd int, ok bool)
}

// New makes a document of what a validation found.
func New(in Input) *Document {
	d := &Document{
		Version: Version, Repository: in.Repository, Number: in.Number, Head: in.Head, Output: in.Result.Output,
		Checks: []Check{}, Findings: []Finding{}, Rules: []Rule{}, Suppressed: copied(in.Suppressed), NewSuppressions: copied(in.NewSuppressions),
		Skipped: copied(in.Skipped), Missing: []MissingTool{}, Notes: copied(in.Notes),
	}
	for _, list := range d.Output.Checks.ProblemLists() {
		*list = copied(*list)
	}
	var blocking, old []finding.Finding
	reviews := phase.RootResult{Dir: ".", Checks: in.Result.Reviews}
	for _, root := range append(slices.Clip(in.Result.Roots), reviews) {
		for _, c := range root.Checks {
			check := checkOf(root, c)
			check.Informational = slices.Contains(in.Informational, c.Check)
			d.Checks = append(d.Checks, check)
			blocking, old = append(blocking, c.Blocking...), append(old, c.Old...)
			blocking = append(blocking, failuresOf(check, c.Blocking)...)
		}
	}
	for _, m := range in.Result.Missing {
		d.Missing = append(d.Missing, MissingTool(m))
	}
	d.add(blocking, true, in)
	d.add(old, false, in)
	d.describeRules(in.Rules)
	d.Mask(in.Mask)
	return d
}

// copied returns a copy of a list. The copy is never nil, so an empty one is [] in JSON.
func copied[T any](list []T) []T { return append([]T{}, list...) }

func checkOf(root phase.RootResult, c phase.CheckResult) Check {
	out := Check{
		Check: c.Check, Root: root.Dir, Language: root.Language, Status: c.Status, NotRun: c.NotRun, Command: c.Command, Retries: c.Retries,
		Time: max(c.Duration.Milliseconds(), 0), ExitCode: c.ExitCode, TimedOut: c.TimedOut, Flaky: c.Flaky,
		Problems: copied(c.Problems), Failing: c.Failing, Rewritten: c.Rewritten, Notes: slices.Clone(c.Notes), Excerpt: c.Excerpt,
	}
	for _, f := range c.Failures {
		out.Failures = append(out.Failures, Failure{f.Name, f.Unit, f.Path, f.Line, withoutPlace(f.Message, f.Path, f.Line)})
	}
	return out
}

// withoutPlace returns the message of a failed test. If it begins with this file and line, they are
// removed, because they are shown next to it.
func withoutPlace(message, file string, line int) string {
	for _, name := range []string{file, path.Base(file)} {
		if rest, ok := strings.CutPrefix(message, fmt.Sprintf("%s:%d: ", name, line)); ok {
			return rest
		}
	}
	return message
}

// failuresOf makes a finding of each failed test whose file and line are known, so that it is shown
// there. Tests on a line that has a blocking finding already are left out.
func failuresOf(c Check, blocking []finding.Finding) []finding.Finding {
	if c.Check != phase.Tests || c.Status != phase.Fail {
		return nil
	}
	type spot struct {
		path string
		line int
	}
	reported := make(map[spot]bool, len(blocking))
	for _, f := range blocking {
		reported[spot{f.Path, f.Range.StartLine}] = true
	}
	var findings []finding.Finding
	prints := testPrints(c.Failures)
	for i, f := range c.Failures {
		if f.Path == "" || f.Line == 0 || reported[spot{f.Path, f.Line}] {
			continue
		}
		message := cmp.Or(f.Name, f.Unit, "a test") + " failed"
		if f.Message != "" {
			message += ": " + f.Message
		}
		findings = append(findings, finding.Finding{Check: string(c.Check), Tool: string(phase.Tests), Severity: finding.High,
			Message: message, Path: f.Path, Range: finding.Range{StartLine: f.Line}, Fingerprint: prints[i]})
	}
	return findings
}

// testPrints returns a fingerprint of each failed test. It depends on the test's name, and two names
// that differ only in a number have different fingerprints. It does not depend on the message, which
// may contain addresses and times.
func testPrints(failures []Failure) []string {
	findings := make([]finding.Finding, len(failures))
	for i, f := range failures {
		findings[i] = finding.Finding{Tool: string(phase.Tests), Rule: cmp.Or(f.Name, f.Unit), Path: f.Path, Range: finding.Range{StartLine: f.Line}}
	}
	finding.SetFingerprints(findings)
	prints := make([]string, len(failures))
	for i, f := range findings {
		prints[i] = f.Fingerprint
	}
	return prints
}

// checkOrder orders findings that are equally severe. The findings of the reviews come first,
// because a pull request can make its tools report so many that those of the reviews would be left
// out.
func checkOrder(check string) int {
	switch phase.Check(check) {
	case phase.SecurityReview:
		return 2
	case phase.CodeReview:
		return 1
	}
	return 0
}

// add adds findings, the most severe first, each at its place at Head.
func (d *Document) add(findings []finding.Finding, blocking bool, in Input) {
	findings = slices.Clone(findings)
	for i := range findings {
		f := &findings[i]
		isStyle := f.Check == string(phase.Formatter) || f.Check == string(phase.Linter)
		if isStyle && f.Severity.Rank() > finding.Medium.Rank() {
			f.Severity = finding.Medium // a linter's error must not rank with a leaked key
		}
	}
	finding.SetFingerprints(findings)
	finding.Sort(findings)
	slices.SortStableFunc(findings, func(a, b finding.Finding) int {
		return cmp.Or(b.Severity.Rank()-a.Severity.Rank(), checkOrder(b.Check)-checkOrder(a.Check))
	})
	for _, f := range findings {
		out := Finding{
			Check: phase.Check(f.Check), Tool: f.Tool, Rule: f.Rule, Severity: f.Severity, Message: f.Message, Path: f.Path,
			StartLine: f.Range.StartLine, StartColumn: f.Range.StartColumn, EndLine: f.Range.EndLine, EndColumn: f.Range.EndColumn,
			Suggestion: f.Suggestion, Fingerprint: f.Fingerprint, Blocking: blocking,
		}
		if out.Severity.Rank() == 0 {
			out.Severity = finding.Low // the severity is missing or unknown
		}
		last := out.lastLine()
		if in.Code != nil && out.StartLine > 0 && out.Check != phase.Tests { // a test is known by its name
			out.Code = codeDigest(in.Code(out.Path, out.StartLine, last))
		}
		if in.Place != nil && out.StartLine > 0 {
			start, end, ok := in.Place(out.Path, out.StartLine, last)
			switch {
			case !ok:
				out.dropPlace()
			case out.EndLine > 0:
				out.StartLine, out.EndLine = start, end
			default:
				out.StartLine = start
			}
		}
		d.Findings = append(d.Findings, out)
	}
}

// describeRules adds what is known about the rules that findings name.
func (d *Document) describeRules(rules finding.Rules) {
	if rules == nil {
		return
	}
	seen := map[[2]string]bool{}
	for _, f := range d.Findings {
		key := [2]string{f.Tool, f.Rule}
		if f.Rule == "" || seen[key] {
			continue
		}
		seen[key] = true
		if r, ok := rules(f.Tool, f.Rule); ok {
			d.Rules = append(d.Rules, Rule{f.Tool, f.Rule, r.Name, r.Short, r.Help, r.HelpURI, r.CWE, r.Severity, r.Precision, r.Tags})
		}
	}
	slices.SortFunc(d.Rules, func(a, b Rule) int { return cmp.Or(cmp.Compare(a.Tool, b.Tool), cmp.Compare(a.ID, b.ID)) })
}

// names returns, for each finding, the name by which later workflow runs find its comment: what it
// reports about which code. The fingerprint is used only where the code is not known, because it
// numbers the equal findings of a file. Once the first of them is fixed, the second would get the
// first one's comment, and the last one's comment would be hidden.
func (d *Document) names() []string {
	seen := map[string]int{}
	names := make([]string, len(d.Findings))
	for i, f := range d.Findings {
		name := string(f.Check) + "/" + f.Fingerprint
		if f.Code != "" {
			name = string(f.Check) + "/" + finding.StableName(finding.Finding{Tool: f.Tool, Rule: f.Rule, Path: f.Path, Message: f.Message, Suggestion: f.Suggestion}, f.Code)
			if seen[name]++; seen[name] > 1 {
				name += "-" + strconv.Itoa(seen[name])
			}
		}
		names[i] = name
	}
	return names
}

// codeDigest returns the digest of lines of code without their indentation, "" if there
// are none.
func codeDigest(code string) string {
	var lines []string
	for line := range strings.Lines(code) {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
	}
	if len(lines) == 0 {
		return ""
	}
	sum := sha256.Sum256([]byte(strings.Join(lines, "\n")))
	return hex.EncodeToString(sum[:16])
}
