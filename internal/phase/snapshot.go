package phase

import (
	"maps"
	"path"
	"runtime"
	"slices"
	"sync"
	"time"
)

// maxSnapshot bounds how many files are watched.
const maxSnapshot = 200_000

// snapshot is when each file was last written, and its size.
type snapshot map[string]stamp

type stamp struct {
	modified time.Time
	size     int64
}

// snapshot looks at a folder's regular files, but for those of other projects
// and those that builds make. Their names are relative to the folder.
func (p *project) snapshot(dir string) snapshot {
	w := walk{project: p, room: make(chan struct{}, runtime.GOMAXPROCS(0)), found: snapshot{}}
	w.folder(dir, "")
	w.busy.Wait()
	return w.found
}

// walk looks at folders side by side: most of its time is the system's.
type walk struct {
	project *project
	room    chan struct{} // folders that may be looked at beside another
	busy    sync.WaitGroup

	mu    sync.Mutex
	found snapshot
}

// folder looks at a folder below dir. What cannot be read cannot be formatted
// either.
func (w *walk) folder(dir, name string) {
	f, err := w.project.open(path.Join(dir, name))
	if err != nil {
		return
	}
	entries, _ := f.ReadDir(-1)
	_ = f.Close() // it was only read
	here := snapshot{}
	for _, e := range entries {
		below := path.Join(name, e.Name())
		switch {
		case e.IsDir() && slices.Contains([]string{".git", "node_modules", "target", "vendor", "__pycache__", ".venv"}, e.Name()):
		case e.IsDir():
			select {
			case w.room <- struct{}{}:
				w.busy.Go(func() {
					w.folder(dir, below)
					<-w.room
				})
			default:
				w.folder(dir, below)
			}
		case e.Type().IsRegular():
			if info, err := e.Info(); err == nil {
				here[below] = stamp{info.ModTime(), info.Size()}
			}
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.found)+len(here) <= maxSnapshot {
		maps.Copy(w.found, here)
	}
}

// rewritten returns the files that were changed since; new ones are caches as
// often as not.
func (s snapshot) rewritten(now snapshot) []string {
	var names []string
	for name, st := range now {
		if before, ok := s[name]; ok && before != st {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}
