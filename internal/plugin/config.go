package plugin

import (
	"time"

	"github.com/agent-airlock/airlock/internal/finding"
	"github.com/agent-airlock/airlock/internal/phase"
)

// Format is the form of a reviewer's output.
type Format string

// The formats.
const (
	Auto        Format = "auto"       // found out, as for the commands of the other checks
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

// form is the format's name in package toolreport.
func (f Format) form() string {
	if f == SafeOutputs {
		return "safe outputs"
	}
	return string(f)
}

// mayBeEmpty reports whether a reviewer that found nothing prints nothing. An agent
// has to say so: its silence cannot be told from a failure.
func (f Format) mayBeEmpty() bool {
	return f == Auto || f == Text || f == RDJSONL || f == AstGrep
}

// FilesWord stands in Args, or as a word of Command, for the changed files.
const FilesWord = "{files}"

// builtIn is the name under which the built-in reviewer's findings appear.
const builtIn = "airlock"

// Limits of a Config.
const (
	DefaultTimeLimit = 300 * time.Second // of one run of the command
	MaxInstructions  = 64 << 10          // bytes
)

// Config is one reviewer. See Validate for what it needs.
type Config struct {
	// Name is what the reviewer is called in results, and the tool of findings that
	// name none.
	Name string
	// Command is a line as people write it, which a shell reads; with FilesWord in it
	// there is no shell. Args are a program and its arguments, as they are. One of the
	// two is given.
	Command string
	Args    []string
	Check   phase.Check // the review that its findings belong to; "" is CodeReviewed
	Format  Format      // "" is Auto, or Text where there are Patterns
	// Patterns describe lines of text, as Vim's errorformat does; the first that
	// matches wins.
	Patterns []string
	// Languages restrict the changed files to those in one of these languages; where
	// none is left, the command does not run. None: all files.
	Languages []string
	// Dirs are the folders in which it runs, one after the other, relative to the
	// repository's root; each with the changed files below it. None: the root.
	Dirs []string
	// Diff gives Instructions and the diff on standard input, which is empty
	// otherwise.
	Diff         bool
	Instructions string
	// Severity says how severe the findings of a rule are, by the rule's name;
	// MinSeverity leaves the less severe ones out, and counts them.
	Severity    map[string]finding.Severity
	MinSeverity finding.Severity
	// Precision is how often it is right, for rules that do not say it themselves.
	Precision finding.Precision
	// FoundExits are the exit codes other than 0 with which it ends when it has
	// findings. nil: 1. Any other code means that the review could not be done.
	FoundExits []int
	TimeLimit  time.Duration // of one run; 0: DefaultTimeLimit
}
