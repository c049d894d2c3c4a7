package phase

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"unicode"

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
	return e.config.Suggest && e.config.CheckOnly && (e.config.Scratch || e.world.Copy != nil)
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
	for i, f := range w.out.Gating {
		rel, err := filepath.Rel(filepath.FromSlash(w.e.prefix), filepath.FromSlash(f.Path))
		if f.Suggestion == "" || err != nil {
			continue
		}
		text, ok := texts[filepath.ToSlash(rel)]
		if !ok || bytes.ContainsFunc(text, func(r rune) bool { return r != '\t' && r != '\n' && r != '\r' && unicode.IsControl(r) }) {
			w.out.Gating[i].Suggestion = ""
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
	for _, f := range w.out.Gating {
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
