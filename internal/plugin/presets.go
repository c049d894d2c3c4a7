package plugin

import (
	"slices"

	"github.com/agent-airlock/airlock/internal/finding"
	"github.com/agent-airlock/airlock/internal/phase"
)

// presets are the reviewers that are known by name, in the order of their names.
// Those that can be told so end with 0 whatever they find.
func presets() []Config {
	return []Config{
		{Name: "ast-grep", Check: phase.CodeReviewed, Args: []string{"ast-grep", "scan", "--json=stream", FilesWord}, Format: AstGrep, Precision: finding.PrecisionMedium},
		{Name: "bandit", Check: phase.SecurityReview, Args: []string{"bandit", "-q", "-f", "json", FilesWord}, Format: Bandit, Languages: []string{"python"}, Precision: finding.PrecisionMedium},
		{Name: "brakeman", Check: phase.SecurityReview, Args: []string{"brakeman", "-q", "--no-pager", "--no-exit-on-warn", "-f", "sarif"}, Format: SARIF, Languages: []string{"ruby"}, Precision: finding.PrecisionMedium},
		{Name: "eslint", Check: phase.CodeReviewed, Args: []string{"npx", "--no-install", "eslint", "--format", "json", FilesWord}, Format: ESLint, Languages: []string{"javascript", "typescript"}, Precision: finding.PrecisionHigh},
		{Name: "gosec", Check: phase.SecurityReview, Args: []string{"gosec", "-quiet", "-no-fail", "-fmt=json", "./..."}, Format: Gosec, Languages: []string{"go"}, Precision: finding.PrecisionMedium},
		{Name: "opengrep", Check: phase.SecurityReview, Args: []string{"opengrep", "scan", "--quiet", "--sarif", "--config", "p/default", FilesWord}, Format: SARIF, Precision: finding.PrecisionMedium},
		{Name: "semgrep", Check: phase.SecurityReview, Args: []string{"semgrep", "scan", "--quiet", "--metrics=off", "--disable-version-check", "--sarif", "--config", "p/default", FilesWord}, Format: SARIF, Precision: finding.PrecisionMedium},
	}
}

// Presets returns the names of the reviewers that need no more than their name.
func Presets() []string {
	var names []string
	for _, p := range presets() {
		names = append(names, p.Name)
	}
	return names
}

// Preset returns the reviewer that is known by that name.
func Preset(name string) (Config, bool) {
	all := presets()
	if i := slices.IndexFunc(all, func(c Config) bool { return c.Name == name }); i >= 0 {
		return all[i], true
	}
	return Config{}, false
}
