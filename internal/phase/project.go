package phase

import (
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// project answers questions about the files of the working directory, which are
// a stranger's: nothing is read outside it, and no link out of it is followed.
type project struct {
	at    *os.Root
	names map[string][]string   // of a folder's entries, read once
	told  map[string][]Language // of a folder's markers
}

// openProject opens the working directory; close it with at.Close.
func openProject(dir string) (*project, error) {
	at, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	return &project{at: at, names: map[string][]string{}, told: map[string][]Language{}}, nil
}

// open opens a file or folder for reading; nothing waits for the other end of a FIFO.
func (p *project) open(name string) (*os.File, error) {
	return p.at.OpenFile(name, os.O_RDONLY|openNonblock, 0)
}

// entries returns the names in a folder; none where it cannot be read.
func (p *project) entries(dir string) []string {
	names, ok := p.names[dir]
	if ok {
		return names
	}
	if f, err := p.open(dir); err == nil {
		names, _ = f.Readdirnames(-1) // not a folder: no names
		_ = f.Close()                 // it was only read
	}
	p.names[dir] = names
	return names
}

// has reports whether a folder has an entry of that name.
func (p *project) has(dir, name string) bool {
	if !strings.Contains(name, "*") {
		return slices.Contains(p.entries(dir), name)
	}
	return slices.ContainsFunc(p.entries(dir), func(e string) bool { ok, _ := path.Match(name, e); return ok })
}

// maxManifest bounds a file that is read for its settings, in bytes.
const maxManifest = 4 << 20

// read returns a regular file's content, at most maxManifest bytes of it. Programs may
// be at work beside: what is opened is what was looked at.
func (p *project) read(name string) ([]byte, error) {
	f, err := p.open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // it was only read
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > maxManifest {
		return nil, &fs.PathError{Op: "read", Path: name, Err: fs.ErrInvalid}
	}
	return io.ReadAll(io.LimitReader(f, maxManifest))
}

// goModule returns the module path of a folder's go.mod, "" if it tells none.
func (p *project) goModule(dir string) string {
	raw, err := p.read(path.Join(dir, "go.mod"))
	if err != nil {
		return ""
	}
	m := regexp.MustCompile(`(?m)^module\s+"?([^\s"]+)`).FindSubmatch(raw)
	if m == nil {
		return ""
	}
	return string(m[1])
}

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

// Bounds of the changed files that suggestions are made for, in bytes.
const (
	maxText  = 1 << 20  // of one file
	maxTexts = 64 << 20 // of all in a root
)

// stamps looks at the changed files, relative to the working directory, as they
// are now. Those that are no regular files are left out.
func (p *project) stamps(files []string) snapshot {
	s := snapshot{}
	for _, f := range files {
		if info, err := p.at.Lstat(f); err == nil && info.Mode().IsRegular() {
			s[f] = stamp{info.ModTime(), info.Size()}
		}
	}
	return s
}

// texts reads files, as far as they are regular and small enough. What stands in
// the working directory may have been put there by a stranger's program: a link
// is not followed.
func (p *project) texts(files []string) map[string][]byte {
	texts := map[string][]byte{}
	total := 0
	for _, f := range files {
		if text, ok := p.text(f); ok && total+len(text) <= maxTexts {
			texts[f], total = text, total+len(text)
		}
	}
	return texts
}

func (p *project) text(name string) ([]byte, bool) {
	looked, err := p.at.Lstat(name)
	if err != nil || !looked.Mode().IsRegular() || looked.Size() > maxText {
		return nil, false
	}
	f, err := p.open(name)
	if err != nil {
		return nil, false
	}
	defer f.Close() //nolint:errcheck // it was only read
	opened, err := f.Stat()
	if err != nil || !os.SameFile(looked, opened) {
		return nil, false
	}
	text := make([]byte, opened.Size())
	if _, err := io.ReadFull(f, text); err != nil {
		return nil, false // it is shorter now: somebody writes it
	}
	return text, true
}
