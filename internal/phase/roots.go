package phase

import (
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
)

// cannotDetect is what the notes say where no language is known; nothing is
// ever guessed.
const cannotDetect = "Cannot detect programming language. Please provide explicit 'language' parameter."

// root is a folder with a language and checks of its own.
type root struct {
	dir      string   // relative to the working directory, "." for itself
	language Language // "" where none is known and all commands are the owner's
	files    []string // the changed files that belong to it, relative to the working directory
}

// marker is a file that says which language a folder's project has.
type marker struct {
	language Language
	names    []string // the last may be a pattern of path.Match
}

// markers are in the order in which they count.
func markers() []marker {
	return []marker{
		{JavaScript, []string{"package.json"}},
		{Go, []string{"go.mod"}},
		{Rust, []string{"Cargo.toml"}},
		{Python, []string{"requirements.txt", "pyproject.toml", "setup.py"}},
		{Ruby, []string{"Gemfile", "*.gemspec"}},
		{Java, []string{"pom.xml", "build.gradle", "build.gradle.kts"}},
	}
}

// aside are folders whose projects are nobody's to check: copies of others'
// code, and what tests are fed with.
func aside(name string) bool {
	return strings.HasPrefix(name, ".") || slices.Contains([]string{"node_modules", "vendor", "third_party", "testdata"}, name)
}

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

// languages returns those that the markers in a folder name, in order.
func (p *project) languages(dir string) []Language {
	found, ok := p.told[dir]
	if ok {
		return found
	}
	for _, m := range markers() {
		if !slices.ContainsFunc(m.names, func(n string) bool { return p.has(dir, n) }) {
			continue
		}
		l := m.language
		if l == JavaScript && p.has(dir, "tsconfig.json") {
			l = TypeScript
		}
		found = append(found, l)
	}
	p.told[dir] = found
	return found
}

// home returns the nearest folder at or above a file that has a marker, "" if
// there is none within the working directory.
func (p *project) home(file string) string {
	dir := path.Dir(file)
	parts := strings.Split(dir, "/")
	if i := slices.IndexFunc(parts, aside); i >= 0 && dir != "." {
		dir = path.Join(append([]string{"."}, parts[:i]...)...)
	}
	for ; ; dir = path.Dir(dir) {
		if len(p.languages(dir)) > 0 {
			return dir
		}
		if dir == "." {
			return ""
		}
	}
}

// roots finds what is to be checked: the working directory, if its language is
// given or a marker stands there, and the folders below it with a marker of
// their own that the checks of the working directory do not reach.
func (p *project) roots(in Input) []root {
	if in.Language != "" {
		return []root{{dir: ".", language: in.Language, files: in.ChangedFiles}}
	}
	byHome := map[string][]string{}
	for _, f := range in.ChangedFiles {
		byHome[p.home(f)] = append(byHome[p.home(f)], f)
	}
	var found []root
	top := p.languages(".")
	if len(top) > 0 {
		found = append(found, root{dir: ".", language: majority(top, byHome["."]), files: byHome["."]})
	}
	homes := make([]string, 0, len(byHome))
	for dir := range byHome {
		homes = append(homes, dir)
	}
	slices.SortFunc(homes, func(a, b string) int { // an outer one right before those in it
		return slices.Compare(parts(a), parts(b))
	})
	for _, dir := range homes {
		if dir == "" || dir == "." {
			continue
		}
		r := root{dir: dir, language: majority(p.languages(dir), byHome[dir]), files: byHome[dir]}
		if len(top) > 0 && reaches(found[0].language, r.language) {
			found[0].files = append(found[0].files, r.files...)
			continue
		}
		found = append(found, r)
	}
	if len(found) == 0 && in.namesAll() {
		found = append(found, root{dir: "."})
	}
	if len(found) == 1 {
		found[0].files = in.ChangedFiles // in their own order, and with those that have no marker above them
	}
	return found
}

// reaches reports whether the checks of an outer project cover an inner one of
// its own language: workspaces and modules do, except Go's, where "./..." ends
// at the next go.mod.
func reaches(outer, inner Language) bool {
	return outer.family() == inner.family() && outer != Go
}

// majority picks the language in which most of the files are written, the first
// where files do not decide.
func majority(of []Language, files []string) Language {
	best, most := of[0], 0
	for _, l := range of {
		n := 0
		for _, f := range files {
			if languageOfFile(f).family() == l.family() {
				n++
			}
		}
		if n > most {
			best, most = l, n
		}
	}
	return best
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
