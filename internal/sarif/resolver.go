package sarif

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// resolver makes one run's objects stand on their own, as code scanning wants
// them and so that runs can be merged: what an index refers to is inlined, or
// the index is the one in the merged run; paths are relative to the
// repository's root; messages are written out.
type resolver struct {
	*group
	artifacts, rules       []object
	logical, addresses     *shared
	steps                  *shared // the run's shared thread flow locations
	taxonomies, extensions *components
	bases, driver          object
	extensionIndex         []int // of each extension, in the merged run
	extensionRules         [][]object
	invocations, invoked   int // how many the merged run has, and this one

	current object // the result whose members are visited
	rule    ruleOf // its rule
	place   string // why the last location of it was left out
}

// enter implements visitor.
func (r *resolver) enter(typ string, o object) bool {
	switch typ {
	case "result":
		r.enterResult(o)
	case "artifactLocation":
		return r.artifactLocation(o)
	case "logicalLocation":
		r.inline(o, r.logical)
	case "address":
		r.inline(o, r.addresses)
	case "artifact":
		delete(o, "parentIndex")
		if _, ok := o["contents"]; ok { // whole files, which code scanning has of its own
			r.notes.add(RuleUnused, "contents", 1)
			delete(o, "contents")
		}
	case "invocation":
		r.invocation(o)
	case "webRequest", "webResponse", "graphTraversal", "graph":
		r.notes.add(RuleUnused, typ, 1)
		return false
	case "resultProvenance":
		r.offset(o, "invocationIndex", r.invoked, r.invocations)
	case "reportingDescriptorReference":
		return r.descriptorReference(o)
	case "toolComponentReference":
		return r.componentReference(o)
	}
	return true
}

// leave implements visitor.
func (r *resolver) leave(typ string, o object) bool {
	if t := types()[typ]; t != nil && typ != "run" && typ != "tool" && typ != "toolComponent" {
		for _, name := range t.unique {
			if l := list(o, name); len(l) > 1 {
				o[name] = withoutRepetitions(l)
			}
		}
	}
	switch typ {
	case "result":
		return r.leaveResult(o)
	case "physicalLocation":
		if region := child(o, "region"); region != nil {
			r.region(region)
		}
		return child(o, "artifactLocation") != nil
	case "location":
		return child(o, "physicalLocation") != nil
	case "message":
		return r.message(o)
	case "threadFlowLocation":
		return r.step(o)
	}
	return true
}

// invocation leaves of an invocation how it went. The rest, such as command
// lines, environment variables and accounts, tells about the machine, may hold
// secrets, and is read by nobody.
func (r *resolver) invocation(o object) {
	for _, name := range slices.Collect(maps.Keys(o)) {
		switch name {
		case "executionSuccessful", "startTimeUtc", "endTimeUtc", "exitCode", "exitCodeDescription",
			"toolExecutionNotifications", "toolConfigurationNotifications", "ruleConfigurationOverrides", "notificationConfigurationOverrides":
		default:
			r.notes.add(RuleMachine, name, 1)
			delete(o, name)
		}
	}
}

// artifactLocation makes a URI relative to the repository's root.
func (r *resolver) artifactLocation(o object) bool {
	uri, base := stringMember(o, "uri"), stringMember(o, "uriBaseId")
	if i, ok := index(o, "index", len(r.artifacts)); ok && uri == "" {
		location := child(r.artifacts[i], "location")
		uri, base = stringMember(location, "uri"), stringMember(location, "uriBaseId")
	}
	delete(o, "index")
	delete(o, "uriBaseId")
	path, err := RepoPath(r.resolveBase(uri, base), r.roots)
	if err != nil {
		r.place = err.Error()
		return false
	}
	before := len(stringMember(o, "uri"))
	uri = EncodePath(path)
	o["uri"] = uri
	return r.afford(len(uri) - before)
}

// resolveBase puts the URI that a base id stands for in front of a relative
// one. An id that is not explained, or whose name says that it is the source
// root, stands for the repository's root.
func (r *resolver) resolveBase(uri, base string) string {
	given := uri
	for range 8 {
		b := child(r.bases, base)
		prefix := stringMember(b, "uri")
		if base == "" || b == nil || prefix == "" && stringMember(b, "uriBaseId") == "" || hasScheme(uri) || strings.HasPrefix(uri, "/") {
			return uri
		}
		if isRootName(base) && (hasScheme(prefix) || strings.HasPrefix(prefix, "/")) {
			if _, err := RepoPath(prefix+"/x", r.roots); err != nil {
				return uri
			}
		}
		if prefix != "" {
			uri = strings.TrimSuffix(prefix, "/") + "/" + uri
		}
		if len(uri) > 4*maxPath {
			return uri // RepoPath refuses it
		}
		base = stringMember(b, "uriBaseId")
	}
	return given // the ids lead in a circle, and so nowhere
}

func isRootName(id string) bool { return strings.Contains(strings.ToUpper(id), "ROOT") }

// region gives a region a line, and takes an end away that is before its start.
func (r *resolver) region(o object) {
	start, ok := number(o, "startLine")
	mended := !ok || start < 1
	if mended {
		start = 1
		o["startLine"] = 1
		delete(o, "startColumn")
		delete(o, "endLine")
		delete(o, "endColumn")
	}
	end, hasEnd := number(o, "endLine")
	if hasEnd && end < start {
		mended = true
		delete(o, "endLine")
		delete(o, "endColumn")
		end, hasEnd = 0, false
	}
	from, ok1 := number(o, "startColumn")
	to, ok2 := number(o, "endColumn")
	if ok1 && ok2 && (!hasEnd || end == start) && to < from {
		mended = true
		delete(o, "endColumn")
	}
	if mended {
		r.notes.add(RuleRegions, "", 1)
	}
}

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

// shared are elements of a run that indexes refer to.
type shared struct {
	all   []object
	sizes []int // in bytes of JSON; 0 is not yet known
}

func newShared(l []any) *shared {
	all := objects(l)
	return &shared{all, make([]int, len(all))}
}

func (s *shared) size(i int) int {
	if s.sizes[i] == 0 {
		s.sizes[i] = len(encode(s.all[i]))
	}
	return s.sizes[i]
}

// inline puts the members of the element that o's index refers to into o,
// where o has none of its own.
func (r *resolver) inline(o object, elements *shared) {
	if i, has := number(o, "index"); has && i >= 0 {
		switch {
		case i >= len(elements.all):
			r.notes.add(RuleIndexes, "", 1)
		case r.afford(elements.size(i)):
			for k, v := range elements.all[i] {
				if _, have := o[k]; !have {
					o[k] = copyOf(v)
				}
			}
		}
	}
	delete(o, "index")
	delete(o, "parentIndex")
}

func copyOf(v any) any {
	switch v := v.(type) {
	case object:
		c := make(object, len(v))
		for k, e := range v {
			c[k] = copyOf(e)
		}
		return c
	case []any:
		c := make([]any, len(v))
		for i, e := range v {
			c[i] = copyOf(e)
		}
		return c
	}
	return v
}

// offset moves an index into a list that is joined to that of earlier runs.
func (r *resolver) offset(o object, name string, n, by int) {
	i, has := number(o, name)
	switch {
	case !has:
	case i >= 0 && i < n:
		o[name] = i + by
	default:
		delete(o, name)
		if i >= 0 {
			r.notes.add(RuleIndexes, "", 1)
		}
	}
}

// shareSteps takes the run's shared thread flow locations out of it.
func (r *resolver) shareSteps(run object) {
	r.steps = newShared(list(run, "threadFlowLocations"))
	delete(run, "threadFlowLocations")
	for i, s := range r.steps.all {
		delete(s, "index")
		if !types().walk("threadFlowLocation", s, r) {
			r.steps.all[i] = nil
		}
	}
}

// step writes a thread flow location out: code scanning does not follow
// indexes. One without a place in the repository is left out.
func (r *resolver) step(o object) bool {
	i, has := number(o, "index")
	delete(o, "index")
	switch {
	case !has || i < 0:
	case i >= len(r.steps.all):
		r.notes.add(RuleIndexes, "", 1)
	case r.afford(r.steps.size(i)):
		for k, v := range r.steps.all[i] {
			if _, have := o[k]; !have {
				o[k] = v
			}
		}
	}
	return child(o, "location") != nil
}

// afford takes what inlining adds from the budget.
func (r *resolver) afford(size int) bool {
	if size <= 0 {
		return true
	}
	if size > r.budget {
		r.notes.add(RuleUnused, "shared parts", 1)
		return false
	}
	r.budget -= size
	return true
}

// maxMessage bounds a message that is put together, in bytes.
const maxMessage = 16 << 10

// message writes a message out: from its id, and with its arguments. Markdown
// with arguments is left out, as the arguments were not cleaned as Markdown.
func (r *resolver) message(o object) bool {
	arguments := list(o, "arguments")
	s := stringMember(o, "text")
	if id := stringMember(o, "id"); id != "" && isBlank(s) {
		m := r.messageString(id)
		s = cmp.Or(upTo(stringMember(m, "text"), maxMessage), id)
		if md, have := stringMember(m, "markdown"), stringMember(o, "markdown"); md != "" && have == "" && r.afford(len(md)) {
			o["markdown"] = md
		}
	}
	if len(arguments) > 0 {
		s = fill(s, arguments)
		delete(o, "markdown")
	}
	if !r.afford(len(s) - len(stringMember(o, "text"))) {
		s, _ = cutText(s, maxDescription)
	}
	if isBlank(s) && r.current != nil {
		s = r.ruleText()
		r.notes.add(RuleMessages, "", 1)
	}
	delete(o, "id")
	delete(o, "arguments")
	o["text"] = s
	return !isBlank(s)
}

// isBlank looks at the start of a text only, so that a long one that is often
// referred to costs little.
func isBlank(s string) bool { return trim(upTo(s, maxMessage)) == "" }

// upTo cuts a text to at most most bytes.
func upTo(s string, most int) string {
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "")
}

// messageString looks an id up in the current result's rule and then in the tool.
func (r *resolver) messageString(id string) object {
	if r.current != nil {
		if m := child(child(r.descriptor(r.rule), "messageStrings"), id); m != nil {
			return m
		}
	}
	return child(child(r.driver, "globalMessageStrings"), id)
}

// fill puts arguments in the place of {0}, {1}, …; {{ and }} stand for braces.
func fill(s string, arguments []any) string {
	var b strings.Builder
	for i := 0; i < len(s) && b.Len() < maxMessage; i++ {
		c := s[i]
		if (c == '{' || c == '}') && i+1 < len(s) && s[i+1] == c {
			b.WriteByte(c)
			i++
			continue
		}
		if c == '{' {
			end := strings.IndexByte(s[i:min(len(s), i+8)], '}')
			if end > 0 {
				n, err := strconv.Atoi(s[i+1 : i+end])
				if err == nil && n >= 0 && n < len(arguments) {
					a, _ := arguments[n].(string)
					b.WriteString(a[:min(len(a), maxMessage)])
					i += end
					continue
				}
			}
		}
		b.WriteByte(c)
	}
	return strings.ToValidUTF8(b.String(), "")
}

// ruleText returns a text for a result that has none of its own.
func (r *resolver) ruleText() string {
	if s, known := r.ruleTexts[r.rule]; known {
		return s
	}
	rule := r.descriptor(r.rule)
	s := unnamedRule
	for _, t := range []string{stringMember(child(rule, "shortDescription"), "text"), stringMember(child(rule, "fullDescription"), "text"), stringMember(rule, "name"), stringMember(rule, "id")} {
		if !isBlank(t) {
			s, _ = cutText(trim(upTo(t, maxMessage)), maxDescription)
			break
		}
	}
	r.ruleTexts[r.rule] = s
	return s
}
