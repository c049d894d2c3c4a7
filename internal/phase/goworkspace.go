package phase

import (
	"fmt"
	"hash/crc32"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"
)

// goModule is a module that a Go workspace uses.
type goModule struct {
	dir, path string
	requires  []string // paths of modules
}

// goModules returns the modules that the go.work of a directory uses, none if there is no go.work.
// It leaves out modules outside the project, and modules that cannot be read, which go reports.
func (p *project) goModules(workspace string) (modules []goModule) {
	raw, _ := p.read(path.Join(workspace, "go.work"))
	work, err := modfile.ParseWork("go.work", raw, nil)
	if err != nil {
		return nil
	}
	for _, use := range work.Use {
		dir := path.Join(workspace, filepath.ToSlash(use.Path))
		if path.IsAbs(use.Path) || !filepath.IsLocal(dir) {
			continue
		}
		raw, _ := p.read(path.Join(dir, "go.mod"))
		mod, err := modfile.ParseLax("go.mod", raw, nil)
		if err != nil || mod.Module == nil {
			continue
		}
		m := goModule{dir: dir, path: mod.Module.Mod.Path}
		for _, r := range mod.Require {
			m.requires = append(m.requires, r.Mod.Path)
		}
		modules = append(modules, m)
	}
	slices.SortFunc(modules, func(a, b goModule) int { return outerFirst(a.dir, b.dir) })
	return modules
}

// isGoWorkspaceOf reports whether go takes the go.work of a directory for a module: the nearest at
// or above it.
func (p *project) isGoWorkspaceOf(workspace, module string) bool {
	for dir := module; ; dir = path.Dir(dir) {
		if p.has(dir, "go.work") || dir == "." {
			return dir == workspace
		}
	}
}

// goWorkspaces returns the directories that have a go.work and are below the working directory, or
// at or above a changed file. They are relative to the repository, and so are files.
func (p *project) goWorkspaces(files []string) []string {
	const most = 2000 // directories below
	repository, prefix := p.repository()
	isLookedAt := map[string]bool{}
	for _, dir := range p.tree(".", most) {
		isLookedAt[path.Join(prefix, dir)] = true
	}
	for _, f := range files {
		for dir := f; dir != "."; {
			dir = path.Dir(dir)
			isLookedAt[dir] = true
		}
	}
	maps.DeleteFunc(isLookedAt, func(dir string, _ bool) bool { return !repository.has(dir, "go.work") })
	return slices.SortedFunc(maps.Keys(isLookedAt), outerFirst)
}

// goDependents returns roots for the modules of Go workspaces that are not among the roots found,
// each of one language, but may be broken by the change. Such a module requires a module with
// changed code, directly or not, or the go.work has changed. Only its build and tests run.
func (p *project) goDependents(found []root, changed []string) (dependents []root) {
	repository, prefix := p.repository()
	files := make([]string, 0, len(changed)) // like all names below, relative to the repository
	for _, f := range changed {
		files = append(files, path.Join(prefix, f))
	}
	checked := map[string]bool{} // directories that are roots of Go already
	hasCode := map[string]bool{} // directories with changed code
	for _, r := range found {
		if r.language == Go {
			dir := path.Join(prefix, r.dir)
			checked[dir] = true
			if slices.ContainsFunc(r.files, func(f string) bool { // the only root may have files outside
				return isIn(r.dir, f) && !isDocument(f) && !strings.HasSuffix(f, "_test.go")
			}) {
				hasCode[dir] = true
			}
		}
	}
	isOfWorkspace := func(f string) bool { return path.Base(f) == "go.work" || path.Base(f) == "go.work.sum" }
	if len(hasCode) == 0 && !slices.ContainsFunc(files, isOfWorkspace) {
		return nil
	}
	for _, workspace := range p.goWorkspaces(files) {
		modules := repository.goModules(workspace)
		all := slices.ContainsFunc(files, func(f string) bool { return isOfWorkspace(f) && path.Dir(f) == workspace })
		isBroken := map[string]bool{} // modules that may be broken, by their paths
		for before := -1; before != len(isBroken); {
			before = len(isBroken)
			for _, m := range modules {
				if all || hasCode[m.dir] || slices.ContainsFunc(m.requires, func(path string) bool { return isBroken[path] }) {
					isBroken[m.path] = true
				}
			}
		}
		for _, m := range modules {
			dir, ok := inside(prefix, m.dir)
			if ok && isBroken[m.path] && !checked[m.dir] && repository.isGoWorkspaceOf(workspace, m.dir) {
				checked[m.dir] = true
				dependents = append(dependents, root{dir: dir, language: Go, dependent: true})
			}
		}
	}
	slices.SortFunc(dependents, func(a, b root) int { return outerFirst(a.dir, b.dir) })
	return dependents
}

// vetApart gives go vet an option of its own, and so a cache of its own, in each module but the
// first. Go 1.26 caches an empty result for a package that it reads only for another package, and
// returns this result when it vets the package itself. The option names a function that does not
// exist.
func vetApart(roots []*rootRun) {
	seen := false
	for _, r := range roots {
		for _, planned := range r.plans {
			for i := range planned.candidates {
				c := &planned.candidates[i].check
				if c.tool != "go vet" {
					continue
				}
				if seen {
					c.args = slices.Insert(slices.Clone(c.args), 2, fmt.Sprintf("-printf.funcs=airlock%x", crc32.ChecksumIEEE([]byte(r.dir))))
				}
				seen = true
			}
		}
	}
}
