package phase

import (
	"bytes"
	"cmp"
	"context"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"sync"
	"unicode"

	"github.com/agent-airlock/airlock/internal/finding"
	"github.com/agent-airlock/airlock/internal/toolreport"
)

// suggests reports whether the changes of fixes become suggestions. They do only if the fixes can
// run in a copy that nobody keeps.
func (e *engine) suggests() bool {
	return e.config.Suggest && e.config.CheckOnly && (e.config.Scratch || e.deps.Copy != nil)
}

// suggest runs the fixes of a failed formatter and linter, each once. It runs last, because all
// checks have to see the files without these fixes. It leaves out a file that another check has
// changed, because the lines of this file are no longer those of the change.
func (e *engine) suggest(ctx context.Context, rr *rootRun) error {
	if !slices.ContainsFunc(rr.runs, func(w *run) bool { return w.out.Status == Fail }) {
		return nil
	}
	base := e.project.texts(e.untouched(rr))
	var current map[string][]byte // the same files where fixes run; nil if that is not known
	if e.config.Scratch {
		current = base
	}
	done := map[string]map[string][]toolreport.Edit{} // by the fix's command line
	for _, w := range rr.runs {
		w.dropUnprintable(base)
		if !w.wantsFix() {
			continue
		}
		if w.edits != nil { // the check itself has rewritten files
			w.addSuggestions(maps.Clone(w.edits))
			continue
		}
		fix := w.fixCommand()
		edits, isDone := done[fix.key()]
		if !isDone {
			where, err := e.writable(ctx)
			if where == nil {
				w.note("no suggestions: %v", err)
				continue
			}
			if current == nil {
				current = where.project.texts(slices.Sorted(maps.Keys(base)))
			}
			after, err := w.fixed(ctx, where, fix, base)
			if err != nil {
				return err
			}
			if after == nil {
				current = nil // it may have changed some of them
				continue
			}
			edits = e.edits(base, current, after)
			done[fix.key()], current = edits, after
		}
		w.addSuggestions(maps.Clone(edits))
	}
	return nil
}

// untouched returns the changed files that are as they were when the checks began.
func (e *engine) untouched(rr *rootRun) []string {
	now := e.project.stamps(rr.files)
	return slices.DeleteFunc(slices.Clone(rr.files), func(f string) bool {
		s, ok := now[f]
		return !ok || rr.began[f] != s
	})
}

// edits returns how files differ before and after, in line numbers of base, by their names in the
// repository.
func (e *engine) edits(base, before, after map[string][]byte) map[string][]toolreport.Edit {
	all := map[string][]toolreport.Edit{}
	for name, text := range base {
		textBefore, ok := before[name]
		textAfter, stays := after[name]
		if !ok || !stays {
			continue
		}
		if found := toolreport.Edits(text, textBefore, textAfter); len(found) > 0 {
			all[path.Join(e.prefix, name)] = found
		}
	}
	return all
}

// dropUnprintable removes a tool's suggestions for files with control characters, because the
// tool's output has lost these characters. It also removes suggestions for files that texts lacks.
func (w *run) dropUnprintable(texts map[string][]byte) {
	for i, f := range w.out.Blocking {
		name, below := inside(w.e.prefix, f.Path)
		text, ok := texts[name]
		if f.Suggestion != "" && (!below || !ok || bytes.ContainsFunc(text, isUnprintable)) {
			w.out.Blocking[i].Suggestion = ""
		}
	}
}

// isUnprintable reports whether a character is a control character, but not a tab or the end of a
// line.
func isUnprintable(r rune) bool {
	return r != '\t' && r != '\n' && r != '\r' && unicode.IsControl(r)
}

// wantsFix reports whether to run a fix. The check has to have failed in a way that a fix may
// change. A finding in a changed file has to be without a suggestion, or the findings of a
// formatter could not be read.
func (w *run) wantsFix() bool {
	if !w.isStyle() || w.out.Status != Fail || w.edits == nil && w.fixCommand().noFile {
		return false
	}
	if w.last.fault != "" || w.last.missing != "" || w.last.result.TimedOut {
		return false
	}
	for _, f := range w.out.Blocking {
		if _, changed := w.e.lines[f.Path]; changed && f.Suggestion == "" {
			return true
		}
	}
	return w.plan.check == Formatter && !w.readable
}

// fixed runs the fix and returns the files after it, nil if the fix did not come to its
// end.
func (w *run) fixed(ctx context.Context, where *engine, fix commandLine, files map[string][]byte) (map[string][]byte, error) {
	a, err := where.attempt(ctx, w.root, w.plan.check, fix)
	if err != nil {
		return nil, err
	}
	if a.missing != "" || a.fault != "" || a.result.TimedOut || a.result.Signal != "" {
		w.note("no suggestions: %s", a.ending(fix, w.e.config.TimeLimit))
		return nil, nil
	}
	return where.project.texts(slices.Sorted(maps.Keys(files))), nil
}

// noteEdits records the edits that a check which writes has made in the files.
func (w *run) noteEdits(before map[string][]byte) {
	w.edits = w.e.edits(before, before, w.where.project.texts(slices.Sorted(maps.Keys(before))))
	if len(w.edits) == 0 {
		w.edits = nil // the command changed nothing, so its fix may still make suggestions
	}
}

// maxSuggestions bounds the findings that the edits of one check become.
const maxSuggestions = 1000

// addSuggestions adds the edits of a fix, by file, to the check's findings. A finding on the lines
// of an edit gets the edit as its suggestion. If a formatter's finding names only the file, the
// findings of perEdit replace it. If a formatter's findings could not be read, each file without a
// finding gets such findings. If they could be read, the formatter is judged again, and may pass.
func (w *run) addSuggestions(edits map[string][]toolreport.Edit) {
	named := map[string]bool{}
	var blocking []finding.Finding
	for _, f := range w.out.Blocking {
		named[f.Path] = true
		switch {
		case f.Suggestion != "" || len(edits[f.Path]) == 0:
			blocking = append(blocking, f)
		case f.Range.StartLine > 0:
			edits[f.Path] = attach(&f, edits[f.Path])
			blocking = append(blocking, f)
		case w.plan.check != Formatter:
			blocking = append(blocking, f)
		default:
			blocking = append(blocking, w.perEdit(f, edits[f.Path], len(blocking))...)
			delete(edits, f.Path)
		}
	}
	if w.plan.check == Formatter && !w.readable {
		tool := cmp.Or(w.last.report.Tool, w.chosen.fix.tool, "formatter")
		for _, file := range slices.Sorted(maps.Keys(edits)) {
			if !named[file] {
				f := finding.Finding{Check: string(Formatter), Tool: tool, Severity: finding.Low, Message: toolreport.Unformatted, Path: file}
				blocking = append(blocking, w.perEdit(f, edits[file], len(blocking))...)
			}
		}
	}
	finding.Sort(blocking)
	finding.SetFingerprints(blocking)
	finding.SetFingerprints(w.out.Old)
	w.out.Blocking = blocking
	if w.plan.check != Formatter || !w.readable {
		return
	}
	w.rejudge()
	if w.out.Status == Pass {
		w.progress(Pass)
	}
}

// attach sets the finding's suggestion to the first edit that concerns the finding's lines, and
// returns the other edits.
func attach(f *finding.Finding, edits []toolreport.Edit) []toolreport.Edit {
	last := max(f.Range.StartLine, f.Range.EndLine)
	for i, ed := range edits {
		if ed.Suggestion != "" && ed.First <= last && f.Range.StartLine <= ed.Last {
			f.Range, f.Suggestion = ed.Range, ed.Suggestion
			return slices.Concat(edits[:i], edits[i+1:])
		}
	}
	return edits
}

// perEdit returns a finding for each of a file's edits that counts; with NewOnly, only those of
// changed lines do. If some do not, it adds the finding of the file to the old ones. If the findings
// would be more than maxSuggestions, counting the existing ones, it returns only the finding of the
// file.
func (w *run) perEdit(file finding.Finding, edits []toolreport.Edit, existing int) []finding.Finding {
	var counting []finding.Finding
	for _, ed := range edits {
		f := file
		f.Fingerprint, f.Message, f.Range, f.Suggestion = "", toolreport.UnformattedLines, ed.Range, ed.Suggestion
		if ed.Endings {
			f.Message = "These lines do not end as the formatter requires: other line endings, or the newline at the end of the file."
		}
		concerned := f
		concerned.Range = finding.Range{StartLine: max(ed.First, 1), EndLine: ed.Last}
		if !w.e.config.NewOnly || w.e.lines.touch(concerned) {
			counting = append(counting, f)
		}
	}
	if existing+len(counting) > maxSuggestions {
		w.note("no suggestions for %s: there are more than %d", file.Path, maxSuggestions)
		return []finding.Finding{file}
	}
	if len(counting) < len(edits) {
		w.out.Old = append(w.out.Old, file)
	}
	return counting
}

// lazyCopy is the copy of the repository in which commands that write run, if the working
// directory is kept. It is made when the first of them is to run.
type lazyCopy struct {
	mu       sync.Mutex
	asked    bool
	excluded []string // names of directories that none of them needs
	engine   *engine  // it runs commands there, and judges nothing
	err      error    // why there is no copy
}

// writable returns the engine for a place where commands may write and nothing is kept: e itself,
// or the engine of the copy. If there is no such place, where is nil, and err is the reason, unless
// Deps.Copy is nil.
func (e *engine) writable(ctx context.Context) (where *engine, err error) {
	if e.config.Scratch {
		return e, nil
	}
	c := &e.copy
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.asked && e.deps.Copy != nil {
		c.asked = true
		c.engine, c.err = e.openCopy(ctx)
	}
	return c.engine, c.err
}

func (e *engine) openCopy(ctx context.Context) (*engine, error) {
	made, err := e.deps.Copy(ctx, e.copy.excluded)
	if err != nil {
		return nil, err
	}
	c := &engine{job: e.job, config: e.config, deps: e.deps, prefix: e.prefix, repository: made.Repository, pins: e.pins}
	c.deps.Run, c.dir = made.Run, filepath.Join(made.Repository, filepath.FromSlash(e.prefix))
	if c.project, err = openIn(made.Repository, e.prefix); err != nil {
		return nil, err
	}
	return c, nil
}

// unneeded returns the names of large directories that no fix which may run needs: those of
// languages without such a fix. A command that both checks and fixes may need any.
func unneeded(roots []*rootRun) []string {
	unneeded := map[string]Language{"node_modules": JavaScript, ".venv": Python}
	for _, r := range roots {
		for _, w := range r.runs {
			if !w.isStyle() || w.out.Status != Fail || w.chosen.fix.line == "" {
				continue
			}
			if w.chosen.fix.line == w.chosen.check.line {
				return nil
			}
			maps.DeleteFunc(unneeded, func(_ string, l Language) bool { return l == r.language.family() })
		}
	}
	return slices.Sorted(maps.Keys(unneeded))
}
