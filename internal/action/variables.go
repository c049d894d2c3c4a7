package action

import (
	"cmp"
	"strings"
)

// LinesVariables returns the variables in which workflows name the file of the lines that an agent
// wrote.
func LinesVariables() [2]string { return [...]string{"GH_AW_SAFE_OUTPUTS", "GITHUB_AW_SAFE_OUTPUTS"} }

// AgentOutputVariables returns the variables in which workflows pass on the agent output of an
// earlier job: the name of a file, or the JSON text itself.
func AgentOutputVariables() [2]string {
	return [...]string{"GH_AW_AGENT_OUTPUT", "GITHUB_AW_AGENT_OUTPUT"}
}

// FirstSet returns the value of the first of the variables that is not empty.
func FirstSet(getenv func(string) string, variables [2]string) string {
	return cmp.Or(getenv(variables[0]), getenv(variables[1]))
}

// IsText reports whether a value is agent output as JSON text, and not the name of a file.
func IsText(value string) bool { return strings.HasPrefix(strings.TrimSpace(value), "{") }
