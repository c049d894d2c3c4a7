//go:build tools

package cli_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

// TestProjectsSideBySide runs the checks of two projects with npm. If both may be checked at the
// same time, the tests of each wait for the other's. Otherwise the second project begins when the
// first has ended.
func TestProjectsSideBySide(t *testing.T) {
	meet := `touch here; i=0; until [ -e ../%s/here ] || [ $i = 600 ]; do i=$((i+1)); sleep 0.1; done; [ -e ../%[1]s/here ]`
	alone := `[ -e ../%s/package.json ]`
	for parallel, test := range map[int]string{1: alone, 2: meet} {
		t.Run(fmt.Sprint(parallel), func(t *testing.T) {
			p := newProject(t)
			changed := map[string]string{}
			for dir, other := range map[string]string{"a": "b", "b": "a"} {
				changed[dir+"/package.json"] = fmt.Sprintf(`{"name": %q, "scripts": {"format": "true", "format:check": "true", "lint": "true", "test": %q}}`, dir, fmt.Sprintf(test, other))
			}
			p.commit(t, changed)
			dir := files(t, map[string]string{"checks.yml": fmt.Sprintf("checks: {max-parallel: %d, code-review: false, security-review: false}", parallel)})
			code, stdout, stderr := p.run(t, "--config", filepath.Join(dir, "checks.yml"), "--changed-files", "a/package.json,b/package.json")
			if code != 0 || !strings.Contains(stdout, `(cd 'a' && npm test) && (cd 'b' && npm test)`) || strings.Contains(stderr, "one after the other") {
				t.Errorf("exit code %d\n%s%s", code, stdout, stderr)
			}
			if inTurn := strings.LastIndex(stderr, "airlock: a: ") < strings.Index(stderr, "airlock: b: "); inTurn != (parallel == 1) {
				t.Errorf("one after the other: %t\n%s", inTurn, stderr)
			}
		})
	}
}
