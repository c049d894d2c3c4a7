package config

import (
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

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

// checksKey is the key at the top that configures phase validation.
func checksKey() key[SafeOutputs] {
	return key[SafeOutputs]{
		name: "checks", takes: settingsOf("checks", "{lint-command: make lint}"), doc: "How a pull request's changed files are validated. It allows an agent nothing.",
		set: func(d *decoder, at *node, _ any, c *SafeOutputs) {
			c.Checks.Given = true
			if at.kind == mapNode {
				section(d, "checks", at.entries, checksTable(), &c.Checks)
			}
		},
	}
}

// checksTable is the table of keys below checks.
var checksTable = sync.OnceValue(checksKeys)

func checksKeys() []key[Checks] {
	keys := []key[Checks]{
		into("language", "The language of the project. Default: detected; none is needed where all four commands are named or left out.", language(), func(c *Checks) *phase.Language { return &c.Language }),
		word("format-command", "Runs instead of the language's formatter.", commandLine("npm run format"), func(c *Checks) *string { return &c.FormatCommand }),
		word("lint-command", "Runs instead of the language's linter. In all four, the word {files} stands for the changed files; there is no shell then.", commandLine("eslint {files}"), func(c *Checks) *string { return &c.LintCommand }),
		word("build-command", "Runs instead of the language's build.", commandLine("make"), func(c *Checks) *string { return &c.BuildCommand }),
		word("test-command", "Runs instead of the language's tests.", commandLine("make test"), func(c *Checks) *string { return &c.TestCommand }),
		optional("max-retries", "How often a failing formatter or linter is fixed and run again, where files may be written. Default: 3.", between(0, 10, 3), func(c *Checks) **int { return &c.MaxRetries }),
		yesNo("skip-build", "Leave out the build. Default: false.", func(c *Checks) *bool { return &c.SkipBuild }),
		yesNo("skip-tests", "Leave out the tests. Default: false.", func(c *Checks) *bool { return &c.SkipTests }),
		into("roots", "Folders to validate, all of them, whatever changed; each may name its language. Default: those that are found for the changed files.", roots(), func(c *Checks) *[]phase.Root { return &c.Phase.Roots }),
		into("informational", "Checks whose failure is shown and does not fail the whole. Default: none.", checkNames(), func(c *Checks) *[]phase.Check { return &c.Phase.Informational }),
		optional("new-only", "Whether findings on lines that did not change are left out of account. Default: true for pull requests.", boolean(), func(c *Checks) **bool { return &c.NewOnly }),
		optional("suggestions", "Whether what a formatter or linter would change becomes suggestions. Default: true.", boolean(), func(c *Checks) **bool { return &c.Suggestions }),
		into("max-parallel", "How many of the repository's projects are checked at the same time; 1 for those that share a port or a database. Projects of which one lies in another never are. Default: the number of processors.", between(1, 64, 2), func(c *Checks) *int { return &c.MaxParallel }),
		into("time-limit", "How long one command may run. Default: 300s.", duration(time.Second, 6*time.Hour, "5m"), func(c *Checks) *time.Duration { return &c.Phase.TimeLimit }),
		into("retry-delay", "How long to wait between a fix and the next try. Default: 2s.", duration(time.Millisecond, 10*time.Minute, "2s"), func(c *Checks) *time.Duration { return &c.Phase.RetryDelay }),
		list("pass-env", "Names of variables that commands get, beside those that toolchains need; never one that looks like a secret. Default: none.", variables(), func(c *Checks) *[]string { return &c.PassEnv }),
		reviewKey("code-review", phase.CodeReview, func(c *Checks) (*reviewer.Config, *bool) { return &c.CodeReview, &c.SkipCodeReview }),
		reviewKey("security-review", phase.SecurityReview, func(c *Checks) (*reviewer.Config, *bool) { return &c.SecurityReview, &c.SkipSecurityReview }),
		into("reviewers", "Other reviewers, which run beside the built-in ones. Default: none.", reviewers(), func(c *Checks) *[]plugin.Config { return &c.Plugins }),
		{
			name: "report", takes: settingsOf("checks-report", "{review-comments: 5}"), doc: "Where the result is shown.",
			set: func(d *decoder, at *node, _ any, c *Checks) {
				if at.kind == mapNode {
					section(d, "checks: report", at.entries, checkReportKeys(), &c.Report)
				}
			},
		},
	}
	keys[len(keys)-2].set = setReviewers
	return keys
}

// checkReportKeys are the keys below checks: report.
func checkReportKeys() []key[ReportSettings] {
	return []key[ReportSettings]{
		optional("comment", "Whether one comment on the pull request shows the result, and is kept up to date. Default: true.", boolean(), func(r *ReportSettings) **bool { return &r.Comment }),
		optional("review-comments", "The most findings on changed lines that become review comments, the most severe first. Default: 20.", between(0, 20, 20), func(r *ReportSettings) **int { return &r.ReviewComments }),
		optional("check-run", "Whether a check run with annotations shows the result, where the token may write checks. It is named after the job that reports, such as `Airlock checks (report)`; the second job of a matrix has `Airlock checks (report, 2)`, and so on. Default: true.", boolean(), func(r *ReportSettings) **bool { return &r.CheckRun }),
		optional("security-report", "Whether findings of the security review go to code scanning, where the token may. Default: true.", boolean(), func(r *ReportSettings) **bool { return &r.SecurityReport }),
	}
}

// reviewKey is the key of one of the built-in reviewers: settings, or false.
func reviewKey(name string, check phase.Check, in func(*Checks) (*reviewer.Config, *bool)) key[Checks] {
	return key[Checks]{
		name: name, takes: switchOf("checks-review", "{max-file-size: 512}"), doc: "The built-in reviewer's settings; false leaves it out.",
		set: func(d *decoder, at *node, _ any, c *Checks) {
			settings, skip := in(c)
			if at.kind == mapNode {
				section(d, "checks: "+name, at.entries, reviewRuleKeys(check), settings)
			}
			*skip = at.kind == boolNode && at.text == "false"
		},
	}
}

// reviewRuleKeys are the keys of a built-in reviewer. check is "" where only their
// names matter.
func reviewRuleKeys(check phase.Check) []key[reviewer.Config] {
	return []key[reviewer.Config]{
		list("on", "Rules that are off by default and are used. Default: none.", reviewRules(check), func(r *reviewer.Config) *[]string { return &r.On }),
		list("off", "Rules that are not used. Default: none.", reviewRules(check), func(r *reviewer.Config) *[]string { return &r.Off }),
		list("only", "The only rules that are used. Default: all that are on.", reviewRules(check), func(r *reviewer.Config) *[]string { return &r.Only }),
		yesNo("tests", "Whether the security review looks for weaknesses in tests, migrations and rake's tasks too. Default: false.", func(r *reviewer.Config) *bool { return &r.Tests }),
		{
			name: "max-file-size", takes: between(1, 1024, 512), doc: "The size in KiB over which a file is not reviewed. Default: 1024, the most.",
			set: func(_ *decoder, _ *node, v any, r *reviewer.Config) { r.MaxFileBytes = v.(int) << 10 },
		},
	}
}

// settingsOf is a section of its own, or no value.
func settingsOf(definition, example string) shape {
	schema := `{"anyOf": [{"$ref": "#/definitions/` + definition + `"}, {"type": "null"}]}`
	return shape{schema, "settings or no value, such as " + example, func(n *node) (any, *fault) {
		if n.kind != nullNode && n.kind != mapNode {
			return mismatch()
		}
		return n, nil
	}}
}

// switchOf is a section of its own, or whether there is what it is about.
func switchOf(definition, example string) shape {
	schema := `{"anyOf": [{"$ref": "#/definitions/` + definition + `"}, {"type": "boolean"}]}`
	return shape{schema, "settings, true or false, such as " + example, func(n *node) (any, *fault) {
		if n.kind != boolNode && n.kind != mapNode {
			return mismatch()
		}
		return n, nil
	}}
}

// between is a whole number from least to most.
func between(least, most, example int) shape {
	wants := fmt.Sprintf("a whole number from %d to %d, such as %d", least, most, example)
	schema := fmt.Sprintf(`{"type": "integer", "minimum": %d, "maximum": %d}`, least, most)
	return shape{schema, wants, func(n *node) (any, *fault) {
		i, ok := wholeNumber(n)
		if !ok || i < least || i > most {
			return mismatch()
		}
		return i, nil
	}}
}

// duration is a time with its unit. The schema does not know its bounds.
func duration(least, most time.Duration, example string) shape {
	wants := fmt.Sprintf("a time from %s to %s with its unit, such as %q", short(least), short(most), example)
	return shape{`{"type": "string", "pattern": "^([0-9]+(ms|s|m|h))+$"}`, wants, func(n *node) (any, *fault) {
		if n.kind == numberNode {
			return wrong(n, "expected %s, found %s without a unit; write %q if seconds are meant", wants, n.describe(), n.text+"s")
		}
		d, err := time.ParseDuration(n.text)
		if n.kind != textNode || err != nil || d < least || d > most || strings.Trim(n.text, "0123456789msh") != "" {
			return mismatch()
		}
		return d, nil
	}}
}

// short writes a duration without the parts that are zero.
func short(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

// commandLine is a command as people write it, on one line or several.
func commandLine(example string) shape {
	const most = 10_000
	schema := fmt.Sprintf(`{"type": "string", "maxLength": %d, "pattern": "\\S"}`, most)
	return shape{schema, "a command line, such as " + strconv.Quote(example), func(n *node) (any, *fault) {
		if n.kind != textNode || strings.TrimSpace(n.text) == "" || len(n.text) > most {
			return mismatch()
		}
		if err := phase.CheckCommand(n.text); err != nil {
			return wrong(n, "%v", err)
		}
		return n.text, nil
	}}
}

// language is one of the languages of phase validation, by any of its names.
func language() shape {
	one := oneOf("javascript", "js", "typescript", "ts", "python", "py", "go", "golang", "rust", "rs", "ruby", "rb", "java")
	return shape{one.schema, one.wants, func(n *node) (any, *fault) {
		v, f := one.parse(n)
		if f != nil {
			return nil, f
		}
		l, _ := phase.LanguageNamed(v.(string)) // the words above are all names
		return l, nil
	}}
}

// checkNames are some of the six checks.
func checkNames() shape {
	checks := []phase.Check{phase.Formatter, phase.Linter, phase.Build, phase.Tests, phase.CodeReview, phase.SecurityReview}
	var names, spelt []string
	for _, c := range checks {
		names = append(names, canonical(string(c)))
		spelt = append(spelt, strconv.Quote(string(c)))
		if n := canonical(string(c)); n != string(c) {
			spelt = append(spelt, strconv.Quote(n))
		}
	}
	all := texts(`{"enum": [`+strings.Join(spelt, ", ")+`]}`, "[code-review]", func(s string) string {
		if slices.Contains(names, canonical(s)) {
			return ""
		}
		if near := nearest(canonical(s), names); near != "" {
			return fmt.Sprintf("is not a check; did you mean %q?", near)
		}
		return "is not a check; there are " + strings.Join(names, ", ")
	})
	return shape{all.schema, all.wants, func(n *node) (any, *fault) {
		v, f := all.parse(n)
		if f != nil {
			return nil, f
		}
		var list []phase.Check
		for _, s := range v.([]string) {
			list = append(list, checks[slices.Index(names, canonical(s))])
		}
		return list, nil
	}}
}

// variables are names of environment variables.
func variables() shape {
	return texts(`{"type": "string", "pattern": "^[A-Za-z_][A-Za-z0-9_]*$"}`, "[GOFLAGS]", NoVariable)
}

// NoVariable says why a text is not the name of an environment variable; "" where it
// is one.
func NoVariable(s string) string {
	const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_"
	if s == "" || strings.Trim(s, letters+"0123456789") != "" || !strings.Contains(letters, s[:1]) {
		return "is not the name of a variable, such as GOFLAGS; a value is not given here"
	}
	return ""
}

// reviewRules are names of built-in rules of one check, or of any where it is "".
func reviewRules(check phase.Check) shape {
	known := sync.OnceValues(reviewer.Rules)
	return texts(`{"type": "string", "pattern": "^[a-z0-9/-]+$"}`, "[todo-without-issue]", func(s string) string {
		rules, err := known()
		if err != nil {
			return "cannot be looked up: " + err.Error()
		}
		var names []string
		for _, r := range rules {
			if r.ID == s && check != "" && r.Check != string(check) {
				return fmt.Sprintf("is a rule of the other review; it belongs below %q", canonical(r.Check))
			} else if r.ID == s {
				return ""
			}
			names = append(names, r.ID)
		}
		if near := nearest(s, names); near != "" {
			return fmt.Sprintf("is not a review rule; did you mean %q?", near)
		}
		return "is not a review rule; docs/review-rules.md lists them"
	})
}

// folders are paths of folders from the repository's root.
func folders() shape {
	all := texts(`{"type": "string", "minLength": 1, "maxLength": 1000}`, "[api, web/app]", func(s string) string {
		clean := path.Clean(s)
		switch {
		case s == "" || len(s) > 1000 || strings.ContainsAny(s, "\x00\r\n"):
			return "is not the path of a folder"
		case strings.Contains(s, `\`):
			return "holds a backslash; folders are parted by /"
		case path.IsAbs(s) || clean == ".." || strings.HasPrefix(clean, "../"):
			return "leads out of the repository; write it relative to the repository's root"
		}
		return ""
	})
	return shape{all.schema, all.wants, func(n *node) (any, *fault) {
		v, f := all.parse(n)
		if f != nil {
			return nil, f
		}
		list := v.([]string)
		for i := range list {
			list[i] = path.Clean(list[i])
		}
		return list, nil
	}}
}

// roots are folders to validate, each with its language if it names one.
func roots() shape {
	one, named := folders(), language()
	item := `{"anyOf": [{"type": "string", "minLength": 1, "maxLength": 1000}, {"type": "object", "additionalProperties": false, "required": ["dir"], "properties": {"dir": {"type": "string", "minLength": 1, "maxLength": 1000}, "language": ` + named.schema + `}}]}`
	const wants = "a list of folders, such as [api, {dir: web, language: typescript}]"
	return shape{`{"type": "array", "items": ` + item + `}`, wants, func(n *node) (any, *fault) {
		if n.kind != listNode {
			return mismatch()
		}
		var list []phase.Root
		for i := range n.items {
			r, f := rootAt(&n.items[i], one, named)
			if f != nil {
				return nil, f
			}
			list = append(list, r)
		}
		return list, nil
	}}
}

// rootAt reads a folder, or a mapping of "dir" and "language".
func rootAt(n *node, one, named shape) (r phase.Root, f *fault) {
	dir := n
	if n.kind == mapNode {
		dir = nil
		for i := range n.entries {
			e := &n.entries[i]
			switch e.key {
			case "dir":
				dir = &e.value
			case "language":
				v, at, why := named.read(&e.value)
				if why != "" {
					return r, &fault{at, "language: " + why}
				}
				r.Language = v.(phase.Language)
			default:
				return r, &fault{&node{line: e.line, col: e.col}, fmt.Sprintf("unknown key %q; known are: dir, language", shorten(e.key))}
			}
		}
	}
	if dir == nil || dir.kind != textNode {
		return r, &fault{n, fmt.Sprintf("expected a folder, such as api, or {dir: api, language: go}, found %s", n.describe())}
	}
	v, at, why := one.read(dir)
	if why != "" {
		return r, &fault{at, why}
	}
	r.Dir = v.([]string)[0]
	return r, nil
}
