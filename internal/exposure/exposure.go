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

// Config says where Find looks.
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

// Credential is something by which a program could act as somebody else. It never
// holds the secret itself, nor any text of a file.
type Credential struct {
	Where string // the name of a variable, or a file with or without a line; printable
	What  string // what is there, for people
	// Refuses says that the checks may not run beside it: so it is on a runner, for
	// every credential. Elsewhere they run as the person who started them, with what
	// that person has, and a credential is only worth a warning.
	Refuses bool
}

// String returns where it is and what.
func (c Credential) String() string { return c.Where + ": " + c.What }

// Find lists what a program could use that runs as this process's user and in
// its environment: variables, git's configuration with all that it includes, and the
// files in which common tools keep credentials. What cannot be judged, such as a
// configuration of 2 MiB, is listed as if it held one. What this user may not read is not.
//
// git is not run, no file is waited for, and nothing is read without a limit. Conditions of
// git's includes do not count: a program may read a file whether git would or not.
func Find(cfg Config) []Credential {
	s := &search{cfg: cfg, env: map[string]string{}, scanner: secrets.New(nil), files: map[string]bool{}, repositories: map[string]bool{}}
	for _, e := range cfg.Environ {
		if name, value, _ := strings.Cut(e, "="); name != "" {
			s.env[name] = value
		}
	}
	s.home = cmp.Or(s.env["HOME"], s.env["USERPROFILE"])
	s.runner = s.env["GITHUB_ACTIONS"] == "true"
	s.variables()
	s.parents()
	s.gitOfTheUser()
	s.repositoryAbove(cfg.Dir)
	for _, name := range []string{"GIT_DIR", "GIT_COMMON_DIR"} {
		if dir := s.env[name]; dir != "" {
			s.repository(s.below(cfg.Dir, dir))
		}
	}
	if s.runner {
		workspace := s.env["GITHUB_WORKSPACE"]
		s.repositoriesBelow(workspace)
		if rel, err := filepath.Rel(workspace, cfg.Dir); err != nil || workspace == "" || !filepath.IsLocal(rel) {
			s.repositoriesBelow(cfg.Dir)
		}
		s.runnerTemp()
	}
	s.filesOfTools()
	slices.SortFunc(s.found, func(a, b Credential) int { return cmp.Or(cmp.Compare(a.Where, b.Where), cmp.Compare(a.What, b.What)) })
	return slices.Compact(s.found)
}

// search is one search for credentials.
type search struct {
	cfg          Config
	env          map[string]string
	home         string
	runner       bool
	scanner      *secrets.Scanner
	files        map[string]bool // of git's configuration, that were read
	bytes        int             // in those
	entries      int             // of directories, that were looked at
	repositories map[string]bool // that were looked at
	found        []Credential
}

func (s *search) add(where, what string) {
	s.found = append(s.found, Credential{Where: where, What: what, Refuses: s.runner})
}

// at names a place in a file. Whoever can make files can name them, so what is not
// printable is written as Go would; line 0 is the whole file.
func at(path string, line int) string {
	if !utf8.ValidString(path) || strings.ContainsFunc(path, func(c rune) bool { return !unicode.IsPrint(c) }) {
		path = strconv.Quote(path)
	}
	if line > 0 {
		path += fmt.Sprintf(":%d", line)
	}
	return path
}

// below returns a path that a configuration or a variable names, relative to dir.
func (s *search) below(dir, path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(dir, path)
}

// inHome returns a path in the user's folder, or "".
func (s *search) inHome(path string) string {
	if s.home == "" {
		return ""
	}
	return filepath.Join(s.home, filepath.FromSlash(path))
}
