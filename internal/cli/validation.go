package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/agent-airlock/airlock/internal/changes"
	"github.com/agent-airlock/airlock/internal/checkreport"
	"github.com/agent-airlock/airlock/internal/command"
	"github.com/agent-airlock/airlock/internal/config"
	"github.com/agent-airlock/airlock/internal/isolate"
	"github.com/agent-airlock/airlock/internal/phase"
	"github.com/agent-airlock/airlock/internal/reviews"
	"github.com/agent-airlock/airlock/internal/secrets"
)

// validation is one phase validation, set up.
type validation struct {
	input   phase.Input // WorkingDirectory is root or lies in it
	root    string      // absolute: the repository's root
	set     *changeset
	dir     string   // the input's folder, relative to root
	outside []string // changed files that do not lie in the input's folder
	phase   phase.Config
	checks  config.Checks
	scanner *secrets.Scanner
	room    isolate.Config // its Workspace is root
	beside  credentials    // what the commands could use
	say     func(line string)
	tell    func(phase.Event)
	// repository and number say what is validated, as far as it is known.
	repository string
	number     int
}

// What the commands may take where they run apart: more than builds need, and less
// than what brings a machine down.
const (
	maxProcesses = 8192     // with their threads
	maxDisk      = 24 << 30 // bytes
)

// newValidation sets up what the command line and the action have in common. dir is
// the input's folder relative to root.
func newValidation(w World, g *gate, checks config.Checks, in phase.Input, root, dir string, set *changeset) validation {
	v := validation{input: in, root: root, dir: dir, set: set, phase: checks.Phase, checks: checks, scanner: g.secrets}
	v.input.ChangedFiles, v.outside = set.below(dir)
	onRunner := w.Getenv("GITHUB_ACTIONS") == "true"
	v.phase.CheckOnly = onRunner
	v.room = isolate.Config{Workspace: root, Environ: w.Environ, Closed: isolate.RunnerPaths(w.Getenv),
		Limits: command.Limits{Processes: maxProcesses}, Disk: maxDisk}
	if len(checks.PassEnv) > 0 {
		v.room.Pass = slices.Concat(isolate.DefaultPass(), checks.PassEnv)
	}
	v.beside, v.say = seeCredentials(w, root), progress(w)
	return v
}

// run runs the six checks where they can do no harm, and returns what they found.
// The error is one that came before anything could be judged.
func (v validation) run(ctx context.Context) (doc *checkreport.Document, err error) {
	room, err := v.open(ctx)
	if err != nil {
		return nil, err
	}
	fixes := &scratch{room: v.room}
	defer func() {
		for _, e := range []error{fixes.close(), room.Close()} {
			if e != nil && err == nil {
				doc.Notes = append(doc.Notes, e.Error())
			}
		}
	}()
	if warning := v.beside.warning(); warning != "" && !room.Apart() {
		v.say(warning)
	}
	dir, err := filepath.Rel(v.root, v.input.WorkingDirectory)
	if err != nil {
		return nil, failedError(err)
	}
	job := phase.Job{Input: v.input, Repository: room.Dir(), Diff: v.set.files()}
	job.Input.WorkingDirectory = filepath.Join(room.Dir(), dir)
	cfg := v.phase
	cfg.CheckOnly, cfg.Scratch = cfg.CheckOnly || room.Apart(), room.Apart()
	cfg.Suggest = v.checks.Suggestions == nil || *v.checks.Suggestions
	both, err := reviews.New(reviews.Config{
		CodeReview: v.checks.CodeReview, SecurityReview: v.checks.SecurityReview,
		SkipCodeReview: v.checks.SkipCodeReview, SkipSecurityReview: v.checks.SkipSecurityReview,
		Plugins: v.checks.Plugins, Scanner: v.scanner, Set: v.set.Set, Run: room.Run,
	})
	if err != nil {
		return nil, usageError(err)
	}
	beside := &lanes{room: room}
	result, err := phase.Validate(ctx, job, cfg, phase.World{
		Run: room.Run, Now: time.Now, Wait: wait, CodeReview: both.Code(), SecurityReview: both.Security(),
		Progress: v.tell, Split: beside.split(ctx), Cores: cmp.Or(v.checks.MaxParallel, runtime.GOMAXPROCS(0)), Copy: fixes.copy,
	})
	if err != nil {
		return nil, v.stopped(ctx, err)
	}
	result.Missing = append(result.Missing, both.Details().Missing...)
	in := checkreport.Input{Result: result, Repository: v.repository, Number: v.number, Head: v.set.head, Informational: cfg.Informational,
		Rules: both.Details().Rules, Code: v.set.code(), Place: v.set.place, Mask: v.mask(append(fixes.names(), room.Names()...))}
	in.Notes = append(fixes.notes(), beside.notes()...)
	v.addDetails(&in, both.Details(), room)
	return checkreport.New(in), nil
}

// open opens the place where the commands run, unless a credential is at stake that
// they could use there.
func (v validation) open(ctx context.Context) (*isolate.Room, error) {
	v.room.Credential = v.beside.refuse()
	room, err := isolate.Open(ctx, v.room)
	var refused *isolate.RefusedError
	switch {
	case err == nil:
		return room, nil
	case !errors.As(err, &refused):
		return nil, failedError(err)
	case v.room.Credential:
		return nil, usageError(v.beside.refused(err))
	}
	return nil, usageError(err)
}

// addDetails adds what the reviews left out, and what a reader has to know of how
// the commands ran.
func (v validation) addDetails(in *checkreport.Input, d reviews.Details, room *isolate.Room) {
	for _, s := range d.Suppressed {
		in.Suppressed = append(in.Suppressed, checkreport.Suppressed{Rule: s.Rule, Path: s.Path, Line: s.Range.StartLine, Message: s.Message, Reason: s.Reason})
	}
	for _, s := range d.Skipped {
		in.Skipped = append(in.Skipped, checkreport.Skipped(s))
	}
	for _, name := range v.outside {
		in.Skipped = append(in.Skipped, checkreport.Skipped{Path: name, Reason: "it lies outside of " + v.dir})
	}
	in.Notes = slices.Concat(in.Notes, v.set.Notes, d.Notes)
	if style := in.Result.Output.Checks; room.Apart() && !v.phase.CheckOnly && (style.Formatter.Status == phase.Fail || style.Linter.Status == phase.Fail) {
		in.Notes = append(in.Notes, "Nothing was fixed: root's checks run in a copy. As another user, they fix what they can in place.")
	}
	for _, n := range room.Notes() {
		if path.Base(n.Name) == ".git" && !wantedGit(in.Result) {
			continue // it is so each time
		}
		in.Notes = append(in.Notes, fmt.Sprintf("Not taken into the place where the checks ran: %s (%s).", n.Name, n.Why))
	}
}

// stopped tells why nothing was judged: an interruption, input that cannot be
// validated, or a fault of our own.
func (v validation) stopped(ctx context.Context, err error) error {
	var invalid *phase.InvalidInput
	switch {
	case ctx.Err() != nil:
		return failedError(errors.New("interrupted; the checks did not end"))
	case errors.As(err, &invalid):
		return usageError(err)
	}
	return failedError(err)
}

// mask leaves secrets out of a text, and the names of the place where the checks ran,
// which mean nothing to anybody and are others the next time.
func (v validation) mask(names []string) func(string) string {
	replace := strings.NewReplacer(names...)
	return func(s string) string { return replace.Replace(v.scanner.Mask(s)) }
}

// files returns what changed for the checks; nil where all lines count.
func (c *changeset) files() []changes.ChangedFile {
	if !c.diff {
		return nil
	}
	files := make([]changes.ChangedFile, len(c.Files))
	for i := range c.Files {
		files[i] = c.Files[i].ChangedFile
	}
	return files
}

// below returns the paths of the changed files that lie in a folder of the
// repository, relative to it, and those that do not.
func (c *changeset) below(dir string) (in, out []string) {
	for i := range c.Files {
		name := c.Files[i].Path
		rel, ok := strings.CutPrefix(name, dir+"/")
		switch {
		case dir == ".":
			in = append(in, name)
		case ok:
			in = append(in, path.Clean(rel))
		default:
			out = append(out, name)
		}
	}
	return in, out
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
