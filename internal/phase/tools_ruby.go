package phase

import (
	"slices"
	"strings"
)

// rubyTools returns the tools of Ruby. One run of RuboCop does both checks: the layout cops, which
// its own option --fix-layout (-x) fixes, belong to the formatter, and all others to the linter.
func rubyTools() []tool {
	layout := func(rule string) bool { return strings.HasPrefix(rule, "Layout/") }
	others := func(rule string) bool { return !layout(rule) }
	standard := slices.Concat(file(".standard.yml"), gem("standard"), runs("standardrb"))
	rubocop := slices.Concat(file(".rubocop.yml"), gem("rubocop"), runs("rubocop"))
	return []tool{
		{
			check: Formatter, name: "Standard", reads: "rubocop", signs: standard, part: layout,
			run: []string{"standardrb {flags}"}, write: "standardrb --fix", fix: "standardrb --fix {files}",
		},
		{
			check: Formatter, name: "RuboCop", reads: "rubocop", signs: rubocop, usual: true, part: layout,
			run: []string{"rubocop {flags}"}, write: "rubocop -a", fix: "rubocop -x --force-exclusion {files}",
		},
		{
			check: Linter, name: "Standard", reads: "rubocop", signs: standard, part: others,
			run: []string{"standardrb {flags}"}, fix: "standardrb --fix {files}",
		},
		{
			check: Linter, name: "RuboCop", reads: "rubocop", signs: rubocop, usual: true, part: others,
			run: []string{"rubocop {flags}"}, fix: "rubocop -a --force-exclusion {files}",
		},
	}
}
