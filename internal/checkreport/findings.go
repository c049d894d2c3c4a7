// Package checkreport reports what phase validation found: as the findings document that
// one job passes to another, to people in a terminal, a summary, a comment and
// annotations, and as Airlock's own items, which packages intake and policy judge like any
// other.
//
// Everything is made from the Document alone, so that a job which only reads it reports
// the same as the one that wrote it. A document from a file is untrusted: its job ran the
// pull request's code.
package checkreport

import (
	"fmt"
	"io"
	"path"
	"slices"

	"github.com/agent-airlock/airlock/internal/finding"
	"github.com/agent-airlock/airlock/internal/phase"
	"github.com/agent-airlock/airlock/internal/schema"
)

// Version is the version of the document's form. Members are added, never renamed.
const Version = 1

// Document is everything that a validation found, in its documented JSON form.
// Every text in it may be a stranger's.
type Document struct {
	Version int `json:"version"`
	// Repository is owner/name, Number the pull request's, Head the commit that paths and
	// lines belong to; each is empty if there is none.
	Repository string `json:"repository,omitempty"`
	Number     int    `json:"pull_request,omitempty"`
	Head       string `json:"head_sha,omitempty"`
	// Output is the result in the form of spec 000.
	Output phase.Output `json:"output"`
	// Checks are the checks of each root, then the reviews.
	Checks     []Check      `json:"checks"`
	Findings   []Finding    `json:"findings"`
	Rules      []Rule       `json:"rules"`
	Suppressed []Suppressed `json:"suppressed"`
	// NewSuppressions are where the change tells tools to be silent.
	NewSuppressions []NewSuppression `json:"new_suppressions"`
	Skipped         []Skipped        `json:"skipped_files"`
	Missing         []MissingTool    `json:"missing_tools"`
	Notes           []string         `json:"notes"`
}

// Check is how one check of one root ended.
type Check struct {
	Check    phase.Check    `json:"check"`
	Root     string         `json:"root"` // relative to the working directory, "." for itself
	Language phase.Language `json:"language,omitempty"`
	Status   phase.Status   `json:"status"`
	NotRun   phase.NotRun   `json:"not_run,omitempty"` // why it passes although nothing has run
	// Informational reports that its failure does not fail the validation.
	Informational bool   `json:"informational,omitempty"`
	Command       string `json:"command,omitempty"`
	Retries       int    `json:"retry_count"`
	Time          int64  `json:"execution_time_ms"`
	// ExitCode is that of the last run. It is -1 if a signal or the time limit ended the run, or if
	// the check failed although nothing ran. It is 0 for a review, and if nothing had to run.
	ExitCode  int       `json:"exit_code"`
	TimedOut  bool      `json:"timed_out,omitempty"`
	Flaky     bool      `json:"flaky,omitempty"`
	Problems  []string  `json:"problems"`
	Failing   int       `json:"failing_count,omitempty"`
	Failures  []Failure `json:"failures,omitempty"`
	Rewritten []string  `json:"rewritten_files,omitempty"`
	Notes     []string  `json:"notes,omitempty"`
	Excerpt   string    `json:"excerpt,omitempty"` // where failing began in the output, and its end
}

// Failure is one test, or one unit of tests, that failed.
type Failure struct {
	Name    string `json:"name,omitempty"`
	Unit    string `json:"unit,omitempty"`
	Path    string `json:"path,omitempty"`
	Line    int    `json:"line,omitempty"`
	Message string `json:"message,omitempty"`
}

// Finding is one thing that was noticed, with its place at Head.
type Finding struct {
	Check    phase.Check      `json:"check"`
	Tool     string           `json:"tool"`
	Rule     string           `json:"rule,omitempty"`
	Severity finding.Severity `json:"severity"`
	Message  string           `json:"message"`
	// Path is relative to the repository's root. Lines and columns count from 1; 0 means
	// that none is known.
	Path        string `json:"path,omitempty"`
	StartLine   int    `json:"start_line,omitempty"`
	StartColumn int    `json:"start_column,omitempty"`
	EndLine     int    `json:"end_line,omitempty"`
	EndColumn   int    `json:"end_column,omitempty"`
	// Suggestion replaces the complete lines from StartLine to EndLine.
	Suggestion  string `json:"suggestion,omitempty"`
	Fingerprint string `json:"fingerprint"`
	// Code is a digest of the code at its lines, 32 hexadecimal digits. The finding keeps its
	// comment as long as the digest is the same. It is "" if the code is not known.
	Code string `json:"code,omitempty"`
	// Blocking reports that the finding made its check fail. It is false if, for example, the pull
	// request did not change the lines or the check passed.
	Blocking bool `json:"gating"`
}

// lastLine returns the last of the finding's lines, 0 if none is known.
func (f Finding) lastLine() int { return max(f.StartLine, f.EndLine) }

// Rule is what is known about the findings of one rule.
type Rule struct {
	Tool      string            `json:"tool"`
	ID        string            `json:"id"`
	Name      string            `json:"name,omitempty"`
	Short     string            `json:"short,omitempty"`
	Help      string            `json:"help,omitempty"` // Markdown
	HelpURI   string            `json:"help_uri,omitempty"`
	CWE       []int             `json:"cwe,omitempty"`
	Severity  finding.Severity  `json:"severity,omitempty"`
	Precision finding.Precision `json:"precision,omitempty"`
	Tags      []string          `json:"tags,omitempty"`
}

// Suppressed is a finding that a comment in the code or the owner's configuration
// suppresses.
type Suppressed struct {
	Rule    string `json:"rule"`
	Path    string `json:"path"`
	Line    int    `json:"line"`
	Message string `json:"message"`
	Reason  string `json:"reason"`        // as the comment gives it, or that the configuration accepts the finding
	New     bool   `json:"new,omitempty"` // the pull request adds the comment
}

// NewSuppression is a comment, an attribute or a line of configuration that the change adds and
// that makes a tool report less. It can also be a test or a setting of a tool that the change takes
// out.
type NewSuppression struct {
	Tool  string `json:"tool"`
	Path  string `json:"path"`
	Line  int    `json:"line"`
	Text  string `json:"text"`  // what is added, or taken out
	Scope string `json:"scope"` // "line", "file" or "project"
	// TakesOut reports that the change takes out what the base has. Line is 0 if the file is gone.
	TakesOut bool `json:"takes_out,omitempty"`
}

// Skipped is a changed file that nobody looked at, and why.
type Skipped struct {
	Path   string `json:"path"`
	Reason string `json:"reason"`
	// Language is the file's language, for people, if none of the checks knows it; otherwise "".
	Language string `json:"language,omitempty"`
}

// MissingTool is a tool that a check needs and that is not installed.
type MissingTool struct {
	Tool     string      `json:"tool"`
	Check    phase.Check `json:"check"`
	Command  string      `json:"command"`
	Override string      `json:"override"` // the parameter that names another command
}

// Failed reports whether the validation failed.
func (d *Document) Failed() bool { return d.Output.Status != phase.Pass }

// rules returns what is known about the findings' rules.
func (d *Document) rules() finding.Rules {
	known := make(map[[2]string]finding.Rule, len(d.Rules))
	for _, r := range d.Rules {
		known[[2]string{r.Tool, r.ID}] = finding.Rule{ID: r.ID, Name: r.Name, Short: r.Short, Help: r.Help, HelpURI: r.HelpURI, CWE: r.CWE,
			Severity: r.Severity, Precision: r.Precision, Tags: r.Tags}
	}
	return func(tool, id string) (finding.Rule, bool) {
		r, ok := known[[2]string{tool, id}]
		return r, ok
	}
}

// finding returns the finding in the form that other packages know.
func (f Finding) finding() finding.Finding {
	return finding.Finding{
		Check: string(f.Check), Tool: f.Tool, Rule: f.Rule, Severity: f.Severity, Message: f.Message, Path: f.Path,
		Range:      finding.Range{StartLine: f.StartLine, StartColumn: f.StartColumn, EndLine: f.EndLine, EndColumn: f.EndColumn},
		Suggestion: f.Suggestion, Fingerprint: f.Fingerprint,
	}
}

// Schema is the name of the published schema of the document.
const Schema = "findings.json"

// Limits of a document that is read.
const (
	MaxBytes = 64 << 20
	maxPath  = 4096 // bytes of a file's path; the schema counts characters
)

// Read reads a document that another job has left. The document is untrusted. If it does not
// conform to the published schema, contradicts itself, or is larger than MaxBytes, the error
// describes what is wrong and where. A path that names no file is left out, as are the lines and
// the suggestion of a finding without a path or a first line, and an end before the start. The
// outcome that the document reports is the other job's claim.
func Read(r io.Reader) (*Document, error) {
	var d Document
	if err := schema.ReadDocument(r, Schema, "a findings document", MaxBytes, &d); err != nil {
		return nil, err
	}
	if err := d.contradiction(); err != nil {
		return nil, fmt.Errorf("it contradicts itself, so nothing in it counts; run the checks again: %w", err)
	}
	for i := range d.Findings {
		f := &d.Findings[i]
		if path.Clean(f.Path) == "." || len(f.Path) > maxPath {
			f.Path = "" // it names no file
		}
		if f.StartLine == 0 || f.Path == "" {
			f.dropPlace()
		}
		if f.EndLine < f.StartLine {
			f.EndLine, f.EndColumn = 0, 0
		}
	}
	return &d, nil
}

func (f *Finding) dropPlace() {
	f.StartLine, f.StartColumn, f.EndLine, f.EndColumn, f.Suggestion = 0, 0, 0, 0, ""
}

// Write writes the document as indented JSON.
func (d *Document) Write(w io.Writer) error { return schema.WriteDocument(w, d) }

// Mask passes every text that tools and people wrote, except the paths of files, through f,
// which masks secrets. A suggestion or a link that contains a secret is dropped, because the
// masked one would be wrong. Mask must be called before any text is cut or changed, because a
// part of a secret might not be recognised.
func (d *Document) Mask(f func(string) string) {
	if f == nil {
		return
	}
	each := func(texts ...*string) {
		for _, t := range texts {
			*t = f(*t)
		}
	}
	all := func(lists ...[]string) {
		for _, l := range lists {
			for i := range l {
				l[i] = f(l[i])
			}
		}
	}
	o := &d.Output.Checks
	each(&o.Formatter.Command, &o.Linter.Command, &o.Build.Command, &o.Tests.Command)
	all(d.Notes)
	for _, list := range o.ProblemLists() {
		all(*list)
	}
	for i := range d.Checks {
		c := &d.Checks[i]
		each(&c.Root, &c.Command, &c.Excerpt)
		all(c.Problems, c.Notes)
		for j := range c.Failures {
			each(&c.Failures[j].Name, &c.Failures[j].Unit, &c.Failures[j].Message)
		}
	}
	for i := range d.Findings {
		found := &d.Findings[i]
		each(&found.Message, &found.Rule, &found.Tool)
		if f(found.Suggestion) != found.Suggestion {
			found.Suggestion = ""
		}
	}
	for i := range d.Rules { // their names stay the same as in the findings
		r := &d.Rules[i]
		each(&r.Tool, &r.ID, &r.Name, &r.Short, &r.Help)
		if f(r.HelpURI) != r.HelpURI {
			r.HelpURI = ""
		}
		r.Tags = slices.Clone(r.Tags) // the list belongs to the tool's report
		all(r.Tags)
	}
	for i := range d.Suppressed {
		each(&d.Suppressed[i].Rule, &d.Suppressed[i].Message, &d.Suppressed[i].Reason)
	}
	for i := range d.NewSuppressions {
		each(&d.NewSuppressions[i].Text)
	}
	for i := range d.Skipped {
		each(&d.Skipped[i].Reason)
	}
	for i := range d.Missing {
		m := &d.Missing[i]
		each(&m.Tool, &m.Command, &m.Override)
	}
}
