package reviews

import (
	"bytes"
	"context"
	"fmt"
	"strings"

	"github.com/agent-airlock/airlock/internal/changes"
	"github.com/agent-airlock/airlock/internal/finding"
	"github.com/agent-airlock/airlock/internal/phase"
	"github.com/agent-airlock/airlock/internal/plugin"
	"github.com/agent-airlock/airlock/internal/reviewer"
)

// guarded turns a part's panic into an error: its files are hostile.
func (p *part) guarded(ctx context.Context, r phase.ReviewRequest) (s said, err error) {
	defer func() {
		if why := recover(); why != nil {
			s, err = said{}, fmt.Errorf("%s panicked: %v", p.name, why)
		}
	}()
	return p.run(ctx, r)
}

// builtIn adds the built-in reviewer to a review.
func (r *Reviews) builtIn(of *review, skip bool, cfg reviewer.Config, look func(*reviewer.Reviewer, context.Context, []reviewer.File) (reviewer.Result, error)) error {
	if skip {
		return nil
	}
	built, err := reviewer.New(cfg, r.cfg.Scanner)
	if err != nil {
		return err
	}
	rules, err := reviewer.Rules()
	if err != nil {
		return err
	}
	known := map[[2]string]finding.Rule{}
	for _, rule := range rules {
		known[[2]string{reviewer.Tool, rule.ID}] = rule.Rule
	}
	of.parts = append(of.parts, &part{name: "the built-in reviewer", run: func(ctx context.Context, request phase.ReviewRequest) (said, error) {
		files, skipped := r.texts(request, of.check)
		result, err := look(built, ctx, files)
		return said{
			findings: append(result.Findings, result.Unchanged...), rules: known,
			suppressed: result.Suppressed, skipped: append(skipped, result.Skipped...),
		}, err
	}})
	return nil
}

// asked returns the changed files that a review is asked about.
func (r *Reviews) asked(request phase.ReviewRequest) []*changes.File {
	in := make(map[string]bool, len(request.Files))
	for _, f := range request.Files {
		in[f] = true
	}
	var files []*changes.File
	for i := range r.cfg.Set.Files {
		if f := &r.cfg.Set.Files[i]; in[f.Path] {
			files = append(files, f)
		}
	}
	return files
}

// texts returns the files as the built-in reviewer takes them, and those that it
// cannot read.
func (r *Reviews) texts(request phase.ReviewRequest, check phase.Check) ([]reviewer.File, []reviewer.Skipped) {
	var files []reviewer.File
	var skipped []reviewer.Skipped
	for _, f := range r.asked(request) {
		mark, hard := f.Skip()
		if hard && mark.Mark != changes.MarkBinary {
			skipped = append(skipped, reviewer.Skipped{Path: f.Path, Reason: mark.Why})
			continue
		}
		file := reviewer.File{Path: f.Path, Text: string(f.Text), Language: f.Language, Changed: f.Changed, Binary: hard, Size: max(f.Size, 0)}
		switch {
		case f.AllChanged:
			file.Changed = nil
		case file.Changed == nil:
			file.Changed = []changes.Span{} // renamed: no line is new
		}
		file.Generated, file.Vendored = aside(f, check)
		files = append(files, file)
	}
	return files, skipped
}

// aside reports whether a review passes over a file's code. A header that says
// "generated" is written by whoever wrote the pull request, so the security review
// does not believe it.
func aside(f *changes.File, check phase.Check) (generated, vendored bool) {
	_, generated = f.Marked(changes.MarkGenerated)
	_, vendored = f.Marked(changes.MarkVendored)
	return generated && check != phase.SecurityReview, vendored
}

// shown returns what an agent is shown of a file: where no diff tells its new lines,
// all of them.
func shown(f *changes.File) changes.ChangedFile {
	d := f.ChangedFile
	if d.Patch != "" || !f.AllChanged || len(f.Text) == 0 {
		return d
	}
	lines := strings.Split(strings.TrimSuffix(string(f.Text), "\n"), "\n")
	d.Patch = fmt.Sprintf("@@ -0,0 +1,%d @@\n+%s\n", len(lines), strings.Join(lines, "\n+"))
	return d
}

// plugIn returns the run of a plug-in reviewer.
func (r *Reviews) plugIn(cfg plugin.Config, check phase.Check) func(context.Context, phase.ReviewRequest) (said, error) {
	return func(ctx context.Context, request phase.ReviewRequest) (said, error) {
		ask := plugin.Request{Repository: request.Repository, Env: r.cfg.Env}
		var s said
		for _, f := range r.asked(request) {
			if _, hard := f.Skip(); hard {
				continue // said by the built-in reviewer, or for no text's sake
			}
			if generated, vendored := aside(f, check); generated || vendored {
				s.skipped = append(s.skipped, reviewer.Skipped{Path: f.Path, Reason: "not given to " + cfg.Name + ", since nobody wrote it here"})
				continue
			}
			lines := bytes.Count(f.Text, []byte("\n"))
			if len(f.Text) > 0 && f.Text[len(f.Text)-1] != '\n' {
				lines++
			}
			ask.Files = append(ask.Files, plugin.File{Path: f.Path, Language: f.Language, Lines: lines})
		}
		for _, f := range r.asked(request) {
			ask.Diff = append(ask.Diff, shown(f))
		}
		result, err := plugin.Review(ctx, r.cfg.Run, cfg, ask)
		s.findings, s.notes, s.rules = result.Findings, result.Notes, map[[2]string]finding.Rule{}
		for _, rule := range result.Rules {
			s.rules[[2]string{rule.Tool, rule.ID}] = rule.Rule
		}
		return s, err
	}
}
