package phase

import (
	"encoding/json"
	"errors"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
)

// sign is a trace of a tool in a project that uses it.
type sign struct {
	// file is the name of a file in the project's directory or in one above it, up to the
	// repository's root. It may be a pattern of path.Match, also in its directories.
	file string
	// text is a pattern that the file must match, and shown is the pattern as people read it;
	// "" if the file alone is the sign.
	text, shown string
	// without is a pattern that the file must not match; withoutShown is it for people.
	without, withoutShown string
	// key is a member of package.json, "dependency NAME" for one of its dependencies.
	key string
	// runs is a command in the places where projects keep theirs: scripts, CI, hooks.
	runs string
	// unless is a command in the same places that makes the sign invalid.
	unless string
	// besides is the name of a file that makes the sign invalid. It restricts the sign to
	// files of the project's own directory.
	besides string
	// plugin is a plugin that a Maven build uses, in one of its modules at least.
	plugin string
}

// file returns signs that a file exists, one for each name.
func file(names ...string) (signs []sign) {
	for _, name := range names {
		signs = append(signs, sign{file: name})
	}
	return signs
}

// section returns the sign that a file has a section, as in TOML or INI.
func section(file, name string) sign {
	return sign{file: file, text: `(?m)^[ \t]*\[+[ \t]*` + regexp.QuoteMeta(name) + `[ \t]*[\].]`, shown: "[" + name + "]"}
}

// mention returns the sign that a file contains a word.
func mention(file, word string) sign {
	return sign{file: file, text: `(?:^|[^\w])` + regexp.QuoteMeta(word) + `(?:$|[^\w])`, shown: word}
}

// gem returns the signs that a Ruby project lists a gem.
func gem(name string) []sign {
	return []sign{
		{file: "Gemfile", text: `(?m)^[ \t]*gem[ \t(]+["']` + name + `["']`, shown: `gem "` + name + `"`},
		{file: "*.gemspec", text: `(?m)^[^#\n]*dependency[ \t(]+["']` + name + `["']`, shown: `dependency "` + name + `"`},
	}
}

// member returns signs that package.json has a member, one for each name.
func member(names ...string) (signs []sign) {
	for _, name := range names {
		signs = append(signs, sign{key: name})
	}
	return signs
}

// runs returns signs that a project runs a command, one for each command.
func runs(commands ...string) (signs []sign) {
	for _, c := range commands {
		signs = append(signs, sign{runs: c})
	}
	return signs
}

// walkUp calls look for a directory and those above it, up to the repository's root, until
// it returns true.
func (p *project) walkUp(dir string, look func(p *project, dir string) bool) bool {
	for ; ; dir = path.Dir(dir) {
		if look(p, dir) {
			return true
		}
		if dir == "." {
			break
		}
	}
	return p.outer != nil && p.outer.walkUp(path.Dir(p.prefix), look)
}

// shows reports whether a project's directory, or one above it, has a sign, and how many directories
// above it is, -1 if a command is the sign.
func (p *project) shows(dir string, s sign) (found bool, above int) {
	above = -1
	look := func(has func(p *project, dir string) bool) bool {
		return p.walkUp(dir, func(p *project, dir string) bool {
			above++
			return has(p, dir)
		})
	}
	switch {
	case s.runs != "":
		found = runsIn(s.runs, p.commandTexts(dir))
	case s.besides != "":
		above = 0
		found = p.has(dir, s.file) && !p.has(dir, s.besides)
	case s.plugin != "":
		found = len(p.mavenPlugin(dir, s.plugin).modules) > 0
	case s.key != "":
		found = look(func(p *project, dir string) bool { return p.manifest(dir).has(s.key) })
	default:
		text, without := s.patterns()
		found = look(func(p *project, dir string) bool {
			names := p.matching(dir, s.file)
			if text == nil && without == nil {
				return len(names) > 0
			}
			return slices.ContainsFunc(names, func(name string) bool {
				raw, err := p.read(name)
				return err == nil && (text == nil || text.Match(raw)) && (without == nil || !without.Match(raw))
			})
		})
	}
	return found && (s.unless == "" || !runsIn(s.unless, p.commandTexts(dir))), above
}

// patterns returns the sign's patterns, nil for none.
func (s sign) patterns() (text, without *regexp.Regexp) {
	if s.text != "" {
		text = regexp.MustCompile(s.text)
	}
	if s.without != "" {
		without = regexp.MustCompile(s.without)
	}
	return text, without
}

// maxMatching bounds the files that a pattern may match.
const maxMatching = 100

// matching returns the files below a directory that match a pattern. Each element of its path
// is a pattern of path.Match.
func (p *project) matching(dir, pattern string) []string {
	first, rest, deeper := strings.Cut(pattern, "/")
	var names []string
	for _, e := range p.entries(dir) {
		if ok, _ := path.Match(first, e); !ok || len(names) == maxMatching {
			continue
		}
		if name := path.Join(dir, e); deeper {
			names = append(names, p.matching(name, rest)...)
		} else {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names[:min(len(names), maxMatching)]
}

// commandFiles are patterns of the files in which projects keep the commands that they,
// their hooks and their CI run.
var commandFiles = []string{
	"package.json", "deno.json", "deno.jsonc", ".lintstagedrc*", "lint-staged.config.*", "tox.ini", "noxfile.py", "setup.cfg", "pyproject.toml", "tasks.py", "Makefile", "makefile", "GNUmakefile", "[Jj]ustfile",
	"Taskfile.y*ml", "Rakefile", ".pre-commit-config.y*ml", "lefthook.y*ml", ".husky/*", "script/*", "scripts/*", "bin/*", "ci/*", ".ci/*", ".github/workflows/*.y*ml", ".gitlab-ci.yml", ".travis.yml",
	".circleci/config.yml", "azure-pipelines.yml", ".cirrus.yml", "appveyor.yml", "bacon.toml", ".cargo/config.toml",
}

// Bounds of the files that are read for commands, in bytes.
const (
	maxCommandFile  = 256 << 10
	maxCommandTexts = 8 << 20 // of all
)

// commandTexts returns the texts of a directory's commandFiles, and of those above it,
// without lines that are comments. Of package.json, deno.json and pyproject.toml it
// returns the commands alone.
func (p *project) commandTexts(dir string) string {
	if text, ok := p.commandText[dir]; ok {
		return text
	}
	var b strings.Builder
	p.walkUp(dir, func(p *project, dir string) bool {
		for _, pattern := range commandFiles {
			for _, name := range p.matching(dir, pattern) {
				info, err := p.root.Stat(name)
				if err != nil || info.Size() > maxCommandFile || b.Len() > maxCommandTexts {
					continue
				}
				raw, err := p.read(name)
				if err != nil {
					continue
				}
				switch path.Base(name) {
				case "package.json":
					b.WriteString(p.manifest(path.Dir(name)).commands())
				case "deno.json", "deno.jsonc":
					b.WriteString(denoTaskTexts(raw))
				case "pyproject.toml":
					b.WriteString(scriptSections(string(raw)))
				default:
					b.WriteString(withoutComments(string(raw)))
				}
				b.WriteString("\n")
			}
		}
		return false
	})
	p.commandText[dir] = b.String()
	return p.commandText[dir]
}

// withoutComments returns a text without the lines that are comments.
func withoutComments(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if start := strings.TrimSpace(line); !strings.HasPrefix(start, "#") && !strings.HasPrefix(start, "//") {
			b.WriteString(line)
		}
	}
	return b.String()
}

// scriptSections returns the sections of a pyproject.toml in which task runners have
// commands, such as [tool.hatch.envs.lint.scripts] and [tool.poe.tasks].
func scriptSections(text string) string {
	var b strings.Builder
	inScripts := false
	for line := range strings.Lines(withoutComments(text)) {
		if strings.HasPrefix(line, "[") {
			inScripts = regexp.MustCompile(`^\[+tool\.(?:hatch|poe|pdm|taskipy|tox|rye)\b.*(?:scripts|tasks|env|commands)`).MatchString(line)
			continue
		}
		if inScripts {
			b.WriteString(line)
		}
	}
	return b.String()
}

// runsIn reports whether a text contains a command, as a word or several.
func runsIn(command, text string) bool {
	words := strings.Fields(command)
	for i := range words {
		words[i] = regexp.QuoteMeta(words[i])
	}
	return regexp.MustCompile("(?m)(?:^|[\\s\"'`=:;&|(\\[,/@])" + strings.Join(words, `["',\s]+`) + "(?:$|[\\s\"'`;&|)\\],@])").MatchString(text)
}

// manifest is the part of a package.json that is used here. It is empty if there is no such
// file, or it cannot be read.
type manifest struct {
	err     error                      // why it cannot be read
	members map[string]json.RawMessage // at the top
	scripts map[string]string          // without idle
	idle    map[string]string          // scripts of tests and linters that run nothing
	manager string                     // as "pnpm@9.1.0", or the name alone
	depends map[string]bool
}

// manifest returns the package.json of a directory, which is read once. It must not be
// called while checks run.
func (p *project) manifest(dir string) *manifest {
	m, ok := p.manifests[dir]
	if !ok {
		m = p.readManifest(dir)
		p.manifests[dir] = m
	}
	return m
}

// readManifest reads the package.json of a directory.
func (p *project) readManifest(dir string) *manifest {
	m := &manifest{depends: map[string]bool{}}
	raw, err := p.read(path.Join(dir, "package.json"))
	if errors.Is(err, fs.ErrNotExist) {
		return m
	}
	if err == nil {
		err = json.Unmarshal(raw, &m.members)
		if _, wrong := errors.AsType[*json.UnmarshalTypeError](err); wrong {
			err = errors.New("it is not a JSON object")
		}
	}
	if err == nil && m.members["scripts"] != nil && json.Unmarshal(m.members["scripts"], &m.scripts) != nil {
		err = errors.New("its scripts are not an object of texts")
	}
	if m.err = err; err != nil {
		return m
	}
	m.leaveOutIdle()
	// The members below may have any form. One that does not fit is ignored.
	_ = json.Unmarshal(m.members["packageManager"], &m.manager)
	var engines struct {
		PackageManager struct{ Name, Version string }
	}
	if m.manager == "" && json.Unmarshal(m.members["devEngines"], &engines) == nil {
		m.manager = engines.PackageManager.Name
	}
	for _, kind := range []string{"dependencies", "devDependencies", "optionalDependencies", "peerDependencies"} {
		var versions map[string]json.RawMessage
		_ = json.Unmarshal(m.members[kind], &versions)
		for name := range versions {
			m.depends[name] = true
		}
	}
	return m
}

// noTestSpecified is a part of the script that npm init writes as a placeholder.
const noTestSpecified = "no test specified"

// leaveOutIdle moves the scripts of tests and linters that run nothing from scripts to idle,
// unless npm runs something before or after them.
func (m *manifest) leaveOutIdle() {
	m.idle = map[string]string{}
	for _, name := range slices.Concat(testScripts, lintScripts) {
		text := m.scripts[name]
		runs := m.scripts["pre"+name] != "" || m.scripts["post"+name] != ""
		if strings.Contains(text, noTestSpecified) || text != "" && !runs && !runsSomething(text) {
			m.idle[name] = text
			delete(m.scripts, name)
		}
	}
}

// runsSomething reports whether a script may do more than print a text and succeed.
func runsSomething(script string) bool {
	if strings.ContainsAny(script, "$`<>") {
		return true
	}
	for command := range strings.FieldsFuncSeq(script, func(r rune) bool { return strings.ContainsRune("&|;\n", r) }) {
		words := strings.Fields(command)
		if len(words) > 0 && !slices.Contains([]string{"true", ":", "echo"}, words[0]) && !slices.Equal(words, []string{"exit", "0"}) && !slices.Equal(words, []string{"exit"}) {
			return true
		}
	}
	return false
}

// has reports whether a package.json has a member, or "dependency NAME".
func (m *manifest) has(key string) bool {
	if name, ok := strings.CutPrefix(key, "dependency "); ok {
		return m.depends[name]
	}
	return m.members[key] != nil
}

// testScripts are the names of the script that runs a package's tests, the usual one first.
var testScripts = []string{"test", "test:all", "test:ci", "test:run", "test:once", "test:unit", "test-unit", "unit-test", "unit-tests", "tests", "unit"}

// testScript returns the name of the script that runs the tests, "" if there is none.
func (m *manifest) testScript() string { return first(m.scripts, testScripts...) }

// commands returns the commands that a package.json contains.
func (m *manifest) commands() string {
	var b strings.Builder
	for _, s := range m.scripts {
		b.WriteString(s + "\n")
	}
	for _, member := range []string{"lint-staged", "husky", "pre-commit", "simple-git-hooks", "wireit"} {
		b.Write(m.members[member])
		b.WriteString("\n")
	}
	return b.String()
}
