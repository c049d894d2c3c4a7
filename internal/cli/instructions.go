package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/agent-airlock/airlock/internal/config"
	"github.com/agent-airlock/airlock/internal/policy"
	"github.com/agent-airlock/airlock/internal/safeoutput"
	"github.com/agent-airlock/airlock/internal/sanitize"
)

func newInstructions(w World) *cobra.Command {
	var file, lines string
	cmd := &cobra.Command{
		Use:   "instructions",
		Short: "Print the prompt text that tells an agent what it may ask for",
		Long: `Print the text to put into an agent's prompt: how to ask, and exactly the kinds,
fields and limits that the configuration allows, with an example each. Every
example is one that the gate accepts.`,
		Example: `  airlock instructions --config policy.yml >> prompt.md
  airlock instructions --config policy.yml --lines out/lines.ndjson`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := loadConfig(w, file)
			if err != nil {
				return err
			}
			text, err := instructions(cfg, lines)
			if err != nil {
				return failedError(err)
			}
			_, err = fmt.Fprint(w.Stdout, text)
			return err
		},
	}
	cmd.Flags().StringVar(&file, "config", "", configUsage+"; without any, every kind with its default limits")
	cmd.Flags().StringVar(&lines, "lines", "", "the file that the agent appends to (default: the one that GH_AW_SAFE_OUTPUTS names)")
	return cmd
}

// instructions is the prompt text for the kinds that a configuration enables.
func instructions(cfg config.SafeOutputs, lines string) (string, error) {
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
		mentionRule(cfg) + closingRule(cfg) + linkRule(cfg) +
		"- HTML comments are removed, and HTML beyond GitHub's safe elements is shown as text.\n")
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

func instruct(b *strings.Builder, cfg config.SafeOutputs, spec safeoutput.Spec) error {
	settings, _ := cfg.Policy.Kind(spec.Kind)
	fmt.Fprintf(b, "\n## %s\n\n%s %s\n", spec.Kind, spec.Summary, limitRule(settings, spec))
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
	if err != nil {
		return err
	}
	fmt.Fprintf(b, "\n```json\n%s\n```\n", example)
	return nil
}

// limitRule says how many items may be asked for.
func limitRule(kc policy.KindConfig, spec safeoutput.Spec) string {
	n := spec.DefaultMax
	if kc.Max != nil {
		n = *kc.Max
	}
	switch {
	case n < 0:
		return "Any number of lines."
	case n == 1:
		return "At most 1 line."
	}
	return fmt.Sprintf("At most %d lines.", n)
}

// kindRules says what the owner's settings mean for the agent.
func kindRules(kc policy.KindConfig, spec safeoutput.Spec) []string {
	var rules []string
	if field, ok := policy.HasTarget(spec.Kind); ok {
		switch {
		case kc.Target.Any && field != "":
			rules = append(rules, "`"+field+"` is required.")
		case kc.Target.Number != 0:
			rules = append(rules, fmt.Sprintf("It acts on #%d and nothing else.", kc.Target.Number))
		default:
			rules = append(rules, "It acts on the issue, pull request or discussion that triggered the workflow, and nothing else.")
		}
	}
	if n := kc.MaxLabels; spec.DefaultMaxLabels > 0 && n >= 0 {
		if n == 0 {
			n = spec.DefaultMaxLabels
		}
		rules = append(rules, fmt.Sprintf("At most %d labels a line.", n))
	}
	if kc.AllowedLabels != nil {
		rules = append(rules, "Allowed labels: "+orNone(kc.AllowedLabels)+".")
	}
	if kc.BlockedLabels != nil {
		rules = append(rules, "Labels that are not allowed: "+orNone(kc.BlockedLabels)+".")
	}
	if spec.Kind == safeoutput.KindUpdateIssue {
		var fields []string
		for _, f := range []struct {
			name string
			on   bool
		}{{"status", kc.Update.Status}, {"title", kc.Update.Title}, {"body", kc.Update.Body}} {
			if f.on {
				fields = append(fields, "`"+f.name+"`")
			}
		}
		rules = append(rules, "Fields that may be changed: "+orNone(fields)+".")
	}
	if kc.Discussion.Category != "" || kc.Report.Category != "" {
		rules = append(rules, "The category is set; leave it out.")
	}
	return rules
}

func mentionRule(cfg config.SafeOutputs) string {
	if len(cfg.AllowedMentions) == 0 {
		return "- Mentions notify nobody.\n"
	}
	return "- Mentions notify nobody but: " + strings.Join(cfg.AllowedMentions, ", ") + ".\n"
}

func closingRule(cfg config.SafeOutputs) string {
	if cfg.ClosingWords {
		return ""
	}
	return "- Words such as \"fixes #1\" close no issue.\n"
}

func linkRule(cfg config.SafeOutputs) string {
	hosts := append(sanitize.DefaultDomains(), cfg.AllowedDomains...)
	return "- Links lead only to " + strings.Join(hosts, ", ") + " and their subdomains; other links are removed.\n"
}

func orNone(words []string) string {
	if len(words) == 0 {
		return "none"
	}
	return strings.Join(words, ", ")
}
