package loopwork

import (
	"cmp"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/agent-airlock/airlock/internal/action"
	"github.com/agent-airlock/airlock/internal/command"
	"github.com/agent-airlock/airlock/internal/config"
	"github.com/agent-airlock/airlock/internal/fixer"
	"github.com/agent-airlock/airlock/internal/loops"
	"github.com/agent-airlock/airlock/internal/phase"
)

// settings are what a loop is driven with. The store keeps them, so that the loop can be
// started again by its number alone.
type settings struct {
	Dir     string   `json:"dir"`
	Base    string   `json:"base,omitempty"`
	Policy  string   `json:"config,omitempty"` // the file of the owner's configuration
	Fixer   []string `json:"fixer,omitempty"`
	PassEnv []string `json:"pass_env,omitempty"`
	// Request is the content of the validation request whose criteria the loop has to meet; "" for
	// none. It is kept, so that nobody changes it while the loop runs. Evidence is the directory
	// for evidence.
	Request  string `json:"request,omitempty"`
	Evidence string `json:"evidence,omitempty"`
}

// Given are settings that a user gives. A setting that is nil stays as an open loop has it. Paths
// are relative to the current directory.
type Given struct {
	Dir, Base *string
	Policy    *string // the file of the owner's configuration
	Fixer     *string // the command that mends, as one line; blank for none
	PassEnv   *[]string
	Request   *string // the file of a validation request; Run replaces its name by its content
	Evidence  *string // the directory for evidence
}

// settings returns what a loop is driven with: what is given, otherwise what the open loop was
// driven with before. A loop that is not open has no settings yet; its directory is the current
// one unless another is given.
func (g Given) settings(open *loops.Loop, getenv func(string) string) (s settings, err error) {
	if open != nil {
		if err := json.Unmarshal(open.Settings, &s); err != nil {
			return s, err
		}
	}
	if s.Dir == "" && g.Dir == nil {
		g.Dir = new(".")
	}
	for _, path := range []struct{ given, setting *string }{{g.Dir, &s.Dir}, {g.Policy, &s.Policy}, {g.Evidence, &s.Evidence}} {
		if path.given != nil {
			if *path.setting, err = filepath.Abs(*path.given); err != nil {
				return s, err
			}
		}
	}
	if g.Base != nil {
		s.Base = *g.Base
	}
	if g.Request != nil {
		s.Request = *g.Request
	}
	if g.PassEnv != nil {
		s.PassEnv = *g.PassEnv
	}
	if g.Fixer != nil {
		if s.Fixer, err = splitFixer(*g.Fixer); err != nil {
			return s, fmt.Errorf("--fixer: %w", err)
		}
	}
	return s, s.check(getenv)
}

// splitFixer returns the words of a command, none if it is blank. A path to the program becomes
// absolute, because the command runs in a copy of the work tree.
func splitFixer(line string) ([]string, error) {
	if strings.TrimSpace(line) == "" {
		return nil, nil
	}
	words, err := phase.SplitWords(line)
	if err == nil && len(words) > 0 && strings.ContainsRune(words[0], filepath.Separator) {
		words[0], err = filepath.Abs(words[0])
	}
	return words, err
}

// check returns what is wrong with settings.
func (s settings) check(getenv func(string) string) error {
	for _, name := range s.PassEnv {
		if err := cmp.Or(config.CheckVariable(name), fixer.CheckVariable(name)); err != nil {
			return fmt.Errorf("--pass-env: %q %w", name, err)
		}
	}
	if len(s.Fixer) > 0 {
		if _, err := command.LookPath(s.Fixer[0], getenv("PATH")); err != nil {
			return fmt.Errorf("--fixer: %w", err)
		}
	}
	if !action.IsDirectory(s.Dir) {
		return fmt.Errorf("the loop's directory %s is not there, or is not a directory: name another with --dir", s.Dir)
	}
	return nil
}
