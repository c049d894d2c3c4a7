package plugin

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/agent-airlock/airlock/internal/finding"
	"github.com/agent-airlock/airlock/internal/phase"
	"github.com/agent-airlock/airlock/internal/toolreport"
)

// Format is the form of a reviewer's output.
type Format string

// The formats.
const (
	Auto        Format = "auto"       // the format is recognised, as for other checks' commands
	SARIF       Format = "sarif"      // one log
	RDJSON      Format = "rdjson"     // reviewdog's, one document
	RDJSONL     Format = "rdjsonl"    // reviewdog's, one diagnostic a line
	Checkstyle  Format = "checkstyle" // checkstyle's XML
	SafeOutputs Format = "ndjson"     // an agent's lines: review comments and security reports
	Text        Format = "text"       // lines that Config.Patterns describe
	// What these tools print as JSON.
	AstGrep Format = "ast-grep"
	Bandit  Format = "bandit"
	ESLint  Format = "eslint"
	Gosec   Format = "gosec"
)

// Formats returns the formats that need no patterns.
func Formats() []Format {
	return []Format{Auto, SARIF, RDJSON, RDJSONL, Checkstyle, SafeOutputs, AstGrep, Bandit, ESLint, Gosec}
}

// form returns the format's name in package toolreport.
func (f Format) form() string {
	if f == SafeOutputs {
		return "safe outputs"
	}
	return string(f)
}

// mayBeEmpty reports whether a reviewer that found nothing may print nothing. An agent may
// not: its silence cannot be distinguished from a failure.
func (f Format) mayBeEmpty() bool {
	return f == Auto || f == Text || f == RDJSONL || f == AstGrep
}

// FilesWord stands for the changed files in Args, or as a word of Command.
const FilesWord = "{files}"

// builtIn is the tool of the built-in reviewer's findings.
const builtIn = "airlock"

// Limits of a Config.
const (
	DefaultTimeLimit = 300 * time.Second // of one run of the command
	MaxInstructions  = 64 << 10          // bytes
)

// Config is one reviewer. Validate checks it.
type Config struct {
	// Name is the reviewer's name in results, and the tool of findings that name none.
	Name string // required
	// Command is a command line as people write it. A shell reads it, unless it contains FilesWord.
	// Args are a program and its arguments. One of the two is required.
	Command string
	Args    []string
	Check   phase.Check // the review that its findings belong to; "" is CodeReview
	Format  Format      // "" is Auto, or Text if there are Patterns
	// Patterns describe lines of text, as Vim's errorformat does; the first that matches
	// wins.
	Patterns []string
	// Languages restrict the changed files to those in one of these languages; if none is
	// left, the command does not run. No languages: all files.
	Languages []string
	// Dirs are the directories in which the command runs, one after the other, relative to the
	// repository's root, each with the changed files below it. None: the root.
	Dirs []string
	// Diff provides Instructions and the diff on standard input, which is otherwise empty.
	Diff         bool
	Instructions string
	// Severity is how severe the findings of a rule are, by the rule's name. Findings below
	// MinSeverity are left out and counted.
	Severity    map[string]finding.Severity
	MinSeverity finding.Severity
	// Precision is how often it is right, for rules whose precision its output does not
	// give.
	Precision finding.Precision
	// FoundExits are the exit codes other than 0 with which the command ends if it has findings;
	// nil stands for 1. Any other code means that the review could not be done.
	FoundExits []int
	TimeLimit  time.Duration // of one run; 0: DefaultTimeLimit
}

// Validate returns everything that is wrong with a reviewer, and how to correct it.
func (c Config) Validate() error {
	var problems []error
	wrong := func(is bool, format string, args ...any) {
		if is {
			problems = append(problems, fmt.Errorf(format, args...))
		}
	}
	wrong(!isName(c.Name), "invalid name %q: it must consist of letters, digits, \"-\", \"_\" and \".\", at most 64", c.Name)
	wrong(strings.EqualFold(c.Name, builtIn), "the name %q is that of the built-in reviewer", c.Name)
	wrong(c.Command == "" && len(c.Args) == 0, "it has no command: give \"command\" or \"args\", or one of the names %s", strings.Join(Presets(), ", "))
	wrong(c.Command != "" && len(c.Args) > 0, "give either \"command\" or \"args\", not both")
	if _, err := c.argv(); err != nil {
		problems = append(problems, err)
	}
	wrong(c.Check != "" && c.Check != phase.CodeReview && c.Check != phase.SecurityReview, "the check %q is neither %q nor %q", c.Check, phase.CodeReview, phase.SecurityReview)
	wrong(c.Format != "" && c.Format != Text && !slices.Contains(Formats(), c.Format), "the format %q is not known", c.Format)
	wrong(c.format() == Text && len(c.Patterns) == 0, "the format \"text\" needs patterns, such as \"%%f:%%l: %%m\"")
	wrong(c.format() != Text && len(c.Patterns) > 0, "patterns belong to the format \"text\", not to %q", c.Format)
	if len(c.Patterns) > 0 {
		_, err := toolreport.New(toolreport.Tool{Formats: c.Patterns})
		wrong(err != nil, "%w", err)
	}
	for _, d := range c.Dirs {
		wrong(!isDirBelow(d), "invalid directory %q: it is not a path below the repository's root", d)
	}
	wrong(c.Instructions != "" && !c.Diff, "instructions are given with the diff: set \"input: diff\"")
	wrong(len(c.Instructions) > MaxInstructions, "the instructions have more than %d bytes", MaxInstructions)
	for _, s := range c.Severity {
		wrong(s.Rank() == 0, "the severity %q is not low, medium, high or critical", s)
	}
	wrong(c.MinSeverity != "" && c.MinSeverity.Rank() == 0, "the severity %q is not low, medium, high or critical", c.MinSeverity)
	wrong(c.Precision != finding.PrecisionUnknown && c.Precision.Rank() == 0, "the precision %q is not known", c.Precision)
	for _, e := range c.FoundExits {
		wrong(e < 1 || e > 255, "the exit code %d is not between 1 and 255", e)
	}
	wrong(c.TimeLimit < 0, "the time limit is negative")
	return errors.Join(problems...)
}

// format returns the format that applies.
func (c Config) format() Format {
	switch {
	case c.Format != "":
		return c.Format
	case len(c.Patterns) > 0:
		return Text
	}
	return Auto
}

// argv returns the program and its arguments, with FilesWord for the files; nil for a line
// that a shell reads.
func (c Config) argv() ([]string, error) {
	words := c.Args
	if c.Command != "" {
		if strings.ContainsRune(c.Command, 0) {
			return nil, errors.New("the command contains a NUL character")
		}
		if !strings.Contains(c.Command, FilesWord) {
			return nil, nil
		}
		var err error
		if words, err = phase.SplitWords(c.Command); err != nil {
			return nil, fmt.Errorf("the command %q cannot be run with {files}: %w", c.Command, err)
		}
	}
	for i, w := range words {
		switch {
		case strings.ContainsRune(w, 0):
			return nil, fmt.Errorf("the argument %q contains a NUL character", w)
		case i == 0 && (w == "" || strings.Contains(w, FilesWord)):
			return nil, errors.New("the first word is the program, which cannot be empty or {files}")
		case w != FilesWord && strings.Contains(w, FilesWord):
			return nil, fmt.Errorf("in %q, {files} has to be a word of its own: each file is an argument, never a part of one", w)
		}
	}
	return words, nil
}

func isName(name string) bool {
	return name != "" && len(name) <= 64 && strings.Trim(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.") == ""
}

// isDirBelow reports whether a directory is a relative path to the root or below it.
func isDirBelow(dir string) bool {
	return dir != "" && !strings.ContainsAny(dir, "\x00\\") && !path.IsAbs(dir) && path.Clean(dir) != ".." && !strings.HasPrefix(path.Clean(dir), "../")
}

// presets returns the reviewers that are known by name, in the order of their names. Some are
// given an option with which they end with 0 whatever they find.
func presets() []Config {
	return []Config{
		{Name: "ast-grep", Check: phase.CodeReview, Args: []string{"ast-grep", "scan", "--json=stream", FilesWord}, Format: AstGrep, Precision: finding.PrecisionMedium},
		{Name: "bandit", Check: phase.SecurityReview, Args: []string{"bandit", "-q", "-f", "json", FilesWord}, Format: Bandit, Languages: []string{"python"}, Precision: finding.PrecisionMedium},
		{Name: "brakeman", Check: phase.SecurityReview, Args: []string{"brakeman", "-q", "--no-pager", "--no-exit-on-warn", "-f", "sarif"}, Format: SARIF, Languages: []string{"ruby"}, Precision: finding.PrecisionMedium},
		{Name: "eslint", Check: phase.CodeReview, Args: []string{"npx", "--no-install", "eslint", "--format", "json", FilesWord}, Format: ESLint, Languages: []string{"javascript", "typescript"}, Precision: finding.PrecisionHigh},
		{Name: "gosec", Check: phase.SecurityReview, Args: []string{"gosec", "-quiet", "-no-fail", "-fmt=json", "./..."}, Format: Gosec, Languages: []string{"go"}, Precision: finding.PrecisionMedium},
		{Name: "opengrep", Check: phase.SecurityReview, Args: []string{"opengrep", "scan", "--quiet", "--sarif", "--config", "p/default", FilesWord}, Format: SARIF, Precision: finding.PrecisionMedium},
		{Name: "semgrep", Check: phase.SecurityReview, Args: []string{"semgrep", "scan", "--quiet", "--metrics=off", "--disable-version-check", "--sarif", "--config", "p/default", FilesWord}, Format: SARIF, Precision: finding.PrecisionMedium},
	}
}

// Presets returns the names of the reviewers that need no more than their name.
func Presets() []string {
	var names []string
	for _, p := range presets() {
		names = append(names, p.Name)
	}
	return names
}

// Preset returns the reviewer that is known by that name.
func Preset(name string) (Config, bool) {
	all := presets()
	if i := slices.IndexFunc(all, func(c Config) bool { return c.Name == name }); i >= 0 {
		return all[i], true
	}
	return Config{}, false
}
