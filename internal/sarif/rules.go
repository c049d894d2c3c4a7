package sarif

import (
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/agent-airlock/airlock/internal/text"
)

// The limits of code scanning for rules; those of texts are in characters.
const (
	maxRuleName    = 255
	maxDescription = 1024
	maxTags        = 10 // code scanning takes up to 20, but keeps ten
)

// unnamedRule is the rule of results without one.
const unnamedRule = "unnamed-rule"

// ruleTable contains the rules of a tool component, each id once.
type ruleTable struct {
	rules []object
	byID  map[string]int
}

func newRuleTable() ruleTable { return ruleTable{byID: map[string]int{}} }

// add adds a rule and returns its index. If the table has a rule with the same id, the
// new rule's members complete it. A rule without an id is not added; its index is -1.
func (t *ruleTable) add(rule object) int {
	id := stringMember(rule, "id")
	if id == "" {
		return -1
	}
	i, known := t.byID[id]
	if !known {
		t.byID[id] = len(t.rules)
		t.rules = append(t.rules, rule)
		return len(t.rules) - 1
	}
	addMissing(t.rules[i], rule)
	return i
}

// find returns the index of the rule with that id, otherwise of the one that a
// hierarchical id such as "R1/sub" belongs to, otherwise -1.
func (t *ruleTable) find(id string) int {
	for id != "" {
		if i, ok := t.byID[id]; ok {
			return i
		}
		id = id[:max(0, strings.LastIndexByte(id, '/'))]
	}
	return -1
}

// complete completes the rules and returns them.
func (t *ruleTable) complete(n notes) []any {
	all := make([]any, len(t.rules))
	for i, r := range t.rules {
		completeRule(r, n)
		all[i] = r
	}
	return all
}

// completeRule adds the texts that code scanning shows and the rule lacks. It cuts texts and tags to
// code scanning's limits, and removes a severity that is not valid.
func completeRule(rule object, n notes) {
	id := stringMember(rule, "id")
	if strings.TrimSpace(stringMember(rule, "name")) == "" {
		rule["name"] = id
	}
	short := strings.TrimSpace(stringMember(child(rule, "shortDescription"), "text"))
	full := strings.TrimSpace(stringMember(child(rule, "fullDescription"), "text"))
	help := strings.TrimSpace(stringMember(child(rule, "help"), "text"))
	if short == "" || full == "" || help == "" {
		n.add(RuleDescriptions, "", 1)
		short = cmp.Or(short, full, stringMember(rule, "name"), id)
		full = cmp.Or(full, short)
		help = cmp.Or(help, full)
	}
	lengths := 0
	set := func(name, value string, most int) {
		o := child(rule, name)
		if o == nil {
			o = object{}
		}
		value, cut := limit(value, most)
		if cut {
			lengths++
			delete(o, "markdown")
		}
		o["text"] = value
		rule[name] = o
	}
	set("shortDescription", short, maxDescription)
	set("fullDescription", full, maxDescription)
	set("help", help, len(help)) // without a limit
	if name, cut := limit(stringMember(rule, "name"), maxRuleName); cut {
		rule["name"] = name
		lengths++
	}
	n.add(RuleLengths, "", lengths)
	if properties := child(rule, "properties"); properties != nil {
		checkSeverity(properties, n)
		cutTags(properties, n)
	}
}

// checkSeverity makes the security-severity of a rule's properties a text, and removes it if
// it is not valid.
func checkSeverity(properties object, n notes) {
	v, ok := properties["security-severity"]
	if !ok {
		return
	}
	s := ""
	switch v := v.(type) {
	case string:
		s = strings.TrimSpace(v)
	case json.Number:
		s = string(v)
	}
	if _, ok := severityScore(s); ok {
		properties["security-severity"] = s
	} else {
		delete(properties, "security-severity")
		n.add(RuleSeverity, "", 1)
	}
}

// cutTags removes tags that are repeated, not texts or beyond the limit from a rule's properties. If
// it removes any, the tags that code scanning uses come first, so that they stay.
func cutTags(properties object, n notes) {
	tags := list(properties, "tags")
	if len(tags) == 0 {
		return
	}
	var security, weaknesses, others []any
	for _, t := range withoutRepetitions(tags) {
		switch s, isString := t.(string); {
		case !isString:
		case s == "security":
			security = append(security, t)
		case strings.HasPrefix(s, "external/cwe/"):
			weaknesses = append(weaknesses, t)
		default:
			others = append(others, t)
		}
	}
	kept := slices.Concat(security, weaknesses, others)
	if len(kept) > maxTags {
		n.add(RuleTags, "", len(kept)-maxTags)
		kept = kept[:maxTags]
	}
	if len(kept) < len(tags) {
		properties["tags"] = kept
	}
}

// severityScore reads a security-severity: a number from 0 to 10.
func severityScore(s string) (float64, bool) {
	if len(s) > 20 || strings.Trim(s, "0123456789.") != "" {
		return 0, false
	}
	f, err := strconv.ParseFloat(s, 64)
	return f, err == nil && f >= 0 && f <= 10
}

// limit returns s if it has at most n characters, otherwise its first n-1 followed
// by "…".
func limit(s string, n int) (limited string, cut bool) {
	if text.Truncate(s, n) == s {
		return s, false
	}
	return text.Truncate(s, n-1), true
}
