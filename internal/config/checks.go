package config

import (
	"github.com/agent-airlock/airlock/internal/phase"
	"github.com/agent-airlock/airlock/internal/plugin"
	"github.com/agent-airlock/airlock/internal/reviewer"
)

// Checks is what the key "checks" says about phase validation. It allows an agent
// nothing: no kind is enabled by it.
type Checks struct {
	Given bool // the key is there
	// Language is "" where it is to be detected; the commands are "" where the
	// language's own hold.
	Language                                              phase.Language
	FormatCommand, LintCommand, BuildCommand, TestCommand string
	MaxRetries                                            *int // nil: phase.DefaultMaxRetries
	SkipBuild, SkipTests                                  bool
	// Phase has Informational, Roots, TimeLimit and RetryDelay from here; a duration
	// that is 0 was not given.
	Phase phase.Config
	// MaxParallel is how many projects may be checked at the same time; 0: as many as
	// there are processors.
	MaxParallel int
	// NewOnly and Suggestions are nil where the event and the mode decide.
	NewOnly, Suggestions *bool
	// PassEnv are names of variables that commands get beside the usual ones.
	PassEnv []string
	// CodeReview and SecurityReview are the built-in reviewers' settings; one that is
	// skipped leaves its check to the Plugins.
	CodeReview, SecurityReview         reviewer.Config
	SkipCodeReview, SkipSecurityReview bool
	Plugins                            []plugin.Config // sound, with names of their own
	Report                             ReportSettings
}

// ReportSettings say where the result of the checks is shown. nil: where the
// event and the token allow it.
type ReportSettings struct {
	Comment, CheckRun, SecurityReport *bool
	ReviewComments                    *int // 0 to 20
}
