package acceptance

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/agent-airlock/airlock/internal/text"
)

// maxFile bounds a file whose content is looked at, in bytes.
const maxFile = 64 << 20

// lookAt verifies that a path exists, or that a file contains texts.
func (v *verification) lookAt(p probe) part {
	name, entry, why, err := v.find(p.path)
	switch {
	case err != nil:
		return part{status: Blocked, evidence: err.Error() + "."}
	case name == "":
		v.addFileCheck(FileCheck{Path: p.path, Note: "there is no such path"})
		return part{status: Fail, evidence: fmt.Sprintf("There is no path %s in the work tree.", p.path), remediation: fmt.Sprintf("Add %s.", p.path)}
	case why != "":
		return part{status: Blocked, evidence: why, remediation: "Name the complete path."}
	case entry.Kind == OtherEntry:
		return part{status: Blocked, evidence: fmt.Sprintf("%s is neither a file nor a directory; links are not followed.", name)}
	case p.kind == pathExists:
		v.addFileCheck(FileCheck{Path: name, Exists: true, Size: entry.Size})
		if entry.Kind == DirectoryEntry {
			return part{status: Pass, evidence: fmt.Sprintf("The directory %s exists.", name)}
		}
		return part{status: Pass, evidence: fmt.Sprintf("%s exists (%s).", name, text.Bytes(entry.Size))}
	case entry.Kind == DirectoryEntry:
		return part{status: Blocked, evidence: fmt.Sprintf("%s is a directory, which contains no text.", name), remediation: "Name a file."}
	}
	return v.lookInto(name, entry, p.texts)
}

// lookInto verifies that a file contains all texts.
func (v *verification) lookInto(name string, entry Entry, texts []string) part {
	content, err := v.worktree.Read(name, maxFile)
	if err != nil {
		return part{status: Blocked, evidence: fmt.Sprintf("%s cannot be read: %v.", name, err)}
	}
	var missing []string
	for _, want := range texts {
		if !bytes.Contains(content, []byte(want)) {
			missing = append(missing, want)
		}
	}
	contains := len(missing) == 0
	v.addFileCheck(FileCheck{Path: name, Exists: true, Size: entry.Size, Contains: &contains, Note: "contains " + text.QuoteList(texts)})
	if !contains {
		return part{status: Fail, evidence: fmt.Sprintf("%s does not contain %s.", name, text.QuoteList(missing)), remediation: fmt.Sprintf("Add %s to %s.", text.QuoteList(missing), name)}
	}
	return part{status: Pass, evidence: fmt.Sprintf("%s contains %s.", name, text.QuoteList(texts))}
}

// find returns the path of the work tree that a hint names: exactly, or by its last parts if only
// one path ends with them, or only one that is not installed. If several do, why is a sentence
// about them; if none does, name is "".
func (v *verification) find(hinted string) (name string, entry Entry, why string, err error) {
	clean, err := v.relative(hinted)
	if err != nil {
		return "", entry, "", err
	}
	entry, err = v.worktree.Stat(clean)
	if err == nil {
		return clean, entry, "", nil
	}
	if !errors.Is(err, ErrNoPath) {
		return "", entry, "", fmt.Errorf("%s cannot be looked at: %w", clean, err)
	}
	all, err := v.paths()
	if err != nil {
		return "", entry, "", fmt.Errorf("the files of the work tree cannot be listed: %w", err)
	}
	ending := withSuffix(all, clean)
	if len(ending) > 1 { // a hint rarely means what was installed
		if own := slices.DeleteFunc(slices.Clone(ending), isInstalled); len(own) == 1 {
			ending = own
		}
	}
	switch len(ending) {
	case 0:
		return "", entry, "", nil
	case 1:
		entry, err = v.worktree.Stat(ending[0])
		return ending[0], entry, "", err
	}
	return clean, entry, fmt.Sprintf("%d paths end with %s, such as %s and %s.", len(ending), clean, ending[0], ending[1]), nil
}

// withSuffix returns the files and directories whose path ends with the parts of suffix.
func withSuffix(files []string, suffix string) []string {
	found := map[string]bool{}
	for _, file := range files {
		slashed := "/" + file + "/"
		for begin := 0; ; {
			i := strings.Index(slashed[begin:], "/"+suffix+"/")
			if i < 0 {
				break
			}
			begin += i + 1 // where suffix begins
			found[slashed[1:begin+len(suffix)]] = true
		}
	}
	return slices.Sorted(maps.Keys(found))
}

// isInstalled reports whether a path lies in a directory of other people's code.
func isInstalled(name string) bool {
	return slices.ContainsFunc(strings.Split(path.Dir(name), "/"), func(dir string) bool { return dir == "node_modules" || dir == "vendor" })
}

// relative returns the path that a hint or claim names, cleaned and relative to the work tree. It
// returns an error for a path outside of the work tree or in .git.
func (v *verification) relative(hinted string) (string, error) {
	clean := path.Clean(strings.TrimSpace(hinted))
	for _, root := range v.cfg.Roots {
		if clean == path.Clean(root) {
			clean = "."
		}
		clean = strings.TrimPrefix(clean, path.Clean(root)+"/")
	}
	switch {
	case strings.ContainsRune(hinted, 0), hinted == "":
		return "", fmt.Errorf("%s is not a path", v.quote(hinted))
	case path.IsAbs(clean), strings.HasPrefix(clean, "~"):
		return "", fmt.Errorf("%s does not lie in the work tree: name it relative to that", v.quote(hinted))
	case clean == "..", strings.HasPrefix(clean, "../"):
		return "", fmt.Errorf("%s leads out of the work tree", v.quote(hinted))
	case slices.Contains(strings.Split(clean, "/"), ".git"):
		return "", fmt.Errorf("%s is git's own", v.quote(hinted))
	}
	return clean, nil
}
