package plugin

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/agent-airlock/airlock/internal/finding"
	"github.com/agent-airlock/airlock/internal/phase"
	"github.com/agent-airlock/airlock/internal/toolreport"
)

// Validate says what is wrong with a reviewer, all of it, and how to mend it.
func (c Config) Validate() error {
	var problems []error
	wrong := func(is bool, format string, args ...any) {
		if is {
			problems = append(problems, fmt.Errorf(format, args...))
		}
	}
	wrong(!soundName(c.Name), "the name %q is not one of letters, digits, \"-\", \"_\" and \".\", at most 64", c.Name)
	wrong(strings.EqualFold(c.Name, builtIn), "the name %q is that of the built-in reviewer", c.Name)
	wrong(c.Command == "" && len(c.Args) == 0, "it has no command: give \"command\" or \"args\", or one of the names %s", strings.Join(Presets(), ", "))
	wrong(c.Command != "" && len(c.Args) > 0, "give either \"command\" or \"args\", not both")
	if _, err := c.words(); err != nil {
		problems = append(problems, err)
	}
	wrong(c.Check != "" && c.Check != phase.CodeReviewed && c.Check != phase.SecurityReview, "the check %q is neither %q nor %q", c.Check, phase.CodeReviewed, phase.SecurityReview)
	wrong(c.Format != "" && c.Format != Text && !slices.Contains(Formats(), c.Format), "the format %q is not known", c.Format)
	wrong(c.format() == Text && len(c.Patterns) == 0, "the format \"text\" needs patterns, such as \"%%f:%%l: %%m\"")
	wrong(c.format() != Text && len(c.Patterns) > 0, "patterns belong to the format \"text\", not to %q", c.Format)
	if len(c.Patterns) > 0 {
		_, err := toolreport.New(toolreport.Tool{Formats: c.Patterns})
		wrong(err != nil, "%w", err)
	}
	for _, d := range c.Dirs {
		wrong(!soundDir(d), "the folder %q is not a path below the repository's root", d)
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

// format returns the format that holds.
func (c Config) format() Format {
	switch {
	case c.Format != "":
		return c.Format
	case len(c.Patterns) > 0:
		return Text
	}
	return Auto
}

// words returns the program and its arguments, FilesWord where files stand; nil
// for a line that a shell reads.
func (c Config) words() ([]string, error) {
	words := c.Args
	if c.Command != "" {
		if strings.ContainsRune(c.Command, 0) {
			return nil, errors.New("the command holds a NUL character")
		}
		if !strings.Contains(c.Command, FilesWord) {
			return nil, nil
		}
		var err error
		if words, err = phase.Words(c.Command); err != nil {
			return nil, fmt.Errorf("the command %q cannot be run with {files}: %w", c.Command, err)
		}
	}
	for i, w := range words {
		switch {
		case strings.ContainsRune(w, 0):
			return nil, fmt.Errorf("the argument %q holds a NUL character", w)
		case i == 0 && (w == "" || strings.Contains(w, FilesWord)):
			return nil, errors.New("the first word is the program, which cannot be empty or {files}")
		case w != FilesWord && strings.Contains(w, FilesWord):
			return nil, fmt.Errorf("in %q, {files} has to be a word of its own: each file is an argument, never a part of one", w)
		}
	}
	return words, nil
}

func soundName(name string) bool {
	return name != "" && len(name) <= 64 && strings.Trim(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.") == ""
}

// soundDir reports whether a folder is named by a relative path that stays below
// the root.
func soundDir(dir string) bool {
	return dir != "" && !strings.ContainsAny(dir, "\x00\\") && !path.IsAbs(dir) && path.Clean(dir) != ".." && !strings.HasPrefix(path.Clean(dir), "../")
}
