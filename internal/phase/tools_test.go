//go:build tools

package phase_test

import "testing"

// TestProjectsOfOtherLanguages needs Node, and what .ci/tools installs: prettier,
// eslint, typescript, pnpm, yarn and bun in the directory that AIRLOCK_NODE_MODULES
// names, Debian's Python, Ruby and Java tools, and a Rust toolchain. A tool that is
// missing fails the test.
func TestProjectsOfOtherLanguages(t *testing.T) {
	t.Parallel()
	for _, language := range []string{"javascript-", "typescript-", "python-", "rust-", "ruby-", "java-"} {
		runProjects(t, language)
	}
}
