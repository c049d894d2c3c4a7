package guide

import (
	"fmt"
	"slices"
	"strings"

	"github.com/agent-airlock/airlock/internal/policy"
	"github.com/agent-airlock/airlock/internal/safeoutput"
)

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
	if labels, ok := safeoutput.Field(item, "labels").(*[]string); ok {
		*labels = exampleLabels(kc, *labels)
	}
	switch it := item.(type) {
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
		it.Title = new("Crash when the configuration is empty")
	}
}
