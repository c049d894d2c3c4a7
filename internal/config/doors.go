package config

import (
	"github.com/agent-airlock/airlock/internal/intake"
	"github.com/agent-airlock/airlock/internal/policy"
	"github.com/agent-airlock/airlock/internal/sanitize"
)

// Sanitize returns what texts may do. serverHost is the GitHub server's own host,
// "" for github.com.
func (c SafeOutputs) Sanitize(serverHost string) sanitize.Config {
	return sanitize.Config{
		AllowedDomains:  c.AllowedDomains,
		AllowedMentions: c.AllowedMentions,
		ClosingWords:    c.ClosingWords,
		ServerHost:      serverHost,
	}
}

// Intake returns the first door's settings: the limits of all kinds, and how
// texts are cleaned. Its Enabled is left nil, as for apply: see Enabled.
func (c SafeOutputs) Intake(clean sanitize.Config, strict bool) intake.Config {
	most := map[policy.Kind]int{}
	for kind, kc := range c.Policy.Kinds {
		if kc.Max != nil {
			most[kind] = *kc.Max
		}
	}
	label := c.Policy.Kinds["add-issue-label"]
	if label.AllowedLabels != nil || label.BlockedLabels != nil {
		// The first door would count labels that the second takes out, and drop
		// some that are allowed; the second door counts what is left.
		label.MaxLabels = -1
	}
	return intake.Config{Strict: strict, Max: most, MaxLabels: label.MaxLabels, Sanitize: clean}
}

// Enabled returns the kinds that the configuration allows, or nil, which means
// all, where there is none. With it collect refuses the others at once.
func (c SafeOutputs) Enabled() map[policy.Kind]bool {
	if !c.Policy.Configured() {
		return nil
	}
	enabled := map[policy.Kind]bool{}
	for _, row := range kindTable() {
		if _, ok := c.Policy.Kind(row.kind); ok {
			enabled[row.kind] = true
		}
	}
	return enabled
}
