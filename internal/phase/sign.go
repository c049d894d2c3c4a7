package phase

import (
	"path"
	"regexp"
	"slices"
	"strings"
)

// sign is a trace of a tool in a project that uses it.
type sign struct {
	// file is the name of a file in the project's directory or in one above it, up to the
	// repository's root. Each element of its path may be a pattern of path.Match.
	file string
	// text is a pattern that the file must match, and shown is the pattern as people read it;
	// "" if the file alone is the sign.
	text, shown string
	// without is a pattern that the file must not match, and withoutShown is the pattern as people
	// read it.
	without, withoutShown string
	// key is a member of package.json, "dependency NAME" for one of its dependencies.
	key string
	// runs is a command in the places where projects keep theirs: scripts, CI, hooks.
	runs string
	// unless is a command in the same places that makes the sign invalid.
	unless string
	// unlessFile is the name of a file next to the sign's that makes the sign invalid. It
	// restricts the sign to files of the project's own directory.
	unlessFile string
	// plugin is a plugin that a Maven build uses, in one of its modules at least.
	plugin string
}

// file returns signs that a file exists, one for each name.
func file(names ...string) (signs []sign) {
	for _, name := range names {
		signs = append(signs, sign{file: name})
	}
	return signs
}

// section returns the sign that a file has a section, as in TOML or INI.
func section(file, name string) sign {
	return sign{file: file, text: `(?m)^[ \t]*\[+[ \t]*` + regexp.QuoteMeta(name) + `[ \t]*[\].]`, shown: "[" + name + "]"}
}

// mention returns the sign that a file contains a word.
func mention(file, word string) sign {
	return sign{file: file, text: `(?:^|[^\w])` + regexp.QuoteMeta(word) + `(?:$|[^\w])`, shown: word}
}

// gem returns the signs that a Ruby project lists a gem.
func gem(name string) []sign {
	return []sign{
		{file: "Gemfile", text: `(?m)^[ \t]*gem[ \t(]+["']` + name + `["']`, shown: `gem "` + name + `"`},
		{file: "*.gemspec", text: `(?m)^[^#\n]*dependency[ \t(]+["']` + name + `["']`, shown: `dependency "` + name + `"`},
	}
}

// member returns signs that package.json has a member, one for each name.
func member(names ...string) (signs []sign) {
	for _, name := range names {
		signs = append(signs, sign{key: name})
	}
	return signs
}

// runs returns signs that a project runs a command, one for each command.
func runs(commands ...string) (signs []sign) {
	for _, c := range commands {
		signs = append(signs, sign{runs: c})
	}
	return signs
}

// walkUp calls found with a directory and then with each one above it, up to the repository's root,
// until found returns true. It reports whether found did.
func (p *project) walkUp(dir string, found func(p *project, dir string) bool) bool {
	for ; ; dir = path.Dir(dir) {
		if found(p, dir) {
			return true
		}
		if dir == "." {
			return p.outer != nil && p.outer.walkUp(path.Dir(p.prefix), found)
		}
	}
}

// shows reports whether a project's directory, or one above it, has a sign. above is how many
// directories the sign is above the project's own, if it is found; -1 if it is a command or a plugin.
func (p *project) shows(dir string, s sign) (found bool, above int) {
	above = -1
	look := func(has func(p *project, dir string) bool) bool {
		return p.walkUp(dir, func(p *project, dir string) bool {
			above++
			return has(p, dir)
		})
	}
	switch {
	case s.runs != "":
		found = runsIn(s.runs, p.commandTexts(dir))
	case s.unlessFile != "":
		above = 0
		found = p.has(dir, s.file) && !p.has(dir, s.unlessFile)
	case s.plugin != "":
		found = len(p.mavenPlugin(dir, s.plugin).modules) > 0
	case s.key != "":
		found = look(func(p *project, dir string) bool { return p.manifest(dir).has(s.key) })
	default:
		found = look(func(p *project, dir string) bool {
			if s.text == "" && s.without == "" {
				return len(p.matching(dir, s.file)) > 0
			}
			return p.hasContent(dir, func(content []byte) bool {
				return regexp.MustCompile(s.text).Match(content) && (s.without == "" || !regexp.MustCompile(s.without).Match(content))
			}, s.file)
		})
	}
	return found && (s.unless == "" || !runsIn(s.unless, p.commandTexts(dir))), above
}

// maxMatching bounds the files that a pattern may match.
const maxMatching = 100

// matching returns the files below a directory that match a pattern. Each element of its path
// is a pattern of path.Match.
func (p *project) matching(dir, pattern string) []string {
	first, rest, deeper := strings.Cut(pattern, "/")
	var names []string
	for _, e := range p.entries(dir) {
		if ok, _ := path.Match(first, e); !ok || len(names) == maxMatching {
			continue
		}
		if name := path.Join(dir, e); deeper {
			names = append(names, p.matching(name, rest)...)
		} else {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names[:min(len(names), maxMatching)]
}

// directoriesLike returns the directories whose paths match a pattern, sorted, at most this many.
// Each element of the pattern is one of path.Match, or "**" for any number of directories. Where it
// is not a plain name, it matches no link, and "**" matches no hidden directory, and none of
// others' code or of test data.
func (p *project) directoriesLike(pattern string, most int) []string {
	found := []string{"."}
	for element := range strings.SplitSeq(path.Clean(pattern), "/") {
		var next []string
		for _, dir := range found {
			switch {
			case len(next) >= most:
			case element == "**":
				next = append(next, p.tree(dir, most)...)
			case !strings.ContainsAny(element, `*?[\`):
				if element == "." || p.has(dir, element) {
					next = append(next, path.Join(dir, element))
				}
			default:
				for _, name := range p.directories(dir) {
					if ok, _ := path.Match(element, name); ok {
						next = append(next, path.Join(dir, name))
					}
				}
			}
		}
		slices.Sort(next)
		next = slices.Compact(next)
		found = next[:min(len(next), most)]
	}
	return found
}

// matchesPath reports whether a path matches a pattern as of directoriesLike. Here, an element may
// match any name.
func matchesPath(pattern, name string) bool {
	elements := strings.Split(name, "/")
	matched := make([]bool, len(elements)+1) // whether the pattern so far matches so many of the elements
	matched[0] = true
	for part := range strings.SplitSeq(pattern, "/") {
		next := make([]bool, len(matched))
		for i := range next {
			switch {
			case part == "**":
				next[i] = matched[i] || i > 0 && next[i-1]
			case i > 0 && matched[i-1]:
				next[i], _ = path.Match(part, elements[i-1])
			}
		}
		matched = next
	}
	return matched[len(elements)]
}

// tree returns a directory and those below it whose projects are checked, outer ones first, at most
// this many.
func (p *project) tree(dir string, most int) []string {
	found := []string{dir}
	for i := 0; i < len(found) && len(found) < most; i++ {
		for _, name := range p.directories(found[i]) {
			if !isForeign(name) {
				found = append(found, path.Join(found[i], name))
			}
		}
	}
	return found
}

// hasContent reports whether one of the files below a directory has a content that is accepted. The
// files may be patterns, as for matching.
func (p *project) hasContent(dir string, accepts func(content []byte) bool, files ...string) bool {
	return slices.ContainsFunc(files, func(pattern string) bool {
		names := []string{path.Join(dir, pattern)}
		if strings.ContainsAny(pattern, `*?[\`) {
			names = p.matching(dir, pattern)
		}
		return slices.ContainsFunc(names, func(name string) bool {
			content, err := p.read(name)
			return err == nil && accepts(content)
		})
	})
}
