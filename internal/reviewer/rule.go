package reviewer

import (
	"embed"
	"fmt"

	"go.yaml.in/yaml/v3"

	"github.com/agent-airlock/airlock/internal/finding"
)

// Tool is the name under which findings of this package appear.
const Tool = "airlock"

// Rule is one rule with its own proof: the metadata of its findings, and examples.
type Rule struct {
	finding.Rule
	// Language is the language whose files it reads; "" for every file.
	Language string
	// Check is SecurityReview or CodeReview.
	Check string
	// Message is what a finding says; {sink} in it is what was called or set.
	Message string
	// Remediation says in one sentence what to write instead.
	Remediation string
	// Off says why the rule is not used unless it is asked for, or is "".
	Off string
	// Example is the path that the examples have, or "" where there are none.
	Example string
	// Rejected is code in which the rule finds something; Accepted is code that
	// looks alike and is right.
	Rejected, Accepted []string
}

//go:embed rules/*.yaml
var ruleFiles embed.FS

func decode(name string, into any) error {
	f, err := ruleFiles.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	d := yaml.NewDecoder(f)
	d.KnownFields(true)
	if err := d.Decode(into); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}
