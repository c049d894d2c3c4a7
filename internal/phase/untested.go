package phase

import (
	"path"
	"slices"

	"github.com/agent-airlock/airlock/internal/changes"
	"github.com/agent-airlock/airlock/internal/lazyregexp"
)

// testFiles are patterns for the names of the files and directories that test runners of a language
// look for, and of the files that configure the runners.
var testFiles = map[Language][]string{
	Python: {"test*.py", "*_test.py", "*tests.py", "conftest.py", "pytest.ini", ".pytest.ini", "tox.ini", "noxfile.py"},
	Ruby:   {"*_spec.rb", "*_test.rb", "test_*.rb", "*.feature", "spec", "test", "Rakefile", "rakefile", "Rakefile.rb", ".rspec"},
}

// noTestsFound is why the tests of a project without any are skipped.
const noTestsFound = "no file is named like a test file; add one, or set test_command"

// isUntested reports whether a directory's project certainly has no tests, and had none before the
// change. Then a runner that finds nothing is no reason to fail.
func (p *project) isUntested(r root) bool {
	patterns, known := testFiles[r.language]
	isTest := func(name string) bool {
		return slices.ContainsFunc(patterns, func(pattern string) bool { ok, _ := path.Match(pattern, path.Base(name)); return ok })
	}
	if !known || p.diff == nil || r.language == Python && p.hasContent(r.dir, pytestSection.Match, "pyproject.toml", "setup.cfg") {
		return false
	}
	for _, f := range p.diff {
		if f.Status == changes.Deleted && isTest(f.Path) || f.Status == changes.Renamed && isTest(f.PreviousPath) {
			return false
		}
	}
	const most = 2000 // directories
	queue := []string{r.dir}
	for i := 0; i < len(queue); i++ {
		if slices.ContainsFunc(p.entries(queue[i]), isTest) || len(queue) > most {
			return false
		}
		for _, name := range p.directories(queue[i]) {
			if !isForeign(name) && name != "venv" {
				queue = append(queue, path.Join(queue[i], name))
			}
		}
	}
	return true
}

// pytestSection matches the beginning of pytest's settings, which may say where tests are.
var pytestSection = lazyregexp.New(`(?m)^\[+tool[.:]pytest\b`)
