package phase

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/mod/modfile"

	"github.com/agent-airlock/airlock/internal/changes"
	"github.com/agent-airlock/airlock/internal/nofollow"
	"github.com/agent-airlock/airlock/internal/text"
)

// project answers questions about the files of the working directory. They are a
// stranger's: except through outer, nothing outside it is read, and no link out of it is followed.
type project struct {
	root        *os.Root
	names       map[string][]string   // the entries of a directory, read once
	marked      map[string][]Language // the languages of a directory's markers
	manifests   map[string]*manifest  // by their directories
	commandText map[string]string     // see commandTexts
	builds      map[string]string     // see buildRoot
	packageDirs map[string][]string   // of the packages that the JavaScript workspace in a directory lists
	crates      map[string]*crate     // by their directories
	// crateMembers are the members of the Cargo workspace in a directory.
	crateMembers map[string]map[string]bool
	poms         map[string]*pom   // by their directories; nil where there is none that can be read
	modules      map[string][]*pom // of the Maven build in a directory
	// outer is the repository, if the working directory is below it, and prefix is the path of the
	// working directory in it. Only configuration is looked for in outer.
	outer  *project
	prefix string
	// changed are the changed files, and diff is how they changed, nil if that is not known.
	// The names of both are relative to the repository.
	changed []string
	diff    []changes.ChangedFile
}

// openProject opens a directory. Close it with close.
func openProject(dir string) (*project, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	return &project{root: root, names: map[string][]string{}, marked: map[string][]Language{}, manifests: map[string]*manifest{}, commandText: map[string]string{}, builds: map[string]string{}, packageDirs: map[string][]string{}, crates: map[string]*crate{}, crateMembers: map[string]map[string]bool{},
		poms: map[string]*pom{}, modules: map[string][]*pom{}}, nil
}

// openIn opens a working directory, which is prefix in a repository.
func openIn(repository, prefix string) (*project, error) {
	p, err := openProject(filepath.Join(repository, filepath.FromSlash(prefix)))
	if err != nil || prefix == "." {
		return p, err
	}
	if p.outer, err = openProject(repository); err != nil {
		_ = p.root.Close() // it was only opened
		return nil, err
	}
	p.prefix = prefix
	return p, nil
}

// repository returns the repository, and the path of the working directory in it.
func (p *project) repository() (repository *project, prefix string) {
	if p.outer == nil {
		return p, "."
	}
	return p.outer, p.prefix
}

// close closes what is open.
func (p *project) close() {
	_ = p.root.Close() // it was only read
	if p.outer != nil {
		p.outer.close()
	}
}

// cached returns the value of a key in a cache. find finds it the first time.
func cached[V any](cache map[string]V, key string, find func(key string) V) V {
	value, known := cache[key]
	if !known {
		value = find(key)
		cache[key] = value
	}
	return value
}

// open opens a file or directory for reading. It does not wait for the other end of a
// FIFO.
func (p *project) open(name string) (*os.File, error) {
	return p.root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
}

// entries returns the names in a directory, none if it cannot be read.
func (p *project) entries(dir string) []string {
	return cached(p.names, dir, func(dir string) (names []string) {
		if f, err := p.open(dir); err == nil {
			names, _ = f.Readdirnames(-1) // a file has no names
			_ = f.Close()                 // it was only read
		}
		return names
	})
}

// directories returns the names of the directories in a directory, sorted, without links.
func (p *project) directories(dir string) (names []string) {
	f, err := p.open(dir)
	if err != nil {
		return nil
	}
	defer f.Close()         //nolint:errcheck // it was only read
	all, _ := f.ReadDir(-1) // what can be read of it
	for _, e := range all {
		if e.IsDir() {
			names = append(names, e.Name())
		}
	}
	slices.Sort(names)
	return names
}

// has reports whether a directory has an entry with a name, which is a pattern of path.Match if it
// contains a *.
func (p *project) has(dir, name string) bool {
	if !strings.Contains(name, "*") {
		return slices.Contains(p.entries(dir), name)
	}
	return slices.ContainsFunc(p.entries(dir), func(e string) bool { ok, _ := path.Match(name, e); return ok })
}

// maxManifest bounds a file that is read for its settings, in bytes.
const maxManifest = 4 << 20

// read returns the content of a regular file that has at most maxManifest bytes. Programs
// may be running: what is opened is what was checked.
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
		return nil, fmt.Errorf("%s is not a regular file, or has more than %s", name, text.Bytes(maxManifest))
	}
	return io.ReadAll(io.LimitReader(f, maxManifest))
}

// goModulePath returns the module path of a directory's go.mod, "" if there is none.
func (p *project) goModulePath(dir string) string {
	raw, _ := p.read(path.Join(dir, "go.mod")) // what cannot be read, go reports
	return modfile.ModulePath(raw)
}

// Bounds of the files whose contents are kept to see or undo what a command changes, in bytes.
const (
	maxText  = 1 << 20  // of one file
	maxTexts = 64 << 20 // of all together
)

// texts returns the contents of files, if they are regular and small enough. A stranger's
// program may have made them: no link is followed.
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

// text returns the content of a file; ok is false if it is not regular or has more than
// maxText bytes.
func (p *project) text(name string) (text []byte, ok bool) {
	text, _, err := nofollow.Read(p.root, name, maxText)
	return text, err == nil
}

// stamp is when a file was last written, in nanoseconds since 1970, and its size.
type stamp struct{ modified, size int64 }

func stampOf(info fs.FileInfo) stamp { return stamp{info.ModTime().UnixNano(), info.Size()} }

// stamps returns the stamps of files, without those that are not regular.
func (p *project) stamps(files []string) map[string]stamp {
	s := map[string]stamp{}
	for _, f := range files {
		if info, err := p.root.Lstat(f); err == nil && info.Mode().IsRegular() {
			s[f] = stampOf(info)
		}
	}
	return s
}
