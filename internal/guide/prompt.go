// Package guide writes the instructions for an agent about the kinds that its owner's configuration
// enables: the text for a prompt, and the description and input schema of each kind's tool.
package guide

import (
	"fmt"
	"strings"

	"github.com/agent-airlock/airlock/internal/config"
	"github.com/agent-airlock/airlock/internal/safeoutput"
)

// Prompt returns the prompt text for the kinds that a configuration enables: how to ask, the rules
// for all kinds, and each kind's own rules and fields. Each kind also has an example that the gate
// accepts, if there is one. lines is the file that the agent appends to; "" stands for the file
// that GH_AW_SAFE_OUTPUTS names.
func Prompt(cfg config.SafeOutputs, lines string) (string, error) {
	var b strings.Builder
	where := "the file whose path is in the environment variable `GH_AW_SAFE_OUTPUTS`"
	if lines != "" {
		where = "the file `" + lines + "`"
	}
	b.WriteString("# How to ask for something on GitHub\n\n" +
		"You cannot write to GitHub. Ask instead: append one JSON object a line to " + where + ".\n" +
		"Each line is checked after you are done. What is not listed here is refused, and so is what goes over a limit.\n\n" +
		"- One object on one line, without a code fence around it. Line breaks in a text are written as `\\n`.\n" +
		"- Bodies are GitHub Flavored Markdown, titles are one line of plain text.\n" +
		"- " + strings.Join(append(textRules(cfg), secretRule), "\n- ") + "\n")
	enabled := cfg.Enabled()
	for _, spec := range safeoutput.Kinds() {
		if enabled != nil && !enabled[spec.Kind] {
			continue
		}
		if err := instruct(&b, cfg, spec); err != nil {
			return "", err
		}
	}
	return b.String(), nil
}

// instruct writes the section about one kind.
func instruct(b *strings.Builder, cfg config.SafeOutputs, spec safeoutput.Spec) error {
	settings, _ := cfg.Policy.Kind(spec.Kind)
	fmt.Fprintf(b, "\n## %s\n\n%s %s\n", spec.Kind, spec.Summary, limitRule(settings, spec, "line"))
	for _, rule := range kindRules(settings, spec) {
		b.WriteString(rule + "\n")
	}
	forms, err := fieldsOf(spec.Kind)
	if err != nil {
		return err
	}
	for i, form := range forms {
		if i > 0 {
			b.WriteString("\nor:\n")
		}
		b.WriteString("\n")
		for _, f := range form {
			required := ""
			if f.required {
				required = " (required)"
			}
			fmt.Fprintf(b, "- `%s`%s: %s%s\n", f.name, required, f.description, f.choice())
		}
	}
	example, err := exampleFor(settings, spec)
	if example != "" {
		fmt.Fprintf(b, "\n```json\n%s\n```\n", example)
	}
	return err
}
