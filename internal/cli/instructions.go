package cli

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/agent-airlock/airlock/internal/config"
	"github.com/agent-airlock/airlock/internal/exitcode"
	"github.com/agent-airlock/airlock/internal/policy"
	"github.com/agent-airlock/airlock/internal/safeoutput"
	"github.com/agent-airlock/airlock/internal/sanitize"
	"github.com/agent-airlock/airlock/schemas"
)

func newInstructions(env Environment) *cobra.Command {
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
			cfg, err := loadConfig(env, file)
			if err != nil {
				return err
			}
			text, err := instructions(cfg, lines)
			if err != nil {
				return exitcode.FailedError(err)
			}
			_, err = fmt.Fprint(env.Stdout, text)
			return err
		},
	}
	cmd.Flags().StringVar(&file, "config", "", configUsage+"; without any, every kind with its default limits")
	cmd.Flags().StringVar(&lines, "lines", "", "the file that the agent appends to (default: the one that GH_AW_SAFE_OUTPUTS names)")
	return cmd
}

// instructions returns the prompt text for the kinds that a configuration enables.
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

// instruct writes the section about one kind.
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

// limitRule returns a sentence about how many items of a kind an agent may ask for.
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

// kindRules returns sentences about what the owner's settings mean for the agent.
func kindRules(kc policy.KindConfig, spec safeoutput.Spec) []string {
	var rules []string
	if len(spec.ActsOn) > 0 {
		switch {
		case kc.Target.Any:
			rules = append(rules, "`"+strings.Join(spec.NumberNames(), "` or `")+"` is required.")
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
		if kc.Update.Body {
			rules = append(rules, "Without `operation` it is `"+cmp.Or(kc.Update.Operation, safeoutput.OperationReplace)+"`.")
		}
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

// exampleNumber stands for a number that an agent has to know itself.
const exampleNumber = 123

// exampleFor returns a kind's example, changed so that the owner's settings let it pass.
func exampleFor(kc policy.KindConfig, spec safeoutput.Spec) (string, error) {
	item, err := safeoutput.Decode(spec.Kind, []byte(spec.Example))
	if err != nil {
		return "", fmt.Errorf("example of %s: %w", spec.Kind, err)
	}
	if kc.Target.Any && len(spec.NumberFields) > 0 {
		*safeoutput.Field(item, spec.NumberFields[0].Name).(*int) = exampleNumber
	}
	switch it := item.(type) {
	case *safeoutput.CreateIssue:
		it.Labels = exampleLabels(kc, it.Labels)
	case *safeoutput.CreatePullRequest:
		it.Labels = exampleLabels(kc, it.Labels)
	case *safeoutput.AddIssueLabel:
		it.Labels = exampleLabels(kc, it.Labels)
	case *safeoutput.UpdateIssue:
		exampleUpdate(kc.Update, it)
	case *safeoutput.CreateDiscussion:
		if kc.Discussion.Category != "" {
			it.Category = ""
		}
	}
	raw, err := safeoutput.Encode(item)
	return string(raw), err
}

// exampleLabels returns labels that are allowed: the given ones if every label is.
func exampleLabels(kc policy.KindConfig, labels []string) []string {
	if kc.AllowedLabels == nil && kc.BlockedLabels == nil {
		return labels
	}
	for _, l := range kc.AllowedLabels {
		if !strings.Contains(l, "*") && !slices.Contains(kc.BlockedLabels, l) {
			return []string{l}
		}
	}
	return nil
}

// exampleUpdate leaves in the example only what may be changed.
func exampleUpdate(allowed policy.UpdateSettings, it *safeoutput.UpdateIssue) {
	if !allowed.Status {
		it.Status = nil
	}
	if !allowed.Body {
		it.Body = nil
	}
	if allowed.Title && it.Status == nil && it.Body == nil {
		title := "Crash when the configuration is empty"
		it.Title = &title
	}
}

// field is one field of a kind, as its schema describes it.
type field struct {
	name, description string
	required          bool
	enum              []string
}

// choice lists the words that a field takes, where there are only some.
func (f field) choice() string {
	if f.enum == nil {
		return ""
	}
	return " One of `" + strings.Join(f.enum, "`, `") + "`."
}

// fieldsOf returns the fields of a kind in the schema's order, once for each of
// its forms.
func fieldsOf(kind safeoutput.Kind) ([][]field, error) {
	raw, ok := schemas.Lookup(string(kind))
	if !ok {
		return nil, fmt.Errorf("there is no schema of the kind %s", kind)
	}
	var def struct {
		OneOf []json.RawMessage `json:"oneOf"`
	}
	if err := json.Unmarshal(raw, &def); err != nil {
		return nil, fmt.Errorf("schema of %s: %w", kind, err)
	}
	forms := def.OneOf
	if len(forms) == 0 {
		forms = []json.RawMessage{json.RawMessage(raw)}
	}
	var out [][]field
	for _, form := range forms {
		fields, err := formFields(form)
		if err != nil {
			return nil, fmt.Errorf("schema of %s: %w", kind, err)
		}
		out = append(out, fields)
	}
	return out, nil
}

func formFields(form json.RawMessage) ([]field, error) {
	var def struct {
		Properties json.RawMessage `json:"properties"`
		Required   []string        `json:"required"`
	}
	if err := json.Unmarshal(form, &def); err != nil {
		return nil, err
	}
	// A map would lose the order, in which the important fields come first.
	dec := json.NewDecoder(bytes.NewReader(def.Properties))
	if _, err := dec.Token(); err != nil {
		return nil, err
	}
	var out []field
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			return nil, err
		}
		var p struct {
			Description string   `json:"description"`
			Enum        []string `json:"enum"`
		}
		if err := dec.Decode(&p); err != nil {
			return nil, err
		}
		if name != "type" {
			out = append(out, field{fmt.Sprint(name), p.Description, slices.Contains(def.Required, fmt.Sprint(name)), p.Enum})
		}
	}
	return out, nil
}
