package reviewer

import (
	"sync"

	"github.com/agent-airlock/airlock/internal/finding"
)

// plainRules reads the rules that Go code looks for: what they mean is data, what
// they match is not.
func plainRules(name, check, tag string) ([]*Rule, error) {
	var list []struct {
		ID, Name, Message, Remediation, Off, Example string
		CWE                                          []int
		Severity                                     finding.Severity
		Precision                                    finding.Precision
		Rejected, Accepted                           []string
	}
	if err := decode(name, &list); err != nil {
		return nil, err
	}
	var rules []*Rule
	for _, r := range list {
		rules = append(rules, &Rule{
			Rule: finding.Rule{ID: r.ID, Name: r.Name, Short: r.Remediation, Full: r.Message, Help: r.Remediation, CWE: r.CWE, Severity: r.Severity,
				Precision: r.Precision, Tags: []string{tag}},
			Check: check, Message: r.Message, Remediation: r.Remediation, Off: r.Off, Example: r.Example, Rejected: r.Rejected, Accepted: r.Accepted,
		})
	}
	return rules, nil
}

// codeRules and workflowRules are read once a process: they are constant.
var (
	codeRules     = sync.OnceValues(func() ([]*Rule, error) { return plainRules("rules/code.yaml", CodeReview, "maintainability") })
	workflowRules = sync.OnceValues(func() ([]*Rule, error) { return plainRules("rules/workflow.yaml", SecurityReview, "security") })
)

// byID returns rules by their IDs.
func byID(rules []*Rule, err error) (map[string]*Rule, error) {
	m := make(map[string]*Rule, len(rules))
	for _, r := range rules {
		m[r.ID] = r
	}
	return m, err
}
