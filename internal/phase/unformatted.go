package phase

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/agent-airlock/airlock/internal/finding"
)

// goLeavesAlone reports whether "go fmt ./..." passes over a file, whose path is
// relative to the module: gofmt, which checks in its place, looks at all files. What
// tests are fed with is broken on purpose, and vendored code is nobody's to format.
func goLeavesAlone(file string) bool {
	return slices.ContainsFunc(strings.Split(path.Dir(file), "/"), func(part string) bool {
		return part == "testdata" || part == "vendor" || part != "." && (part[0] == '_' || part[0] == '.')
	})
}

// leaveAlone takes out of a run of gofmt what it says of files that the formatter
// itself passes over. If there is nothing else, the run has passed.
func (a *attempt) leaveAlone(dir string) {
	files := map[string]bool{}
	kept := slices.DeleteFunc(a.report.Findings, func(f finding.Finding) bool {
		rel, ok := strings.CutPrefix(f.Path, dir+"/")
		if ok = (ok || dir == ".") && goLeavesAlone(rel); ok {
			files[f.Path] = true
		}
		return ok
	})
	if len(files) == 0 {
		return
	}
	a.report.Findings = kept
	a.report.Notes = append(a.report.Notes, fmt.Sprintf("left out: files that are not formatted in folders that 'go fmt' passes over, such as testdata (%d)", len(files)))
	a.report.Broken = slices.ContainsFunc(kept, func(f finding.Finding) bool { return f.Severity == finding.High })
	a.clean = len(kept) == 0 && a.report.Explained && a.report.Outside+a.report.Omitted == 0
}
