// Package secrets finds and masks secrets in text.
//
// Two kinds are found: values that Airlock was given (its token, the lines of the
// `secrets` input) in every form that package token knows, and whatever looks like
// a credential by the rules of gitleaks. Only gitleaks' rules are used, not its
// detector, which needs quadratic time on long lines, obeys comments such as
// `gitleaks:allow`, returns the columns of later lines one too high, and writes
// secrets into its log. Nothing that a text says about itself lets a secret pass.
package secrets

import "sync"

// KnownRule is the rule of a hit on a Known value.
const KnownRule = "known-value"

// Hit is a place where a secret is. It never holds the secret itself.
type Hit struct {
	Rule string // KnownRule, or the stable name of a rule of gitleaks, such as "github-pat"
	Name string // for people: the Known value's name, or what the rule finds
	// Start and End are the secret's bytes in the text: text[Start:End].
	Start, End int
	// Line and Column are where it starts, EndLine and EndColumn where it ends,
	// the end column being the one after the last character. All count from 1.
	// Lines end with a line feed. Columns count UTF-16 code units, as
	// finding.Range does; a byte that is not UTF-8 counts as one.
	Line, Column       int
	EndLine, EndColumn int
	// Encoded says that the secret stands there encoded (as Base64, say) and that
	// the place is that of the encoded text.
	Encoded bool
}

// Scanner finds secrets. It is safe for concurrent use.
type Scanner struct {
	known   *knownSet
	rules   func() (*ruleSet, error)
	ignored []string
}

// New returns a scanner for the known values and for everything that gitleaks'
// rules find. It is cheap: the rules are read by the first scan that needs them.
// Values that cannot be told from ordinary text are not looked for: see Ignored.
func New(known []Known) *Scanner {
	s := &Scanner{rules: defaultRules}
	s.known, s.ignored = newKnownSet(known)
	return s
}

// Ignored returns the names of the known values that are too short (less than six
// bytes) to be told from ordinary text, so that the caller can say so.
func (s *Scanner) Ignored() []string { return s.ignored }

// defaultRules reads gitleaks' default rules, once a process: they are constant.
var defaultRules = sync.OnceValues(loadRules)

// Scan returns the secrets in a text of unknown origin, such as a title, a body or
// a commit message, ordered by place. Of hits that overlap it returns the most
// telling: a known value, then the rule of one vendor, then a general rule. Time
// grows linearly with the text. Text that is not UTF-8 is scanned as it is.
func (s *Scanner) Scan(text string) []Hit { return s.ScanFile("", text) }

// ScanFile is Scan for the content of a file. The path, which is relative and
// slash-separated, adds the rules that hold for such files only, such as passwords
// in Terraform's; no path takes any rule away.
func (s *Scanner) ScanFile(path, text string) []Hit {
	hits := distinct(s.find(path, text))
	locate(text, hits)
	return hits
}

// find returns every hit, without lines and columns, in no particular order.
func (s *Scanner) find(path, text string) []Hit {
	rules, err := s.rules()
	if err != nil {
		// The rules are part of the program, so this cannot happen to a program that
		// passed its tests; without rules nothing may pass for clean.
		return []Hit{{Rule: "no-rules", Name: "secrets cannot be looked for: " + err.Error(), End: len(text)}}
	}
	hits := s.scanPlain(rules, path, text)
	return append(hits, s.scanEncoded(rules, path, text, 1)...)
}

func (s *Scanner) scanPlain(rules *ruleSet, path, text string) []Hit {
	return append(s.known.find(text), rules.find(path, text)...)
}
