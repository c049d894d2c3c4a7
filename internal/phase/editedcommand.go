package phase

import (
	"path"
	"slices"
	"strings"

	"github.com/agent-airlock/airlock/internal/finding"
	"github.com/agent-airlock/airlock/internal/lazyregexp"
)

// makefiles are the files that make and its relatives read, by their program.
var makefiles = map[string][]string{
	"make": {"Makefile", "makefile", "GNUmakefile"}, "just": {"justfile", "Justfile", ".justfile"}, "task": {"Taskfile.yml", "Taskfile.yaml"},
	"deno": denoConfigs, "rake": {"Rakefile"}, "tox": {"tox.ini"}, "nox": {"noxfile.py"},
}

// editedCommand returns a changed file that decides what the check's command does: package.json, if
// one of its scripts has changed, a makefile, or a script that the command runs. It is "" if there
// is none, or if it is not known what changed. Somebody who edits such a file can make the tests
// pass whatever they find.
func (w *run) editedCommand() string {
	if w.e.job.Diff == nil {
		return ""
	}
	for _, f := range w.root.files {
		if path.Base(f) == "package.json" && w.editedScript(f) {
			return f
		}
	}
	lines := []string{w.chosen.check.line}
	if w.root.language.family() == JavaScript {
		lines = append(lines, w.e.project.readManifest(w.root.dir).scriptTexts()...)
	}
	separates := func(c rune) bool { return strings.ContainsRune(" \t\n;&|()'\"", c) }
	for _, line := range lines {
		var names []string // of files that the line may run
		for _, word := range strings.FieldsFunc(line, separates) {
			names = append(append(names, makefiles[path.Base(word)]...), word)
		}
		for _, name := range names {
			if file := path.Join(w.root.dir, name); slices.Contains(w.root.files, file) {
				return file
			}
		}
	}
	return ""
}

// editedScript reports whether a changed line of a package.json names one of its scripts.
func (w *run) editedScript(name string) bool {
	raw, _ := w.e.project.read(name) // one that cannot be read has no scripts
	scripts := w.e.project.readManifest(path.Dir(name)).scripts
	for i, line := range strings.Split(string(raw), "\n") {
		if !w.e.lines.touch(finding.Finding{Path: path.Join(w.e.prefix, name), Range: finding.Range{StartLine: i + 1}}) {
			continue
		}
		for _, member := range jsonMember.FindAllStringSubmatch(line, -1) {
			if scripts[member[1]] != "" {
				return true
			}
		}
	}
	return false
}

// jsonMember matches the name of a member in a line of JSON.
var jsonMember = lazyregexp.New(`"([^"]+)"\s*:`)
