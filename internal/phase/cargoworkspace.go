package phase

import (
	"path"
	"slices"

	"github.com/agent-airlock/airlock/internal/lazyregexp"
)

var (
	cargoWorkspace = lazyregexp.New(`(?m)^[ \t]*\[workspace\].*$`)
	cargoPackage   = lazyregexp.New(`(?m)^[ \t]*\[package\]`)
	tomlSection    = lazyregexp.New(`(?m)^[ \t]*\[+[A-Za-z]`)
	cargoExclude   = lazyregexp.New(`(?m)^[ \t]*exclude[ \t]*=[ \t]*\[([^\]]*)\]`)
	quotedText     = lazyregexp.New(`"([^"]*)"|'([^']*)'`)
)

// hasCargoWorkspace reports whether the Cargo.toml of a directory is that of a workspace.
func (p *project) hasCargoWorkspace(dir string) bool {
	return p.hasContent(dir, cargoWorkspace.Match, "Cargo.toml")
}

// isOutsideWorkspace reports whether cargo in a directory, top, leaves out the crate of one below
// it. It does if the crate is a workspace of its own or is excluded, or if top has a package and no
// workspace.
func (p *project) isOutsideWorkspace(top, dir string) bool {
	raw, _ := p.read(path.Join(top, "Cargo.toml")) // what cannot be read, cargo reports
	above := string(raw)
	start := cargoWorkspace.FindStringIndex(above)
	switch {
	case p.hasCargoWorkspace(dir):
		return true
	case start == nil:
		return cargoPackage.MatchString(above)
	}
	workspace := above[start[1]:]
	if next := tomlSection.FindStringIndex(workspace); next != nil {
		workspace = workspace[:next[0]]
	}
	excluded := cargoExclude.FindStringSubmatch(workspace)
	if excluded == nil {
		return false
	}
	return slices.ContainsFunc(quotedText.FindAllStringSubmatch(excluded[1], -1), func(m []string) bool {
		name := m[1] + m[2] // it is in one kind of quotes or the other
		return isIn(path.Join(top, name), dir)
	})
}
