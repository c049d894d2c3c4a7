package phase

import (
	"fmt"
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

// Root is a folder that the owner lists for validation.
type Root struct {
	Dir      string   // relative to the repository's root, slash-separated, clean; "." for itself
	Language Language // "" has it detected by the files in Dir
}

// listed returns the owner's roots that lie in the working directory, which is
// prefix in the repository, each with the changed files that no root within it has.
// All are checked, whatever changed. The error is an *InvalidInput that names what
// cannot be a root.
func (p *project) listed(in Input, roots []Root, prefix string) ([]root, error) {
	var found []root
	var problems []string
	for _, r := range roots {
		dir, ok := inside(prefix, r.Dir)
		if !ok || slices.ContainsFunc(found, func(f root) bool { return f.dir == dir }) {
			continue
		}
		if info, err := p.at.Stat(dir); err != nil || !info.IsDir() {
			problems = append(problems, fmt.Sprintf("Validation failed: the root '%s' is configured, but there is no such directory", r.Dir))
			continue
		}
		found = append(found, root{dir: dir, language: r.Language})
	}
	slices.SortFunc(found, func(a, b root) int { // an outer one right before those in it
		return slices.Compare(parts(a.dir), parts(b.dir))
	})
	for _, f := range in.ChangedFiles {
		for i, r := range slices.Backward(found) {
			if under(r.dir, f) {
				found[i].files = append(found[i].files, f)
				break
			}
		}
	}
	for i := range found {
		r := &found[i]
		of := p.languages(r.dir)
		switch {
		case r.language != "":
		case in.Language != "":
			r.language = in.Language
		case len(of) > 0:
			r.language = majority(of, r.files)
		case in.namesAll():
		default:
			problems = append(problems, fmt.Sprintf("%s (no package.json, go.mod or the like stands in the configured root '%s')", cannotDetect, r.dir))
		}
	}
	if len(found) == 0 && len(problems) == 0 {
		problems = []string{"Validation failed: none of the configured roots lies in the working directory"}
	}
	if len(problems) > 0 {
		return nil, &InvalidInput{problems}
	}
	return found, nil
}

// inside returns a folder of the repository relative to the working directory,
// which is prefix; false if it does not lie there.
func inside(prefix, dir string) (string, bool) {
	dir = path.Clean(dir)
	switch rest, ok := strings.CutPrefix(dir, prefix+"/"); {
	case dir == prefix:
		return ".", true
	case prefix == ".":
		return dir, dir != ".." && !strings.HasPrefix(dir, "../") && !path.IsAbs(dir)
	default:
		return rest, ok
	}
}

// parts splits a folder for sorting; the working directory comes first.
func parts(dir string) []string {
	if dir == "." {
		return nil
	}
	return strings.Split(dir, "/")
}
