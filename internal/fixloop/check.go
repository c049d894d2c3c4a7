package fixloop

import (
	"cmp"
	"slices"
)

// Check names one of the six specialists as message identifiers spell it, or Acceptance.
type Check string

// The checks, in the order in which they are listed.
const (
	Formatter      Check = "formatter"
	Linter         Check = "linter"
	Build          Check = "build"
	Tests          Check = "tests"
	CodeReview     Check = "code-review"
	SecurityReview Check = "security-review"
	// Acceptance stands for the acceptance criteria. It takes part like a check, after the
	// others and without failure reports.
	Acceptance Check = "acceptance"
)

// specialists are the six checks of phase validation.
var specialists = []Check{Formatter, Linter, Build, Tests, CodeReview, SecurityReview}

// Specialists returns the six checks of phase validation.
func Specialists() []Check { return slices.Clone(specialists) }

// allChecks returns the specialists, and Acceptance after them.
func allChecks() []Check { return append(Specialists(), Acceptance) }

func (c Check) known() bool { return c == Acceptance || slices.Contains(specialists, c) }

// Mention returns the check's name as a sender or recipient, such as "@code-review".
func (c Check) Mention() string { return "@" + string(c) }

// The other participants.
const (
	Orchestrator     = "@validation-orchestrator"
	Fixer            = "@feature-implementer-main"
	User             = "User"
	MainOrchestrator = "Main Orchestrator" // who started the loop
)

// wording is how messages speak of each check: its name in a signature, and what usually mends a
// failure of it.
var wording = map[Check]struct{ title, advice string }{
	Formatter:      {"Formatter", "Run the project's formatter and commit what it changes."},
	Linter:         {"Linter", "Correct the code at each place that is listed; do not switch the rule off."},
	Build:          {"Build", "Correct the first error first: later ones often follow from it."},
	Tests:          {"Tests", "Correct the code under test; change a test only if it expects the wrong thing."},
	CodeReview:     {"Code Review", "Change the code as the review describes."},
	SecurityReview: {"Security Review", "Remove the weakness itself; do not suppress its finding."},
	Acceptance:     {"Acceptance", "Do what the criterion asks for."},
}

func (c Check) title() string { return cmp.Or(wording[c].title, string(c)) }
