package checks

import (
	"context"
	"fmt"
	"path"
	"path/filepath"
	"slices"

	"github.com/agent-airlock/airlock/internal/isolate"
	"github.com/agent-airlock/airlock/internal/phase"
)

// maxNotes bounds the notes on what is not in a copy.
const maxNotes = 20

// fixCopy is a copy of the workspace in which fixes run, to become suggestions. It is needed only
// if the checks run in the workspace itself, and is made when the first fix runs.
type fixCopy struct {
	cfg      isolate.Config
	scratch  *isolate.Scratch // nil until the copy is made
	excluded []string         // names of directories that no fix needs
}

// open makes the copy for phase.Deps.Copy. It leaves out directories with the excluded
// names.
func (f *fixCopy) open(ctx context.Context, excluded []string) (phase.Copy, error) {
	cfg := f.cfg
	cfg.Copy.Exclude = append(slices.Clip(cfg.Copy.Exclude), excluded...)
	scratch, err := isolate.OpenScratch(ctx, cfg)
	if err != nil {
		return phase.Copy{}, err
	}
	f.scratch, f.excluded = scratch, excluded
	return phase.Copy{Repository: scratch.Dir(), Run: scratch.Run}, nil
}

// names returns pairs for strings.NewReplacer: a path of the copy, and the text that stands for it
// in what people read.
func (f *fixCopy) names() []string {
	if f.scratch == nil {
		return nil
	}
	return []string{f.scratch.Dir() + string(filepath.Separator), "", f.scratch.Dir(), "."}
}

// notes lists what could not be copied, except for .git, which is never copied, and
// directories that no fix needs.
func (f *fixCopy) notes() (notes []string) {
	if f.scratch == nil {
		return nil
	}
	for _, n := range f.scratch.Notes() {
		if base := path.Base(filepath.ToSlash(n.Name)); base != ".git" && !slices.Contains(f.excluded, base) {
			notes = append(notes, fmt.Sprintf("Not copied to where fixes ran: %s (%s).", n.Name, n.Why))
		}
	}
	if more := len(notes) - maxNotes; more > 0 { // a pull request's program can make any number
		notes = append(notes[:maxNotes], fmt.Sprintf("Not copied to where fixes ran: %d more.", more))
	}
	return notes
}

// close removes the copy.
func (f *fixCopy) close() error {
	if f.scratch == nil {
		return nil
	}
	if err := f.scratch.Close(); err != nil {
		return fmt.Errorf("the copy in which fixes ran could not be removed: %w", err)
	}
	return nil
}
