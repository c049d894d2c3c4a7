package checks

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/agent-airlock/airlock/internal/changes"
	"github.com/agent-airlock/airlock/internal/config"
	"github.com/agent-airlock/airlock/internal/crash"
	"github.com/agent-airlock/airlock/internal/finding"
	"github.com/agent-airlock/airlock/internal/phase"
	"github.com/agent-airlock/airlock/internal/plugin"
	"github.com/agent-airlock/airlock/internal/reviewer"
	"github.com/agent-airlock/airlock/internal/secrets"
)

// reviewsConfig selects the reviewers and what they review.
type reviewsConfig struct {
	// Checks has the settings of the built-in reviewer, and the plug-ins.
	Checks  config.Checks
	Scanner *secrets.Scanner // required
	// Changes is what changed. The built-in reviewer reads its texts. They are older than the
	// commands: what those have made of the work tree since does not count.
	Changes *changes.Set // required
	Run     phase.Runner // runs the plug-ins' commands; required where there are plug-ins
}

// reviews are the code review and the security review of one change: the built-in
// reviewer and the plug-ins that the owner configures, at the same time, with their
// findings joined into one list.
type reviews struct {
	cfg            reviewsConfig
	code, security *review
}

// newReviews returns the reviews. It fails if a setting names an unknown rule or precision, or if
// something required is missing.
func newReviews(cfg reviewsConfig) (*reviews, error) {
	if cfg.Changes == nil || cfg.Scanner == nil || cfg.Run == nil && len(cfg.Checks.Plugins) > 0 {
		return nil, errors.New("reviews: Changes and Scanner are required, and Run where there are plug-ins")
	}
	r := &reviews{cfg: cfg, code: &review{check: phase.CodeReview}, security: &review{check: phase.SecurityReview}}
	if err := r.addBuiltIn(r.code, cfg.Checks.SkipCodeReview, cfg.Checks.CodeReview, (*reviewer.Reviewer).Code); err != nil {
		return nil, err
	}
	if err := r.addBuiltIn(r.security, cfg.Checks.SkipSecurityReview, cfg.Checks.SecurityReview, (*reviewer.Reviewer).Security); err != nil {
		return nil, err
	}
	for _, p := range cfg.Checks.Plugins {
		to := r.code
		if p.Check == phase.SecurityReview {
			to = r.security
		}
		to.parts = append(to.parts, &part{name: p.Name, precision: p.Precision, run: r.plugIn(p, to.check)})
	}
	return r, nil
}

// codeReview returns the code review, nil where nobody does it.
func (r *reviews) codeReview() phase.Reviewer { return r.code.reviewer(r.cfg.Scanner) }

// securityReview returns the security review, nil where nobody does it.
func (r *reviews) securityReview() phase.Reviewer { return r.security.reviewer(r.cfg.Scanner) }

// review is one of the two reviews: its reviewers, and what they reported.
type review struct {
	check phase.Check
	parts []*part

	mu      sync.Mutex
	files   []string // the files that the parts were asked about
	details reviewDetails
}

// part is one reviewer's part of a review, and its outcome.
type part struct {
	name      string
	precision finding.Precision
	run       func(ctx context.Context, r phase.ReviewRequest) (partResult, error)

	done   bool // it need not be asked again
	result partResult
	err    error
}

// partResult is what one reviewer found.
type partResult struct {
	findings   []finding.Finding
	rules      map[[2]string]finding.Rule // keyed by tool and ID
	suppressed []reviewer.Suppressed
	silences   []reviewer.Silence
	skipped    []reviewer.Skipped
	notes      []string
}

// reviewer returns the review as phase validation runs it, nil where nobody does it.
func (v *review) reviewer(scanner *secrets.Scanner) phase.Reviewer {
	if len(v.parts) == 0 {
		return nil
	}
	return func(ctx context.Context, r phase.ReviewRequest) ([]finding.Finding, error) {
		v.mu.Lock()
		defer v.mu.Unlock()
		v.ask(ctx, r)
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		return v.join(scanner)
	}
}

// ask asks every part at the same time. Phase validation repeats a review when a part of it
// failed: then ask leaves out the parts that have answered about these files, or whose tool
// is missing.
func (v *review) ask(ctx context.Context, r phase.ReviewRequest) {
	if !slices.Equal(v.files, r.Files) {
		for _, p := range v.parts {
			p.done = false
		}
		v.files = slices.Clone(r.Files)
	}
	var wg crash.Group
	for _, p := range v.parts {
		if p.done {
			continue
		}
		wg.Go(func() {
			p.result, p.err = p.guarded(ctx, r)
			_, missing := errors.AsType[*plugin.MissingError](p.err)
			p.done = p.err == nil || missing
		})
	}
	wg.Wait()
}

// guarded runs the part, and turns a panic into an error, because the files are hostile.
func (p *part) guarded(ctx context.Context, r phase.ReviewRequest) (result partResult, err error) {
	defer func() {
		if why := recover(); why != nil {
			result, err = partResult{}, fmt.Errorf("%s panicked: %v", p.name, why)
		}
	}()
	return p.run(ctx, r)
}

// addBuiltIn adds the built-in reviewer to a review, unless the owner skips it.
func (r *reviews) addBuiltIn(to *review, skip bool, cfg reviewer.Config, run func(*reviewer.Reviewer, context.Context, []reviewer.File) (reviewer.Result, error)) error {
	if skip {
		return nil
	}
	builtIn, err := reviewer.New(cfg, r.cfg.Scanner)
	if err != nil {
		return err
	}
	known := map[[2]string]finding.Rule{}
	for _, rule := range builtIn.Rules() {
		known[[2]string{reviewer.Tool, rule.ID}] = rule.Rule
	}
	to.parts = append(to.parts, &part{name: "the built-in reviewer", run: func(ctx context.Context, request phase.ReviewRequest) (partResult, error) {
		files, skipped := r.readable(request, to.check)
		result, err := run(builtIn, ctx, files)
		out := partResult{
			findings: append(result.Findings, result.Unchanged...), rules: known,
			suppressed: result.Suppressed, silences: result.Silences, skipped: append(skipped, result.Skipped...),
		}
		for _, u := range result.Unsuppressed {
			out.notes = append(out.notes, unsuppressed(u))
		}
		return out, err
	}})
	return nil
}

// unsuppressed returns a note on a comment that does not suppress its finding.
func unsuppressed(u reviewer.Suppressed) string {
	why := "the pull request adds it"
	if !u.New {
		why = "the pull request changes a line that it is about"
	}
	return fmt.Sprintf("%s:%d: the comment that ignores %s does not count, because %s. An owner accepts the finding with accepted: [\"%s %s\"] below checks: %s in the configuration.",
		u.Path, u.Comment, u.Rule, why, u.Rule, u.Path, strings.ReplaceAll(u.Check, "_", "-"))
}

// requested returns the changed files that a review is asked about.
func (r *reviews) requested(request phase.ReviewRequest) []*changes.File {
	in := make(map[string]bool, len(request.Files))
	for _, f := range request.Files {
		in[f] = true
	}
	var files []*changes.File
	for i := range r.cfg.Changes.Files {
		if f := &r.cfg.Changes.Files[i]; in[f.Path] {
			files = append(files, f)
		}
	}
	return files
}

// readable returns the files as the built-in reviewer takes them, and those that have no text.
// Binary files and, for the security review, deleted files are among both. What the code review
// leaves out is among the latter if the owner skips the built-in security review, which would look
// at it or list it. A plug-in need not do either, for example if the file is in another language.
func (r *reviews) readable(request phase.ReviewRequest, check phase.Check) ([]reviewer.File, []reviewer.Skipped) {
	var files []reviewer.File
	var skipped []reviewer.Skipped
	for _, f := range r.requested(request) {
		mark, hasNoText := f.Skip()
		isBinary := hasNoText && mark.Mark == changes.MarkBinary
		if hasNoText {
			skipped = append(skipped, withoutText(f, mark))
		}
		if hasNoText && !isBinary {
			if mark.Mark == changes.MarkDeleted && check == phase.SecurityReview {
				_, vendored := leftOut(f, check)
				files = append(files, reviewer.File{Path: f.Path, Patch: f.Patch, Deleted: true, Vendored: vendored})
			}
			continue
		}
		file := reviewer.File{Path: f.Path, Text: string(f.Text), Language: f.Language, Changed: f.Changed, Patch: f.Patch, Binary: isBinary, Size: max(f.Size, 0)}
		if f.Status == changes.Renamed {
			file.Previous = f.PreviousPath
		}
		switch {
		case f.AllChanged:
			file.Changed = nil
		case file.Changed == nil:
			file.Changed = []changes.Span{} // for example a renamed file: no line is new
		}
		file.Generated, file.Vendored = leftOut(f, check)
		if (file.Generated || file.Vendored) && !isBinary && check == phase.CodeReview && r.cfg.Checks.SkipSecurityReview {
			skipped = append(skipped, reviewer.Skipped{Path: f.Path, Reason: "a generated or vendored file: the built-in code review leaves it out"})
			continue
		}
		files = append(files, file)
	}
	return files, skipped
}

// withoutText returns the entry in a list of skipped files for a file that has no text, because of
// its mark. All reviewers give the same reason, so that the file is listed once: see details.
func withoutText(f *changes.File, mark changes.Marked) reviewer.Skipped {
	if mark.Mark == changes.MarkBinary {
		return reviewer.Skipped{Path: f.Path, Reason: reviewer.BinaryFile}
	}
	return reviewer.Skipped{Path: f.Path, Reason: mark.Why}
}

// leftOut reports whether a review leaves a file out because it is generated or
// vendored. The author of the pull request can write a "generated" header, so the
// security review does not trust it.
func leftOut(f *changes.File, check phase.Check) (generated, vendored bool) {
	_, generated = f.Marked(changes.MarkGenerated)
	_, vendored = f.Marked(changes.MarkVendored)
	return generated && check != phase.SecurityReview, vendored
}

// diffOf returns a file's diff for a plug-in. If the diff is missing and all lines count as
// changed, it returns a diff that adds all lines.
func diffOf(f *changes.File) changes.ChangedFile {
	d := f.ChangedFile
	if d.Patch != "" || !f.AllChanged || len(f.Text) == 0 {
		return d
	}
	lines := strings.Split(strings.TrimSuffix(string(f.Text), "\n"), "\n")
	d.Patch = fmt.Sprintf("@@ -0,0 +1,%d @@\n+%s\n", len(lines), strings.Join(lines, "\n+"))
	return d
}

// plugIn returns a function that runs a plug-in reviewer.
func (r *reviews) plugIn(cfg plugin.Config, check phase.Check) func(context.Context, phase.ReviewRequest) (partResult, error) {
	return func(ctx context.Context, request phase.ReviewRequest) (partResult, error) {
		ask := plugin.Request{Repository: request.Repository, Mask: r.cfg.Scanner.Mask}
		var out partResult
		for _, f := range r.requested(request) {
			ask.Diff = append(ask.Diff, diffOf(f))
			if mark, hasNoText := f.Skip(); hasNoText {
				out.skipped = append(out.skipped, withoutText(f, mark))
				continue
			}
			if generated, vendored := leftOut(f, check); generated || vendored {
				ask.LeftOut = append(ask.LeftOut, plugin.File{Path: f.Path, Language: f.Language})
				continue
			}
			lines := 0
			for range bytes.Lines(f.Text) {
				lines++
			}
			ask.Files = append(ask.Files, plugin.File{Path: f.Path, Language: f.Language, Lines: lines})
		}
		result, err := plugin.Review(ctx, r.cfg.Run, cfg, ask)
		for _, f := range ask.LeftOut {
			given := "not given"
			hasDiff, isLeftOut := result.NotGiven[f.Path]
			if hasDiff {
				given = "only its diff was given"
			}
			if isLeftOut {
				out.skipped = append(out.skipped, reviewer.Skipped{Path: f.Path, Reason: given + " to " + cfg.Name + ", because it is generated or vendored"})
			}
		}
		out.findings, out.notes, out.rules = result.Findings, result.Notes, map[[2]string]finding.Rule{}
		for _, rule := range result.Rules {
			out.rules[[2]string{rule.Tool, rule.ID}] = rule.Rule
		}
		return out, err
	}
}

// reviewDetails are what one review, or both, reported in addition to findings. All lists are in a
// stable order.
type reviewDetails struct {
	suppressed []reviewer.Suppressed // findings that a comment suppresses, or that the owner accepts
	silences   []reviewer.Silence    // where the change tells tools to be silent
	skipped    []reviewer.Skipped    // files that were not reviewed, or not completely
	duplicates []finding.Duplicate   // findings that were left out because another one means the same
	missing    []phase.MissingTool
	notes      []string                   // complete sentences
	rules      map[[2]string]finding.Rule // the reviewers', and others that findings name; keyed by tool and ID
}

// details returns what the reviews have reported so far. What both skip for the same reason is there
// once.
func (r *reviews) details() reviewDetails {
	out, seen := reviewDetails{rules: map[[2]string]finding.Rule{}}, map[reviewer.Skipped]bool{}
	for _, v := range []*review{r.code, r.security} {
		v.mu.Lock()
		d := v.details
		v.mu.Unlock()
		out.suppressed = append(out.suppressed, d.suppressed...)
		out.silences = append(out.silences, d.silences...)
		out.duplicates = append(out.duplicates, d.duplicates...)
		out.missing = append(out.missing, d.missing...)
		out.notes = append(out.notes, d.notes...)
		for _, s := range d.skipped {
			if !seen[s] {
				seen[s] = true
				out.skipped = append(out.skipped, s)
			}
		}
		maps.Copy(out.rules, d.rules)
	}
	return out
}

// lookup returns the rules of a map as a function.
func lookup(rules map[[2]string]finding.Rule) finding.Rules {
	return func(tool, rule string) (finding.Rule, bool) {
		r, ok := rules[[2]string{tool, rule}]
		return r, ok
	}
}

// join joins the parts' results: of findings that mean the same, one stays. The error
// joins the errors of every part that could not review.
func (v *review) join(scanner *secrets.Scanner) ([]finding.Finding, error) {
	d := reviewDetails{rules: map[[2]string]finding.Rule{}}
	var all []finding.Finding
	var failed []error
	for _, p := range v.parts {
		for id, rule := range p.result.rules {
			if _, known := d.rules[id]; !known {
				d.rules[id] = rule
			}
		}
		for _, f := range p.result.findings {
			if f.Tool != reviewer.Tool {
				f = masked(f, scanner)
			}
			if id := [2]string{f.Tool, f.Rule}; f.Rule != "" && d.rules[id].ID == "" {
				d.rules[id] = finding.Rule{ID: f.Rule, Severity: f.Severity, Precision: p.precision}
			}
			all = append(all, f)
		}
		d.silences = append(d.silences, p.result.silences...)
		d.suppressed, d.skipped = append(d.suppressed, p.result.suppressed...), append(d.skipped, p.result.skipped...)
		for _, n := range p.result.notes {
			d.notes = append(d.notes, scanner.Mask(n))
		}
		if p.err == nil {
			continue
		}
		failed = append(failed, errors.New(scanner.Mask(p.err.Error())))
		if missing, ok := errors.AsType[*plugin.MissingError](p.err); ok {
			d.missing = append(d.missing, phase.MissingTool{Tool: missing.Tool, Check: v.check, Command: missing.Command, Override: "checks: reviewers"})
		}
	}
	kept, duplicates := finding.Merge(all, lookup(d.rules))
	d.duplicates = duplicates
	v.details = d
	return kept, errors.Join(failed...)
}

// masked masks secrets in what a plug-in quotes. A suggestion that contains one is
// dropped: it would write stars into the file.
func masked(f finding.Finding, scanner *secrets.Scanner) finding.Finding {
	f.Message = scanner.Mask(f.Message)
	if scanner.Mask(f.Suggestion) != f.Suggestion {
		f.Suggestion = ""
	}
	return f
}
