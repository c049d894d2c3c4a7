package phase

import (
	"cmp"
	"fmt"
	"path"
	"slices"

	"github.com/agent-airlock/airlock/internal/lazyregexp"
)

func (p *project) rubyCommands(dir string) commands {
	var w wording
	bundle := ""
	if p.has(dir, "Gemfile.lock") {
		bundle = "bundle exec "
		w.replace = [][2]string{{"", bundle}}
	}
	return commands{style: p.style(dir, Ruby, w), tests: p.rubyTests(dir, bundle), adapt: w}
}

// rubyTests returns how a Ruby project's tests run: RSpec's, the Rakefile's, or both. bundle is put
// in front of each command.
func (p *project) rubyTests(dir, bundle string) []candidate {
	specs, tests := known("rspec", bundle+"rspec", ""), known("minitest", bundle+"rake "+cmp.Or(p.rakeTask(dir), "test"), "")
	switch {
	case !p.has(dir, "Rakefile"):
		return checksOnly(specs, tests)
	case !p.has(dir, "spec"): // rspec would run nothing
		return checksOnly(tests)
	case !p.usesRSpec(dir) && p.rakeTask(dir) != "": // minitest has specs, too
		return checksOnly(tests, specs)
	case p.hasMinitests(dir):
		both := script(specs.line + " && " + tests.line)
		// Neither hides what the other finds.
		both.shell = fmt.Sprintf("%s; specs=$?; %s && exit $specs", specs.line, tests.line)
		return checksOnly(both)
	}
	return checksOnly(specs, tests)
}

// usesRSpec reports whether a Ruby project's files name RSpec.
func (p *project) usesRSpec(dir string) bool {
	return p.has(dir, ".rspec") || runsIn("rspec", p.commandTexts(dir)) || p.rubyMatches(dir, rspecName, "Gemfile", "*.gemspec", "Rakefile", "spec/*.rb")
}

// hasMinitests reports whether a project has tests in addition to its specs, and a task that runs
// them. The task is in the Rakefile, or it is that of Rails, unless the application leaves that
// out.
func (p *project) hasMinitests(dir string) bool {
	hasTask := p.rakeTask(dir) != "" || p.rubyMatches(dir, railsTasks, "Rakefile") && p.rubyMatches(dir, railsTests, "config/application.rb")
	return hasTask && slices.ContainsFunc([]string{"test", "test/*", "test/*/*", "test/*/*/*"}, func(in string) bool {
		return len(p.matching(dir, in+"/*_test.rb"))+len(p.matching(dir, in+"/test_*.rb")) > len(p.matching(dir, in+"/test_helper.rb"))
	})
}

// rakeTask returns the name of the task of minitest that a Rakefile has, "" if it has none.
func (p *project) rakeTask(dir string) string {
	raw, _ := p.read(path.Join(dir, "Rakefile")) // what cannot be read, rake reports
	if m := testTask.FindStringSubmatch(withoutComments(string(raw))); m != nil {
		return cmp.Or(m[1], "test")
	}
	return ""
}

// rubyMatches reports whether the code of one of a directory's files has a match. The files may be
// patterns, as for matching.
func (p *project) rubyMatches(dir string, what *lazyregexp.Regexp, files ...string) bool {
	return p.hasContent(dir, func(content []byte) bool { return what.MatchString(withoutComments(string(content))) }, files...)
}

var (
	rspecName  = lazyregexp.New(`(?i)\brspec\b`)
	testTask   = lazyregexp.New(`\bTestTask\.(?:new|create)\b(?:[ (]+[:"']([a-z_]+))?`)
	railsTasks = lazyregexp.New(`\bload_tasks\b`)
	railsTests = lazyregexp.New(`["']rails/(?:all|test_unit/railtie)["']`)
)
