package phase

import (
	"maps"
	"os"
	"path"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/agent-airlock/airlock/internal/crash"
)

// snapshot contains the stamps of the regular files of a directory and of the directories below it.
// Its keys are the files' directories, relative to the uppermost. Files are in the order in which the
// system lists them, which stays the same as long as none is added or removed.
type snapshot map[string][]stamped

type stamped struct {
	name string // without its directory
	stamp
}

// rewritten returns the files that were changed between the snapshot and a later one. It leaves out
// new files, because many of them are caches.
func (s snapshot) rewritten(later snapshot) []string {
	var names []string
	for dir, after := range later {
		if slices.Equal(s[dir], after) {
			continue
		}
		before := make(map[string]stamp, len(s[dir]))
		for _, f := range s[dir] {
			before[f.name] = f.stamp
		}
		for _, f := range after {
			if was, ok := before[f.name]; ok && was != f.stamp {
				names = append(names, path.Join(dir, f.name))
			}
		}
	}
	slices.Sort(names)
	return names
}

// Bounds of a snapshot: programs can make more than can be looked at.
const (
	maxSnapshot = 200_000 // files and directories
	maxDepth    = 200     // of directories: the path of each is resolved from the start
)

// snapshot returns a snapshot of a directory's regular files, without those of git, of
// dependencies and of build directories. Names are relative to the directory. known, if not
// nil, returns the stamps of files that need not be looked at; their paths are relative to
// the project.
func (p *project) snapshot(dir string, known func(string) (stamp, bool)) snapshot {
	w := walk{project: p, known: known, slots: make(chan struct{}, runtime.GOMAXPROCS(0)), found: snapshot{}}
	w.directory(dir, "", 0)
	w.running.Wait()
	return w.found
}

// refresh returns a new snapshot of the files of an earlier one. It lists no directories,
// so it does not contain files that are new.
func (p *project) refresh(dir string, earlier snapshot) snapshot {
	dirs := slices.Collect(maps.Keys(earlier))
	now := make([][]stamped, len(dirs))
	var next atomic.Int64
	var running crash.Group
	for range runtime.GOMAXPROCS(0) {
		running.Go(func() {
			for {
				i := int(next.Add(1)) - 1
				if i >= len(dirs) {
					return
				}
				now[i] = p.stampedAgain(path.Join(dir, dirs[i]), earlier[dirs[i]])
			}
		})
	}
	running.Wait()
	found := make(snapshot, len(dirs))
	for i, name := range dirs {
		found[name] = now[i]
	}
	return found
}

// stampedAgain returns the stamps that files of a directory have now.
func (p *project) stampedAgain(dir string, earlier []stamped) []stamped {
	f, err := p.open(dir)
	if err != nil {
		return nil
	}
	defer f.Close() //nolint:errcheck // it was only read
	now := make([]stamped, 0, len(earlier))
	for _, file := range earlier {
		if s, kind := p.look(f, file.name); kind == regular {
			now = append(now, stamped{file.name, s})
		}
	}
	return now
}

// walk reads several directories at the same time, because most of the time is spent in the kernel.
type walk struct {
	project *project
	known   func(string) (stamp, bool) // may be nil
	slots   chan struct{}              // directories that may be read at the same time as another
	running crash.Group
	entries atomic.Int64

	mu    sync.Mutex
	found snapshot
	files int // in found
}

// directory reads the directory name below dir, which is depth levels down. It ignores
// what cannot be read, because tools cannot rewrite it either.
func (w *walk) directory(dir, name string, depth int) {
	f, err := w.project.open(path.Join(dir, name))
	if err != nil {
		return
	}
	here, below := w.list(f, path.Join(dir, name))
	_ = f.Close() // it was only read
	if depth == maxDepth {
		below = nil
	}
	for _, entry := range below {
		name := path.Join(name, entry)
		select {
		case w.slots <- struct{}{}:
			w.running.Go(func() {
				w.directory(dir, name, depth+1)
				<-w.slots
			})
		default:
			w.directory(dir, name, depth+1)
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.files += len(here)
	if len(here) > 0 && w.files <= maxSnapshot {
		w.found[name] = here
	}
}

// list returns the regular files of an open directory, and the directories in it, without those of
// git, of dependencies and of builds.
func (w *walk) list(f *os.File, dir string) (files []stamped, directories []string) {
	prefix := dir + "/"
	if dir == "." {
		prefix = ""
	}
	for err := error(nil); err == nil && w.entries.Load() <= maxSnapshot; {
		var names []string
		names, err = f.Readdirnames(1024)
		w.entries.Add(int64(len(names)))
		files = slices.Grow(files, len(names))
		for _, entry := range names {
			if w.known != nil {
				if s, ok := w.known(prefix + entry); ok {
					files = append(files, stamped{entry, s})
					continue
				}
			}
			switch s, kind := w.project.look(f, entry); kind {
			case regular:
				files = append(files, stamped{entry, s})
			case directory:
				if !slices.Contains([]string{".git", "node_modules", "target", "vendor", "__pycache__", ".venv"}, entry) {
					directories = append(directories, entry)
				}
			}
		}
	}
	return files, directories
}

// entryKind is what something in a directory is.
type entryKind int

const (
	other entryKind = iota // includes links, and files that were removed meanwhile
	regular
	directory
)
