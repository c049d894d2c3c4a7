package phase

import (
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
)

// manifest is the part of a package.json that is used here. It is empty if there is no such
// file. If the file cannot be read, err says why, and the other fields are incomplete.
type manifest struct {
	err     error                      // why it cannot be read
	members map[string]json.RawMessage // at the top
	scripts map[string]string          // without those in idle
	idle    map[string]string          // scripts of tests and linters that run nothing
	manager string                     // as "pnpm@9.1.0", or the name alone
	depends map[string]bool
}

// manifest returns the package.json of a directory, which is read once. It must not be
// called while checks run.
func (p *project) manifest(dir string) *manifest {
	return cached(p.manifests, dir, p.readManifest)
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
	if err != nil {
		m.err = err
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

// leaveOutIdle moves idle scripts of tests and linters from scripts to idle. A script is idle if it
// is npm init's placeholder, or if it runs nothing and npm runs no script before or after it.
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

// has reports whether a package.json has a member at its top called key or, if key is
// "dependency NAME", a dependency called NAME.
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

// scriptTexts returns the scripts in the order of their names, so that one package.json always
// means the same.
func (m *manifest) scriptTexts() []string {
	texts := make([]string, 0, len(m.scripts))
	for _, name := range slices.Sorted(maps.Keys(m.scripts)) {
		texts = append(texts, m.scripts[name])
	}
	return texts
}

// commands returns the commands that a package.json contains as one text: its scripts, and the
// settings of tools that run commands, as JSON.
func (m *manifest) commands() string {
	var b strings.Builder
	for _, s := range m.scriptTexts() {
		b.WriteString(s + "\n")
	}
	for _, member := range []string{"lint-staged", "husky", "pre-commit", "simple-git-hooks", "wireit"} {
		b.Write(m.members[member])
		b.WriteString("\n")
	}
	return b.String()
}
