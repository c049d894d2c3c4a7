package guide

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/agent-airlock/airlock/internal/policy"
	"github.com/agent-airlock/airlock/internal/safeoutput"
)

// exampleNumber stands for a number that an agent has to know itself.
const exampleNumber = 123

// exampleFor returns a kind's example, changed so that the owner's settings let it pass. It returns
// "" if the settings refuse every item, or if no example that passes is known.
func exampleFor(kc policy.KindConfig, spec safeoutput.Spec) (string, error) {
	item, err := safeoutput.Decode(spec.Kind, []byte(spec.Example))
	if err != nil {
		return "", fmt.Errorf("example of %s: %w", spec.Kind, err)
	}
	if len(spec.ActsOn) > 0 && targets(kc, spec) == "" {
		return "", nil
	}
	if fields, must := policy.MustName(kc, spec); must {
		if len(fields) == 0 {
			return "", nil
		}
		*safeoutput.Field(item, fields[0].Name).(*int) = cmp.Or(kc.Target.Number, exampleNumber)
	}
	if labels, ok := safeoutput.Field(item, "labels").(*[]string); ok {
		*labels = exampleLabels(kc, *labels)
	}
	passes := true
	switch it := item.(type) {
	case *safeoutput.AddIssueLabel:
		if kc.MaxLabels > 0 {
			it.Labels = it.Labels[:min(len(it.Labels), kc.MaxLabels)]
		}
		passes = len(it.Labels) > 0
	case *safeoutput.CreatePullRequest:
		it.Branch, passes = exampleBranch(kc.Changes)
		if kc.Changes.Draft != nil {
			it.Draft = nil
		}
	case *safeoutput.UpdateIssue:
		exampleUpdate(kc.Update, it)
		passes = it.Status != nil || it.Title != nil || it.Body != nil
	case *safeoutput.CreateDiscussion:
		if kc.Discussion.Category != "" {
			it.Category = ""
		}
	}
	if !passes {
		return "", nil
	}
	raw, err := safeoutput.Encode(item)
	return string(raw), err
}

// anyText replaces the wildcards of a pattern by a word that they match, for an example.
var anyText = strings.NewReplacer("**", "example", "*", "example")

// exampleLabels returns the given labels that an item may ask for. If there are none, it returns a
// label that matches a pattern of the allowed labels, if there is one.
func exampleLabels(kc policy.KindConfig, labels []string) []string {
	refused := func(label string) bool { return !policy.AllowsLabel(kc, label) }
	if labels = slices.DeleteFunc(labels, refused); len(labels) > 0 {
		return labels
	}
	for _, pattern := range kc.AllowedLabels {
		if label := anyText.Replace(pattern); !refused(label) {
			return []string{label}
		}
	}
	return nil
}

// exampleBranch returns the name of a branch if items have to give one, and reports whether an
// item with it passes.
func exampleBranch(s policy.ChangeSettings) (name string, passes bool) {
	if s.Branch != "" || s.AllowedBranches == nil {
		return "", true
	}
	for _, pattern := range s.AllowedBranches {
		name := anyText.Replace(pattern)
		if strings.HasPrefix(name, s.BranchPrefix) && policy.BranchAllowed(s, name) {
			return name, true
		}
	}
	return "", false
}

// exampleUpdate removes from the example the fields that may not be changed. If only the title may
// be changed, it puts a title there.
func exampleUpdate(allowed policy.UpdateSettings, it *safeoutput.UpdateIssue) {
	if !allowed.Status {
		it.Status = nil
	}
	if !allowed.Body {
		it.Body = nil
	}
	if allowed.Title && it.Status == nil && it.Body == nil {
		it.Title = new("Crash when the configuration is empty")
	}
}
