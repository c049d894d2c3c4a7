package sarif

import (
	"cmp"
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/agent-airlock/airlock/internal/text"
)

// resolver visits one run and makes its objects independent of the run, so that code scanning
// reads them and runs can be merged. It inlines the objects to which an index refers, or changes
// the index to that in the merged run. It makes paths relative to the repository's root, and
// gives messages their final text.
type resolver struct {
	*group // the merged run

	// What follows is of this run.
	artifacts              []object
	bases                  object  // the base ids of URIs
	logical, addresses     *shared // logical is short for logical locations
	steps                  *shared // thread flow locations
	driver                 object
	driverRules            []object
	taxonomies, extensions *components
	extensionIndex         []int      // the index of each extension in the merged run
	extensionRules         [][]object // the rules of each extension
	earlierInvocations     int        // how many invocations the merged run had before
	invocations            int        // how many invocations this run has

	current     object  // the result whose members are being visited
	rule        ruleRef // the rule of current
	badLocation string  // why the last location of current was left out
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
		if _, ok := o["contents"]; ok { // complete files, which code scanning reads from the repository
			r.notes.add(RuleUnused, "contents", 1)
			delete(o, "contents")
		}
	case "invocation":
		r.invocation(o)
	case "webRequest", "webResponse", "graphTraversal", "graph":
		r.notes.add(RuleUnused, typ, 1)
		return false
	case "resultProvenance":
		r.invocationIndex(o)
	case "notification":
		r.descriptorReference(child(o, "descriptor"), "notifications", "rules")
		r.descriptorReference(child(o, "associatedRule"), "rules")
	case "reportingDescriptorReference":
		return r.descriptorReference(o, "taxa", "rules", "notifications")
	case "toolComponentReference":
		return r.componentReference(o)
	}
	return true
}

// leave implements visitor.
func (r *resolver) leave(typ string, o object) bool {
	// In objects of these types, repetitions stay in the lists until runs are merged, because
	// indexes refer to the elements.
	hasIndexed := typ == "run" || typ == "tool" || typ == "toolComponent"
	if !hasIndexed {
		for _, name := range types()[typ].unique {
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

// invocation keeps only the members about the result of an invocation, and its overrides of the
// configuration of rules and notifications. It removes the others, such as command lines,
// environment variables and accounts, because they describe the machine, may contain secrets, and
// are not used.
func (r *resolver) invocation(o object) {
	for _, override := range objects(list(o, "ruleConfigurationOverrides")) {
		r.descriptorReference(child(override, "descriptor"), "rules")
	}
	for _, override := range objects(list(o, "notificationConfigurationOverrides")) {
		r.descriptorReference(child(override, "descriptor"), "notifications", "rules")
	}
	maps.DeleteFunc(o, func(name string, _ any) bool {
		switch name {
		case "executionSuccessful", "startTimeUtc", "endTimeUtc", "exitCode", "exitCodeDescription",
			"toolExecutionNotifications", "toolConfigurationNotifications", "ruleConfigurationOverrides", "notificationConfigurationOverrides":
			return false
		}
		r.notes.add(RuleMachine, name, 1)
		return true
	})
}

// artifactLocation makes a URI relative to the repository's root. It reports false if the URI
// does not name a file there, or the budget is too small for the path.
func (r *resolver) artifactLocation(o object) bool {
	uri, base := stringMember(o, "uri"), stringMember(o, "uriBaseId")
	if i, ok := index(o, len(r.artifacts)); ok && uri == "" {
		location := child(r.artifacts[i], "location")
		uri, base = stringMember(location, "uri"), stringMember(location, "uriBaseId")
	}
	delete(o, "index")
	delete(o, "uriBaseId")
	path, err := RepoPath(r.resolveBase(uri, base), r.roots)
	if err != nil {
		r.badLocation = err.Error()
		return false
	}
	before := len(stringMember(o, "uri"))
	uri = encodePath(path)
	o["uri"] = uri
	return r.spend(len(uri) - before)
}

// resolveBase prepends the URI of a base id to a relative URI. Two sorts of ids mean the
// repository's root: an id that is not defined, and an id whose name contains "root" and whose URI
// is absolute and outside of the repository.
func (r *resolver) resolveBase(uri, base string) string {
	given := uri
	for range 8 {
		definition := child(r.bases, base)
		prefix, next := stringMember(definition, "uri"), stringMember(definition, "uriBaseId")
		isDefined := base != "" && (prefix != "" || next != "")
		if !isDefined || isAbsolute(uri) {
			return uri
		}
		if isRootName(base) && isAbsolute(prefix) {
			// The root may be anywhere on the machine where the tool ran.
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
		base = next
	}
	return given // the ids are circular, or 8 or more depend on each other
}

// isAbsolute reports whether a URI has a scheme, or an absolute path in any form that RepoPath reads.
func isAbsolute(uri string) bool {
	_, isFile, err := FilePath(uri)
	return err == nil && isFile || errors.Is(err, errScheme) || errors.Is(err, errAbsolute)
}

func isRootName(id string) bool { return strings.Contains(strings.ToUpper(id), "ROOT") }

// region adds the line that a region lacks, and removes an end before its start.
func (r *resolver) region(o object) {
	start, ok := intMember(o, "startLine")
	repaired := !ok || start < 1
	if repaired {
		start = 1
		o["startLine"] = 1
		delete(o, "startColumn")
		delete(o, "endLine")
		delete(o, "endColumn")
	}
	end, hasEnd := intMember(o, "endLine")
	if hasEnd && end < start {
		repaired = true
		delete(o, "endLine")
		delete(o, "endColumn")
		hasEnd = false
	}
	from, hasFrom := intMember(o, "startColumn")
	to, hasTo := intMember(o, "endColumn")
	isOneLine := !hasEnd || end == start
	if isOneLine && hasFrom && hasTo && to < from {
		repaired = true
		delete(o, "endColumn")
	}
	if repaired {
		r.notes.add(RuleRegions, "", 1)
	}
}

// enterResult finds the rule of a result, or adds one if the tool does not describe it. It sets the
// result's ruleId, and removes its other members that refer to the rule. The group adds those again,
// for the merged run.
func (r *resolver) enterResult(o object) {
	ref := child(o, "rule")
	id := cmp.Or(stringMember(o, "ruleId"), stringMember(ref, "id"))
	ruleIndex, ok := intMember(o, "ruleIndex")
	if !ok || ruleIndex < 0 {
		ruleIndex, ok = intMember(ref, "index")
	}
	if !ok {
		ruleIndex = -1
	}
	delete(o, "rule")
	delete(o, "ruleIndex")
	r.current, r.badLocation = o, ""
	r.rule = ruleRef{-1, -1}
	if e := r.extensions.find(child(ref, "toolComponent")); e >= 0 {
		merged := r.extensionIndex[e]
		r.rule = ruleRef{merged, findRule(r.extensionRules[e], &r.extensionTable[merged], ruleIndex, id)}
	}
	if r.rule.index < 0 {
		r.rule = ruleRef{-1, findRule(r.driverRules, &r.rules, ruleIndex, id)}
	}
	if r.rule.index < 0 { // the tool does not describe it
		if ruleIndex >= 0 {
			r.notes.add(RuleIndexes, "", 1)
		}
		id = cmp.Or(id, unnamedRule)
		r.rule.index = r.rules.add(object{"id": id})
	}
	if id == "" {
		id = stringMember(r.descriptor(r.rule), "id")
		if !r.spend(len(id)) {
			id = unnamedRule
		}
	}
	o["ruleId"] = id
}

// findRule returns the index in table of the rule to which a result refers, and -1 if there is none.
// A result refers to it by an index in rules (-1: by none), by an id ("": by none), or by both. If
// they disagree, the id counts.
func findRule(rules []object, table *ruleTable, index int, id string) int {
	if index >= 0 && index < len(rules) {
		own := stringMember(rules[index], "id")
		if own != "" && (id == "" || id == own || strings.HasPrefix(id, own+"/")) {
			return table.find(own)
		}
	}
	return table.find(id)
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

// find returns the index of the component that a reference names, or -1 if it names none of them.
func (c *components) find(ref object) int {
	if ref == nil {
		return -1
	}
	if i, ok := index(ref, len(c.all)); ok {
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

// descriptorReference makes a reference to a rule, notification or taxon use an id or a GUID instead
// of an index, because indexes change in the merged run. members are the lists of a component that
// the index may be of, the most likely one first. It reports false if it finds none, or the budget is
// too small for it.
func (r *resolver) descriptorReference(o object, members ...string) bool {
	i, has := intMember(o, "index")
	delete(o, "index")
	ref := child(o, "toolComponent")
	component, found := r.component(ref, members[0] == "taxa")
	if !found {
		component = r.driver
	} else if !r.nameComponent(ref, component) {
		return false
	}
	if stringMember(o, "id") != "" || stringMember(o, "guid") != "" {
		return true
	}
	if !has || i < 0 {
		return false
	}
	for _, name := range members {
		if descriptors := list(component, name); i < len(descriptors) {
			descriptor, _ := descriptors[i].(object)
			if id := stringMember(descriptor, "id"); id != "" {
				o["id"] = id
				return r.spend(len(id))
			}
		}
	}
	r.notes.add(RuleIndexes, "", 1)
	return false
}

// component returns the taxonomy or extension that a reference names. An index may be of both:
// isTaxonomy is whether it is one of the taxonomies first.
func (r *resolver) component(ref object, isTaxonomy bool) (component object, found bool) {
	order := []*components{r.extensions, r.taxonomies}
	if isTaxonomy {
		slices.Reverse(order)
	}
	for _, c := range order {
		if i := c.find(ref); i >= 0 {
			return c.all[i], true
		}
	}
	return nil, false
}

// componentReference makes a reference to a tool component use a name or a GUID
// instead of an index. It reports false if it finds none, or the budget is too small for it.
func (r *resolver) componentReference(o object) bool {
	defer delete(o, "index")
	if stringMember(o, "name") != "" || stringMember(o, "guid") != "" {
		return true
	}
	component, found := r.component(o, true)
	return found && r.nameComponent(o, component)
}

// nameComponent lets a reference have the name of its component, unless it has a name or a GUID. It
// reports false if the component has no name, or the budget is too small for it.
func (r *resolver) nameComponent(ref, component object) bool {
	if stringMember(ref, "name") != "" || stringMember(ref, "guid") != "" {
		return true
	}
	name := stringMember(component, "name")
	if name == "" {
		return false
	}
	ref["name"] = name
	return r.spend(len(name))
}

// leaveResult reports whether code scanning can show a result, and completes it.
func (r *resolver) leaveResult(o object) bool {
	r.current = nil
	locations := objects(list(o, "locations"))
	if len(locations) == 0 {
		r.reason = cmp.Or(r.badLocation, "it has no location")
		r.notes.add(RulePaths, r.reason, 1)
		return false
	}
	for _, l := range locations {
		if physical := child(l, "physicalLocation"); child(physical, "region") == nil {
			physical["region"] = object{"startLine": 1}
		}
	}
	r.notes.add(RuleLocations, "", cutLocations(o))
	return true
}

// shared are elements of a run that indexes refer to.
type shared struct {
	all   []object
	sizes []int // in bytes of JSON; 0 if not yet known
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

// element returns the element that o's index refers to, or nil if there is none or the
// budget is too small for it.
func (r *resolver) element(o object, elements *shared) object {
	i, has := intMember(o, "index")
	switch {
	case !has || i < 0:
	case i >= len(elements.all):
		r.notes.add(RuleIndexes, "", 1)
	case r.spend(elements.size(i)):
		return elements.all[i]
	}
	return nil
}

// inline replaces o's index by the element that it refers to: it copies the element's
// members that o lacks.
func (r *resolver) inline(o object, elements *shared) {
	addMissing(o, copyOf(r.element(o, elements)).(object))
	delete(o, "index")
	delete(o, "parentIndex")
}

// addMissing adds to o the members of source that o lacks.
func addMissing(o, source object) {
	for name, v := range source {
		if _, have := o[name]; !have {
			o[name] = v
		}
	}
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

// invocationIndex changes an index of an invocation to that in the merged run.
func (r *resolver) invocationIndex(o object) {
	const name = "invocationIndex"
	i, has := intMember(o, name)
	switch {
	case !has:
	case i >= 0 && i < r.invocations:
		o[name] = r.earlierInvocations + i
	default:
		delete(o, name)
		if i >= 0 {
			r.notes.add(RuleIndexes, "", 1)
		}
	}
}

// shareSteps moves the thread flow locations that the run shares to the resolver.
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

// step completes a thread flow location, because code scanning does not follow
// indexes, and reports whether it has a location in the repository.
func (r *resolver) step(o object) bool {
	addMissing(o, r.element(o, r.steps)) // no copies, because shareSteps has visited them and nobody changes them now
	delete(o, "index")
	return child(o, "location") != nil
}

// spend subtracts the size of an inlined part from the budget, and reports whether the budget
// was large enough.
func (r *resolver) spend(size int) bool {
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

// maxMessage is the greatest length of a part of a composed message, in bytes. A message of that
// length gets no further part.
const maxMessage = 16 << 10

// message gives a message the text of its id, with its arguments, and reports whether it has
// a text then. In a result, a message without a text gets that of the rule. Markdown with arguments
// is left out, because the arguments were not cleaned as Markdown.
func (r *resolver) message(o object) bool {
	arguments := list(o, "arguments")
	s := stringMember(o, "text")
	if id := stringMember(o, "id"); id != "" && startsBlank(s) {
		template := r.messageString(id)
		s = cmp.Or(upTo(stringMember(template, "text"), maxMessage), id)
		markdown := stringMember(template, "markdown")
		isMissing := stringMember(o, "markdown") == ""
		if markdown != "" && isMissing && r.spend(len(markdown)) {
			o["markdown"] = markdown
		}
	}
	if len(arguments) > 0 {
		s = fill(s, arguments)
		delete(o, "markdown")
	}
	if !r.spend(len(s) - len(stringMember(o, "text"))) {
		s, _ = limit(s, maxDescription)
	}
	if startsBlank(s) && r.current != nil {
		s = r.ruleText()
		r.notes.add(RuleMessages, "", 1)
	}
	delete(o, "id")
	delete(o, "arguments")
	o["text"] = s
	return !startsBlank(s)
}

// startsBlank reports whether the part of a text that fits into a message is blank. It
// does not read the rest, because many results may refer to one long text.
func startsBlank(s string) bool { return text.IsBlank(upTo(s, maxMessage)) }

// upTo returns the first n bytes of a text without a cut character.
func upTo(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "")
}

// messageString looks up an id in the rule of the current result, then in the tool.
func (r *resolver) messageString(id string) object {
	if r.current != nil {
		if m := child(child(r.descriptor(r.rule), "messageStrings"), id); m != nil {
			return m
		}
	}
	return child(child(r.driver, "globalMessageStrings"), id)
}

// fill replaces {0}, {1}, … with arguments, and {{ and }} with braces.
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

// ruleText returns a text of the current result's rule, for a message without one.
func (r *resolver) ruleText() string {
	if s, known := r.ruleTexts[r.rule]; known {
		return s
	}
	rule := r.descriptor(r.rule)
	s := unnamedRule
	for _, t := range []string{
		stringMember(child(rule, "shortDescription"), "text"),
		stringMember(child(rule, "fullDescription"), "text"),
		stringMember(rule, "name"),
		stringMember(rule, "id"),
	} {
		if !startsBlank(t) {
			s, _ = limit(strings.TrimSpace(upTo(t, maxMessage)), maxDescription)
			break
		}
	}
	r.ruleTexts[r.rule] = s
	return s
}
