package phase

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"sync"
	"unicode"

	"github.com/agent-airlock/airlock/internal/finding"
	"github.com/agent-airlock/airlock/internal/toolreport"
)

// rootRun is a root's checks at work.
type rootRun struct {
	rootPlan
	began snapshot // of the changed files
	runs  []*run
}

// suggests reports whether what a fix changes becomes suggestions: only in a copy
// that nobody keeps.
func (e *engine) suggests() bool {
	return e.config.Suggest && e.config.CheckOnly && (e.config.Scratch || e.deps.Copy != nil)
}

// suggest runs the fixes of the formatter and the linter that failed, each once.
// It comes last, so that all else has seen the files as they were; a file that
// another check has changed is left out, since its lines are not those of the
// change any more.
func (e *engine) suggest(ctx context.Context, rr *rootRun) error {
	if !slices.ContainsFunc(rr.runs, func(w *run) bool { return w.out.Status == Fail }) {
		return nil
	}
	base := e.project.texts(e.untouched(rr))
	var now map[string][]byte // the same files where fixes run; nil where it is not known
	if e.config.Scratch {
		now = base
	}
	done := map[string]map[string][]toolreport.Edit{} // by the fix's command line
	for _, w := range rr.runs {
		w.doubt(base)
		if !w.wantsFix() {
			continue
		}
		edits, ok := done[w.way.fix.line]
		switch {
		case w.edits != nil: // the check itself has rewritten files
			edits = w.edits
		case !ok:
			at, why := e.writable(ctx)
			if at == nil {
				w.out.Notes = append(w.out.Notes, fmt.Sprintf("no suggestions: %v", why))
				continue
			}
			if now == nil {
				now = at.project.texts(slices.Sorted(maps.Keys(base)))
			}
			after, err := w.fixed(ctx, at, base)
			if err != nil {
				return err
			}
			if after == nil {
				now = nil // it may have changed some of them
				continue
			}
			edits = e.edits(base, now, after)
			done[w.way.fix.line], now = edits, after
		}
		w.refine(maps.Clone(edits))
	}
	return nil
}

// doubt takes away suggestions that a tool printed for files with control
// characters, which its output has lost on the way.
func (w *run) doubt(texts map[string][]byte) {
	for i, f := range w.out.Blocking {
		rel, err := filepath.Rel(filepath.FromSlash(w.e.prefix), filepath.FromSlash(f.Path))
		if f.Suggestion == "" || err != nil {
			continue
		}
		text, ok := texts[filepath.ToSlash(rel)]
		if !ok || bytes.ContainsFunc(text, func(r rune) bool { return r != '\t' && r != '\n' && r != '\r' && unicode.IsControl(r) }) {
			w.out.Blocking[i].Suggestion = ""
		}
	}
}

// untouched returns the changed files that are as they were when the checks began.
func (e *engine) untouched(rr *rootRun) []string {
	now := e.project.stamps(rr.files)
	return slices.DeleteFunc(slices.Clone(rr.files), func(f string) bool {
		s, ok := now[f]
		return !ok || rr.began[f] != s
	})
}

// wantsFix reports whether the check failed in a way that a fix may mend, and
// findings want a suggestion.
func (w *run) wantsFix() bool {
	if !w.style() || w.out.Status != Fail || w.edits == nil && w.way.fix.line == "" {
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

// fixed runs the fix in a place and returns the files behind it; nil where the fix
// did not come to its end.
func (w *run) fixed(ctx context.Context, at *engine, files map[string][]byte) (map[string][]byte, error) {
	a, err := at.once(ctx, w.root, w.plan.check, w.way.fix)
	if err != nil {
		return nil, err
	}
	if a.missing != "" || a.fault != "" || a.result.TimedOut || a.result.Signal != "" {
		w.out.Notes = append(w.out.Notes, "no suggestions: "+ended(w.way.fix, a, w.e.config.TimeLimit))
		return nil, nil
	}
	return at.project.texts(slices.Sorted(maps.Keys(files))), nil
}

// edits compares files, and names them relative to the repository.
func (e *engine) edits(base, before, after map[string][]byte) map[string][]toolreport.Edit {
	all := map[string][]toolreport.Edit{}
	for f, text := range base {
		was, ok := before[f]
		is, still := after[f]
		if !ok || !still {
			continue
		}
		if found := toolreport.Edits(text, was, is); len(found) > 0 {
			all[path.Join(e.prefix, f)] = found
		}
	}
	return all
}

// rewrote notes what a check that writes has changed in the files.
func (w *run) rewrote(before map[string][]byte) {
	w.edits = w.e.edits(before, before, w.at.project.texts(slices.Sorted(maps.Keys(before))))
	if len(w.edits) == 0 {
		w.edits = nil // it only checked: there is still its fix
	}
}

// maxSuggestions bounds the findings that the edits of one check become.
const maxSuggestions = 1000

// refine puts what a fix changes, by file, into the check's findings: a finding of
// these lines gets the edit as its suggestion, one that only names the file is
// replaced by the edits of changed lines. A formatter whose findings could not be
// read gets findings so.
func (w *run) refine(edits map[string][]toolreport.Edit) {
	told := map[string]bool{}
	var blocking []finding.Finding
	for _, f := range w.out.Blocking {
		told[f.Path] = true
		switch {
		case f.Suggestion != "" || len(edits[f.Path]) == 0:
			blocking = append(blocking, f)
		case f.Range.StartLine > 0:
			edits[f.Path] = attach(&f, edits[f.Path])
			blocking = append(blocking, f)
		case w.plan.check != Formatter:
			blocking = append(blocking, f)
		default:
			blocking = append(blocking, w.replace(f, edits[f.Path], len(blocking))...)
			delete(edits, f.Path)
		}
	}
	if w.plan.check == Formatter && !w.readable {
		tool := cmp.Or(w.last.report.Tool, w.way.fix.tool, "formatter")
		for _, file := range slices.Sorted(maps.Keys(edits)) {
			if f := (finding.Finding{Check: string(Formatter), Tool: tool, Severity: finding.Low, Message: toolreport.Unformatted, Path: file}); !told[file] {
				blocking = append(blocking, w.replace(f, edits[file], len(blocking))...)
			}
		}
	}
	finding.Sort(blocking)
	finding.SetFingerprints(blocking)
	finding.SetFingerprints(w.out.Old)
	if w.out.Blocking = blocking; w.plan.check == Formatter && w.readable {
		if w.rejudge(); w.out.Status == Pass {
			w.tell(Pass)
		}
	}
}

// attach makes the first edit that concerns the lines of a finding its suggestion,
// and returns the others.
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

// replace returns the findings of a file's edits that count. If some do not, the
// finding of the whole file stays with the old ones.
func (w *run) replace(whole finding.Finding, edits []toolreport.Edit, have int) []finding.Finding {
	var counting []finding.Finding
	for _, ed := range edits {
		f := whole
		f.Fingerprint, f.Message, f.Range, f.Suggestion = "", toolreport.UnformattedLines, ed.Range, ed.Suggestion
		if ed.Endings {
			f.Message = "These lines do not end as the formatter wants it: other line endings, or the newline at the end of the file."
		}
		concerned := f
		concerned.Range = finding.Range{StartLine: max(ed.First, 1), EndLine: ed.Last}
		if !w.e.config.NewOnly || w.e.lines.touch(concerned) {
			counting = append(counting, f)
		}
	}
	if have+len(counting) > maxSuggestions {
		w.out.Notes = append(w.out.Notes, fmt.Sprintf("no suggestions for %s: there are more than %d", whole.Path, maxSuggestions))
		return []finding.Finding{whole}
	}
	if len(counting) < len(edits) {
		w.out.Old = append(w.out.Old, whole)
	}
	return counting
}

// rejudge words a formatter's problems again, now that the lines are known. If
// all of them are old, it passes.
func (w *run) rejudge() {
	w.out.Problems = nil
	if w.e.config.NewOnly && len(w.out.Blocking) == 0 {
		w.out.Status = Pass
		w.out.Notes = append(w.out.Notes, oldOnly(len(w.out.Old)))
		return
	}
	for _, f := range w.out.Blocking {
		w.stillUnformatted(f.Path)
	}
}

// oldOnly says why a check passes though it found something.
func oldOnly(problems int) string {
	return fmt.Sprintf("%d problems are on lines that did not change", problems)
}

// scratch is the copy of the repository in which commands that write run, where the
// working directory is kept. It is made when the first of them is to run.
type scratch struct {
	mu    sync.Mutex
	asked bool
	leave []string // names of folders that none of them needs
	at    *engine  // it runs commands there, and judges nothing
	why   error    // why there is no copy
}

// writable returns the engine of the place where commands may write and nothing is
// kept: e itself, or one in the copy. It is nil where there is no such place, and why
// says the reason.
func (e *engine) writable(ctx context.Context) (at *engine, why error) {
	if e.config.Scratch {
		return e, nil
	}
	s := &e.scratch
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.asked && e.deps.Copy != nil {
		s.asked = true
		s.at, s.why = e.copied(ctx)
	}
	return s.at, s.why
}

func (e *engine) copied(ctx context.Context) (*engine, error) {
	made, err := e.deps.Copy(ctx, e.scratch.leave)
	if err != nil {
		return nil, err
	}
	at := &engine{job: e.job, config: e.config, deps: e.deps, prefix: e.prefix, repository: made.Repository}
	at.deps.Run, at.dir = made.Run, filepath.Join(made.Repository, filepath.FromSlash(e.prefix))
	if at.project, err = openProject(at.dir); err != nil {
		return nil, err
	}
	return at, nil
}

// close lets go of the folders that are open.
func (e *engine) close() {
	_ = e.project.at.Close() // it was only read
	if at := e.scratch.at; at != nil {
		_ = at.project.at.Close()
	}
}

// unneeded returns the names of folders which hold tools, and are large, that none of
// the fixes needs which may run: those of languages whose own fixes are not among
// them. A command of the owner's may need anything.
func unneeded(roots []*rootRun) []string {
	left := map[string]Language{"node_modules": JavaScript, ".venv": Python}
	for _, r := range roots {
		for _, w := range r.runs {
			if !w.style() || w.out.Status != Fail || w.way.fix.line == "" {
				continue
			}
			if w.way.fix.line == w.way.check.line {
				return nil
			}
			maps.DeleteFunc(left, func(_ string, l Language) bool { return l == r.language.family() })
		}
	}
	return slices.Sorted(maps.Keys(left))
}
