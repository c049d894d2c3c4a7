package checkreport

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strconv"
	"strings"

	"github.com/agent-airlock/airlock/internal/finding"
	"github.com/agent-airlock/airlock/internal/phase"
)

// Input is everything that a document is made from.
type Input struct {
	Result phase.Result
	// Repository, Number and Head say what was validated, as far as it is known.
	Repository string
	Number     int
	Head       string
	// Informational are the checks whose failure does not fail the whole.
	Informational []phase.Check
	// Rules tells what is known about a finding's rule; it may be nil.
	Rules      finding.Rules
	Suppressed []Suppressed
	Skipped    []Skipped
	Notes      []string
	// Mask leaves secrets out of a text; nil leaves everything as it is.
	Mask func(string) string
	// Code returns the lines of a file as they were looked at; "" where they are not
	// known. It may be nil.
	Code func(path string, start, end int) string
	// Place moves a finding from the lines that were looked at to those at Head; ok
	// is false where its lines are not there. Nil leaves everything in its place.
	Place func(path string, start, end int) (newStart, newEnd int, ok bool)
}

// New makes a document of what a validation found.
func New(in Input) *Document {
	d := &Document{
		Version: Version, Repository: in.Repository, Number: in.Number, Head: in.Head, Output: ownOutput(in.Result.Output),
		Checks: []Check{}, Findings: []Finding{}, Rules: []Rule{}, Suppressed: copied(in.Suppressed),
		Skipped: copied(in.Skipped), Missing: []MissingTool{}, Notes: copied(in.Notes),
	}
	var blocking, old []finding.Finding
	for _, root := range in.Result.Roots {
		for _, c := range root.Checks {
			d.Checks = append(d.Checks, checkOf(root, c))
			blocking, old = append(blocking, c.Blocking...), append(old, c.Old...)
			blocking = append(blocking, failuresOf(c)...)
		}
	}
	for _, r := range in.Result.Reviews {
		d.Checks = append(d.Checks, Check{Check: r.Check, Root: ".", Status: r.Status, Time: max(r.Duration.Milliseconds(), 0),
			Problems: copied(r.Problems), Notes: slices.Clone(r.Notes)})
		blocking, old = append(blocking, r.Blocking...), append(old, r.Old...)
	}
	for i := range d.Checks {
		d.Checks[i].Informational = slices.Contains(in.Informational, d.Checks[i].Check)
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

// ownOutput copies the lists of an output, none of them nil.
func ownOutput(o phase.Output) phase.Output {
	c := &o.Checks
	for _, list := range []*[]string{&c.Formatter.Issues, &c.Linter.Issues, &c.Build.Errors, &c.CodeReview.Findings, &c.SecurityReview.Vulnerabilities} {
		*list = copied(*list)
	}
	return o
}

// copied returns a list of its own that is not nil, so that it is [] in JSON.
func copied[T any](list []T) []T { return append([]T{}, list...) }

func checkOf(root phase.RootResult, c phase.CheckResult) Check {
	out := Check{
		Check: c.Check, Root: root.Dir, Language: root.Language, Status: c.Status, Command: c.Command, Retries: c.Retries,
		Time: max(c.Duration.Milliseconds(), 0), ExitCode: c.ExitCode, TimedOut: c.TimedOut, Flaky: c.Flaky,
		Problems: copied(c.Problems), Failing: c.Failing, Rewritten: c.Rewritten, Notes: slices.Clone(c.Notes), Excerpt: c.Excerpt,
	}
	for _, f := range c.Failures {
		out.Failures = append(out.Failures, Failure{f.Name, f.Unit, f.Path, f.Line, f.Message})
	}
	return out
}

// failuresOf returns the failing tests whose place is known as findings, so that
// they are shown there; of a test that a finding tells of already, nothing.
func failuresOf(c phase.CheckResult) []finding.Finding {
	if c.Check != phase.Tests || c.Status != phase.Fail {
		return nil
	}
	type spot struct {
		path string
		line int
	}
	told := make(map[spot]bool, len(c.Blocking))
	for _, g := range c.Blocking {
		told[spot{g.Path, g.Range.StartLine}] = true
	}
	var out []finding.Finding
	var why []string
	for _, f := range c.Failures {
		if f.Path == "" || f.Line == 0 || told[spot{f.Path, f.Line}] {
			continue
		}
		out = append(out, finding.Finding{Check: string(c.Check), Tool: string(phase.Tests), Severity: finding.High,
			Message: cmp.Or(f.Name, f.Unit) + " failed", Path: f.Path, Range: finding.Range{StartLine: f.Line}})
		why = append(why, f.Message)
	}
	finding.SetFingerprints(out) // by the test's name: what it says may hold addresses and times
	for i := range out {
		if why[i] != "" {
			out[i].Message += ": " + why[i]
		}
	}
	return out
}

// weight orders findings that are equally severe. What tools say can be made by the
// pull request, so many that the reviews' own would be among those left out.
func weight(check string) int {
	switch phase.Check(check) {
	case phase.SecurityReview:
		return 2
	case phase.CodeReview:
		return 1
	}
	return 0
}

// add takes findings over, the most severe first, each at its place at Head.
func (d *Document) add(findings []finding.Finding, blocking bool, in Input) {
	place := in.Place
	findings = slices.Clone(findings)
	finding.SetFingerprints(findings)
	finding.Sort(findings)
	slices.SortStableFunc(findings, func(a, b finding.Finding) int {
		return cmp.Or(b.Severity.Rank()-a.Severity.Rank(), weight(b.Check)-weight(a.Check))
	})
	for _, f := range findings {
		out := Finding{
			Check: phase.Check(f.Check), Tool: f.Tool, Rule: f.Rule, Severity: f.Severity, Message: f.Message, Path: f.Path,
			StartLine: f.Range.StartLine, StartColumn: f.Range.StartColumn, EndLine: f.Range.EndLine, EndColumn: f.Range.EndColumn,
			Suggestion: f.Suggestion, Fingerprint: f.Fingerprint, Blocking: blocking,
		}
		if out.Severity.Rank() == 0 {
			out.Severity = finding.Low // a word that is none counts as the least
		}
		if in.Code != nil && out.StartLine > 0 && out.Check != phase.Tests { // a test is known by its name
			out.Code = codeDigest(in.Code(out.Path, out.StartLine, max(out.StartLine, out.EndLine)))
		}
		if place != nil && out.StartLine > 0 {
			last := max(out.StartLine, out.EndLine)
			start, end, ok := place(out.Path, out.StartLine, last)
			switch {
			case !ok:
				out.StartLine, out.StartColumn, out.EndLine, out.EndColumn, out.Suggestion = 0, 0, 0, 0, ""
			case out.EndLine > 0:
				out.StartLine, out.EndLine = start, end
			default:
				out.StartLine = start
			}
		}
		d.Findings = append(d.Findings, out)
	}
}

// describeRules takes over what is known about the rules that findings name.
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

// names returns, for each finding, the name by which later workflow runs find its
// comment: what is said of which code. Its fingerprint alone would do while there is one
// such finding in a file; of several, the first that is mended would leave its comment
// to the next and settle that of the last.
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

// codeDigest is the digest of lines of code, wherever they are indented; "" of none.
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
