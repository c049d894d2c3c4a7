package phase

import (
	"io/fs"
	"maps"
	"path"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Bounds of what is watched: programs can make more than can be looked at.
const (
	maxSnapshot = 200_000 // files and folders
	maxFolders  = 200     // in each other: the way to each is gone anew
)

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
	w.folder(dir, "", 0)
	w.busy.Wait()
	return w.found
}

// walk looks at folders side by side: most of its time is the system's.
type walk struct {
	project *project
	room    chan struct{} // folders that may be looked at beside another
	busy    sync.WaitGroup
	seen    atomic.Int64 // files and folders

	mu    sync.Mutex
	found snapshot
}

// folder looks at a folder below dir, which lies in as many as depth says. What cannot
// be read cannot be formatted either.
func (w *walk) folder(dir, name string, depth int) {
	f, err := w.project.open(path.Join(dir, name))
	if err != nil {
		return
	}
	var below []string
	here := snapshot{}
	for err == nil && w.seen.Load() <= maxSnapshot {
		var entries []fs.DirEntry
		entries, err = f.ReadDir(1024)
		w.seen.Add(int64(len(entries)))
		for _, e := range entries {
			switch {
			case e.IsDir() && slices.Contains([]string{".git", "node_modules", "target", "vendor", "__pycache__", ".venv"}, e.Name()):
			case e.IsDir() && depth < maxFolders:
				below = append(below, path.Join(name, e.Name()))
			case e.Type().IsRegular():
				if info, err := e.Info(); err == nil {
					here[path.Join(name, e.Name())] = stamp{info.ModTime(), info.Size()}
				}
			}
		}
	}
	_ = f.Close() // it was only read
	for _, folder := range below {
		select {
		case w.room <- struct{}{}:
			w.busy.Go(func() {
				w.folder(dir, folder, depth+1)
				<-w.room
			})
		default:
			w.folder(dir, folder, depth+1)
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
