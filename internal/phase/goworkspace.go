package phase

import (
	"fmt"
	"hash/crc32"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"
)

// goModule is a module of a Go workspace.
type goModule struct {
	dir, path string
	requires  []string // paths of modules
}

// goWorkspace returns the modules that the go.work of the working directory uses, none if there is
// no go.work. It leaves out modules outside that directory, and modules that cannot be read, which
// go reports.
func (p *project) goWorkspace() (modules []goModule) {
	raw, _ := p.read("go.work")
	work, err := modfile.ParseWork("go.work", raw, nil)
	if err != nil {
		return nil
	}
	for _, use := range work.Use {
		dir := path.Clean(filepath.ToSlash(use.Path))
		if !filepath.IsLocal(dir) {
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
	return modules
}

// goDependents returns roots for the modules of a Go workspace that are not among the roots found,
// each of one language, but may be broken by the change. Such a module requires a module with
// changed code, directly or not, or go.work has changed. Only its build and tests run.
func (p *project) goDependents(found []root, files []string) (dependents []root) {
	modules := p.goWorkspace()
	all := slices.ContainsFunc(files, func(f string) bool { return f == "go.work" || f == "go.work.sum" })
	checked := map[string]bool{}  // directories that are roots of Go already
	hasCode := map[string]bool{}  // directories with changed code
	isBroken := map[string]bool{} // modules that may be broken, by their paths
	for _, r := range found {
		if r.language == Go {
			checked[r.dir] = true
			hasCode[r.dir] = slices.ContainsFunc(r.files, func(f string) bool { // the only root may have files outside
				return isIn(r.dir, f) && !isDocument(f) && !strings.HasSuffix(f, "_test.go")
			})
		}
	}
	for before := -1; before != len(isBroken); {
		before = len(isBroken)
		for _, m := range modules {
			if all || hasCode[m.dir] || slices.ContainsFunc(m.requires, func(path string) bool { return isBroken[path] }) {
				isBroken[m.path] = true
			}
		}
	}
	slices.SortFunc(modules, func(a, b goModule) int { return outerFirst(a.dir, b.dir) })
	for _, m := range modules {
		if isBroken[m.path] && !checked[m.dir] {
			checked[m.dir] = true
			dependents = append(dependents, root{dir: m.dir, language: Go, dependent: true})
		}
	}
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
