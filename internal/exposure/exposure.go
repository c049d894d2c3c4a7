// Package exposure lists the credentials that the code of a pull request could see if
// it ran as this process's user and in its environment.
package exposure

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/agent-airlock/airlock/internal/secrets"
)

// Config describes where Find looks.
type Config struct {
	// Environ is this process's environment, as os.Environ returns it. The user's home
	// directory, the runner's directories and where tools keep their files follow from it.
	Environ []string // required
	Dir     string   // required; the absolute path of the directory that the code would run in
	// SystemConfig is git's configuration for all users; "" is /etc/gitconfig.
	SystemConfig string
	// Proc is the system's list of processes, /proc on Linux; "" if there is none. The
	// environments of this process's ancestors are read there.
	Proc string
}

// Credential is something by which a program could act as somebody else. It never contains
// the secret itself, nor any text of a file.
type Credential struct {
	Where string // a variable, a process's environment, or a file with or without a line; printable
	What  string // what is there, for people
	// Refuses means that the checks may not run where they could use it. It is set on a
	// runner, for every credential. Elsewhere the checks run as the person who started them,
	// with what that person has, and a credential is only worth a warning.
	Refuses bool
}

// String returns where the credential is and what it is.
func (c Credential) String() string { return c.Where + ": " + c.What }

// Find lists the credentials that a program could use if it ran as this process's user and in its
// environment: in variables, in git's configuration with all that it includes, and in the files in
// which common tools keep credentials. What cannot be judged, such as a configuration of 2 MiB, is
// listed as if it were a credential. What this user may not read is not listed.
//
// It does not run git, waits for no file, and reads nothing without a limit. Conditions of
// git's includes do not count: a program may read a file whether git would or not.
func Find(cfg Config) []Credential {
	s := &search{cfg: cfg, env: map[string]string{}, scanner: secrets.New(nil), configs: map[string]bool{}, repositories: map[string]bool{}}
	for _, e := range cfg.Environ {
		if name, value, _ := strings.Cut(e, "="); name != "" {
			s.env[name] = value
		}
	}
	s.home = cmp.Or(s.env["HOME"], s.env["USERPROFILE"])
	s.runner = s.env["GITHUB_ACTIONS"] == "true"
	s.variables()
	s.ancestors()
	s.userConfig()
	s.repositoryAbove(cfg.Dir)
	for _, name := range []string{"GIT_DIR", "GIT_COMMON_DIR"} {
		if dir := s.env[name]; dir != "" {
			s.repository(resolve(cfg.Dir, dir))
		}
	}
	if s.runner {
		workspace := s.env["GITHUB_WORKSPACE"]
		s.repositoriesBelow(workspace)
		rel, err := filepath.Rel(workspace, cfg.Dir)
		isInWorkspace := workspace != "" && err == nil && filepath.IsLocal(rel)
		if !isInWorkspace {
			s.repositoriesBelow(cfg.Dir)
		}
		s.runnerTemp()
	}
	s.toolFiles()
	slices.SortFunc(s.found, func(a, b Credential) int { return cmp.Or(cmp.Compare(a.Where, b.Where), cmp.Compare(a.What, b.What)) })
	return slices.Compact(s.found)
}

// search is one search for credentials.
type search struct {
	cfg          Config
	env          map[string]string
	home         string
	runner       bool // the process runs on a runner of GitHub Actions
	scanner      *secrets.Scanner
	configs      map[string]bool // git's configuration files that have been read
	configBytes  int             // the size of those files
	entries      int             // directory entries that have been looked at
	repositories map[string]bool // git directories that have been judged
	found        []Credential
}

func (s *search) add(where, what string) {
	s.found = append(s.found, Credential{Where: where, What: what, Refuses: s.runner})
}

// place names a line of a file, or the file if the line is 0. Whoever can make files can
// choose their names, so one that is not printable is quoted as in Go.
func place(path string, line int) string {
	if !utf8.ValidString(path) || strings.ContainsFunc(path, func(c rune) bool { return !unicode.IsPrint(c) }) {
		path = strconv.Quote(path)
	}
	if line > 0 {
		path += fmt.Sprintf(":%d", line)
	}
	return path
}

// resolve returns the path that a configuration or a variable names; a relative one begins at dir.
func resolve(dir, path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(dir, path)
}

// inHome returns a path in the user's home directory, or "" if that is not known.
func (s *search) inHome(path string) string {
	if s.home == "" {
		return ""
	}
	return filepath.Join(s.home, filepath.FromSlash(path))
}

// inConfig returns a path in the user's directory of configurations, or "" if that is not
// known.
func (s *search) inConfig(path string) string {
	if dir := s.env["XDG_CONFIG_HOME"]; dir != "" {
		return filepath.Join(dir, filepath.FromSlash(path))
	}
	return s.inHome(".config/" + path)
}
