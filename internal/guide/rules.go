package guide

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/agent-airlock/airlock/internal/config"
	"github.com/agent-airlock/airlock/internal/policy"
	"github.com/agent-airlock/airlock/internal/safeoutput"
	"github.com/agent-airlock/airlock/internal/sanitize"
	"github.com/agent-airlock/airlock/internal/text"
)

// limitRule says in sentences how many things, such as lines, an agent may ask for.
func limitRule(kc policy.KindConfig, spec safeoutput.Spec, thing string) string {
	n := spec.DefaultMax
	if kc.Max != nil {
		n = *kc.Max
	}
	least := ""
	if kc.Min > 0 {
		least = fmt.Sprintf(" At least %s; fewer fail the run.", text.Count(kc.Min, thing))
	}
	if n < 0 {
		return "Any number of " + thing + "s." + least
	}
	return "At most " + text.Count(n, thing) + "." + least
}

// sentences are what an agent is told.
type sentences []string

// addIf adds a sentence if it applies.
func (s *sentences) addIf(applies bool, format string, args ...any) {
	if applies {
		*s = append(*s, fmt.Sprintf(format, args...))
	}
}

// kindRules returns sentences about what the owner's settings mean for the agent.
func kindRules(kc policy.KindConfig, spec safeoutput.Spec) []string {
	var rules sentences
	if len(spec.ActsOn) > 0 {
		rules = append(rules, targetRule(kc, spec))
	}
	rules.addIf(spec.DefaultMaxLabels > 0 && kc.MaxLabels >= 0, "At most %s each.", text.Count(cmp.Or(kc.MaxLabels, spec.DefaultMaxLabels), "label"))
	rules.addIf(kc.AllowedLabels != nil, "Allowed labels: %s.", orNone(kc.AllowedLabels))
	rules.addIf(kc.BlockedLabels != nil, "Labels that are not allowed: %s.", orNone(kc.BlockedLabels))
	if spec.Kind == safeoutput.KindUpdateIssue {
		rules = append(rules, updateRules(kc.Update)...)
	}
	rules.addIf(kc.Discussion.Category != "" || kc.Report.Category != "", "The category is set; leave it out.")
	rules.addIf(kc.Staged, "It is only planned: nothing is written, and a person decides.")
	rules.addIf(kc.TitlePrefix != "", "Titles begin with %q; it is put there unless you write it.", kc.TitlePrefix)
	if spec.CarriesCode {
		rules = append(rules, branchRules(kc.Changes, spec.Kind)...)
		rules = append(rules, fileRules(kc.Changes)...)
	}
	return rules
}

// targetRule says in sentences what items of a kind act on, and how they name it.
func targetRule(kc policy.KindConfig, spec safeoutput.Spec) string {
	things := targets(kc, spec)
	fields, _ := policy.MustName(kc, spec)
	var names []string
	for _, f := range fields {
		names = append(names, "`"+f.Name+"`")
	}
	required := strings.Join(names, " or ") + " is required."
	switch {
	case things == "":
		return "It acts on nothing: every item is refused."
	case spec.Kind == safeoutput.KindPushToBranch && kc.Changes.Branch != "":
		return fmt.Sprintf("It pushes to the branch `%s`; leave the number out.", kc.Changes.Branch)
	case kc.Target.Any && fields == nil:
		return fmt.Sprintf("It acts on the %s that triggered the workflow, and nothing else; `%s` is required.", things, spec.NumberFields[0].Name)
	case kc.Target.Any:
		return required
	case kc.Target.Number != 0:
		rule := fmt.Sprintf("It acts on #%d and nothing else.", kc.Target.Number)
		if fields != nil {
			rule += " " + required
		}
		return rule
	}
	return "It acts on the " + things + " that triggered the workflow, and nothing else."
}

// updateRules returns sentences about the fields of an issue that may be changed.
func updateRules(s policy.UpdateSettings) []string {
	var fields []string
	for _, f := range []struct {
		name string
		on   bool
	}{{"status", s.Status}, {"title", s.Title}, {"body", s.Body}} {
		if f.on {
			fields = append(fields, "`"+f.name+"`")
		}
	}
	rules := sentences{"Fields that may be changed: " + orNone(fields) + "."}
	rules.addIf(s.Body, "Without `operation` it is `%s`.", cmp.Or(s.Operation, safeoutput.OperationReplace))
	return rules
}

// targets lists the things that items of a kind may act on, in a sentence: "a, b or c".
func targets(kc policy.KindConfig, spec safeoutput.Spec) string {
	var names []string
	for _, t := range spec.ActsOn {
		if !slices.Contains(kc.Excludes, t) {
			names = append(names, string(t))
		}
	}
	if n := len(names); n > 1 {
		names = append(names[:n-2], names[n-2]+" or "+names[n-1])
	}
	return strings.Join(names, ", ")
}

// branchRules returns sentences about the branch and the pull request that changes go to, and about
// items without changes.
func branchRules(s policy.ChangeSettings, kind safeoutput.Kind) []string {
	var rules sentences
	isNew := kind == safeoutput.KindCreatePullRequest
	rules.addIf(isNew && s.Branch != "", "The new branch is `%s`; leave `branch` out.", s.Branch)
	rules.addIf(isNew && s.Branch == "" && s.AllowedBranches != nil, "`branch` is required, and must match one of: %s.", orNone(s.AllowedBranches))
	rules.addIf(isNew && s.Branch == "" && (s.BranchPrefix != "" || s.AllowedBranches == nil),
		"New branches begin with `%s`; it is put there unless you write it.", cmp.Or(s.BranchPrefix, policy.DefaultBranchPrefix))
	rules.addIf(isNew && s.Draft != nil, "Whether it is a draft is set; leave `draft` out.")
	rules.addIf(s.IfNoChanges == policy.NoChangesError, "Without changes in the workspace it fails.")
	rules.addIf(!isNew && s.RequiredTitlePrefix != "", "Only pull requests whose title begins with %q.", s.RequiredTitlePrefix)
	rules.addIf(!isNew && len(s.RequiredLabels) > 0, "Only pull requests that have these labels: %s.", strings.Join(s.RequiredLabels, ", "))
	return rules
}

// fileRules returns sentences about which files may change, and by how much.
func fileRules(s policy.ChangeSettings) []string {
	var rules sentences
	rules.addIf(s.Files.Allowed != nil, "Files that may change: %s.", orNone(s.Files.Allowed))
	if protected := s.Files.ProtectedPatterns(); len(protected) > 0 {
		rule := "Files that may not change: " + strings.Join(protected, ", ")
		if len(s.Files.Unprotected) > 0 {
			rule += "; but these may: " + strings.Join(s.Files.Unprotected, ", ")
		}
		rules = append(rules, rule+".")
	}
	rules.addIf(len(s.Excluded) > 0, "Changes of these files are left out: %s.", strings.Join(s.Excluded, ", "))
	var most []string
	if n := s.Files.FileLimit(); n >= 0 {
		most = append(most, text.Count(n, "changed file"))
	}
	if n := s.Files.SizeLimitKB(); n >= 0 {
		most = append(most, fmt.Sprintf("%d KiB of new content", n))
	}
	rules.addIf(most != nil, "At most %s.", strings.Join(most, " and "))
	return append(rules, "Links that lead out of the repository, submodules and names that only some systems can have are refused.")
}

// textRules returns sentences about what becomes of texts.
func textRules(cfg config.SafeOutputs) []string {
	var rules sentences
	mayMention := len(cfg.AllowedMentions) > 0
	rules.addIf(!mayMention, "Mentions notify nobody.")
	rules.addIf(mayMention, "Mentions notify nobody but: %s.", strings.Join(cfg.AllowedMentions, ", "))
	rules.addIf(mayMention && cfg.MaxMentions > 0, "One text may notify at most %d of them.", cfg.MaxMentions)
	rules.addIf(!cfg.ClosingWords, "Words such as \"fixes #1\" close no issue.")
	rules.addIf(cfg.ClosingWords && cfg.MaxClosingWords > 0, "At most %s such as \"fixes #1\" of one text may close an issue.", text.Count(cfg.MaxClosingWords, "word"))
	rules.addIf(cfg.References != nil, "References such as owner/name#1 become plain text, except to: %s.", orNone(cfg.References))
	rules.addIf(cfg.Policy.Staged, "Everything is only planned: nothing is written, and a person decides.")
	rules.addIf(cfg.Policy.HoldAfterFailedCode, "Texts are held back if the changes that they go with are refused.")
	hosts := append(sanitize.DefaultDomains(), cfg.AllowedDomains...)
	return append(rules,
		"Links lead only to "+strings.Join(hosts, ", ")+" and their subdomains; other links are removed.",
		"HTML comments are removed, and HTML beyond GitHub's safe elements is shown as text.",
		"A title has at most 256 characters and a body about 65,000; what is longer is cut. A label has at most 50; a longer one is refused.")
}

// secretRule is about what no item may contain.
const secretRule = "What contains a secret, such as a token or a private key, is refused."

func orNone(words []string) string {
	if len(words) == 0 {
		return "none"
	}
	return strings.Join(words, ", ")
}
