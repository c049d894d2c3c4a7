package phase

import (
	"path"
	"slices"
	"strings"

	"github.com/agent-airlock/airlock/internal/lazyregexp"
)

var (
	goUse     = lazyregexp.New(`(?m)^[ \t]*use[ \t]+(?:\(([^)]*)\)|([^\s(]+))`)
	goRequire = lazyregexp.New(`(?m)^[ \t]*(?:require[ \t]+)?"?([^\s"()]+)"?[ \t]+v[0-9]`)
)

// goWorkspace returns the directories of the modules that the go.work of the working directory
// uses, none if there is no go.work.
func (p *project) goWorkspace() (dirs []string) {
	raw, err := p.read("go.work")
	if err != nil {
		return nil
	}
	for _, m := range goUse.FindAllStringSubmatch(string(raw), -1) {
		for line := range strings.Lines(m[1] + m[2]) {
			line, _, _ = strings.Cut(line, "//")
			dir := path.Clean(strings.Trim(strings.TrimSpace(line), `"`+"`"))
			if strings.TrimSpace(line) != "" && p.goModule(dir) != "" && !slices.Contains(dirs, dir) {
				dirs = append(dirs, dir)
			}
		}
	}
	return dirs
}

// goDependents returns roots for the modules of a Go workspace that no changed file is in and that
// a change can break: those that require a module with changed code, also through another module,
// and all of them if go.work has changed. They are built and tested.
func (p *project) goDependents(found []root, files []string) (dependents []root) {
	dirs := p.goWorkspace()
	if len(dirs) == 0 {
		return nil
	}
	all := slices.ContainsFunc(files, func(f string) bool { return f == "go.work" || f == "go.work.sum" })
	broken := map[string]bool{} // by the paths of their modules
	checked := map[string]bool{}
	for _, r := range found {
		if r.language == Go {
			checked[r.dir] = true
			if slices.ContainsFunc(r.files, func(f string) bool { return !isDocument(f) && !strings.HasSuffix(f, "_test.go") }) {
				broken[p.goModule(r.dir)] = true
			}
		}
	}
	requires := map[string][]string{}
	for _, dir := range dirs {
		raw, _ := p.read(path.Join(dir, "go.mod")) // goModule has read it
		for _, m := range goRequire.FindAllStringSubmatch(string(raw), -1) {
			requires[dir] = append(requires[dir], m[1])
		}
	}
	delete(broken, "") // of a root without a go.mod
	for before := -1; before != len(broken); {
		before = len(broken)
		for _, dir := range dirs {
			if all || slices.ContainsFunc(requires[dir], func(module string) bool { return broken[module] }) {
				broken[p.goModule(dir)] = true
			}
		}
	}
	for _, dir := range slices.SortedFunc(slices.Values(dirs), outerFirst) {
		if broken[p.goModule(dir)] && !checked[dir] {
			dependents = append(dependents, root{dir: dir, language: Go, dependent: true})
		}
	}
	return dependents
}
