package phase

import (
	"bytes"
	"cmp"
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
)

// crate is the part of a Cargo.toml that is used here. It is empty if there is no such file.
type crate struct {
	broken      bool // it cannot be read: cargo reports that, or reads what is not read here
	isPackage   bool
	isWorkspace bool   // also if a table below it, such as [workspace.dependencies], implies it
	named       string // the directory of the workspace that the package names
	// paths are those of dependencies, and inherited are the names of those that the workspace
	// describes.
	paths, inherited []string

	// Of a workspace: its lists, the paths of the dependencies that it describes, and those of
	// crates that replace others.
	members, exclude  []string
	hasDefaultMembers bool
	shared            map[string]string
	replacing         []string
}

// maxCrate bounds a Cargo.toml that is read, in bytes. One of a million dotted keys would take
// gigabytes.
const maxCrate = 512 << 10

// crate returns the Cargo.toml of a directory, which is read once. It must not be called while
// checks run.
func (p *project) crate(dir string) *crate {
	return cached(p.crates, dir, func(dir string) *crate {
		var top tomlTable
		raw, err := p.read(path.Join(dir, "Cargo.toml"))
		if err == nil && len(raw) > maxCrate {
			err = errors.New("the file is too large")
		}
		if err == nil {
			err = toml.Unmarshal(bytes.TrimPrefix(raw, []byte("\ufeff")), &top)
		}
		if err != nil {
			return &crate{broken: !errors.Is(err, fs.ErrNotExist)}
		}
		return readCrate(top)
	})
}

// readCrate reads a Cargo.toml.
func readCrate(top tomlTable) *crate {
	workspace := top.table("workspace")
	c := &crate{
		isPackage: top["package"] != nil || top["project"] != nil, isWorkspace: top["workspace"] != nil,
		named:   cmp.Or(top.table("package").text("workspace"), top.table("project").text("workspace")), // a name from before cargo 1.0
		members: workspace.texts("members"), exclude: workspace.texts("exclude"), hasDefaultMembers: workspace["default-members"] != nil,
		shared: map[string]string{},
	}
	for _, of := range append(top.table("target").tables(), top) {
		for _, kind := range []string{"dependencies", "dev-dependencies", "dev_dependencies", "build-dependencies", "build_dependencies"} {
			for name := range of.table(kind) {
				dependency := of.table(kind).table(name)
				if dependency["workspace"] == true {
					c.inherited = append(c.inherited, name)
				}
				c.paths = append(c.paths, dependency.paths()...)
			}
		}
	}
	for name := range workspace.table("dependencies") {
		c.shared[name] = workspace.table("dependencies").table(name).text("path")
	}
	for _, replaced := range append(top.table("patch").tables(), top.table("replace")) {
		for _, by := range replaced.tables() {
			c.replacing = append(c.replacing, by.paths()...)
		}
	}
	return c
}

// cargoRoot returns the directory from which cargo builds a crate: that of its workspace if it is
// at or above the crate, otherwise the crate's own. A crate belongs to the workspace that it names,
// otherwise to the nearest that does not exclude it. If that workspace does not have the crate, it
// is the crate's own: cargo at the workspace leaves the crate out, and cargo at the crate fails and
// says so. If the search for a workspace ends at the Cargo.toml of the working directory, and that
// is neither of a workspace nor of a package, cargo fails, and cargoRoot returns ".".
func (p *project) cargoRoot(dir string) string {
	orOwn := func(workspace string) string {
		if dir == workspace || p.cargoMembers(workspace)[dir] {
			return workspace
		}
		return dir
	}
	named := p.crate(dir).named
	for above := dir; ; above = path.Dir(above) {
		c := p.crate(above)
		switch {
		case c.isWorkspace && (above == dir || !c.excludes(above, dir)):
			return orOwn(above)
		case above == dir && named != "":
			if root := path.Join(dir, named); isIn(root, dir) && p.crate(root).isWorkspace {
				return orOwn(root)
			}
			return dir // cargo finds the workspace from there
		case above != dir && c.broken:
			return dir // cargo reports it from there, too
		case above == "." && p.has(above, "Cargo.toml") && !c.broken && !c.isWorkspace && !c.isPackage:
			return above
		case above == ".":
			return dir
		}
	}
}

// excludes reports whether a workspace, whose directory is given, leaves out a crate below it. An
// entry of exclude or members is about all crates in a directory, and members wins. As in cargo, a
// pattern in them matches nothing here.
func (c *crate) excludes(workspace, dir string) bool {
	has := func(list []string) bool {
		return slices.ContainsFunc(list, func(name string) bool { return isIn(path.Join(workspace, name), dir) })
	}
	return has(c.exclude) && !has(c.members)
}

// cargoMembers returns the directories of the crates that a workspace has: its own package, those
// that it lists, and those that one of these depends on by a path. Crates that replace others
// count, too, because they are built. It leaves out those that the workspace excludes, and those
// outside its directory.
func (p *project) cargoMembers(workspace string) map[string]bool {
	return cached(p.crateMembers, workspace, func(workspace string) map[string]bool {
		const most = 2000
		members := map[string]bool{}
		var queue []string
		w := p.crate(workspace)
		add := func(dir string) {
			if len(queue) < most && isIn(workspace, dir) && !members[dir] && p.has(dir, "Cargo.toml") && !w.excludes(workspace, dir) {
				members[dir] = true
				queue = append(queue, dir)
			}
		}
		add(workspace)
		for _, pattern := range w.members {
			for _, dir := range p.directoriesLike(path.Join(workspace, strings.ReplaceAll(pattern, "[!", "[^")), most) {
				add(dir)
			}
		}
		for _, replacing := range w.replacing {
			add(path.Join(workspace, replacing))
		}
		for i := 0; i < len(queue); i++ {
			c := p.crate(queue[i])
			for _, dependency := range c.paths {
				add(path.Join(queue[i], dependency))
			}
			for _, name := range c.inherited {
				if shared := w.shared[name]; shared != "" {
					add(path.Join(workspace, shared))
				}
			}
		}
		return members
	})
}

// tomlTable is a table of TOML, in which each value may have any type.
type tomlTable map[string]any

// table returns the table of a name, nil if there is none.
func (t tomlTable) table(name string) tomlTable {
	inner, _ := t[name].(map[string]any)
	return inner
}

// tables returns the tables that are in a table.
func (t tomlTable) tables() (all []tomlTable) {
	for name := range t {
		if inner := t.table(name); inner != nil {
			all = append(all, inner)
		}
	}
	return all
}

// text returns the text of a name, "" if there is none.
func (t tomlTable) text(name string) string {
	text, _ := t[name].(string)
	return text
}

// paths returns the path of a dependency's table, nothing if it has none.
func (t tomlTable) paths() []string {
	if name := t.text("path"); name != "" {
		return []string{name}
	}
	return nil
}

// texts returns the texts in the list of a name.
func (t tomlTable) texts(name string) (all []string) {
	list, _ := t[name].([]any)
	for _, entry := range list {
		if text, ok := entry.(string); ok {
			all = append(all, text)
		}
	}
	return all
}
