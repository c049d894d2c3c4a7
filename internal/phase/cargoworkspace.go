package phase

import (
	"path"
	"slices"
	"strings"

	"github.com/agent-airlock/airlock/internal/lazyregexp"
)

var (
	cargoWorkspace = lazyregexp.New(`(?m)^[ \t]*\[workspace\].*$`)
	cargoPackage   = lazyregexp.New(`(?m)^[ \t]*\[package\]`)
	tomlSection    = lazyregexp.New(`(?m)^[ \t]*\[+[A-Za-z]`)
	cargoExclude   = lazyregexp.New(`(?m)^[ \t]*exclude` + tomlList)
	cargoMembers   = lazyregexp.New(`(?m)^[ \t]*members` + tomlList)
	cargoNamed     = lazyregexp.New(`(?m)^[ \t]*workspace[ \t]*=[ \t]*(?:"([^"\n]*)"|'([^'\n]*)')`)
	tomlText       = lazyregexp.New(`#.*|"([^"]*)"|'([^']*)'`)
)

// tomlList matches a list of texts after the key that it is the value of.
const tomlList = `[ \t]*=[ \t]*\[((?:#.*|"[^"]*"|'[^']*'|[^\]#"'])*)\]`

// hasCargoWorkspace reports whether the Cargo.toml of a directory is that of a workspace.
func (p *project) hasCargoWorkspace(dir string) bool {
	return p.hasContent(dir, cargoWorkspace.Match, "Cargo.toml")
}

// cargoRoot returns the directory from which cargo builds a crate: that of its workspace if it is at
// or above the crate, otherwise the crate's own. A crate belongs to the workspace that it names,
// otherwise to the nearest that does not exclude it. If the search for it ends at the Cargo.toml of
// the working directory, and that is neither of a workspace nor of a package, cargo fails, and
// cargoRoot returns ".".
func (p *project) cargoRoot(crate string) string {
	for dir := crate; ; dir = path.Dir(dir) {
		raw, err := p.read(path.Join(dir, "Cargo.toml")) // what cannot be read, cargo reports
		manifest := string(raw)
		workspace, isWorkspace := tomlTable(manifest, cargoWorkspace)
		ofPackage, isPackage := tomlTable(manifest, cargoPackage)
		named := cargoNamed.FindStringSubmatch(ofPackage)
		switch {
		case isWorkspace && (dir == crate || !excludes(dir, workspace, crate)):
			return dir
		case dir == crate && named != nil:
			if root := path.Join(crate, named[1]+named[2]); isIn(root, crate) && p.hasCargoWorkspace(root) {
				return root
			}
			return crate // cargo finds the workspace from there
		case dir == "." && err == nil && !isWorkspace && !isPackage:
			return dir
		case dir == ".":
			return crate
		}
	}
}

// excludes reports whether a workspace, whose directory and table these are, leaves out a crate below
// it. An entry of exclude or members is about all crates in a directory, and members wins. As in
// cargo, a pattern in them matches nothing here.
func excludes(dir, workspace, crate string) bool {
	has := func(list *lazyregexp.Regexp) bool {
		found := list.FindStringSubmatch(workspace)
		return found != nil && slices.ContainsFunc(tomlText.FindAllStringSubmatch(found[1], -1), func(m []string) bool {
			name := m[1] + m[2] // it is in one kind of quotes or the other
			return !strings.HasPrefix(m[0], "#") && isIn(path.Join(dir, name), crate)
		})
	}
	return has(cargoExclude) && !has(cargoMembers)
}

// tomlTable returns what a table has, without the tables below it; ok is false if there is no line
// with its header.
func tomlTable(manifest string, header *lazyregexp.Regexp) (content string, ok bool) {
	start := header.FindStringIndex(manifest)
	if start == nil {
		return "", false
	}
	content = manifest[start[1]:]
	if next := tomlSection.FindStringIndex(content); next != nil {
		content = content[:next[0]]
	}
	return content, true
}
