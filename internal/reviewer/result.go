package reviewer

import (
	"fmt"
	"slices"
	"sync"

	"github.com/agent-airlock/airlock/internal/finding"
)

// reviewed is what was found in one file.
type reviewed struct {
	findings []finding.Finding
	ignores  map[ignored]ignore
	skipped  string
}

// join merges duplicates, gives fingerprints, and parts what gates from what does not.
func join(files []File, results []reviewed, all []finding.Finding) Result {
	var out Result
	byPath := make(map[string]int, len(files))
	for i, r := range results {
		byPath[files[i].Path] = i
		all = append(all, r.findings...)
		if r.skipped != "" {
			out.Skipped = append(out.Skipped, Skipped{files[i].Path, r.skipped})
		}
	}
	kept, _ := finding.Merge(all, ruleOf)
	finding.SetFingerprints(kept)
	for _, f := range kept {
		i := byPath[f.Path]
		if by, ok := ignoring(results[i].ignores, f); ok {
			out.Suppressed = append(out.Suppressed, Suppressed{f, by.reason, by.line})
			continue
		}
		if files[i].touches(f.Range) {
			out.Findings = append(out.Findings, f)
		} else {
			out.Unchanged = append(out.Unchanged, f)
		}
	}
	return out
}

// touches reports whether the change touched a line of a range.
func (f File) touches(r finding.Range) bool {
	if f.Changed == nil {
		return true
	}
	last := max(r.StartLine, r.EndLine)
	for _, s := range f.Changed {
		if s.First <= last && r.StartLine <= s.Last {
			return true
		}
	}
	return r.StartLine == 0
}

// Rules returns every built-in rule, in a stable order.
func Rules() ([]Rule, error) {
	all, err := packs()
	if err != nil {
		return nil, err
	}
	rules := []Rule{*secretRule, *generalSecretRule}
	for _, l := range languages {
		if p := all[l.name]; p != nil {
			for _, r := range p.rules {
				rules = append(rules, *r)
			}
		}
	}
	for _, read := range []func() ([]*Rule, error){credentialRules, workflowRules, codeRules} {
		list, err := read()
		if err != nil {
			return nil, err
		}
		for _, r := range list {
			rules = append(rules, *r)
		}
	}
	return rules, nil
}

// catalogue returns the rules by their IDs, made once a process.
var catalogue = sync.OnceValue(func() map[string]finding.Rule {
	rules, err := Rules()
	if err != nil {
		return nil // New has said so
	}
	byID := make(map[string]finding.Rule, len(rules))
	for _, r := range rules {
		byID[r.ID] = r.Rule
	}
	return byID
})

// ruleOf looks a rule up for merging.
func ruleOf(_, id string) (finding.Rule, bool) {
	r, ok := catalogue()[id]
	return r, ok
}

// chosen returns which rules a configuration uses.
func chosen(c Config) (func(*Rule) bool, error) {
	rules, err := Rules()
	if err != nil {
		return nil, err
	}
	for _, list := range [][]string{c.Only, c.On, c.Off} {
		for _, id := range list {
			if !slices.ContainsFunc(rules, func(r Rule) bool { return r.ID == id }) {
				return nil, fmt.Errorf("there is no review rule %q: docs/review-rules.md lists them", id)
			}
		}
	}
	return func(r *Rule) bool {
		switch {
		case slices.Contains(c.Off, r.ID), len(c.Only) > 0 && !slices.Contains(c.Only, r.ID):
			return false
		}
		return r.Off == "" || slices.Contains(c.On, r.ID)
	}, nil
}
