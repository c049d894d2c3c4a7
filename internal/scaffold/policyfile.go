package scaffold

import (
	"strings"

	"github.com/agent-airlock/airlock/internal/safeoutput"
)

// policyText returns the policy file for what was chosen.
func policyText(s selection, r Release) []byte {
	var b strings.Builder
	b.WriteString("# yaml-language-server: $schema=" + r.schemaURL() + "\n" +
		"# What the agent may ask for; every other kind is denied. This file is yours: edit it, and run\n" +
		"# 'airlock init' again, which brings the workflow's permissions into line. Settings:\n" +
		"# https://github.com/" + repository + "/blob/" + r.gitRef() + "/docs/configuration.md\n" +
		"# To see what would be written before anything is, add: staged: true\n")
	for _, spec := range safeoutput.Kinds() {
		targets, ok := s.kinds[spec.Kind]
		if !ok {
			continue
		}
		b.WriteString(string(spec.Kind) + ":\n")
		for _, line := range kindSettings(spec.Kind) {
			b.WriteString("  " + line + "\n")
		}
		// For these kinds the configuration can exclude targets.
		if spec.Kind == safeoutput.KindAddIssueComment || spec.Kind == safeoutput.KindAddIssueLabel {
			for _, t := range spec.ActsOn {
				if !targets[t] {
					b.WriteString("  " + strings.ReplaceAll(string(t), " ", "-") + "s: false\n")
				}
			}
		}
	}
	return []byte(b.String() + when(len(s.kinds) == 0, "{}\n"))
}

// kindSettings returns the settings to begin with, which a person narrows or widens.
func kindSettings(kind safeoutput.Kind) []string {
	switch kind {
	case safeoutput.KindCreateIssue:
		return []string{`title-prefix: "[agent] "`}
	case safeoutput.KindAddIssueLabel:
		return []string{`allowed: [bug, documentation, enhancement, question] # labels that every new repository has`}
	case safeoutput.KindUpdateIssue:
		return []string{"body:", "operation: append # below what people wrote"}
	case safeoutput.KindCreatePullRequest:
		return []string{`title-prefix: "[agent] "`, "draft: true"}
	}
	return nil
}
