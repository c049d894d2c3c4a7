package exposure

import (
	"cmp"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/agent-airlock/airlock/internal/text"
)

// Bounds of git's configuration: how deep files may include each other, as in git,
// and how many bytes all of them may have.
const (
	maxIncludeDepth = 10
	maxConfigBytes  = 16 << 20
)

// gitFile is a configuration that is read: a file, or a variable (without a path).
type gitFile struct {
	name  string // for people
	path  string
	depth int // of includes
}

// at names the place of an entry.
func (f gitFile) at(e gitEntry) string {
	if f.path == "" {
		return f.name
	}
	return at(f.path, e.line)
}

// gitOfTheUser judges git's configuration outside of repositories, and what git's
// credential helpers keep.
func (s *search) gitOfTheUser() {
	s.gitConfig(gitFile{path: cmp.Or(s.cfg.SystemConfig, "/etc/gitconfig")})
	for _, name := range []string{"GIT_CONFIG_SYSTEM", "GIT_CONFIG_GLOBAL", "GIT_CONFIG"} {
		if path := s.env[name]; path != "" {
			s.gitConfig(gitFile{path: s.below(s.cfg.Dir, path)})
		}
	}
	s.gitConfig(gitFile{path: s.inHome(".gitconfig")})
	s.gitConfig(gitFile{path: s.inConfig("git/config")})
}

// inConfig returns a path in the user's folder of configurations, or "".
func (s *search) inConfig(path string) string {
	if dir := s.env["XDG_CONFIG_HOME"]; dir != "" {
		return filepath.Join(dir, filepath.FromSlash(path))
	}
	return s.inHome(".config/" + path)
}

// gitConfig judges one configuration file and those that it includes.
func (s *search) gitConfig(f gitFile) {
	if f.path == "" || s.files[f.path] {
		return
	}
	s.files[f.path] = true
	content, why := read(f.path)
	s.bytes += len(content)
	switch {
	case why == "" && content == "":
		return
	case why == "" && s.bytes > maxConfigBytes:
		why = fmt.Sprintf("there are more than %s of it", text.Bytes(maxConfigBytes))
	case why == "" && f.depth > maxIncludeDepth:
		why = fmt.Sprintf("it is included over more than %d files", maxIncludeDepth)
	}
	if why != "" {
		s.add(at(f.path, 0), "this configuration of git cannot be judged: "+why)
		return
	}
	entries, bad := parseGitConfig(content)
	told := map[int]bool{}
	for _, e := range entries {
		told[e.line] = s.gitEntry(e, f) || told[e.line]
	}
	for _, hit := range s.scanner.Scan(content) { // in comments, and in what git does not read
		if !told[hit.Line] {
			told[hit.Line] = true
			s.add(at(f.path, hit.Line), "this looks like a credential")
		}
	}
	if bad > 0 {
		s.add(at(f.path, bad), "git could not read this line of its configuration, so that it cannot be judged")
	}
}

// gitEntry judges one entry and reports whether it is, or uses, a credential.
func (s *search) gitEntry(e gitEntry, f gitFile) bool {
	key := e.section + "." + e.name
	if e.value != "" && (key == "include.path" || key == "includeif.path") {
		s.include(e, f)
		return false
	}
	what := s.gitVariable(key, e)
	if what != "" {
		s.add(f.at(e), what)
	}
	return what != ""
}

// gitVariable returns what is secret about a variable of git's, or "". Its words
// hold neither the value nor the subsection: both may be the secret.
func (s *search) gitVariable(key string, e gitEntry) string {
	switch {
	case e.value == "":
	case key == "http.extraheader":
		return "git sends this header (http.extraheader) with its requests; actions/checkout leaves the job's token so, unless persist-credentials is false"
	case key == "http.cookiefile" || key == "http.sslkey":
		if path, ok := s.expand(e.value, s.cfg.Dir); ok && regular(path) {
			return "it names a file (" + key + ") that authenticates git"
		}
		return ""
	case key == "credential.helper":
		s.helperFile(e.value)
		return "git asks a credential helper for passwords, as every program can"
	case key == "core.askpass":
		return "it names a program that tells git passwords"
	case key == "core.sshcommand":
		return sshKey(e.value)
	case e.section != "credential" && e.section != "user" && credentialName.MatchString(e.name) && plausible(e.value):
		return "the name of the variable is that of a credential"
	}
	if credentialURL(e.value) || credentialURL(e.subsection) {
		return "this URL holds a password or token"
	}
	return ""
}

// include reads the file that an entry includes.
func (s *search) include(e gitEntry, f gitFile) {
	path, ok := s.expand(e.value, filepath.Dir(f.path))
	switch {
	case !ok:
		s.add(f.at(e), "what git includes here is in the folder of another user or of git itself, so that it cannot be judged")
	case f.path != "" || filepath.IsAbs(path):
		s.gitConfig(gitFile{path: path, depth: f.depth + 1})
	}
}

// expand returns the path that a value names: in the user's folder behind "~/", or
// relative to dir. Paths that git finds by other means are not ok.
func (s *search) expand(value, dir string) (path string, ok bool) {
	if rest, found := strings.CutPrefix(value, "~/"); found {
		return s.inHome(rest), true
	}
	if strings.HasPrefix(value, "~") || strings.HasPrefix(value, "%(prefix)") {
		return "", false
	}
	return s.below(dir, value), true
}

// helperFile judges the file of git's helper "store" that a helper's command names.
func (s *search) helperFile(command string) {
	words := strings.Fields(command)
	for i, word := range words {
		file, found := strings.CutPrefix(word, "--file=")
		if word == "--file" && i+1 < len(words) {
			file, found = words[i+1], true
		}
		if path, ok := s.expand(strings.Trim(file, `'"`), s.cfg.Dir); found && ok {
			s.toolFile(path, storedPassword)
		}
	}
}
