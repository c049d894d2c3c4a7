package phase

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/agent-airlock/airlock/internal/finding"
	"github.com/agent-airlock/airlock/internal/toolreport"
)

// maxSuggestions bounds the findings that the edits of one check become.
const maxSuggestions = 1000

// refine puts what a fix changes, by file, into the check's findings: a finding of
// these lines gets the edit as its suggestion, one that only names the file is
// replaced by the edits of changed lines. A formatter whose findings could not be
// read gets findings so.
func (w *run) refine(edits map[string][]toolreport.Edit) {
	told := map[string]bool{}
	var gating []finding.Finding
	for _, f := range w.out.Gating {
		told[f.Path] = true
		switch {
		case f.Suggestion != "" || len(edits[f.Path]) == 0:
			gating = append(gating, f)
		case f.Range.StartLine > 0:
			edits[f.Path] = attach(&f, edits[f.Path])
			gating = append(gating, f)
		case w.plan.check != Formatter:
			gating = append(gating, f)
		default:
			gating = append(gating, w.replace(f, edits[f.Path], len(gating))...)
			delete(edits, f.Path)
		}
	}
	if w.plan.check == Formatter && !w.readable {
		tool := cmp.Or(w.last.report.Tool, w.way.fix.tool, "formatter")
		for _, file := range slices.Sorted(maps.Keys(edits)) {
			if f := (finding.Finding{Check: string(Formatter), Tool: tool, Severity: finding.Low, Message: toolreport.Unformatted, Path: file}); !told[file] {
				gating = append(gating, w.replace(f, edits[file], len(gating))...)
			}
		}
	}
	finding.Sort(gating)
	finding.SetFingerprints(gating)
	finding.SetFingerprints(w.out.Old)
	if w.out.Gating = gating; w.plan.check == Formatter && w.readable {
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
	if w.e.config.NewOnly && len(w.out.Gating) == 0 {
		w.out.Status = Pass
		w.out.Notes = append(w.out.Notes, oldOnly(len(w.out.Old)))
		return
	}
	for _, f := range w.out.Gating {
		w.stillUnformatted(f.Path)
	}
}

// oldOnly says why a check passes though it found something.
func oldOnly(problems int) string {
	return fmt.Sprintf("%d problems are on lines that did not change", problems)
}
