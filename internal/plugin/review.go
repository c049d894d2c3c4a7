package plugin

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/agent-airlock/airlock/internal/changes"
	"github.com/agent-airlock/airlock/internal/finding"
	"github.com/agent-airlock/airlock/internal/phase"
	"github.com/agent-airlock/airlock/internal/toolreport"
)

// Request is what is reviewed.
type Request struct {
	Repository string // the absolute path of the root, as the command sees it
	Files      []File // the changed files that have a text
	Diff       []changes.ChangedFile
	Env        []string // of the command, as NAME=value
}

// File is a changed file.
type File struct {
	Path     string // relative to the root, slash-separated
	Language string // as package changes calls it
	Lines    int    // how many lines it has; 0 where that is not known
}

// Result is what a reviewer said.
type Result struct {
	// Findings are about changed files, sorted, each once; also those on lines that
	// did not change.
	Findings []finding.Finding
	Rules    []toolreport.ToolRule // what the output says of their rules
	Notes    []string              // what people should know beside it, in whole sentences
}

// MissingError is that the reviewer's tool is not there.
type MissingError struct{ Reviewer, Tool, Command string }

// Error implements error.
func (e *MissingError) Error() string {
	return fmt.Sprintf("the tool %q is missing, which the reviewer %q runs: install it in the job or the image, or take the reviewer out of checks: reviewers", e.Tool, e.Reviewer)
}

// Review runs a sound reviewer (see Validate) on a request. The error is the
// context's, a *MissingError, or says why the review could not be done, or not
// wholly; the Result holds what was found all the same.
func Review(ctx context.Context, run phase.Runner, cfg Config, req Request) (Result, error) {
	w := &work{cfg: cfg, req: req, run: run, byPath: map[string]*File{}}
	for _, f := range req.Diff {
		w.byPath[f.Path] = &File{Path: f.Path}
	}
	for i := range req.Files {
		w.byPath[req.Files[i].Path] = &req.Files[i]
	}
	if len(w.byPath) == 0 {
		return Result{}, nil
	}
	dirs := cfg.Dirs
	if len(dirs) == 0 {
		dirs = []string{"."}
	}
	var err error
	for _, dir := range dirs {
		if err = w.review(ctx, path.Clean(dir)); err != nil {
			break
		}
	}
	w.countLeftOut()
	finding.Sort(w.out.Findings)
	return w.out, err
}

// work is one review.
type work struct {
	cfg    Config
	req    Request
	run    phase.Runner
	byPath map[string]*File
	out    Result
	// elsewhere, minor, outside and omitted count findings that are left out.
	elsewhere, minor, outside, omitted int
}

// review runs the command in one folder, as often as the files need.
func (w *work) review(ctx context.Context, dir string) error {
	if why := folder(w.req.Repository, dir); why != "" {
		w.note("%s was not run in %q: %s", w.cfg.Name, dir, why)
		return nil
	}
	var files []string
	for _, f := range w.req.Files {
		if rel, below := strings.CutPrefix(f.Path, dir+"/"); below && w.reads(f) {
			files = append(files, "./"+rel)
		} else if dir == "." && w.reads(f) {
			files = append(files, "./"+f.Path)
		}
	}
	calls, err := w.cfg.calls(files)
	if err != nil {
		return err
	}
	if len(calls) == 0 {
		w.note("%s had no changed file to look at in %q", w.cfg.Name, dir)
	}
	for _, c := range calls {
		report, err := w.once(ctx, dir, c)
		w.take(report)
		if err != nil {
			return err
		}
	}
	return nil
}

// reads reports whether the reviewer looks at files of the language.
func (w *work) reads(f File) bool {
	return len(w.cfg.Languages) == 0 || slices.Contains(w.cfg.Languages, f.Language)
}

func (w *work) note(format string, args ...any) {
	const most = 50
	text := fmt.Sprintf(format, args...)
	if len(w.out.Notes) < most && !slices.Contains(w.out.Notes, text) {
		w.out.Notes = append(w.out.Notes, text)
	}
}
