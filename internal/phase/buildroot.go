package phase

import (
	"path"
	"slices"
)

// buildRoot returns the directory from which a project is built, at or above its own: the outermost
// Maven build with it as a module, the workspace of a crate, or the nearest settings of Gradle.
// Without any of these, and for other languages, it is the project's own directory. If a part were
// built alone, it would lack the parts that it needs, and the parts that need it would not be
// built.
func (p *project) buildRoot(dir string, l Language) string {
	if l != Java && l != Rust {
		return dir
	}
	key := dir + " " + string(l)
	root, known := p.builds[key]
	if known {
		return root
	}
	switch {
	case l == Rust:
		root = p.cargoRoot(dir)
	case p.has(dir, "pom.xml"):
		root = p.mavenRoot(dir)
	default:
		root = p.gradleRoot(dir)
	}
	p.builds[key] = root
	return root
}

// mavenRoot returns the outermost directory above dir whose Maven build has dir as a module, dir
// itself if there is none.
func (p *project) mavenRoot(dir string) string {
	root := dir
	for above := dir; above != "."; {
		above = path.Dir(above)
		if p.has(above, "pom.xml") && p.isMavenModule(above, dir) {
			root = above
		}
	}
	return root
}

// gradleRoot returns the nearest directory at or above dir that has Gradle's settings, dir itself
// if there is none.
func (p *project) gradleRoot(dir string) string {
	for above := dir; ; above = path.Dir(above) {
		switch {
		case p.has(above, "settings.gradle") || p.has(above, "settings.gradle.kts"):
			return above
		case above == ".":
			return dir
		}
	}
}

// isMavenModule reports whether the Maven build in a directory has another one as a module.
func (p *project) isMavenModule(build, dir string) bool {
	if p.outer != nil {
		dir = path.Join(p.prefix, dir)
	}
	modules, _ := p.buildOf(build)
	return slices.ContainsFunc(modules, func(m *pom) bool { return m.dir == dir })
}
