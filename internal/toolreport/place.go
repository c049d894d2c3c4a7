package toolreport

import (
	"path"
	"strings"
)

// places turns the paths that a tool printed into paths of the repository.
type places struct {
	roots []string
	dir   string // where the command line was started
	now   string // where what prints now runs, as far as it is known
	lost  bool   // that is not known: paths may be those of other files
	// exists reports whether a path of the repository is there; nil: not known.
	exists func(string) bool
}

func newPlaces(t Tool) *places {
	p := &places{dir: path.Clean("/" + slashed(t.Dir))[1:], exists: t.Exists}
	p.now = p.dir
	for _, r := range t.Roots {
		if r = strings.TrimRight(slashed(r), "/"); r != "" {
			p.roots = append(p.roots, r)
		}
	}
	return p
}

// started follows the "cd" with which a command line begins. Any other one may
// hold for a part of the output only.
func (p *places) started(line [][]string) {
	for i, words := range line {
		switch {
		case words[0] != "cd" && words[0] != "pushd":
		case i > 0 || len(words) != 2 || strings.HasPrefix(words[1], "/") || strings.ContainsAny(words[1], "$`~*?-"):
			p.lost = true
		default:
			p.now = path.Join(p.dir, words[1])
		}
	}
}

// moved follows what make says of the folders that it works in.
func (p *places) moved(line string) {
	for _, says := range []string{": Entering directory ", ": Leaving directory "} {
		who, where, ok := strings.Cut(line, says)
		if !ok || !strings.HasPrefix(who, "make") && !strings.HasPrefix(who, "gmake") {
			continue
		}
		if dir, ok := p.below(path.Clean(strings.Trim(where, "`'\""))); ok && strings.Contains(says, "Enter") {
			p.now = dir
		} else {
			p.now = p.dir
		}
	}
}

// rel returns a printed path relative to the root, slash-separated. It is false
// for one that leads out of the root, or that is none.
func (p *places) rel(printed string) (string, bool) {
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
	return s, s != "." && s != ".." && !strings.HasPrefix(s, "../")
}

// nearest returns a relative path as one of the repository: below where the tool ran,
// or below the nearest folder above in which there is such a file.
func (p *places) nearest(rel string) string {
	s := path.Join(p.now, rel)
	if p.exists == nil || p.exists(s) {
		return s
	}
	for dir := p.now; dir != "" && dir != "."; {
		dir = path.Dir(dir)
		if above := path.Join(dir, rel); p.exists(above) {
			return above
		}
	}
	return s
}

func (p *places) below(abs string) (string, bool) {
	for _, r := range p.roots {
		rest, ok := strings.CutPrefix(abs, r+"/")
		if !ok && isWindows(r) && len(abs) > len(r) && strings.EqualFold(abs[:len(r)+1], r+"/") {
			rest, ok = abs[len(r)+1:], true
		}
		if ok && rest != "" {
			return rest, true
		}
	}
	return "", false
}

// isWindows reports whether a path begins with a drive.
func isWindows(s string) bool {
	return len(s) > 2 && s[1] == ':' && (s[2] == '\\' || s[2] == '/') && (s[0]|0x20) >= 'a' && (s[0]|0x20) <= 'z'
}

func slashed(s string) string { return strings.ReplaceAll(s, `\`, "/") }
