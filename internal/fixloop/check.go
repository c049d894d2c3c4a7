package fixloop

import "slices"

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

// title returns the check's name in the signature of its messages.
func (c Check) title() string {
	switch c {
	case Formatter:
		return "Formatter"
	case Linter:
		return "Linter"
	case Build:
		return "Build"
	case Tests:
		return "Tests"
	case CodeReview:
		return "Code Review"
	case SecurityReview:
		return "Security Review"
	case Acceptance:
		return "Acceptance"
	}
	return string(c)
}

// advice returns what usually mends a failure of the check.
func (c Check) advice() string {
	switch c {
	case Formatter:
		return "Run the project's formatter and commit what it changes."
	case Linter:
		return "Correct the code at each place that is listed; do not switch the rule off."
	case Build:
		return "Correct the first error first: later ones often follow from it."
	case Tests:
		return "Correct the code under test; change a test only if it expects the wrong thing."
	case CodeReview:
		return "Change the code as the review describes."
	case SecurityReview:
		return "Remove the weakness itself; do not suppress its finding."
	case Acceptance:
		return "Do what the criterion asks for."
	}
	return ""
}
