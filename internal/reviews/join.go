package reviews

import (
	"errors"
	"maps"

	"github.com/agent-airlock/airlock/internal/finding"
	"github.com/agent-airlock/airlock/internal/phase"
	"github.com/agent-airlock/airlock/internal/plugin"
	"github.com/agent-airlock/airlock/internal/reviewer"
	"github.com/agent-airlock/airlock/internal/secrets"
)

// Details are what both reviews said beside their findings. All lists are in a
// stable order.
type Details struct {
	Suppressed []reviewer.Suppressed // by a comment in the file
	Skipped    []reviewer.Skipped    // files that were not reviewed, or not wholly; each reason once
	Duplicates []finding.Duplicate   // findings that another one stands for
	Missing    []phase.MissingTool
	Notes      []string      // whole sentences
	Rules      finding.Rules // of every finding's tool and rule, as far as they are known
}

// details are those of one review.
type details struct {
	Details
	rules map[[2]string]finding.Rule
}

// Details returns what the reviews said until now.
func (r *Reviews) Details() Details {
	var out Details
	rules, told := map[[2]string]finding.Rule{}, map[reviewer.Skipped]bool{}
	for _, v := range []*review{r.code, r.security} {
		v.mu.Lock()
		d := v.details
		v.mu.Unlock()
		out.Suppressed = append(out.Suppressed, d.Suppressed...)
		out.Duplicates = append(out.Duplicates, d.Duplicates...)
		out.Missing = append(out.Missing, d.Missing...)
		out.Notes = append(out.Notes, d.Notes...)
		for _, s := range d.Skipped {
			if !told[s] {
				told[s] = true
				out.Skipped = append(out.Skipped, s)
			}
		}
		maps.Copy(rules, d.rules)
	}
	out.Rules = lookup(rules)
	return out
}

func lookup(rules map[[2]string]finding.Rule) finding.Rules {
	return func(tool, rule string) (finding.Rule, bool) {
		r, ok := rules[[2]string{tool, rule}]
		return r, ok
	}
}

// join puts together what the parts said: of findings that mean the same, one
// stays. The error joins those of every part that could not review.
func (v *review) join(scanner *secrets.Scanner) ([]finding.Finding, error) {
	d := details{rules: map[[2]string]finding.Rule{}}
	var all []finding.Finding
	var failed []error
	for _, p := range v.parts {
		for at, rule := range p.said.rules {
			if _, known := d.rules[at]; !known {
				d.rules[at] = rule
			}
		}
		for _, f := range p.said.findings {
			if f.Tool != reviewer.Tool {
				f = masked(f, scanner)
			}
			if at := [2]string{f.Tool, f.Rule}; f.Rule != "" && d.rules[at].ID == "" {
				d.rules[at] = finding.Rule{ID: f.Rule, Severity: f.Severity, Precision: p.precision}
			}
			all = append(all, f)
		}
		d.Suppressed, d.Skipped = append(d.Suppressed, p.said.suppressed...), append(d.Skipped, p.said.skipped...)
		for _, n := range p.said.notes {
			d.Notes = append(d.Notes, scanner.Mask(n))
		}
		if p.err == nil {
			continue
		}
		failed = append(failed, errors.New(scanner.Mask(p.err.Error())))
		var missing *plugin.MissingError
		if errors.As(p.err, &missing) {
			d.Missing = append(d.Missing, phase.MissingTool{Tool: missing.Tool, Check: v.check, Command: missing.Command, Override: "checks: reviewers"})
		}
	}
	kept, duplicates := finding.Merge(all, lookup(d.rules))
	d.Duplicates = duplicates
	v.details = d
	return kept, errors.Join(failed...)
}

// masked takes secrets out of what a plug-in quotes. A suggestion that holds one is
// dropped: it would write stars into the file.
func masked(f finding.Finding, scanner *secrets.Scanner) finding.Finding {
	f.Message = scanner.Mask(f.Message)
	if scanner.Mask(f.Suggestion) != f.Suggestion {
		f.Suggestion = ""
	}
	return f
}
