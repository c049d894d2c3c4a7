package phase

import (
	"path"
	"slices"
)

// buildRoot returns the directory at or above that of a project from which its build is run: the
// outermost Maven build with it as a module, the workspace of a crate, the nearest settings of
// Gradle. Built alone, a part would lack what it needs, and what needs it would not be built.
func (p *project) buildRoot(dir string, l Language) string {
	if l != Java && l != Rust {
		return dir
	}
	key := dir + " " + string(l)
	root, known := p.builds[key]
	if known {
		return root
	}
	root = dir
	for above := dir; ; above = path.Dir(above) {
		switch {
		case l == Rust:
			if above != dir && p.has(dir, "Cargo.toml") && p.hasCargoWorkspace(above) && !p.isOutsideWorkspace(above, dir) {
				root = above
			}
		case p.has(dir, "pom.xml"):
			if above != dir && p.has(above, "pom.xml") && p.isMavenModule(above, dir) {
				root = above
			}
		case p.has(above, "settings.gradle") || p.has(above, "settings.gradle.kts"):
			p.builds[key] = above
			return above
		}
		if above == "." {
			break
		}
	}
	p.builds[key] = root
	return root
}

// isMavenModule reports whether the Maven build in a directory has another one as a module.
func (p *project) isMavenModule(build, dir string) bool {
	if p.outer != nil {
		dir = path.Join(p.prefix, dir)
	}
	modules, _ := p.buildOf(build)
	return slices.ContainsFunc(modules, func(m *pom) bool { return m.dir == dir })
}
