// Package reviewer reads the changed files of a pull request and finds weaknesses and slips in them,
// without a model and without running anything.
//
// A file becomes tokens, which separate code, strings and comments (scan.go). Rules, which are data
// (rules/*.yaml), have patterns (pattern.go): a call or a setting, and what has to be known about
// its value (value.go). The patterns are looked for from the file's beginning to its end
// (match.go). Text counts if it is built from parts that change, and then reaches a place where
// text becomes a query, a command, a path or code. Constants and parameters of queries do not
// count. The code review (code.go) looks for slips in the same tokens. Every step takes time linear
// in the file, whatever is in it.
package reviewer

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync"

	"github.com/agent-airlock/airlock/internal/changes"
	"github.com/agent-airlock/airlock/internal/crash"
	"github.com/agent-airlock/airlock/internal/finding"
	"github.com/agent-airlock/airlock/internal/secrets"
)

// The checks of spec 000 to which findings belong.
const (
	SecurityReview = "security_review"
	CodeReview     = "code_review"
)

// Config is what is reviewed, and by which rules. The zero Config is the default.
type Config struct {
	// MaxFileBytes is the size over which a file is skipped; 0 means 1 MiB.
	MaxFileBytes int
	// Tests extends the rules about weaknesses to tests, examples, documents, migrations, rake's tasks
	// and the scripts of developers. By default only secrets are looked for there: tests weaken things
	// on purpose, and no stranger's input reaches the other files.
	Tests bool
	// MinPrecision is the least precision of the rules that are used; "" means medium. It holds for
	// each form of a rule too: a kind of finding whose precision differs from the rule's.
	MinPrecision finding.Precision
	// Only names the rules that are used, in all their forms, if it is not empty.
	Only []string
	// Off names rules that are not used, by their ID.
	Off []string
	// On names rules that are used in all their forms, whatever their precision.
	On []string
	// NewSuppressions lets comments count that the change itself adds, except for secrets
	// and for findings of high or critical severity.
	NewSuppressions bool
	// Accepted are the findings that the owner accepts.
	Accepted []Accepted
	// Matches reports whether a path matches a pattern. It is required unless Accepted is empty.
	Matches func(pattern, path string) bool
}

// File is a changed file as it is in the head commit.
type File struct {
	Path string // relative to the repository's root, slash-separated
	Text string // its content; not read where Binary is set
	// Language is the language of the text, for example "python", if the file's name does not show it.
	Language string
	// Changed are the lines of Text that the change added or modified, in order. If
	// it is nil, every line counts as changed.
	Changed []changes.Span
	// Patch is the hunks of the file's unified diff, "" if there are none.
	Patch string
	// Previous is the path that the file had before the change, if that is another one.
	Previous string
	// Deleted reports that the change deletes the file, which then has no text. Security lists the
	// tests and the configuration that are lost with it.
	Deleted bool
	// Binary, Generated and Vendored are what the caller knows about the file. In a generated or
	// vendored file, Security looks only for secrets and, if the file is a workflow or an action, for
	// the weaknesses of those. Code does not look into it.
	Binary, Generated, Vendored bool
	// Size is the size of a binary file in bytes.
	Size int64
}

// Result is what a review found. All lists are in a stable order.
type Result struct {
	// Findings are about code that the change touches: see finding.Finding.Lines.
	Findings []finding.Finding
	// Unchanged are about code that the change did not touch: they are listed and do not block.
	Unchanged []finding.Finding
	// Suppressed are the findings that a comment suppresses, or that the owner accepts.
	Suppressed []Suppressed
	// Unsuppressed are those of Findings that a comment names without effect.
	Unsuppressed []Suppressed
	// Silences are the places where the change tells tools to be silent, or takes out work that they
	// had to do. Those that cover more come first. Only Security lists them.
	Silences []Silence
	// Skipped are the files that were not reviewed, or not completely.
	Skipped []Skipped
}

// Suppressed is a finding that an `airlock:ignore` comment names, or that the owner accepts.
type Suppressed struct {
	finding.Finding
	Reason  string // as the comment gives it, or that the configuration accepts the finding
	Comment int    // the comment's line, 0 if there is none
	New     bool   // the change adds the comment
}

// Skipped is a file that was not reviewed, or not completely, and why.
type Skipped struct {
	Path, Reason string
	WithoutRules bool // there are no rules for its language
}

// Reviewer reviews files. It is safe for concurrent use.
type Reviewer struct {
	*catalogue
	config  Config
	secrets *secrets.Scanner
	// silencers are the ways to tell tools to be silent.
	silencers *silencerTable
}

// New returns a reviewer that looks for secrets with the scanner. It returns an error if Only, On or
// Off of the configuration names a rule that does not exist, or if there is no such precision as
// MinPrecision.
func New(config Config, scanner *secrets.Scanner) (*Reviewer, error) {
	built, err := builtIn()
	if err != nil {
		return nil, err
	}
	for _, id := range slices.Concat(config.Only, config.On, config.Off) {
		if built.byID[id] == nil {
			return nil, fmt.Errorf("there is no review rule %q: docs/review-rules.md lists them", id)
		}
	}
	if config.MinPrecision != "" && !slices.Contains(Precisions(), config.MinPrecision) {
		return nil, fmt.Errorf("invalid precision %q of review rules: it has to be very-high, high, medium or low", config.MinPrecision)
	}
	table, err := silencers()
	if err != nil {
		return nil, err
	}
	config.MaxFileBytes = cmp.Or(config.MaxFileBytes, 1<<20)
	return &Reviewer{catalogue: built, config: config, secrets: scanner, silencers: table}, nil
}

// uses reports whether findings of a rule that have the rule's own precision are reported.
func (r *Reviewer) uses(rule *Rule) bool { return r.config.selects(rule, rule.Precision) }

// Security reviews files for weaknesses and secrets. It works on as many files at a time as there
// are processors, and stops early, with the context's error, when the context ends.
func (r *Reviewer) Security(ctx context.Context, files []File) (Result, error) {
	return r.reviewAll(ctx, files, r.security)
}

// reviewed is what was found in one file.
type reviewed struct {
	findings []finding.Finding
	ignores  map[ignored]ignore
	silences []Silence
	tests    testCount
	skipped  string // the reason why it was not reviewed, or not completely
	// withoutRules reports that the reason is the language.
	withoutRules bool
}

// reviewAll reviews every file. It joins the results with findings about the change, in the
// order of the files.
func (r *Reviewer) reviewAll(ctx context.Context, files []File, review func(File) reviewed, aboutChange ...finding.Finding) (Result, error) {
	results := make([]reviewed, len(files))
	next := make(chan int)
	var workers sync.WaitGroup
	errs := make([]error, len(files))
	for range min(runtime.GOMAXPROCS(0), len(files)) {
		workers.Go(func() {
			for i := range next {
				errs[i] = crash.Try(func() error { results[i] = review(files[i]); return nil })
			}
		})
	}
	for i := range files {
		if ctx.Err() != nil {
			break
		}
		next <- i
	}
	close(next)
	workers.Wait()
	for i, err := range errs {
		if err != nil {
			return Result{}, fmt.Errorf("%s: %w", files[i].Path, err)
		}
	}
	return r.join(files, results, aboutChange), ctx.Err()
}

// join merges duplicates, gives fingerprints, and separates what the change touches from the rest.
func (r *Reviewer) join(files []File, results []reviewed, all []finding.Finding) Result {
	var out Result
	byPath := make(map[string]int, len(files))
	tests := make([]testCount, len(files))
	for i, result := range results {
		tests[i] = result.tests
		byPath[files[i].Path] = i
		all = append(all, result.findings...)
		out.Silences = append(out.Silences, result.silences...)
		if result.skipped != "" {
			out.Skipped = append(out.Skipped, Skipped{files[i].Path, result.skipped, result.withoutRules})
		}
	}
	out.Silences = append(out.Silences, fewerTests(files, tests)...)
	slices.SortStableFunc(out.Silences, func(a, b Silence) int { return a.rank() - b.rank() })
	kept, _ := finding.Merge(all, func(_, id string) (finding.Rule, bool) { return r.byID[id].Rule, true })
	finding.SetFingerprints(kept)
	base := map[string]*baseLines{}
	accepted := map[[2]string]bool{} // by rule and path, because a file may have many findings of a rule
	for _, f := range kept {
		i := byPath[f.Path]
		comment, isIgnored := ignoring(results[i].ignores, f)
		named := Suppressed{Finding: f, Reason: comment.reason, Comment: comment.line}
		counts := false
		if isIgnored {
			if base[f.Path] == nil {
				base[f.Path] = newBaseLines(&files[i])
			}
			counts, named.New = r.counts(base[f.Path], f, comment)
		}
		key := [2]string{f.Rule, f.Path}
		if _, known := accepted[key]; !known {
			accepted[key] = r.accepts(f.Rule, f.Path)
		}
		switch {
		case accepted[key]:
			out.Suppressed = append(out.Suppressed, Suppressed{Finding: f, Reason: "accepted in the configuration"})
		case counts:
			out.Suppressed = append(out.Suppressed, named)
		case files[i].touches(f):
			out.Findings = append(out.Findings, f)
			if isIgnored {
				out.Unsuppressed = append(out.Unsuppressed, named)
			}
		default:
			out.Unchanged = append(out.Unchanged, f)
		}
	}
	return out
}

// touches reports whether the change touched a line of the code that a finding is about, or the
// finding is about the file.
func (f File) touches(found finding.Finding) bool {
	first, last := found.Lines()
	return first == 0 || !f.hadLines(first, last)
}
