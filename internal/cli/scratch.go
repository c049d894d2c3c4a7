package cli

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

// scratch is the copy of the workspace in which fixes become suggestions, where the
// checks run in the workspace itself. It is made when the first fix is to run.
type scratch struct {
	room isolate.Config
	at   *isolate.Scratch // nil until then
	left []string         // names of folders that no fix needs
}

// copy makes the copy, as phase.World asks for it.
func (s *scratch) copy(ctx context.Context, leave []string) (phase.Copy, error) {
	cfg := s.room
	cfg.Copy.Exclude = append(cfg.Copy.Exclude[:len(cfg.Copy.Exclude):len(cfg.Copy.Exclude)], leave...)
	at, err := isolate.OpenScratch(ctx, cfg)
	if err != nil {
		return phase.Copy{}, err
	}
	s.at, s.left = at, leave
	return phase.Copy{Repository: at.Dir(), Run: at.Run}, nil
}

// names returns the copy's names, each with what a reader knows it by, as
// strings.NewReplacer takes them.
func (s *scratch) names() []string {
	if s.at == nil {
		return nil
	}
	return []string{s.at.Dir() + string(filepath.Separator), "", s.at.Dir(), "."}
}

// notes says what is not in the copy, save for what is never there and what no fix
// needs.
func (s *scratch) notes() (notes []string) {
	if s.at == nil {
		return nil
	}
	for _, n := range s.at.Notes() {
		if base := path.Base(filepath.ToSlash(n.Name)); base != ".git" && !slices.Contains(s.left, base) {
			notes = append(notes, fmt.Sprintf("Not taken into the copy in which fixes ran: %s (%s).", n.Name, n.Why))
		}
	}
	if more := len(notes) - maxNotes; more > 0 { // a stranger's program can make as many as it likes
		notes = append(notes[:maxNotes], fmt.Sprintf("Not taken into the copy in which fixes ran: %d more.", more))
	}
	return notes
}

// close removes the copy.
func (s *scratch) close() error {
	if s.at == nil {
		return nil
	}
	if err := s.at.Close(); err != nil {
		return fmt.Errorf("the copy in which fixes ran could not be removed: %w", err)
	}
	return nil
}
