// Package checks runs one phase validation, from a request to a findings document: it
// finds out what changed, opens the place where a pull request's code can do no harm,
// and has the six checks run there.
package checks

import (
	"context"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"time"

	"github.com/agent-airlock/airlock/internal/action"
	"github.com/agent-airlock/airlock/internal/checkreport"
	"github.com/agent-airlock/airlock/internal/command"
	"github.com/agent-airlock/airlock/internal/config"
	"github.com/agent-airlock/airlock/internal/doors"
	"github.com/agent-airlock/airlock/internal/event"
	"github.com/agent-airlock/airlock/internal/exitcode"
	"github.com/agent-airlock/airlock/internal/isolate"
	"github.com/agent-airlock/airlock/internal/lazyregexp"
	"github.com/agent-airlock/airlock/internal/phase"
	"github.com/agent-airlock/airlock/internal/reviewer"
	"github.com/agent-airlock/airlock/internal/secrets"
)

// Config describes what one validation checks, and how.
type Config struct {
	Root    string        // required; absolute: the repository's root
	Changes *ChangeSet    // required
	Checks  config.Checks // the owner's configuration
	// Input is what spec 000 calls the input. Its WorkingDirectory is required and is
	// Root or a directory below it; its ChangedFiles are taken from Changes.
	Input phase.Input // required
	Event event.Event // the zero event outside of a workflow run
	// CheckOnly changes no file: fixes run in a copy, for suggestions.
	CheckOnly bool
	// AllowCredentials runs the commands although they can use credentials.
	AllowCredentials bool
}

// Deps are what a validation needs of the process.
type Deps struct {
	Getenv  func(string) string // required
	Environ []string            // required: the entire environment, for the commands
	Scanner *secrets.Scanner    // required: finds the secrets to mask
	Log     func(line string)   // required
	Tell    func(phase.Event)   // if not nil, is called with each step of the checks
	Copied  func(entries int64) // if not nil, is called while the workspace is copied, as isolate.Config says
	// TokenVariable is the variable that contained this process's own token, which is no
	// longer in its environment; "" without a token.
	TokenVariable string
}

// Limits of what the commands may use where they run isolated: more than builds need,
// and less than what brings a machine down.
const (
	maxProcesses = 8192     // including threads
	maxDisk      = 24 << 30 // bytes
)

// Run runs the six checks where they can do no harm, and returns what they found. The error
// carries its exit code; it is a phase.InvalidInput where the input cannot be validated. With
// an error there is no document, except if only the language is not known: the reviews have
// run then, and both are returned.
func Run(ctx context.Context, cfg Config, deps Deps) (doc *checkreport.Document, err error) {
	place, err := Open(ctx, cfg, deps)
	if err != nil {
		return nil, err
	}
	defer func() {
		for _, e := range place.Close() {
			if doc != nil {
				doc.Notes = append(doc.Notes, e.Error())
			}
		}
	}()
	return place.document(ctx)
}

func newValidation(cfg Config, deps Deps) (validation, error) {
	dir, err := filepath.Rel(cfg.Root, cfg.Input.WorkingDirectory)
	if err != nil {
		return validation{}, exitcode.FailedError(err)
	}
	v := validation{Config: cfg, deps: deps, dir: filepath.ToSlash(dir), phase: cfg.Checks.Phase}
	v.Input.ChangedFiles, v.outside = cfg.Changes.split(v.dir)
	v.phase.CheckOnly = cfg.CheckOnly || deps.Getenv("GITHUB_ACTIONS") == "true"
	v.phase.NewOnly, v.phase.Suggest = doors.KnowsCommits(cfg.Event), true
	replace(&v.phase.NewOnly, cfg.Checks.NewOnly)
	replace(&v.phase.Suggest, cfg.Checks.Suggestions)
	v.phase.NewOnly = v.phase.NewOnly && cfg.Changes.hasDiff
	v.sandbox = isolate.Config{Workspace: cfg.Root, Environ: deps.Environ, Closed: isolate.RunnerPaths(deps.Getenv),
		Limits: command.Limits{Processes: maxProcesses}, Disk: maxDisk, NoNetwork: cfg.Checks.Network == config.NetworkNone, Copied: deps.Copied}
	if action.IsDirectory(seedDir) {
		v.sandbox.Seed = seedDir
	}
	if len(cfg.Checks.PassEnv) > 0 {
		v.sandbox.Pass = slices.Concat(isolate.DefaultPass(), cfg.Checks.PassEnv)
	}
	v.credentials = findCredentials(deps, cfg.Root, cfg.AllowCredentials)
	return v, nil
}

// seedDir is where the image has the beginning of each home directory of the checks. Elsewhere
// there is no such directory.
const seedDir = "/usr/local/share/airlock/home"

// validation is one phase validation, set up.
type validation struct {
	Config
	deps        Deps
	dir         string   // the working directory relative to Root, with slashes
	outside     []string // changed files outside of the working directory
	phase       phase.Config
	sandbox     isolate.Config
	credentials credentials // those that the commands could use
}

// open opens the place where the commands run, or refuses as Open says.
func (v validation) open(ctx context.Context) (*isolate.Sandbox, error) {
	v.sandbox.Credential = v.credentials.forbid()
	sandbox, err := isolate.Open(ctx, v.sandbox)
	_, refused := errors.AsType[*isolate.RefusedError](err)
	_, noNetwork := errors.AsType[*isolate.NoNetworkError](err)
	switch {
	case err == nil:
		return sandbox, nil
	case noNetwork:
		return nil, exitcode.UsageError(fmt.Errorf("network: none: %w; run the checks there, or set network to open", err))
	case !refused:
		return nil, exitcode.FailedError(err)
	case v.sandbox.Credential:
		return nil, exitcode.UsageError(v.credentials.explain(err))
	}
	return nil, exitcode.UsageError(err)
}

// addDetails adds what the reviews left out, and what a reader must know about how the
// commands ran.
func (v validation) addDetails(in *checkreport.Input, d reviewDetails, sandbox *isolate.Sandbox) {
	slices.SortStableFunc(d.suppressed, func(a, b reviewer.Suppressed) int { return b.Severity.Rank() - a.Severity.Rank() })
	for _, s := range d.suppressed {
		in.Suppressed = append(in.Suppressed, checkreport.Suppressed{Rule: s.Rule, Path: s.Path, Line: s.Range.StartLine, Message: s.Message, Reason: s.Reason, New: s.New})
	}
	for _, s := range d.silences {
		in.NewSuppressions = append(in.NewSuppressions, checkreport.NewSuppression{Tool: s.Tool, Path: s.Path, Line: s.Line, Text: s.Text, Scope: string(s.Scope), TakesOut: s.TakesOut})
	}
	for _, s := range d.skipped {
		in.Skipped = append(in.Skipped, checkreport.Skipped{Path: s.Path, Reason: s.Reason, Language: v.unknownLanguage(s, in.Result)})
	}
	for _, name := range v.outside {
		in.Skipped = append(in.Skipped, checkreport.Skipped{Path: name, Reason: "it lies outside of " + v.dir})
	}
	in.Notes = slices.Concat(in.Notes, v.Changes.Notes, d.notes)
	for _, n := range sandbox.Notes() {
		if path.Base(n.Name) == ".git" && !mayHaveNeededGit(in.Result) {
			continue // it is always left out
		}
		note := fmt.Sprintf("Left out where the checks ran: %s (%s).", n.Name, n.Why)
		if !slices.Contains(in.Notes, note) { // PATH may name a directory twice
			in.Notes = append(in.Notes, note)
		}
	}
}

// unknownLanguage returns the language of a file that no check can have looked at, otherwise "".
// Commands and plug-ins that the owner configures may know any language, and some languages are
// built together with the project's own.
func (v validation) unknownLanguage(s reviewer.Skipped, r phase.Result) string {
	configured := v.Input.FormatCommand != "" || v.Input.LintCommand != "" || v.Input.BuildCommand != "" || v.Input.TestCommand != "" || len(v.Checks.Plugins) > 0
	if configured || !s.WithoutRules {
		return ""
	}
	language := reviewer.LanguageWithoutRules(s.Path)
	switch language {
	case "C", "C++", "Objective-C":
		return ""
	case "Kotlin", "Groovy", "Scala", "Clojure":
		if slices.ContainsFunc(r.Roots, func(root phase.RootResult) bool { return root.Language == phase.Java }) {
			return ""
		}
	}
	return language
}

var aboutGit = lazyregexp.New(`(?i)\b(git|vcs)\b`)

// mayHaveNeededGit reports whether a command that failed may have missed the .git
// directory, which is never copied: what it printed mentions git.
func mayHaveNeededGit(r phase.Result) bool {
	return slices.ContainsFunc(r.Roots, func(root phase.RootResult) bool {
		return slices.ContainsFunc(root.Checks, func(c phase.CheckResult) bool {
			return c.Status == phase.Fail && (aboutGit.MatchString(c.Excerpt) || slices.ContainsFunc(c.Problems, aboutGit.MatchString))
		})
	})
}

// stopped adds the exit code to the reason why nothing was judged: an interruption, input
// that cannot be validated, or a failure of Airlock's own.
func stopped(ctx context.Context, err error) error {
	_, invalid := errors.AsType[*phase.InvalidInput](err)
	switch {
	case ctx.Err() != nil:
		return exitcode.FailedError(errors.New("interrupted; the checks did not end"))
	case invalid:
		return exitcode.UsageError(err)
	}
	return exitcode.FailedError(err)
}

// wait waits, or returns the context's error.
func wait(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-timer.C:
		return nil
	}
}
