package toolreport

import (
	"path"
	"slices"
	"strings"

	"github.com/agent-airlock/airlock/internal/sarif"
)

// places turns the paths that a tool printed into paths of the repository.
type places struct {
	roots   []string
	dir     string   // in which the command line was started
	current string   // in which the program runs whose output is being read, as far as known
	entered []string // by makes, each of which started the next one
	lost    bool     // current may be wrong, so that a path may name another file
	strict  bool     // reject a relative path that does not exist
	// exists reports whether a path of the repository exists; nil: not known.
	exists func(string) bool

	line  string // the line for which placeIn was last called
	place int    // its result
}

func newPlaces(t Tool) *places {
	p := &places{dir: path.Clean("/" + slashed(t.Dir))[1:], exists: t.Exists, place: -1}
	p.current = p.dir
	for _, r := range t.Roots {
		if r = strings.TrimRight(slashed(r), "/"); r != "" {
			p.roots = append(p.roots, r)
		}
	}
	return p
}

// started follows a "cd" to a relative path with which a command line begins. Any other "cd" sets
// lost: where it leads is not known, or it may apply to only a part of the output.
func (p *places) started(commands [][]string) {
	for i, words := range commands {
		switch {
		case words[0] != "cd" && words[0] != "pushd":
		case i > 0 || len(words) != 2 || strings.HasPrefix(words[1], "/") || strings.HasPrefix(words[1], "-") || strings.ContainsAny(words[1], "$`~*?"):
			p.lost = true
		default:
			p.current = path.Join(p.dir, words[1])
		}
	}
}

// maxEntered bounds how deep makes are that start each other.
const maxEntered = 100

// moved follows what make and ninja print about the directories in which they work. A make that
// started another one goes on in its own directory.
func (p *places) moved(line string) {
	if !startsWithAny(line, []string{"make", "gmake", "ninja: "}) {
		return
	}
	_, named, enters := strings.Cut(line, ": Entering directory ")
	if !enters {
		var leaves bool
		if _, named, leaves = strings.Cut(line, ": Leaving directory "); !leaves {
			return
		}
	}
	named = path.Clean(strings.Trim(named, "`'\""))
	dir, ok := p.below(named)
	if !ok && !p.isRoot(named) {
		dir = p.dir
	}
	if enters {
		if len(p.entered) < maxEntered {
			p.entered = append(p.entered, dir)
		}
	} else {
		for i, entered := range slices.Backward(p.entered) {
			if entered == dir {
				p.entered = slices.Delete(p.entered, i, i+1)
				break
			}
		}
		dir = p.dir
		if len(p.entered) > 0 {
			dir = p.entered[len(p.entered)-1]
		}
	}
	p.current = dir
}

// placeIn returns the result of the function placeIn. It remembers the result for the last line,
// because several readings ask about the same line.
func (p *places) placeIn(line string) int {
	if p.line != line {
		p.line, p.place = line, placeIn(line)
	}
	return p.place
}

// rel returns a printed path relative to the repository's root, slash-separated. ok is false for
// the root itself, for a path that leads out of the repository, for a text that is not a path and,
// if strict is set, for a relative path that does not exist.
func (p *places) rel(printed string) (rel string, ok bool) {
	s := strings.TrimPrefix(strings.TrimSpace(printed), "file://")
	if isWindows(s) || !strings.Contains(s, "/") && strings.Contains(s, `\`) {
		s = slashed(s)
	}
	switch {
	case s == "", strings.HasPrefix(s, "<"), strings.ContainsFunc(s, isControl), len(s) > 4096:
		return "", false
	case strings.HasPrefix(s, "/") || isWindows(s):
		return p.below(path.Clean(s))
	}
	s = p.nearest(s)
	if p.strict && p.exists != nil && !p.exists(s) {
		return "", false
	}
	return s, s != "." && s != ".." && !strings.HasPrefix(s, "../")
}

// nearest returns the path in the repository that a relative path names: below the directory in
// which the tool ran or, if the file does not exist there, below the nearest parent that has it.
func (p *places) nearest(rel string) string {
	s := path.Join(p.current, rel)
	if p.exists == nil || p.exists(s) {
		return s
	}
	for dir := p.current; dir != "" && dir != "."; {
		dir = path.Dir(dir)
		if above := path.Join(dir, rel); p.exists(above) {
			return above
		}
	}
	return s
}

// below returns an absolute path relative to the root that contains it. ok is false if none does, and
// for a root itself.
func (p *places) below(abs string) (rel string, ok bool) {
	for _, r := range p.roots {
		if rest, ok := sarif.CutDir(abs, r); ok && rest != "" {
			return rest, true
		}
	}
	return "", false
}

// isRoot reports whether an absolute path is that of a root.
func (p *places) isRoot(abs string) bool {
	return slices.ContainsFunc(p.roots, func(r string) bool {
		rest, ok := sarif.CutDir(abs+"/", r)
		return ok && rest == ""
	})
}

// isWindows reports whether a path begins with a drive letter.
func isWindows(s string) bool {
	return len(s) > 2 && s[1] == ':' && (s[2] == '\\' || s[2] == '/') && (s[0]|0x20) >= 'a' && (s[0]|0x20) <= 'z'
}

func slashed(s string) string { return strings.ReplaceAll(s, `\`, "/") }
