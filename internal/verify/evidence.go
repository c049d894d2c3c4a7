package verify

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/agent-airlock/airlock/internal/checks"
	"github.com/agent-airlock/airlock/internal/command"
	"github.com/agent-airlock/airlock/internal/gitrepo"
	"github.com/agent-airlock/airlock/internal/text"
)

// EvidenceVariable tells the owner's programs a directory for their files.
const EvidenceVariable = "AIRLOCK_EVIDENCE_DIR"

// maxCollected bounds a file that a program leaves as evidence, in bytes.
const maxCollected = 20 << 20

// evidenceDir is the directory in which evidence is kept.
type evidenceDir struct{ root *os.Root }

// openEvidence opens the directory, and makes it if there is none.
func openEvidence(dir string) (*evidenceDir, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	return &evidenceDir{root}, nil
}

func (d *evidenceDir) close() { _ = d.root.Close() } // its files are closed

// save writes a file, whose content replaces that of an earlier one with its name. A link
// is replaced, not followed.
func (d *evidenceDir) save(name string, data []byte) error {
	name = filepath.FromSlash(name)
	if err := d.root.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	if err := d.root.Remove(name); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	f, err := d.root.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Close())
}

// evidenceFor makes the directory in which the owner's programs leave files, and returns
// the variable that names it.
func (w *worktree) evidenceFor(ctx context.Context, place *checks.Place) ([]string, error) {
	w.opening.Lock()
	defer w.opening.Unlock()
	if w.temp != "" {
		return []string{EvidenceVariable + "=" + w.temp}, nil
	}
	if !place.Apart() {
		dir, err := os.MkdirTemp("", "airlock-evidence-")
		w.temp = dir
		return []string{EvidenceVariable + "=" + dir}, err
	}
	dir := filepath.Join(place.Dir(), ".airlock-evidence") // in the copy, which goes away
	r, err := place.Run(ctx, command.Spec{Program: "mkdir", Args: []string{"-p", dir}})
	if err == nil && !r.OK() {
		err = errors.New(describeEnd(r))
	}
	if err != nil {
		return nil, fmt.Errorf("the directory for the program's files cannot be made: %w", err)
	}
	w.temp = dir
	return []string{EvidenceVariable + "=" + dir}, nil
}

// collect reads a file that one of the owner's programs has left, by its absolute path or
// relative to where the program ran, or to the directory that it was told.
func (w *worktree) collect(name string) ([]byte, error) {
	var first error
	for _, dir := range []string{w.temp, w.place.Dir()} {
		rel := name
		if filepath.IsAbs(name) {
			var err error
			if rel, err = filepath.Rel(dir, name); err != nil {
				continue
			}
		}
		if !filepath.IsLocal(rel) {
			continue
		}
		data, err := readBelow(dir, path.Clean(filepath.ToSlash(rel)))
		if err == nil {
			return data, nil
		}
		if first == nil {
			first = err
		}
	}
	if first == nil {
		first = errors.New("it lies outside of the directories that are looked into")
	}
	return nil, first
}

// readBelow reads an ordinary file below a directory, and follows no link.
func readBelow(dir, name string) ([]byte, error) {
	tree, err := gitrepo.OpenWorkTree(dir)
	if err != nil {
		return nil, err
	}
	defer tree.Close()
	return tree.Read(name, maxCollected)
}

// removeTemp removes the directory for the programs' files, unless it goes away with the
// place.
func (w *worktree) removeTemp() {
	if w.temp == "" || w.place.Apart() {
		return
	}
	if err := os.RemoveAll(w.temp); err != nil {
		w.deps.Log("removing the programs' files: " + err.Error())
	}
}

// describeEnd words how a program ended that did not succeed.
func describeEnd(r command.Result) string {
	printed := strings.TrimSpace(r.Stderr.String())
	last := text.OneLine(printed[strings.LastIndexByte(printed, '\n')+1:])
	if last != "" {
		last = ": " + text.Truncate(last, 300)
	}
	switch {
	case r.TimedOut:
		return "it was ended by the time limit" + last
	case r.Signal != "":
		return fmt.Sprintf("it was ended by a signal (%s)%s", r.Signal, last)
	}
	return fmt.Sprintf("it ended with exit code %d%s", r.ExitCode, last)
}
