package phase

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
)

// cannotDetect is the error where the language is not known. It is never guessed.
const cannotDetect = "Cannot detect programming language. Please provide explicit 'language' parameter."

// Root is a directory that the owner lists for validation.
type Root struct {
	Dir      string   // relative to the repository's root, slash-separated, clean; "." for itself
	Language Language // "": the input's or, without one, detected by the files in Dir
}

// root is a directory with a language and checks of its own.
type root struct {
	dir      string   // relative to the working directory, "." for itself
	language Language // "" if it is not known: then only the owner's commands run
	files    []string // the changed files that belong to it, relative to the working directory
	// idle is set if no changed file is in a project: only the owner's commands run.
	idle bool
	// dependent is set for a root without changed files that a change elsewhere can break. Only its
	// build and tests run.
	dependent bool
}

// roots finds the roots to check. If the language is given, the working directory is the only root.
// Otherwise the roots are the working directory, if it has a marker; the projects below it with
// changed files, unless its checks cover them; and the Go modules that the changes can break. If
// there are none of these, the working directory is the root if the owner's commands suffice.
func (p *project) roots(in Input) []root {
	if in.Language != "" {
		return []root{{dir: ".", language: in.Language, files: in.ChangedFiles}}
	}
	found := p.changedRoots(in.ChangedFiles)
	if len(found) == 1 {
		found[0].files = in.ChangedFiles // all of them, in the order of the input
	}
	var all []root
	for _, r := range found {
		all = append(all, p.byLanguage(r)...)
	}
	all = append(all, p.goDependents(all, in.ChangedFiles)...)
	if len(all) == 0 && (in.namesAll() || p.leavesProjectsAlone(in.ChangedFiles)) {
		all = []root{{dir: ".", files: in.ChangedFiles, idle: !in.namesAll()}}
	}
	return all
}

// changedRoots returns the roots that have changed files, outer ones first, and the working directory
// if it has a marker. Where its checks cover one language of an inner project and not another, only
// the other is a root. If there are other roots, it leaves out a working directory without changed
// files whose package.json is there for tools.
func (p *project) changedRoots(files []string) (found []root) {
	byHome := map[string][]string{}
	for _, f := range files {
		home := p.home(f)
		byHome[home] = append(byHome[home], f)
	}
	top := p.languages(".")
	if len(top) > 0 {
		found = append(found, root{dir: ".", language: majority(top, byHome["."]), files: byHome["."]})
	}
	for _, dir := range slices.SortedFunc(maps.Keys(byHome), outerFirst) {
		if dir == "" || dir == "." {
			continue
		}
		r := root{dir: dir, language: majority(p.languages(dir), byHome[dir]), files: byHome[dir]}
		parts := p.byLanguage(r)
		isCovered := func(part root) bool {
			return slices.ContainsFunc(top, func(l Language) bool { return p.covers(l, part) })
		}
		if !slices.ContainsFunc(parts, isCovered) {
			found = append(found, r)
			continue
		}
		apart := slices.DeleteFunc(parts, isCovered)
		isApart := func(f string) bool {
			return slices.ContainsFunc(apart, func(part root) bool { return part.language.family() == languageOfFile(f).family() })
		}
		found[0].files = append(found[0].files, slices.DeleteFunc(slices.Clone(r.files), isApart)...)
		found = append(found, apart...)
	}
	topIsUnchanged := len(top) > 0 && len(byHome["."]) == 0
	if len(found) > 1 && topIsUnchanged && found[0].language.family() == JavaScript && p.isForTools(".") {
		found = found[1:]
	}
	return found
}

// byLanguage returns a root, and a further root in the same directory for each other language that
// has a marker there and changed files. A file is checked by the tools of its language; a file of
// no language is checked by those of each root. A package.json that is there for tools does not
// make a further root.
func (p *project) byLanguage(r root) []root {
	all := []root{r}
	for _, l := range p.languages(r.dir) {
		if l.family() == r.language.family() || l.family() == JavaScript && p.isForTools(r.dir) {
			continue
		}
		isIts := func(f string) bool { return languageOfFile(f).family() == l.family() }
		if !slices.ContainsFunc(r.files, isIts) {
			continue
		}
		other := slices.DeleteFunc(slices.Clone(r.files), func(f string) bool { return !isIts(f) && languageOfFile(f) != "" })
		all[0].files = slices.DeleteFunc(slices.Clone(all[0].files), isIts)
		all = append(all, root{dir: r.dir, language: l, files: other})
	}
	return all
}

// home returns the directory of the project that a file belongs to. It is the nearest directory at
// or above the file with a marker of the file's language, otherwise the nearest with any marker. If
// this project is built from a directory above it, home returns that one. It is "" if no directory
// from the file up to the working directory has a marker. A file in a directory of others' code or
// of test data belongs to the project around that directory.
func (p *project) home(file string) string {
	dir := path.Dir(file)
	parts := strings.Split(dir, "/")
	if i := slices.IndexFunc(parts, isForeign); i >= 0 && dir != "." {
		dir = path.Join(append([]string{"."}, parts[:i]...)...)
	}
	home := ""
	for ; ; dir = path.Dir(dir) {
		isOwn := p.checksLanguageOf(dir, file)
		if isOwn || home == "" && len(p.languages(dir)) > 0 {
			home = dir
		}
		if isOwn || dir == "." {
			break
		}
	}
	if home == "" {
		return ""
	}
	return p.buildRoot(home, p.languageIn(home, file))
}

// checksLanguageOf reports whether a directory has a project in the language of a file. A
// package.json, for example, does not check a Go file, which belongs to the module above. If a
// package.json is there for tools, it counts as a project only below the working directory, and
// only if the directory has no other marker.
func (p *project) checksLanguageOf(dir, file string) bool {
	family := languageOfFile(file).family()
	if !slices.ContainsFunc(p.languages(dir), func(l Language) bool { return l.family() == family }) {
		return false
	}
	if family != JavaScript {
		return true
	}
	isOnlyOne := len(p.languages(dir)) == 1 && dir != "."
	return isOnlyOne || p.isDeno(dir) || !p.isForTools(dir)
}

// languageIn returns the language in which a directory's project checks a file: that of the file if
// the directory has its marker, otherwise the only one, "" if there are several.
func (p *project) languageIn(dir, file string) Language {
	found := p.languages(dir)
	l := languageOfFile(file)
	switch {
	case slices.Contains(found, l):
		return l
	case len(found) == 1:
		return found[0]
	}
	return ""
}

// leavesProjectsAlone reports whether the four commands need not run for the changed files, none of
// which is in a project. This is so if no file is code or a marker, and either all files are
// documents or there are projects elsewhere. A file whose directory was deleted, too, is not taken
// into account.
func (p *project) leavesProjectsAlone(files []string) bool {
	documents := true
	for _, f := range files {
		if _, err := p.root.Lstat(path.Dir(f)); err != nil {
			continue
		}
		if languageOfFile(f) != "" || isMarker(path.Base(f)) {
			return false
		}
		documents = documents && isDocument(f)
	}
	return len(files) > 0 && (documents || len(p.projects(".", projectDepth)) > 0)
}

// isForeign reports whether the projects in a directory of that name are not checked: hidden ones,
// copies of others' code, test data, and templates of projects.
func isForeign(name string) bool {
	return strings.HasPrefix(name, ".") || slices.Contains([]string{"node_modules", "vendor", "third_party", "testdata", "fixtures", "__fixtures__", "archetype-resources"}, name)
}

// projectDepth bounds how far below the top Projects looks: apps/web/client is three.
const projectDepth = 3

// Projects returns the directories of a work tree that have a marker of a language, sorted,
// relative and slash-separated. If the top has one, the only directory is "."; otherwise they are
// those at most three levels below the top, without any that is inside another one. Directories of
// others' code and of test data are left out, and links are not followed.
func Projects(dir string) ([]string, error) {
	p, err := openProject(dir)
	if err != nil {
		return nil, err
	}
	defer p.close()
	return p.projects(".", projectDepth), nil
}

func (p *project) projects(dir string, depth int) (found []string) {
	if len(p.languages(dir)) > 0 {
		return []string{dir}
	}
	if depth == 0 {
		return nil
	}
	for _, name := range p.directories(dir) {
		if !isForeign(name) {
			found = append(found, p.projects(path.Join(dir, name), depth-1)...)
		}
	}
	return found
}

// languages returns the languages that the markers in a directory indicate, the main one first.
// Deno's configuration is a marker only if neither the directory nor any above it has another
// marker: in another project it may be there for one script.
func (p *project) languages(dir string) []Language {
	found, ok := p.marked[dir]
	if ok {
		return found
	}
	for _, l := range languages {
		if !slices.ContainsFunc(l.markers, func(name string) bool { return p.has(dir, name) }) {
			continue
		}
		if l.language == JavaScript && p.has(dir, "tsconfig.json") {
			found = append(found, TypeScript)
		} else {
			found = append(found, l.language)
		}
	}
	if len(found) == 0 && p.isDeno(dir) && p.isAlone(dir) {
		found = append(found, TypeScript)
	}
	if len(found) > 1 && found[0].family() == JavaScript && p.manifest(dir).testScript() == "" {
		found = append(found[1:], found[0]) // a package.json without tests is there for tools
	}
	p.marked[dir] = found
	return found
}

// covers reports whether the checks of the working directory's project also check an inner one of
// its language. There are three exceptions: Go, where "./..." ends at the next go.mod; packages
// that a package.json without a test script does not have in its workspace; and crates and Java
// projects that are not built from the working directory.
func (p *project) covers(outer Language, inner root) bool {
	switch {
	case outer.family() != inner.language.family() || outer == Go:
		return false
	case outer.family() == JavaScript:
		return p.manifest(".").testScript() != "" || p.isWorkspace(".") && p.workspaceReaches(".", inner.dir)
	case outer == Rust || outer == Java:
		return p.buildRoot(inner.dir, outer) == "."
	}
	return true
}

// isForTools reports whether the package.json of a directory is there for tools: it is not that of
// a workspace, and has no test script. A test script may also test the packages below it.
func (p *project) isForTools(dir string) bool {
	return !p.isWorkspace(dir) && p.manifest(dir).testScript() == ""
}

// majority returns the language in which most of the files are written, or the first if
// the files do not decide.
func majority(languages []Language, files []string) Language {
	count := map[Language]int{}
	for _, f := range files {
		count[languageOfFile(f).family()]++
	}
	best := languages[0]
	for _, l := range languages[1:] {
		if count[l.family()] > count[best.family()] {
			best = l
		}
	}
	return best
}

// listed returns the owner's roots that are in the working directory, even those without changed
// files. prefix is the path of the working directory in the repository. A changed file belongs to
// the innermost root around it. The error is an *InvalidInput that lists what is wrong with the
// roots.
func (p *project) listed(in Input, roots []Root, prefix string) ([]root, error) {
	var found []root
	var problems []string
	for _, r := range roots {
		dir, ok := inside(prefix, r.Dir)
		if !ok || slices.ContainsFunc(found, func(f root) bool { return f.dir == dir }) {
			continue
		}
		if info, err := p.root.Stat(dir); err != nil || !info.IsDir() {
			problems = append(problems, fmt.Sprintf("Validation failed: the root '%s' is configured, but there is no such directory", r.Dir))
			continue
		}
		found = append(found, root{dir: dir, language: r.Language})
	}
	slices.SortFunc(found, func(a, b root) int { return outerFirst(a.dir, b.dir) })
	for _, f := range in.ChangedFiles {
		for i, r := range slices.Backward(found) {
			if isIn(r.dir, f) {
				found[i].files = append(found[i].files, f)
				break
			}
		}
	}
	for i := range found {
		r := &found[i]
		detected := p.languages(r.dir)
		switch {
		case r.language != "":
		case in.Language != "":
			r.language = in.Language
		case len(detected) > 0:
			r.language = majority(detected, r.files)
		case !in.namesAll():
			problems = append(problems, fmt.Sprintf("%s (the configured root '%s' has no package.json, go.mod or the like)", cannotDetect, r.dir))
		}
	}
	if len(found) == 0 && len(problems) == 0 {
		problems = []string{"Validation failed: none of the configured roots is in the working directory"}
	}
	if len(problems) > 0 {
		return nil, &InvalidInput{problems}
	}
	return found, nil
}

// inside returns a clean path of the repository relative to the working directory, which
// is prefix; false if it is not in there.
func inside(prefix, name string) (string, bool) {
	name = path.Clean(name)
	switch prefix {
	case name:
		return ".", true
	case ".":
		return name, name != ".." && !strings.HasPrefix(name, "../") && !path.IsAbs(name)
	}
	return strings.CutPrefix(name, prefix+"/")
}

// isIn reports whether a file or directory is the outer directory or below it. Both are
// clean.
func isIn(outer, name string) bool {
	return outer == "." || name == outer || strings.HasPrefix(name, outer+"/")
}

// outerFirst orders directories so that an outer one comes right before those in it, and
// the working directory first.
func outerFirst(a, b string) int {
	parts := func(dir string) []string {
		if dir == "." {
			return nil
		}
		return strings.Split(dir, "/")
	}
	return slices.Compare(parts(a), parts(b))
}
