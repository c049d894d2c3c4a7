package sarif

import (
	"cmp"
	"strings"
)

// ruleOf is the rule of a result: of the driver, or of an extension.
type ruleOf struct {
	extension, index int // in the merged run; extension is -1 for the driver
}

// enterResult settles which rule a result is of. Its members that say so are
// taken out and set again, for the merged run, when it is left.
func (r *resolver) enterResult(o object) {
	ref := child(o, "rule")
	id := cmp.Or(stringMember(o, "ruleId"), stringMember(ref, "id"))
	at, hasIndex := number(o, "ruleIndex")
	if !hasIndex || at < 0 {
		at, hasIndex = number(ref, "index")
	}
	delete(o, "rule")
	delete(o, "ruleIndex")
	r.current, r.place = o, ""
	if e := r.extensions.find(child(ref, "toolComponent")); e >= 0 {
		merged := r.extensionIndex[e]
		table := &r.extensionTable[merged]
		if i := pick(r.extensionRules[e], table, at, hasIndex, id); i >= 0 {
			o["ruleId"] = r.ruleID(id, table.rules[i])
			r.rule = ruleOf{merged, i}
			return
		}
	}
	i := pick(r.rules, &r.group.rules, at, hasIndex, id)
	if i < 0 {
		if hasIndex && at >= 0 {
			r.notes.add(RuleIndexes, "", 1)
		}
		id = cmp.Or(id, unnamedRule)
		i = r.group.rules.add(object{"id": id})
	}
	o["ruleId"] = r.ruleID(id, r.group.rules.rules[i])
	r.rule = ruleOf{-1, i}
}

// ruleID returns a result's rule id: its own, or else its rule's.
func (r *resolver) ruleID(id string, rule object) string {
	if id == "" {
		if id = stringMember(rule, "id"); !r.afford(len(id)) {
			id = unnamedRule
		}
	}
	return id
}

// pick returns the index in table of the rule that an index in rules and an id
// name together. Where they disagree, the id is right.
func pick(rules []object, table *ruleTable, at int, hasIndex bool, id string) int {
	if hasIndex && at >= 0 && at < len(rules) {
		own := stringMember(rules[at], "id")
		if own != "" && (id == "" || id == own || strings.HasPrefix(id, own+"/")) {
			return table.find(own)
		}
	}
	return table.find(id)
}

// descriptor returns a rule's own object.
func (g *group) descriptor(r ruleOf) object {
	if r.extension >= 0 {
		return g.extensionTable[r.extension].rules[r.index]
	}
	return g.rules.rules[r.index]
}

// components are tool components that references name by index, name or GUID.
type components struct {
	all            []object
	byName, byGUID map[string]int
}

func newComponents(l []any) *components {
	c := &components{objects(l), map[string]int{}, map[string]int{}}
	for i, o := range c.all {
		if name := stringMember(o, "name"); name != "" {
			if _, taken := c.byName[name]; !taken {
				c.byName[name] = i
			}
		}
		if guid := stringMember(o, "guid"); guid != "" {
			c.byGUID[strings.ToLower(guid)] = i
		}
	}
	return c
}

// find returns which component a reference names; -1 for none of them, which
// stands for the driver.
func (c *components) find(ref object) int {
	if ref == nil {
		return -1
	}
	if i, ok := index(ref, "index", len(c.all)); ok {
		return i
	}
	if i, ok := c.byGUID[strings.ToLower(stringMember(ref, "guid"))]; ok {
		return i
	}
	if i, ok := c.byName[stringMember(ref, "name")]; ok {
		return i
	}
	return -1
}

// addExtension takes an extension in, unless an equal one is known.
func (g *group) addExtension(e object) int {
	key := string(encode(e))
	if i, known := g.extensionKeys[key]; known {
		return i
	}
	table := newRuleTable()
	for _, rule := range objects(list(e, "rules")) {
		table.add(rule)
	}
	g.extensionKeys[key] = len(g.extensions)
	g.extensions = append(g.extensions, e)
	g.extensionTable = append(g.extensionTable, table)
	return len(g.extensions) - 1
}

// descriptorReference makes a reference to a rule, notification or taxon go by
// id or GUID alone, so that it holds in the merged run.
func (r *resolver) descriptorReference(o object) bool {
	i, has := number(o, "index")
	delete(o, "index")
	if stringMember(o, "id") != "" || stringMember(o, "guid") != "" {
		return true
	}
	if !has || i < 0 {
		return false
	}
	ref := child(o, "toolComponent")
	holder := r.driver
	if t := r.taxonomies.find(ref); t >= 0 {
		holder = r.taxonomies.all[t]
	} else if e := r.extensions.find(ref); e >= 0 {
		holder = r.extensions.all[e]
	}
	for _, name := range []string{"taxa", "rules", "notifications"} {
		if l := list(holder, name); i < len(l) {
			if d, _ := l[i].(object); stringMember(d, "id") != "" {
				o["id"] = stringMember(d, "id")
				return r.afford(len(stringMember(d, "id")))
			}
		}
	}
	r.notes.add(RuleIndexes, "", 1)
	return false
}

// componentReference makes a reference to a tool component go by name or GUID.
func (r *resolver) componentReference(o object) bool {
	defer delete(o, "index")
	if stringMember(o, "name") != "" || stringMember(o, "guid") != "" {
		return true
	}
	for _, c := range []*components{r.taxonomies, r.extensions} {
		if i := c.find(o); i >= 0 && stringMember(c.all[i], "name") != "" {
			o["name"] = stringMember(c.all[i], "name")
			return r.afford(len(stringMember(o, "name")))
		}
	}
	return false
}

// leaveResult makes a result one that code scanning takes, or leaves it out.
func (r *resolver) leaveResult(o object) bool {
	r.current = nil
	locations := objects(list(o, "locations"))
	if len(locations) == 0 {
		r.group.reason = cmp.Or(r.place, "it has no location")
		r.notes.add(RulePaths, r.group.reason, 1)
		return false
	}
	for _, l := range locations {
		if physical := child(l, "physicalLocation"); child(physical, "region") == nil {
			physical["region"] = object{"startLine": 1}
		}
	}
	if r.rule.extension < 0 {
		o["ruleIndex"] = r.rule.index
	} else {
		o["rule"] = object{
			"id":            stringMember(r.descriptor(r.rule), "id"),
			"index":         r.rule.index,
			"toolComponent": object{"index": r.rule.extension},
		}
	}
	r.notes.add(RuleLocations, "", cutLocations(o))
	return true
}
