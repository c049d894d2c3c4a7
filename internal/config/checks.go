package config

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/agent-airlock/airlock/internal/finding"
	"github.com/agent-airlock/airlock/internal/lazyregexp"
	"github.com/agent-airlock/airlock/internal/phase"
	"github.com/agent-airlock/airlock/internal/plugin"
	"github.com/agent-airlock/airlock/internal/policy"
	"github.com/agent-airlock/airlock/internal/policy/tree"
	"github.com/agent-airlock/airlock/internal/reviewer"
	"github.com/agent-airlock/airlock/internal/text"
)

// Checks is how a pull request's changed files are validated, the key "checks". It
// allows an agent nothing: it enables no kind.
type Checks struct {
	Given bool // the key is there
	// Language is "" where it is detected; a command is "" where the language's own runs.
	Language                                              phase.Language
	FormatCommand, LintCommand, BuildCommand, TestCommand string
	MaxRetries                                            *int // nil: phase.DefaultMaxRetries
	SkipBuild, SkipTests                                  bool
	// In Phase, only ReviewsOnly, Informational, Roots, TimeLimit and RetryDelay are set. A duration
	// of 0 stands for the default.
	Phase phase.Config
	// MaxParallel is how many projects may be checked at the same time; 0: as many as
	// there are processors.
	MaxParallel int
	// NewOnly and Suggestions are nil where they are not configured: the event and the mode decide.
	NewOnly, Suggestions *bool
	// PassEnv are names of variables that commands get in addition to the usual ones.
	PassEnv []string
	// Network is whether the commands have the machine's network; "" stands for NetworkOpen.
	Network Network
	// CodeReview and SecurityReview are the built-in reviewers' settings; one that is
	// skipped leaves its check to the Plugins.
	CodeReview, SecurityReview         reviewer.Config
	SkipCodeReview, SkipSecurityReview bool
	Plugins                            []plugin.Config // valid, and each with a name of its own
	Report                             ReportSettings
}

// Network is what a pull request's code can reach.
type Network string

// The networks: the machine's own, or none but the loopback of each command.
const (
	NetworkOpen Network = "open"
	NetworkNone Network = "none"
)

// ReportSettings are where the result of the checks is shown. A place that is nil is used if the
// event and the token allow it.
type ReportSettings struct {
	Comment, CheckRun, SecurityReport *bool
	ReviewComments                    *int // 0 to 20
	Annotations                       Annotate
}

// Own returns what Airlock's own items may do under these settings. onPull is whether the items
// are about a pull request. If they are not, there is neither a comment nor a review.
func (r ReportSettings) Own(onPull bool) policy.OwnSettings {
	unlessOff := func(b *bool) bool { return b == nil || *b }
	comments := policy.DefaultOwnReviewComments
	if r.ReviewComments != nil {
		comments = *r.ReviewComments
	}
	return policy.OwnSettings{Comment: onPull && unlessOff(r.Comment), Review: onPull && comments > 0, ReviewComments: comments,
		CheckRun: unlessOff(r.CheckRun), SecurityReport: unlessOff(r.SecurityReport)}
}

// Annotate is which findings a job annotates in its own log.
type Annotate string

// The values of Annotate. The empty value is AnnotateAuto.
const (
	AnnotateAuto   Annotate = "auto"   // those that nothing else shows
	AnnotateAlways Annotate = "always" // all, in the job that runs the checks
	AnnotateNever  Annotate = "never"
)

// checksKey is the key at the top that configures the checks.
func checksKey() key[SafeOutputs] {
	return key[SafeOutputs]{
		name: "checks", doc: "How a pull request's changed files are validated. It allows an agent nothing.",
		takes: checksSection(),
		set: func(d *decoder, given *node, _ any, c *SafeOutputs) {
			c.Checks.Given = true
			c.Checks.Phase.ReviewsOnly = given.kind == textNode
			section(d, "checks", given.entries, checksTable(), &c.Checks)
		},
	}
}

// ReviewsOnly is the word for checks that run only the reviews.
const ReviewsOnly = "reviews-only"

// checksSection returns the shape of the value of checks: settings, ReviewsOnly or nothing.
func checksSection() shape {
	return matching(`{"anyOf": [{"$ref": "#/definitions/checks"}, {"const": "`+ReviewsOnly+`"}, {"type": "null"}]}`,
		"settings, reviews-only or no value, such as {lint-command: make lint}",
		func(n *node) (*node, bool) {
			return n, n.kind == mapNode || n.kind == nullNode || n.kind == textNode && n.text == ReviewsOnly
		})
}

// checksTable is the table of keys below checks.
var checksTable = sync.OnceValue(func() []key[Checks] {
	return []key[Checks]{
		into("language", "The language of the project. Default: detected; none is needed where all four commands are named or left out.", language(), func(c *Checks) *phase.Language { return &c.Language }),
		into("format-command", "Runs instead of the language's formatter.", commandLine("npm run format"), func(c *Checks) *string { return &c.FormatCommand }),
		into("lint-command", "Runs instead of the language's linter. In all four, the word {files} stands for the changed files; there is no shell then.", commandLine("eslint {files}"), func(c *Checks) *string { return &c.LintCommand }),
		into("build-command", "Runs instead of the language's build.", commandLine("make"), func(c *Checks) *string { return &c.BuildCommand }),
		into("test-command", "Runs instead of the language's tests.", commandLine("make test"), func(c *Checks) *string { return &c.TestCommand }),
		optional("max-retries", "How often a failing formatter or linter is fixed and run again, where files may be written. Default: 3.", integerBetween(0, 10, 3), func(c *Checks) **int { return &c.MaxRetries }),
		yesNo("skip-build", "Leave out the build. Default: false.", func(c *Checks) *bool { return &c.SkipBuild }),
		yesNo("skip-tests", "Leave out the tests. Default: false.", func(c *Checks) *bool { return &c.SkipTests }),
		yesNo(ReviewsOnly, "Run the two reviews alone, which need no language and no tool. Default: false.", func(c *Checks) *bool { return &c.Phase.ReviewsOnly }),
		{
			name: "roots", takes: roots(), set: setRoots,
			doc: "Directories to validate, all of them, whatever changed; each may name its language. Default: those that are found for the changed files.",
		},
		into("informational", "Checks whose failure is shown and does not fail the result. Default: none.", checkNames(), func(c *Checks) *[]phase.Check { return &c.Phase.Informational }),
		optional("new-only", "Whether findings on lines that did not change are ignored. Default: true for pull requests.", boolean(), func(c *Checks) **bool { return &c.NewOnly }),
		{
			name: "suppressions", takes: oneOf("base", "any"),
			doc: "Which `airlock:ignore` comments suppress a finding: those that the base has, or also new ones, which never count for secrets and findings of high or critical severity. Default: base.",
			set: func(_ *decoder, _ *node, v any, c *Checks) {
				c.CodeReview.NewSuppressions, c.SecurityReview.NewSuppressions = v == "any", v == "any"
			},
		},
		optional("suggestions", "Whether what a formatter or linter would change becomes suggestions. Default: true.", boolean(), func(c *Checks) **bool { return &c.Suggestions }),
		into("max-parallel", "How many projects are checked at the same time, never two of which one contains the other; 1 for those that share a port or a database. Default: the number of processors.", integerBetween(1, 64, 2), func(c *Checks) *int { return &c.MaxParallel }),
		into("time-limit", "How long one command may run. Default: 300s.", duration(time.Second, 6*time.Hour, "5m"), func(c *Checks) *time.Duration { return &c.Phase.TimeLimit }),
		into("retry-delay", "How long to wait between a fix and the next try. Default: 2s.", duration(time.Millisecond, 10*time.Minute, "2s"), func(c *Checks) *time.Duration { return &c.Phase.RetryDelay }),
		into("pass-env", "Names of variables that commands get in addition to those that toolchains need; never one that looks like a secret. Default: none.", variables(), func(c *Checks) *[]string { return &c.PassEnv }),
		into("network", "What the commands, and the reviewers below, can reach: open (everything) or none (only a loopback of their own). Where none cannot be had, nothing is checked. Default: open.", network(), func(c *Checks) *Network { return &c.Network }),
		reviewKey("code-review", phase.CodeReview, func(c *Checks) (*reviewer.Config, *bool) { return &c.CodeReview, &c.SkipCodeReview }),
		reviewKey("security-review", phase.SecurityReview, func(c *Checks) (*reviewer.Config, *bool) { return &c.SecurityReview, &c.SkipSecurityReview }),
		{
			name: "reviewers", takes: reviewers(), set: setReviewers,
			doc: "Other reviewers, which run in addition to the built-in ones. Default: none.",
		},
		{
			name: "report", doc: "Where the result is shown.",
			takes: sectionOr("checks-report", "settings or no value, such as {review-comments: 5}", nullNode),
			set: func(d *decoder, given *node, _ any, c *Checks) {
				section(d, "checks: report", given.entries, checkReportKeys(), &c.Report)
			},
		},
	}
})

// checkReportKeys returns the keys below checks: report.
func checkReportKeys() []key[ReportSettings] {
	return []key[ReportSettings]{
		optional("comment", "Whether one comment on the pull request shows the result, and is kept up to date. Default: true.", boolean(), func(r *ReportSettings) **bool { return &r.Comment }),
		setting("annotations", "Whether findings are annotations of the job itself: `always` in the one that runs the checks; `auto`: those that nothing else shows; see [one place](#one-place-for-each-finding). Default: auto.", oneOf("auto", "always", "never"), func(r *ReportSettings, v string) { r.Annotations = Annotate(v) }),
		optional("review-comments", "The most findings on changed lines that become review comments, the most severe first. Default: 20.", integerBetween(0, 20, 20), func(r *ReportSettings) **int { return &r.ReviewComments }),
		optional("check-run", "Whether a check run with annotations shows the result, where the token may write checks. It is named after the job that reports, such as `Airlock checks (report)`. Default: true.", boolean(), func(r *ReportSettings) **bool { return &r.CheckRun }),
		optional("security-report", "Whether findings of the security review go to code scanning, where the token may. Default: true.", boolean(), func(r *ReportSettings) **bool { return &r.SecurityReport }),
	}
}

// reviewKey returns the key of one of the built-in reviewers: settings, true or false.
func reviewKey(name string, check phase.Check, in func(*Checks) (settings *reviewer.Config, skip *bool)) key[Checks] {
	return key[Checks]{
		name: name, doc: "The built-in reviewer's settings; false leaves it out.",
		takes: sectionOr("checks-review", "settings, true or false, such as {max-file-size: 512}", boolNode),
		set: func(d *decoder, given *node, _ any, c *Checks) {
			settings, skip := in(c)
			section(d, "checks: "+name, given.entries, reviewRuleKeys(check), settings)
			*skip = given.kind == boolNode && given.text == "false"
		},
	}
}

// reviewRuleKeys returns the keys of a built-in reviewer. check is "" where only their
// names matter.
func reviewRuleKeys(check phase.Check) []key[reviewer.Config] {
	return []key[reviewer.Config]{
		into("min-precision", "The least precision of the rules that are used: `high` leaves out what has to be judged, `low` adds what is mostly wrong. Default: medium.", precision(), func(r *reviewer.Config) *finding.Precision { return &r.MinPrecision }),
		into("on", "Rules that are used in all their forms, whatever their precision. Default: none.", reviewRules(check), func(r *reviewer.Config) *[]string { return &r.On }),
		into("off", "Rules that are not used. Default: none.", reviewRules(check), func(r *reviewer.Config) *[]string { return &r.Off }),
		into("only", "The only rules that are used, in all their forms. Default: those that are precise enough, and those of `on`.", reviewRules(check), func(r *reviewer.Config) *[]string { return &r.Only }),
		setting("accepted", "Findings that are accepted, each as a rule and a pattern of paths. Default: none.", acceptedFindings(check), func(r *reviewer.Config, v []reviewer.Accepted) {
			r.Accepted, r.Matches = v, func(pattern, path string) bool { return tree.MatchesAny([]string{pattern}, path) }
		}),
		yesNo("tests", "Whether the security review looks for weaknesses in tests, examples, migrations and rake's tasks too. Default: false.", func(r *reviewer.Config) *bool { return &r.Tests }),
		setting("max-file-size", "The size in KiB over which a file is not reviewed. Default: 1024, the most.", integerBetween(1, 1024, 512), func(r *reviewer.Config, v int) { r.MaxFileBytes = v << 10 }),
	}
}

// language returns the shape of one of the languages of the checks, by any of its names.
func language() shape {
	words := oneOf("javascript", "js", "typescript", "ts", "python", "py", "go", "golang", "rust", "rs", "ruby", "rb", "java")
	return converted(words, func(word string) phase.Language {
		l, _ := phase.LanguageNamed(word) // these words are all names
		return l
	})
}

// precision returns the shape of a precision of the built-in reviewers' rules.
func precision() shape {
	var words []string
	for _, p := range reviewer.Precisions() {
		words = append(words, string(p))
	}
	return converted(oneOf(words...), func(word string) finding.Precision { return finding.Precision(word) })
}

// network returns the shape of a Network.
func network() shape {
	return converted(oneOf(string(NetworkOpen), string(NetworkNone)), func(word string) Network { return Network(word) })
}

// roots returns the shape of directories to validate, each with its language if it names one.
func roots() shape {
	item := `{"anyOf": [` + directoryItem + `, {"type": "object", "additionalProperties": false, "required": ["dir"], "properties": {"dir": ` + directoryItem + `, "language": ` + language().schema + `}}]}`
	return sections(item, "a list of directories, such as [api, {dir: web, language: typescript}]")
}

func setRoots(d *decoder, given *node, _ any, c *Checks) {
	keys := []key[phase.Root]{
		into("dir", "", directory(), func(r *phase.Root) *string { return &r.Dir }),
		into("language", "", language(), func(r *phase.Root) *phase.Language { return &r.Language }),
	}
	for i := range given.items {
		item := &given.items[i]
		var root phase.Root
		before := len(d.problems)
		if item.kind == textNode { // the directory alone
			dir, f := directory().read(item)
			if f != nil {
				d.fail(f.at, "roots: %s", f.why)
				continue
			}
			root.Dir = dir.(string)
		}
		section(d, "checks: roots", item.entries, keys, &root)
		if root.Dir == "" && len(d.problems) == before {
			d.fail(item, "roots: a directory is missing; add \"dir:\"")
		}
		c.Phase.Roots = append(c.Phase.Roots, root)
	}
}

// checkNames returns the shape of a list of names of checks.
func checkNames() shape {
	var names, spellings []string
	for _, c := range []phase.Check{phase.Formatter, phase.Linter, phase.Build, phase.Tests, phase.CodeReview, phase.SecurityReview} {
		name := canonical(string(c))
		names = append(names, name)
		spellings = append(spellings, string(c))
		if name != string(c) {
			spellings = append(spellings, name)
		}
	}
	known := texts(`{"enum": ["`+strings.Join(spellings, `", "`)+`"]}`, "[code-review]", func(s string) error {
		if _, ok := phase.CheckNamed(s); ok {
			return nil
		}
		return errors.New("is not a check" + cmp.Or(text.DidYouMean(canonical(s), names), "; there are "+strings.Join(names, ", ")))
	})
	return converted(known, func(list []string) []phase.Check {
		checks := make([]phase.Check, len(list))
		for i, s := range list {
			checks[i], _ = phase.CheckNamed(s)
		}
		return checks
	})
}

const variablePattern = "^[A-Za-z_][A-Za-z0-9_]*$"

var variable = lazyregexp.New(variablePattern)

// variables returns the shape of names of environment variables.
func variables() shape {
	return texts(`{"type": "string", "pattern": "`+variablePattern+`"}`, "[GOFLAGS]", CheckVariable)
}

// CheckVariable checks the name of an environment variable. The error's text continues
// a sentence that names it.
func CheckVariable(name string) error {
	if !variable.MatchString(name) {
		return errors.New("is not the name of a variable, such as GOFLAGS; a value is not given here")
	}
	return nil
}

// acceptedFindings returns the shape of findings that the owner accepts, each as a rule and a pattern
// of paths.
func acceptedFindings(check phase.Check) shape {
	split := func(s string) (rule, pattern string) {
		rule, pattern, _ = strings.Cut(strings.TrimSpace(s), " ")
		return rule, strings.TrimSpace(pattern)
	}
	list := texts(`{"type": "string", "pattern": "^[a-z0-9/-]+ +[^ ]"}`, "[go/sql-injection internal/db/**]", func(s string) error {
		rule, pattern := split(s)
		if err := reviewRule(check, rule); err != nil {
			return fmt.Errorf("begins with %q, which %w", rule, err)
		}
		if err := tree.CheckPattern(pattern); err != nil {
			return fmt.Errorf("has a pattern of paths after the rule that %w", err)
		}
		return nil
	})
	return converted(list, func(list []string) []reviewer.Accepted {
		accepted := make([]reviewer.Accepted, len(list))
		for i, s := range list {
			accepted[i].Rule, accepted[i].Pattern = split(s)
		}
		return accepted
	})
}

// reviewRules returns the shape of names of the built-in rules of a check, or of all checks for "".
func reviewRules(check phase.Check) shape {
	return texts(`{"type": "string", "pattern": "^[a-z0-9/-]+$"}`, "[todo-without-issue]", func(s string) error { return reviewRule(check, s) })
}

// reviewRule checks that a built-in rule of the check, or of any check for "", has the name. The
// error's text continues a sentence that begins with the name.
func reviewRule(check phase.Check, name string) error {
	rules, err := reviewer.Rules()
	if err != nil {
		return fmt.Errorf("cannot be looked up: %w", err)
	}
	var names []string
	for _, r := range rules {
		names = append(names, r.ID)
		switch {
		case r.ID != name:
		case check != "" && r.Check != string(check):
			return fmt.Errorf("is a rule of the other review; it belongs below %q", canonical(r.Check))
		default:
			return nil
		}
	}
	return errors.New("is not a review rule" + cmp.Or(text.DidYouMean(name, names), "; docs/review-rules.md lists them"))
}
