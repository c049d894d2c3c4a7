package phase

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// Root is a folder that the owner lists for validation.
type Root struct {
	Dir      string   // relative to the repository's root, slash-separated, clean; "." for itself
	Language Language // "" has it detected by the files in Dir
}

// listed returns the owner's roots that lie in the working directory, which is
// prefix in the repository, each with the changed files that no root within it has.
// All are checked, whatever changed. The error is an *InvalidInput that names what
// cannot be a root.
func (p *project) listed(in Input, roots []Root, prefix string) ([]root, error) {
	var found []root
	var problems []string
	for _, r := range roots {
		dir, ok := inside(prefix, r.Dir)
		if !ok || slices.ContainsFunc(found, func(f root) bool { return f.dir == dir }) {
			continue
		}
		if info, err := p.at.Stat(dir); err != nil || !info.IsDir() {
			problems = append(problems, fmt.Sprintf("Validation failed: the root '%s' is configured, but there is no such directory", r.Dir))
			continue
		}
		found = append(found, root{dir: dir, language: r.Language})
	}
	slices.SortFunc(found, func(a, b root) int { // an outer one right before those in it
		return slices.Compare(parts(a.dir), parts(b.dir))
	})
	for _, f := range in.ChangedFiles {
		for i, r := range slices.Backward(found) {
			if under(r.dir, f) {
				found[i].files = append(found[i].files, f)
				break
			}
		}
	}
	for i := range found {
		r := &found[i]
		of := p.languages(r.dir)
		switch {
		case r.language != "":
		case in.Language != "":
			r.language = in.Language
		case len(of) > 0:
			r.language = majority(of, r.files)
		case in.namesAll():
		default:
			problems = append(problems, fmt.Sprintf("%s (no package.json, go.mod or the like stands in the configured root '%s')", cannotDetect, r.dir))
		}
	}
	if len(found) == 0 && len(problems) == 0 {
		problems = []string{"Validation failed: none of the configured roots lies in the working directory"}
	}
	if len(problems) > 0 {
		return nil, &InvalidInput{problems}
	}
	return found, nil
}

// inside returns a folder of the repository relative to the working directory,
// which is prefix; false if it does not lie there.
func inside(prefix, dir string) (string, bool) {
	dir = path.Clean(dir)
	switch rest, ok := strings.CutPrefix(dir, prefix+"/"); {
	case dir == prefix:
		return ".", true
	case prefix == ".":
		return dir, dir != ".." && !strings.HasPrefix(dir, "../") && !path.IsAbs(dir)
	default:
		return rest, ok
	}
}

// parts splits a folder for sorting; the working directory comes first.
func parts(dir string) []string {
	if dir == "." {
		return nil
	}
	return strings.Split(dir, "/")
}
