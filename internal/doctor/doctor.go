// Package doctor explains how a repository is set up to use Airlock: what in its workflows, its
// policy and its settings on GitHub would fail, or gives more power than is needed.
package doctor

import (
	"cmp"
	"slices"

	"github.com/agent-airlock/airlock/internal/action"
	"github.com/agent-airlock/airlock/internal/gitrepo"
	"github.com/agent-airlock/airlock/internal/text"
)

// Severity is how much a finding matters.
type Severity string

// The severities. Only a Problem makes a set-up unsound.
const (
	Problem Severity = "problem" // it fails, or it is not safe
	Advice  Severity = "advice"  // it works, and could be better
	Unknown Severity = "unknown" // it could not be looked at
)

// A Finding is one thing that was noticed, at a place.
type Finding struct {
	Rule     string   `json:"rule"` // its name, which stays the same
	Severity Severity `json:"severity"`
	// File is the path in the repository, "" where the finding is about the repository itself.
	// Line counts from 1; 0 means the file.
	File string `json:"file,omitempty"`
	Line int    `json:"line,omitempty"`
	What string `json:"what"` // what is there
	Why  string `json:"why"`  // why it matters
	Mend string `json:"mend"` // what to do
}

// A Report is what was looked at and found.
type Report struct {
	// Workflows are the paths of the workflows that use Airlock.
	Workflows []string `json:"workflows"`
	// Repository is owner/name where GitHub was asked about it, otherwise "".
	Repository string    `json:"repository,omitempty"`
	Findings   []Finding `json:"findings"`
}

// Problems returns how many findings are problems.
func (r Report) Problems() int { return r.count(Problem) }

func (r Report) count(severity Severity) (n int) {
	for _, f := range r.Findings {
		if f.Severity == severity {
			n++
		}
	}
	return n
}

// ExamineTree is Examine for the work tree that a directory is in. The examination must be closed.
func ExamineTree(name string) (*Examination, error) {
	root, err := gitrepo.WorkTreeRoot(name)
	if err != nil {
		return nil, err
	}
	dir, err := action.OpenDir(root)
	if err != nil {
		return nil, err
	}
	e, err := Examine(dir)
	if err != nil {
		_ = dir.Close()
	}
	return e, err
}

// Close closes the directory that is examined.
func (e *Examination) Close() { _ = e.dir.Close() }

// Examine looks at the files of a work tree, which may be anybody's: no link is followed, and
// nothing of them is executed. An error means that the files could not be read.
func Examine(dir *action.Dir) (*Examination, error) {
	e := &Examination{dir: dir, policies: map[string]policyFile{}}
	if err := e.readWorkflows(); err != nil {
		return nil, err
	}
	e.judge()
	return e, nil
}

// Examination is one look at a repository.
type Examination struct {
	dir       *action.Dir
	workflows []*workflow
	policies  map[string]policyFile // by path
	findings  []Finding
	broken    bool   // a workflow that may use Airlock cannot be read
	asked     string // the repository that GitHub was asked about
}

// Report returns what was found, each finding once, in the order of files and lines.
func (e *Examination) Report() Report {
	r := Report{Workflows: []string{}, Repository: e.asked, Findings: append([]Finding{}, e.findings...)}
	for _, w := range e.workflows {
		r.Workflows = append(r.Workflows, w.path)
	}
	slices.SortStableFunc(r.Findings, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Rule, b.Rule), cmp.Compare(a.What, b.What))
	})
	r.Findings = slices.Compact(r.Findings)
	return r
}

// add adds a finding. What and Why become one line each; Mend may have more, to be pasted.
func (e *Examination) add(f Finding) {
	f.What, f.Why = text.OneLine(f.What), text.OneLine(f.Why)
	e.findings = append(e.findings, f)
}

// judge applies every rule about files.
func (e *Examination) judge() {
	if len(e.workflows) == 0 && !e.broken {
		e.add(Finding{Rule: "no-workflow", Severity: Problem,
			What: "no workflow in " + workflowDirectory + " uses Airlock",
			Why:  "nothing stands between your agents and the repository",
			Mend: "run 'airlock init', or copy a workflow of the documentation"})
	}
	for _, w := range e.workflows {
		e.judgeWorkflow(w)
		for _, j := range w.jobs {
			e.judgeJob(w, j)
		}
	}
}
