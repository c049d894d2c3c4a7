package verify

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/agent-airlock/airlock/internal/acceptance"
	"github.com/agent-airlock/airlock/internal/exitcode"
	"github.com/agent-airlock/airlock/internal/nofollow"
	"github.com/agent-airlock/airlock/internal/text"
)

// Dispatches is a directory of dispatches and of the answers to them: each is a file that is
// written once. If two writers write it at the same moment, one of them fails.
type Dispatches struct {
	dir string
}

// DispatchState is a dispatch with what has become of it.
type DispatchState struct {
	acceptance.Dispatch
	// Answer is the response that stands; nil while none was accepted.
	Answer *acceptance.Response `json:"answer,omitempty"`
	// Missing reports that no answer came in time: nothing was verified.
	Missing bool `json:"missing"`
}

// OpenDispatches opens a directory of dispatches, and makes it if there is none. git ignores the
// directory. The errors carry their exit code.
func OpenDispatches(dir string) (Dispatches, error) {
	if err := makeIgnored(dir); err != nil {
		err = explainFull(fmt.Errorf("--store: %w", err))
		if exitcode.IsFull(err) {
			return Dispatches{}, exitcode.FailedError(err)
		}
		return Dispatches{}, exitcode.UsageError(err)
	}
	return Dispatches{dir}, nil
}

// makeIgnored makes a directory that git ignores.
func makeIgnored(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	ignore := filepath.Join(dir, ".gitignore")
	if _, err := os.Lstat(ignore); !errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return os.WriteFile(ignore, []byte("*\n"), 0o600)
}

// maxRead bounds a file of the directory, in bytes.
const maxRead = 2 * acceptance.MaxMessage

// List returns the dispatches of a task, oldest first. If task is "", it returns those of all
// tasks, in the order of the tasks' ids.
func (d Dispatches) List(task string) ([]acceptance.Dispatch, error) {
	pattern := "*"
	if task != "" {
		pattern = text.Slug(task, 100)
	}
	// The directory's own name is not a part of the pattern, because it may contain brackets.
	names, err := fs.Glob(os.DirFS(d.dir), pattern+"/*.dispatch.json")
	if err != nil {
		return nil, err
	}
	var all []acceptance.Dispatch
	for _, name := range names {
		var one acceptance.Dispatch
		if err := readJSON(filepath.Join(d.dir, filepath.FromSlash(name)), &one); err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	slices.SortStableFunc(all, func(a, b acceptance.Dispatch) int {
		return cmp.Or(strings.Compare(a.TaskID, b.TaskID), a.DispatchedAt.Compare(b.DispatchedAt), cmp.Compare(a.Attempt, b.Attempt))
	})
	return all, nil
}

// Add stores a new dispatch of a request.
func (d Dispatches) Add(req acceptance.Request, head string, now time.Time) (acceptance.Dispatch, error) {
	for {
		earlier, err := d.List(req.TaskID)
		if err != nil {
			return acceptance.Dispatch{}, err
		}
		if n := len(earlier); n > 0 && !now.After(earlier[n-1].DispatchedAt) {
			now = earlier[n-1].DispatchedAt.Add(time.Nanosecond) // List sorts by time
		}
		next, err := acceptance.NewDispatch(req, head, earlier, now)
		if err != nil {
			return next, err
		}
		err = d.writeOnce(next, "dispatch", next)
		if errors.Is(err, os.ErrExist) {
			continue // another process was faster, and its dispatch is one of the earlier ones now
		}
		return next, err
	}
}

// Answer returns the response that stands for a dispatch, nil if there is none.
func (d Dispatches) Answer(dispatch acceptance.Dispatch) (*acceptance.Response, error) {
	var r acceptance.Response
	err := readJSON(d.name(dispatch, "answer"), &r)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	return &r, err
}

// Accept stores the response that stands for a dispatch. The error wraps os.ErrExist if there
// is one already.
func (d Dispatches) Accept(dispatch acceptance.Dispatch, r acceptance.Response) error {
	return d.writeOnce(dispatch, "answer", r)
}

// KeepLate stores a response that came too late to be applied.
func (d Dispatches) KeepLate(dispatch acceptance.Dispatch, r acceptance.Response) error {
	for i := 1; ; i++ {
		if err := d.writeOnce(dispatch, fmt.Sprintf("late-%d", i), r); !errors.Is(err, os.ErrExist) {
			return err
		}
	}
}

// States returns all dispatches with what has become of them by now.
func (d Dispatches) States(now time.Time) ([]DispatchState, error) {
	all, err := d.List("")
	if err != nil {
		return nil, err
	}
	states := []DispatchState{}
	for _, one := range all {
		answer, err := d.Answer(one)
		if err != nil {
			return nil, err
		}
		states = append(states, DispatchState{one, answer, answer == nil && now.After(one.Due)})
	}
	return states, nil
}

func (d Dispatches) name(dispatch acceptance.Dispatch, what string) string {
	return filepath.Join(d.dir, text.Slug(dispatch.TaskID, 100), text.Slug(dispatch.ID, 200)+"."+what+".json")
}

// writeOnce writes a file that does not exist yet, in full or not at all.
func (d Dispatches) writeOnce(dispatch acceptance.Dispatch, what string, value any) error {
	raw, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		return err
	}
	name := d.name(dispatch, what)
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(name), ".new-")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) //nolint:errcheck // the link keeps what counts
	_, err = f.Write(append(raw, '\n'))
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Link(f.Name(), name)
}

func readJSON(name string, to any) error {
	dir, err := nofollow.OpenPath(filepath.Dir(name))
	if err != nil {
		return err
	}
	defer dir.Close()
	raw, _, err := nofollow.Read(dir, filepath.Base(name), maxRead)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return err
	case err != nil:
		return fmt.Errorf("%s cannot be read: %w", name, err)
	}
	if err := json.Unmarshal(raw, to); err != nil {
		return fmt.Errorf("%s cannot be read: %w; it may have been cut off: remove it, and dispatch the request again", name, err)
	}
	return nil
}
