package verify

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/agent-airlock/airlock/internal/checks"
	"github.com/agent-airlock/airlock/internal/command"
	"github.com/agent-airlock/airlock/internal/exitcode"
	"github.com/agent-airlock/airlock/internal/gitrepo"
	"github.com/agent-airlock/airlock/internal/text"
)

// EvidenceVariable is the environment variable that gives the owner's programs a directory for
// their files.
const EvidenceVariable = "AIRLOCK_EVIDENCE_DIR"

// maxCollected bounds a file that a program leaves as evidence, in bytes.
const maxCollected = 20 << 20

// evidenceDir is the directory in which evidence is kept.
type evidenceDir struct {
	root *os.Root
	name string
}

// CheckEvidence returns an error unless evidence can be kept in a directory, which it makes if there
// is none. The error contains the next step, except for a full disk, where exitcode.Explain adds it.
func CheckEvidence(dir string) error {
	d, err := openEvidence(dir)
	if err == nil {
		d.close()
	}
	return err
}

// openEvidence opens the directory, makes it if there is none, and makes sure that files can be
// written there. Its error carries its exit code.
func openEvidence(dir string) (*evidenceDir, error) {
	refuse := func(format string, args ...any) (*evidenceDir, error) {
		return nil, exitcode.UsageError(fmt.Errorf("the evidence directory %s %w", dir, fmt.Errorf(format, args...)))
	}
	err := os.MkdirAll(dir, 0o755)
	info, statErr := os.Stat(dir)
	switch {
	case exitcode.IsFull(err):
		return nil, exitcode.FailedError(fmt.Errorf("the evidence directory %s cannot be made: %w", dir, reasonOf(err)))
	case statErr == nil && !info.IsDir():
		return refuse("is a file: name a directory")
	case err != nil && errors.Is(statErr, os.ErrNotExist) && isLink(dir):
		return refuse("is a link that leads nowhere: name a directory")
	case err != nil:
		return refuse("cannot be made: %w: name one that this user can make, or write to", reasonOf(err))
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return refuse("cannot be opened: %w: name one that this user can read and write", reasonOf(err))
	}
	d := &evidenceDir{root, dir}
	probe := ".airlock-" + rand.Text()
	f, err := root.OpenFile(probe, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err == nil {
		err = errors.Join(f.Close(), root.Remove(probe))
	}
	if err != nil {
		d.close()
		if exitcode.IsFull(err) {
			return nil, exitcode.FailedError(fmt.Errorf("nothing can be written to the evidence directory %s: %w", dir, reasonOf(err)))
		}
		return refuse("cannot be written to: %w: let this user write there, or name another", reasonOf(err))
	}
	return d, nil
}

func isLink(name string) bool {
	info, err := os.Lstat(name)
	return err == nil && info.Mode().Type() == os.ModeSymlink
}

// reasonOf returns an error about a file without the file's name.
func reasonOf(err error) error {
	if at, ok := errors.AsType[*os.PathError](err); ok {
		return at.Err
	}
	return err
}

func (d *evidenceDir) close() { _ = d.root.Close() } // its files are closed

// save writes a file, after it has removed an earlier file or link of the same name. If it cannot
// write the new file, it leaves no part of it. The error says what to do.
func (d *evidenceDir) save(name string, data []byte) error {
	err := d.write(filepath.FromSlash(name), data)
	switch {
	case err == nil:
		return nil
	case exitcode.IsFull(err):
		return fmt.Errorf("%w; make room there, and verify again", reasonOf(err))
	case d.isGone():
		return errors.New("its directory was removed or replaced meanwhile; verify again")
	case errors.Is(err, os.ErrPermission):
		return fmt.Errorf("%w; let this user write there, or name another directory, and verify again", reasonOf(err))
	}
	return fmt.Errorf("%w; name an empty directory, and verify again", reasonOf(err))
}

func (d *evidenceDir) write(name string, data []byte) error {
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
	if err = errors.Join(err, f.Close()); err != nil {
		_ = d.root.Remove(name)
	}
	return err
}

// isGone reports whether the directory is no longer where it was.
func (d *evidenceDir) isGone() bool {
	opened, err := d.root.Stat(".")
	current, errNow := os.Stat(d.name)
	return err != nil || errNow != nil || !os.SameFile(opened, current)
}

// makeTemp makes the directory in which the owner's programs leave files, unless it is there, and
// returns its path.
func (w *worktree) makeTemp(ctx context.Context, place *checks.Place) (dir string, err error) {
	w.opening.Lock()
	defer w.opening.Unlock()
	if w.temp != "" {
		return w.temp, nil
	}
	if place.Apart() {
		dir = filepath.Join(place.Dir(), ".airlock-evidence") // in the copy, which goes away
		var r command.Result
		if r, err = place.Run(ctx, command.Spec{Program: "mkdir", Args: []string{"-p", dir}}); err == nil && !r.OK() {
			err = errors.New(describeEnd(r, w.mask))
		}
	} else if dir, err = os.MkdirTemp("", "airlock-evidence-"); err != nil {
		err = errors.New(exitcode.Explain(err))
	}
	if err != nil {
		return "", fmt.Errorf("the directory for the program's files cannot be made: %w", err)
	}
	w.temp = dir
	return dir, nil
}

// collect reads a file that one of the owner's programs has left. name is an absolute path, or
// relative to the directory in which the program ran or to that of EvidenceVariable.
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
			first = reasonOf(err)
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

// describeEnd describes how a program that did not succeed ended, with the last line of its
// standard error, which is masked and then cut.
func describeEnd(r command.Result, mask func(string) string) string {
	printed := strings.TrimSpace(r.Stderr.Masked(mask))
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
