package reviewer

import (
	"cmp"
	"slices"
	"strings"

	"github.com/agent-airlock/airlock/internal/finding"
	"github.com/agent-airlock/airlock/internal/lazyregexp"
)

// minPrecision is Config.MinPrecision where nothing is configured.
const minPrecision = finding.PrecisionMedium

// Precisions returns the values of Config.MinPrecision, the highest first, in the words of CodeQL's
// queries and of code scanning.
func Precisions() []finding.Precision {
	return []finding.Precision{finding.PrecisionVeryHigh, finding.PrecisionHigh, finding.PrecisionMedium, finding.PrecisionLow}
}

// selects reports whether findings of a rule that have the precision p are reported.
func (c Config) selects(r *Rule, p finding.Precision) bool {
	switch {
	case slices.Contains(c.Off, r.ID):
		return false
	case len(c.Only) > 0:
		return slices.Contains(c.Only, r.ID)
	}
	return p.Rank() >= cmp.Or(c.MinPrecision, minPrecision).Rank() || slices.Contains(c.On, r.ID)
}

// Rules returns the rules as the configuration uses them, in a stable order. Each has the precision
// of the least precise of its forms that are used.
func (r *Reviewer) Rules() []Rule {
	var used []Rule
	for _, rule := range r.rules {
		one := *rule
		for _, p := range rule.forms {
			if r.config.selects(rule, p) && p.Rank() < one.Precision.Rank() {
				one.Precision = p
			}
		}
		if r.uses(rule) || one.Precision != rule.Precision {
			used = append(used, one)
		}
	}
	return used
}

// addForm notes that some of what a rule finds has the precision p.
func (r *Rule) addForm(p finding.Precision) {
	if !slices.Contains(r.forms, p) {
		r.forms = append(r.forms, p)
	}
}

// formPrecision returns the precision of a pattern: its own, otherwise its rule's. If it asks only
// that a value is built or changes, its rule's precision counts as medium at most: the value may be
// harmless, which only the callers show.
func (p *pattern) formPrecision() finding.Precision {
	switch {
	case p.Precision != "":
		return p.Precision
	case (p.Is == "built" || p.Is == "changing") && p.rule.Precision.Rank() > finding.PrecisionMedium.Rank():
		return finding.PrecisionMedium
	}
	return p.rule.Precision
}

// addForms notes the precisions that the findings of a pattern can have.
func (r *Rule) addForms(p *pattern) {
	r.addForm(p.form)
	if p.Certain != nil || p.Given {
		r.addForm(finding.PrecisionLow)
	}
	if p.asksForRequest() {
		r.addForm(finding.PrecisionMedium)
	}
}

// asksForRequest reports whether the findings of a pattern have their rule's precision only if a
// request sends the value as it is, and medium precision otherwise.
func (p *pattern) asksForRequest() bool {
	return p.Is != "" && p.Precision == "" && p.rule.Precision.Rank() > finding.PrecisionMedium.Rank()
}

// isReported reports whether the value x, in which a pattern finds something at the word at index
// i, becomes a finding. It does if the configuration selects the rule in one of these precisions:
//   - that of the pattern's form, or low if the value lacks what the pattern asks for in Certain or
//     Given;
//   - that of the rule, if something in the value comes from a request. This does not apply to a
//     pattern whose form has that precision, or which asks for input.
//
// Where asksForRequest is true, both count as medium at most, unless a request sends the value as it
// is: then the rule's own precision counts, too.
func (m *matcher) isReported(p *pattern, x extent, i int) bool {
	form := p.form
	if p.Certain != nil && !m.isCertain(p, x) || p.Given && !m.hasGiven(x) {
		form = finding.PrecisionLow
	}
	form = lower(form, p.asksForRequest())
	if m.selects(p.rule, form) {
		return true
	}
	sent := lower(p.rule.Precision, p.asksForRequest())
	if p.form != p.rule.Precision && p.Is != "input" && m.selects(p.rule, sent) && m.fromRequest(m.valueOf(x)) {
		return true
	}
	return p.asksForRequest() && m.selects(p.rule, p.rule.Precision) && m.isSentDirectly(p, x, i)
}

// lower returns p or, if isLowered is set, medium where p is higher.
func lower(p finding.Precision, isLowered bool) finding.Precision {
	if isLowered && p.Rank() > finding.PrecisionMedium.Rank() {
		return finding.PrecisionMedium
	}
	return p
}

// isSentDirectly reports whether a request sends a value as it is, and with literal text around it
// where the rule asks for that.
func (m *matcher) isSentDirectly(p *pattern, x extent, i int) bool {
	v := m.valueOf(x)
	return m.fromRequest(v) && (!p.rule.joined || v.literal) && m.isDirect(x, i)
}

var (
	// quotedText matches string literals, in which no name stands for a value.
	quotedText = lazyregexp.New(`"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'`)
	// looseName matches a name that is not a member, and the dot or bracket after it, if any.
	looseName = lazyregexp.New(`(?:^|[^\w.$])([A-Za-z_]\w*)(\s*[.(]?)`)
)

// hasGiven reports whether the origin of a value names a parameter itself. A parameter's member,
// or what a call of it returns, does not count, because it belongs to the program.
func (m *matcher) hasGiven(x extent) bool {
	origin := quotedText.ReplaceAllString(m.valueOf(x).origin, "")
	for _, name := range looseName.FindAllStringSubmatch(origin, -1) {
		if m.scope.isGiven(name[1]) && strings.TrimSpace(name[2]) == "" {
			return true
		}
	}
	return false
}

// isCertain reports whether a value matches a pattern's Certain.
func (m *matcher) isCertain(p *pattern, x extent) bool {
	v := m.valueOf(x)
	return p.Certain.MatchString(v.text) || p.Certain.MatchString(v.origin)
}
