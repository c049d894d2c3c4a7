package exposure

import (
	"cmp"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/agent-airlock/airlock/internal/text"
)

// Limits of git's configuration: how deep files may include each other, as in git, and how
// many bytes all of them together may have.
const (
	maxIncludeDepth = 10
	maxConfigBytes  = 16 << 20
)

// gitFile is a configuration of git: a file or a variable.
type gitFile struct {
	path     string // "" for a variable
	variable string
	depth    int // how many includes led to it
}

// place names where an entry is.
func (f gitFile) place(e gitEntry) string {
	if f.path == "" {
		return f.variable
	}
	return place(f.path, e.line)
}

// userConfig judges git's configuration outside of repositories.
func (s *search) userConfig() {
	s.gitConfig(gitFile{path: cmp.Or(s.cfg.SystemConfig, "/etc/gitconfig")})
	for _, name := range []string{"GIT_CONFIG_SYSTEM", "GIT_CONFIG_GLOBAL", "GIT_CONFIG"} {
		if path := s.env[name]; path != "" {
			s.gitConfig(gitFile{path: resolve(s.cfg.Dir, path)})
		}
	}
	s.gitConfig(gitFile{path: s.inHome(".gitconfig")})
	s.gitConfig(gitFile{path: s.inConfig("git/config")})
}

// gitConfig judges one configuration file and those that it includes.
func (s *search) gitConfig(f gitFile) {
	if f.path == "" || s.configs[f.path] {
		return
	}
	s.configs[f.path] = true
	content, why := read(f.path)
	s.configBytes += len(content)
	switch {
	case why == "" && content == "":
		return
	case why == "" && s.configBytes > maxConfigBytes:
		why = fmt.Sprintf("there are more than %s of it", text.Bytes(maxConfigBytes))
	case why == "" && f.depth > maxIncludeDepth:
		why = fmt.Sprintf("it is included through more than %d files", maxIncludeDepth)
	}
	if why != "" {
		s.add(place(f.path, 0), "this configuration of git cannot be judged: "+why)
		return
	}
	entries, bad := parseGitConfig(content)
	listed := map[int]bool{}
	for _, e := range entries {
		listed[e.line] = s.gitEntry(e, f) || listed[e.line]
	}
	for _, hit := range s.scanner.Scan(content) { // in comments, and in what git does not read
		if !listed[hit.Line] {
			listed[hit.Line] = true
			s.add(place(f.path, hit.Line), "this looks like a credential")
		}
	}
	if bad > 0 {
		s.add(place(f.path, bad), "git could not read this line of its configuration, so that it cannot be judged")
	}
}

// gitEntry judges one entry and reports whether it is, or uses, a credential.
func (s *search) gitEntry(e gitEntry, f gitFile) bool {
	key := e.section + "." + e.name
	if e.value != "" && (key == "include.path" || key == "includeif.path") {
		s.include(e, f)
		return false
	}
	what := s.gitSecret(key, e)
	if what != "" {
		s.add(f.place(e), what)
	}
	return what != ""
}

// gitSecret returns what is secret about an entry, or "". What it returns contains neither
// the value nor the subsection, because both may be the secret.
func (s *search) gitSecret(key string, e gitEntry) string {
	switch {
	case e.value == "":
	case key == "http.extraheader":
		return "git sends this header (http.extraheader) with its requests; actions/checkout leaves the job's token there, unless persist-credentials is false"
	case key == "http.cookiefile" || key == "http.sslkey":
		if path, ok := s.expand(e.value, s.cfg.Dir); ok && regular(path) {
			return "it names a file (" + key + ") that authenticates git"
		}
		return ""
	case key == "credential.helper":
		s.helperFile(e.value)
		return "git asks a credential helper for passwords, as every program can"
	case key == "core.askpass":
		return "it names a program that gives git passwords"
	case key == "core.sshcommand":
		return sshKey(e.value)
	case e.section != "credential" && e.section != "user" && credentialName.MatchString(e.name) && plausible(e.value):
		return "the name of the variable is that of a credential"
	}
	if credentialURL(e.value) || credentialURL(e.subsection) {
		return "this URL contains a password or token"
	}
	return ""
}

// include reads the file that an entry includes.
func (s *search) include(e gitEntry, f gitFile) {
	path, ok := s.expand(e.value, filepath.Dir(f.path))
	switch {
	case !ok:
		s.add(f.place(e), "what git includes here is in the directory of another user or of git itself, so that it cannot be judged")
	case f.path != "" || filepath.IsAbs(path): // git refuses a relative path in a variable
		s.gitConfig(gitFile{path: path, depth: f.depth + 1})
	}
}

// expand returns the path that a value names: in the user's home directory after "~/", otherwise
// relative to dir. ok is false for a path in another user's home directory, or in git's own
// directory.
func (s *search) expand(value, dir string) (path string, ok bool) {
	if rest, found := strings.CutPrefix(value, "~/"); found {
		return s.inHome(rest), true
	}
	if strings.HasPrefix(value, "~") || strings.HasPrefix(value, "%(prefix)") {
		return "", false
	}
	return resolve(dir, value), true
}

// helperFile judges the file that the command of a credential helper names, as the command
// of git's helper "store" does.
func (s *search) helperFile(command string) {
	words := strings.Fields(command)
	for i, word := range words {
		file, found := strings.CutPrefix(word, "--file=")
		if word == "--file" && i+1 < len(words) {
			file, found = words[i+1], true
		}
		if !found {
			continue
		}
		if path, ok := s.expand(strings.Trim(file, `'"`), s.cfg.Dir); ok {
			s.toolFile(path, storedPassword)
		}
	}
}
