package sarif

import (
	"cmp"
	"encoding/json"
	"strconv"
	"strings"
)

// The longest texts of rules that code scanning takes, in characters.
const (
	maxRuleName    = 255
	maxDescription = 1024
	maxTags        = 10 // more are taken, up to 20, and then left out
)

// unnamedRule is the rule of results that name none.
const unnamedRule = "unnamed-rule"

// ruleTable holds the rules of a tool component, each id once.
type ruleTable struct {
	rules []object
	byID  map[string]int
}

func newRuleTable() ruleTable { return ruleTable{byID: map[string]int{}} }

// add returns the index of a rule, which is taken in or, where its id is known,
// adds what the known one lacks. A rule without an id has none.
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
	for k, v := range rule {
		if _, have := t.rules[i][k]; !have {
			t.rules[i][k] = v
		}
	}
	return i
}

// find returns the index of the rule that an id names: itself, or the one that
// a hierarchical id such as "R1/sub" belongs to; -1 for none.
func (t *ruleTable) find(id string) int {
	for id != "" {
		if i, ok := t.byID[id]; ok {
			return i
		}
		id = id[:max(0, strings.LastIndexByte(id, '/'))]
	}
	return -1
}

// list returns the rules, complete.
func (t *ruleTable) list(n notes) []any {
	all := make([]any, len(t.rules))
	for i, r := range t.rules {
		complete(r, n)
		all[i] = r
	}
	return all
}

// complete gives a rule all texts that code scanning shows, within its limits.
func complete(rule object, n notes) {
	id := stringMember(rule, "id")
	if trim(stringMember(rule, "name")) == "" {
		rule["name"] = id
	}
	short := trim(stringMember(child(rule, "shortDescription"), "text"))
	full := trim(stringMember(child(rule, "fullDescription"), "text"))
	help := trim(stringMember(child(rule, "help"), "text"))
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
		value, cut := cutText(value, most)
		if cut {
			lengths++
			delete(o, "markdown")
		}
		o["text"] = value
		rule[name] = o
	}
	set("shortDescription", short, maxDescription)
	set("fullDescription", full, maxDescription)
	set("help", help, len(help))
	if name, cut := cutText(stringMember(rule, "name"), maxRuleName); cut {
		rule["name"] = name
		lengths++
	}
	n.add(RuleLengths, "", lengths)
	completeProperties(child(rule, "properties"), n)
}

func completeProperties(p object, n notes) {
	if p == nil {
		return
	}
	if v, ok := p["security-severity"]; ok {
		s := ""
		switch v := v.(type) {
		case string:
			s = trim(v)
		case json.Number:
			s = string(v)
		}
		if _, ok := severityScore(s); ok {
			p["security-severity"] = s
		} else {
			delete(p, "security-severity")
			n.add(RuleSeverity, "", 1)
		}
	}
	tags := list(p, "tags")
	if len(tags) == 0 {
		return
	}
	// What code scanning acts on comes first, as it keeps only the first ones.
	var security, weaknesses, others []any
	for _, t := range withoutRepetitions(tags) {
		switch s, isText := t.(string); {
		case !isText:
		case s == "security":
			security = append(security, t)
		case strings.HasPrefix(s, "external/cwe/"):
			weaknesses = append(weaknesses, t)
		default:
			others = append(others, t)
		}
	}
	kept := append(append(security, weaknesses...), others...)
	if len(kept) > maxTags {
		n.add(RuleTags, "", len(kept)-maxTags)
		kept = kept[:maxTags]
		p["tags"] = kept
	} else if len(kept) < len(tags) {
		p["tags"] = kept
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

// cutText cuts s to at most most characters.
func cutText(s string, most int) (string, bool) {
	n, last := 0, 0
	for i := range s {
		switch n {
		case most - 1:
			last = i
		case most:
			return s[:last] + "…", true
		}
		n++
	}
	return s, false
}

func trim(s string) string { return strings.TrimSpace(s) }
