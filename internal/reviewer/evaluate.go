package reviewer

import (
	"slices"
	"strings"

	"github.com/agent-airlock/airlock/internal/lazyregexp"
)

// evaluator finds the values of expressions, in the order of the file: see value.go.
type evaluator struct {
	*source
	pack     *pack
	scope    *scopes
	imported wordSet         // the packages of a file of Go, or the names that one of Python imports, once they are read
	hasEnums bool            // a file of Python has enumerations; unknown before pythonNames is called
	choosers map[string]bool // the functions of the file, once they are read: see isChooser
}

// valueOf returns the value of an expression, with its own source as a part of its origin, unless it
// looks something up.
func (e *evaluator) valueOf(x extent) value {
	v := e.evaluate(x, 0)
	v.text = v.text[:min(len(v.text), 2*longestText)] // a name that has it may stand in the next value, and so on
	if !e.looksUp(x) {
		v.addOrigin(e.scope.withoutNamesakes(e.sourceWithoutIndexes(e.upToFunction(x))))
	}
	return v
}

// looksUp reports whether an expression asks for something that the program has stored, such as
// User.find(params[:id]). The request chooses the object, and does not write its content.
func (e *evaluator) looksUp(x extent) bool {
	return e.anyAtLevel(extent{x.from, min(x.to, x.from+longestExpression)}, func(i int) bool {
		return e.isWord(i) && (e.isLookup(e.written(i)) && (e.isOneOf(i+1, "(", "!") || e.lang.ruby && e.isOneOf(i+1, "{", "do")) || e.asksObject(i))
	})
}

// isLookup reports whether a function returns something that the program has stored. The pack lists
// the function, or its name says how it finds the result, as FileByUID and find_user_by_name do.
func (e *evaluator) isLookup(name string) bool {
	if e.pack.Lookups[name] || strings.Contains(name, "_by_") {
		return true
	}
	i := strings.Index(name, "By")
	return i > 0 && i+2 < len(name) && 'A' <= name[i+2] && name[i+2] <= 'Z'
}

// asksObject reports whether the word at index i is a method that takes an argument and returns
// something that an object of the program has, such as h.images.GetLogo(c.Param("id")). The object
// is a member of another one. It does not have a type's name, except in Go, and is not a part of a
// request.
func (e *evaluator) asksObject(i int) bool {
	if !e.is(i+1, "(") || e.after(i+1) <= i+3 || !e.is(i-1, ".") || !e.isWord(i-2) || !e.is(i-3, ".") || isTypeName(e.written(i-2)) && e.lang.name != "go" {
		return false
	}
	start := e.chainStart(i)
	return returnsOwn.MatchString(e.written(i)) && !e.pack.Inputs.MatchString(e.sourceText(extent{start, i + 2}))
}

// returnsOwn matches names of methods that return what an object has.
var returnsOwn = lazyregexp.New(`^([gG]et|[fF]ind|[lL]oad|[fF]etch|[lL]ookup)[A-Z]`)

// upToFunction cuts an extent where a function begins in it: the value of a handler does not
// depend on what its body reads.
func (e *evaluator) upToFunction(x extent) extent {
	for i := x.from; i < min(x.to, x.from+longestExpression, len(e.tokens)); i++ {
		if e.is(i, "=>") || e.tokens[i].kind == word && slices.Contains(e.lang.functions, e.written(i)) {
			x.to = i
		}
	}
	return x
}

// sourceWithoutIndexes returns the source of an extent without its indexes, which only choose an
// element: "pages" of pages[request.name].
func (e *evaluator) sourceWithoutIndexes(x extent) string {
	var b strings.Builder
	from := x.from
	for i := x.from + 1; i < min(x.to, x.from+longestExpression, len(e.tokens)); i++ {
		if end := e.after(i); e.isIndex(i, end) && end <= x.to {
			b.WriteString(e.sourceText(extent{from, i}))
			from, i = end, end-1
		}
	}
	if from == x.from {
		return e.sourceText(x)
	}
	b.WriteString(e.sourceText(extent{from, x.to}))
	return b.String()
}

// isIndex reports whether the group of tokens from index i to end is an index by a
// name: the [b.c] of a[b.c].
func (e *evaluator) isIndex(i, end int) bool {
	return e.is(i, "[") && (e.isWord(i-1) || e.kindAt(i-1) == closing) && e.tokens[i].start == e.tokens[i-1].end && // not "in [a]"
		e.isWord(i+1) && e.is(end-1, "]")
}

var (
	// rubyBranches begin a Ruby value that one of several branches gives: x = if a …
	rubyBranches = wordSetOf("if unless case begin while until")
	// rubyModifiers end a value in Ruby: x = a if b.
	rubyModifiers = wordSetOf("if unless while until do then rescue and or")
	// comparisons are operators whose result is a number or a truth value. In JavaScript and Ruby,
	// && gives one of its operands.
	comparisons = wordSetOf("== === != !== < > <= >= - * / &&")
	// valuePrefixes are words before an operand that do not change its value.
	valuePrefixes = wordSetOf("await new return")
	// placeholders stand in a query for its parameters.
	placeholders = wordSetOf("? %s $")
	// commandSigns separate commands.
	commandSigns = wordSetOf("&& || ; |")
)

// evaluate returns the value of an expression: operands that operators join.
func (e *evaluator) evaluate(x extent, depth int) value {
	if depth > deepestValue || x.to-x.from > longestValue {
		return unknown()
	}
	if e.choosesLiteral(x) {
		return harmless()
	}
	if e.lang.ruby && x.from < x.to && rubyBranches[e.written(x.from)] {
		return unknown()
	}
	var v value
	for i := x.from; i < x.to; {
		sign, rest := e.written(i), extent{i + 1, x.to}
		isOperator, isWord, isFirst := e.tokens[i].kind == operator, e.tokens[i].kind == word, i == x.from
		switch {
		case isOperator && isFirst: // !a
			i++
		case isWord && !isFirst && e.lang.ruby && rubyModifiers[sign]: // a if b
			if sign == "if" && e.isListed(extent{x.from, i}, rest) {
				return harmless()
			}
			return v
		case isWord && !isFirst && e.lang.name == "javascript" && (sign == "as" || sign == "satisfies"): // a as string
			return v
		case isWord && !isFirst && e.lang.name == "python" && sign == "if": // a if b else c
			yes, no := e.split(x, "else")
			yes, asked := e.split(yes, "if")
			return e.choice(asked, yes, no, depth)
		case isOperator && sign == "?" && e.lang.name != "rust": // a ? b : c
			yes, no := e.split(rest, ":")
			return e.choice(extent{x.from, i}, yes, no, depth)
		case isOperator && sign == "%" && v.literal && (e.lang.name == "python" || e.lang.ruby): // "a %s" % b
			return e.fillFormat(v, rest, false, depth)
		case isOperator && sign == "%" && e.lang.name != "python" && !e.lang.ruby: // a % 60
			return harmless()
		case isOperator && (sign == "||" || sign == "??"), sign == "or" && e.lang.name == "python" && !isFirst && !v.changing: // a || b
			return e.fallback(v, rest, depth)
		case isOperator && comparisons[sign]: // a == b
			if _, choices := e.split(rest, "?"); choices.from < choices.to && e.lang.name != "rust" { // a == b ? c : d
				yes, no := e.split(choices, ":")
				return e.choice(extent{x.from, choices.from - 1}, yes, no, depth)
			}
			if e.lang.name == "javascript" || e.lang.ruby { // a == b && c
				if _, last := e.split(extent{i, x.to}, "&&"); last.from < last.to {
					return e.evaluate(last, depth+1)
				}
			}
			return harmless()
		case isOperator || isWord && valuePrefixes[sign]: // a + b, await a
			i++
		default:
			var more value
			more, i = e.operand(i, x.to, depth)
			v.add(more)
		}
	}
	return v
}

// split returns what stands before and after the first separator of an extent, at the
// extent's own level. Without one, after is empty.
func (e *evaluator) split(x extent, separator string) (before, after extent) {
	i := x.from
	for i < x.to && e.written(i) != separator {
		i = e.after(i)
	}
	return extent{x.from, min(i, x.to)}, extent{min(i+1, x.to), x.to}
}

// choice returns the value of a choice between two expressions, as in asked ? yes : no. It is the
// value of the first, except in two cases: the condition asks whether the first is in a list, or
// the second changes and the first is not built.
func (e *evaluator) choice(asked, yes, no extent, depth int) value {
	second := e.evaluate(no, depth+1)
	if e.isListed(yes, asked) {
		return second
	}
	first := e.evaluate(yes, depth+1)
	if second.changing && !first.built() {
		return second
	}
	return first
}

// isListed reports whether a condition asks whether a list of the program has the value of an
// expression, as in LIST.include?(a) ? a : "b" and a if a in LIST else "b". Where the condition is
// true, the value is one of the list.
func (e *evaluator) isListed(x, asked extent) bool {
	if x.to <= x.from || x.to-x.from > longestExpression || asked.to-asked.from > longestExpression || e.is(asked.from, "!") || e.is(asked.from, "not") {
		return false
	}
	wanted := e.sourceText(e.withoutType(x))
	return e.any(asked, func(i int) bool {
		switch {
		case e.lang.name == "python" && e.is(i, "in"):
			return !e.is(i-1, "not") && e.sourceText(extent{asked.from, i}) == wanted && !e.any(extent{i, asked.to}, func(j int) bool { return e.isOneOf(j, "and", "or") })
		case e.isWord(i) && e.is(i+1, "(") && e.is(i-1, "."):
			name := strings.TrimSuffix(e.written(i), "?")
			return (listing[e.written(i)] || listing[name+"?"] && e.lang.ruby) && e.sourceText(e.withoutType(e.inside(i+1))) == wanted && e.after(i+1) >= asked.to
		}
		return false
	})
}

// fallback returns the value of first || rest. Of the two values it prefers the one that is built,
// then the one that changes. The result has the origins of both.
func (e *evaluator) fallback(first value, rest extent, depth int) value {
	second := e.evaluate(rest, depth+1)
	if first.built() || first.changing && !second.built() {
		first.addOrigin(second.origin)
		return first
	}
	second.addOrigin(first.origin)
	return second
}

// operand returns the value of one operand, with the members, calls and indexes that hang on it:
// all of `a.b(c)[d]`. next is the index of the token after it.
func (e *evaluator) operand(i, end, depth int) (v value, next int) {
	switch e.tokens[i].kind {
	case closing, operator:
		return unknown(), i + 1
	}
	if e.isJoinedArray(i) {
		return e.joinedArray(i, end, depth)
	}
	start := i
	v, name, i := e.primary(i, end, depth)
	for i < end {
		v = e.asFound(v, extent{start, i})
		switch {
		case e.isOneOf(i, ".", "?.", "::") && e.isWord(i+1) && i+1 < end:
			member := e.written(i + 1)
			isEnvironment := i == start+3 && e.isSequence(start, "process", ".", "env") // whoever starts the program sets process.env.NAME
			if isEnvironment || i == start+1 && e.isPackageMember(i+1) {
				v, name = value{text: member}, member
			} else {
				v, name = e.memberValue(v, name, member), member
			}
			i += 2
		case e.is(i, "!") && e.lang.name == "rust" && e.isOneOf(i+1, "(", "["): // format!(a)
			i++
		case e.isOneOf(i-1, "parse", "collect") && e.afterTypes(i) > 0 && e.is(e.afterTypes(i), "("): // a.parse::<T>()
			open := e.afterTypes(i)
			if e.is(i-1, "parse") {
				v = e.parsed(v, start, open)
			}
			i = e.after(open)
		case e.is(i, "(") && e.is(i-1, "parse") && e.lang.name == "rust" && i == e.after(i)-2: // a.parse()
			v = e.parsed(v, start, i)
			i = e.after(i)
		case e.is(i, "(") && (i == start+1 || i == start+3 && e.isOneOf(start, "self", "this")) && e.isChooser(name): // column(a)
			v = harmless()
			i = e.after(i)
		case e.is(i, "(") && e.kindAt(i-1) != stringText:
			v = e.callValue(v, name, start, i, depth)
			i = e.after(i)
		case e.is(i, "["):
			if e.lang.ruby && e.isKeyIndex(i) && !strings.Contains(v.origin, requestMark) && !e.pack.Inputs.MatchString(e.sourceText(extent{start, e.after(i)})) {
				v = harmless() // row["id"]
			}
			if !v.changing { // an element of a constant list
				v.origin = ""
			}
			i = e.after(i)
		default:
			return v, i
		}
	}
	i = min(i, end)
	return e.asFound(v, extent{start, i}), i
}

// isKeyIndex reports whether the bracket at index i contains the name of a key of records, such as
// "id".
func (e *evaluator) isKeyIndex(i int) bool {
	literal, ok := e.plainLiteral(e.inside(i))
	if !ok {
		return e.is(i+1, ":") && e.is(i+2, "id") && e.is(i+3, "]")
	}
	name := e.content(literal)
	return name == "id" || strings.HasSuffix(name, "_id")
}

// primary returns the value of what an operand begins with, its name if it is a name, and
// the index of the token after it.
func (e *evaluator) primary(i, end, depth int) (v value, name string, next int) {
	next = e.after(i)
	if end := e.goTable(i); end > 0 {
		return constantTable(), "", end
	}
	switch kind := e.tokens[i].kind; {
	case kind == stringText:
		return e.stringLiteral(i), "", next
	case kind == number:
		return value{text: e.written(i)}, "", next
	case kind == word && e.pack.Tags[e.written(i)] && i+1 < end && strings.HasPrefix(e.written(i+1), "`"):
		return e.template(i+1, true, depth), "", e.after(i + 1)
	case kind == word:
		name = e.written(i)
		return e.scope.value(name), name, next
	case e.opensString(i):
		return e.template(i, false, depth), "", next
	case e.is(i, "("):
		return e.evaluate(e.inside(i), depth+1), "", next
	}
	if e.lang.name == "go" && e.listBrace(i) > 0 { // []string{"a", "b"}
		i = e.listBrace(i)
		next = e.after(i)
	}
	switch list := e.inside(i); {
	case e.isTable(list):
		return constantTable(), "", next
	case e.isConstantList(list):
		return harmless(), "", next
	}
	return e.listValue(e.arguments(i), depth), "", next
}

// listValue returns the value of a list, which comes from where its elements do. In Python its text
// begins with its first element, the program of a command. In JavaScript an object with a query and its
// parameters has the value of the query: { text: "SELECT a WHERE b = $1", values: [c] }.
func (e *evaluator) listValue(list []argument, depth int) value {
	if i := slices.IndexFunc(list, func(a argument) bool { return a.name == "text" || a.name == "sql" }); i >= 0 && e.lang.name == "javascript" {
		return e.evaluate(list[i].extent, depth+1)
	}
	v := e.unknownFromAll(list)
	if e.lang.name == "python" && len(list) > 0 && list[0].name == "" && list[0].to == list[0].from+1 {
		v.text = e.evaluate(list[0].extent, depth+1).text + hole
	}
	return v
}

// isConstantList reports whether a list has no name in it: ["a", 1].
func (e *evaluator) isConstantList(x extent) bool {
	return x.to-x.from < longestExpression && !e.any(x, e.isWord)
}

// isJoinedArray reports whether the token at index i begins [a, b].join(" ").
func (e *evaluator) isJoinedArray(i int) bool {
	return e.is(i, "[") && e.isSequence(e.after(i), ".", "join") && (e.lang.name != "go" || e.listBrace(i) == 0)
}

// joinedArray returns the value of [a, b].join(" "), which is that of all its elements.
func (e *evaluator) joinedArray(i, end, depth int) (v value, next int) {
	for _, a := range e.arguments(i) {
		v.add(e.evaluate(a.extent, depth+1))
	}
	bracket := e.after(i) + 2 // after .join
	if bracket >= len(e.tokens) {
		return v, end
	}
	return v, min(e.after(bracket), end)
}

// stringLiteral returns the value of a string literal. A here-document may have holes.
func (e *evaluator) stringLiteral(i int) value {
	v := literalText(e.content(i))
	if e.lang.ruby && strings.Contains(v.text, "#{") && strings.HasPrefix(e.written(i), "<<") && !strings.Contains(e.written(i), "'") {
		v.text, v.changing = fillHoles(v.text)
	}
	return v
}

// template returns the value of a string with holes: `a ${b}`. The holes are harmless after a tag
// that escapes their values, as in html`a ${b}`. An exception is a hole with a function whose name
// says that it does not escape, as in html`a ${raw(b)}`.
func (e *evaluator) template(i int, isEscaped bool, depth int) value {
	if e.tokens[i].kind == stringText {
		return e.stringLiteral(i)
	}
	var v value
	for j := i + 1; j < e.after(i)-1; j = e.after(j) {
		switch {
		case e.tokens[j].kind == stringText:
			v.add(literalText(e.content(j)))
		case isEscaped && !letsThrough(e.written(j+1)):
			v.add(harmless())
		default:
			v.add(e.evaluate(e.inside(j), depth+1))
		}
	}
	return v
}

// letsThrough reports whether a function's name shows that it does not escape: htmlRaw, unsafeHTML.
func letsThrough(name string) bool {
	name = strings.ToLower(name)
	return strings.Contains(name, "raw") || strings.Contains(name, "unsafe")
}

// memberValue returns the value of a member of an owner, which has a value and a name.
func (e *evaluator) memberValue(owner value, ownerName, member string) value {
	switch {
	case e.isHarmlessMember(ownerName, member):
		return harmless()
	case e.lang.name == "python" && member == "value" && ownerName != "" && 'A' <= ownerName[0] && ownerName[0] <= 'Z' && e.pythonNames().hasEnums: // Sort(a).value
		return harmless()
	case e.lang.name == "python" && isConstantName(member) && e.importsModule(ownerName): // settings.DIGEST
		return value{text: member}
	case e.lang.ruby && ownerName == "Rails": // where the program is, and how it was started
		return harmless()
	case isConstantName(member) && (!owner.changing || isTypeName(ownerName)): // Table.NAME
		return value{text: member}
	case owner == harmless(), owner.table: // a moment's year
		return owner
	case isOwnName(member):
		return ownFrom(owner.origin)
	case e.lang.name == "javascript" && isMarkupName(member):
		return markupFrom(owner.origin)
	case owner.literal, member == "join": // "a".format: the call decides
		return owner
	case e.lang.ruby && e.pack.Keeps[member] && !owner.changing: // a.to_i.to_s
		return owner
	case e.lang.name == "rust" && ownerName == "self", e.lang.name == "python" && (ownerName == "self" || owner.text == hole+ownMark): // self.table
		return ownFrom(owner.origin)
	}
	return unknownFrom(owner.origin)
}

// importsModule reports whether Python code imports a name, which is then taken for a module of the
// program: import config. The name request does not count.
func (e *evaluator) importsModule(name string) bool {
	return name != "" && name != "request" && e.pythonNames().imported[name]
}

// pythonNames reads imported and hasEnums of a file of Python, if they were not read yet, and returns
// the evaluator.
func (e *evaluator) pythonNames() *evaluator {
	if e.imported == nil {
		e.imported, e.hasEnums = wordSet{}, strings.Contains(e.text, "Enum")
		eachAfter(e.text, "import ", func(begin int) {
			end := begin
			for end < len(e.text) && isNamePart(e.text[end]) {
				end++
			}
			e.imported[e.text[begin:end]] = true
		})
	}
	return e
}

// isHarmlessMember reports whether a member is a number or a name that the program gave: a.length,
// self.class.name. In Ruby, it may also be a record's key, such as user.id, or a method that the
// pack lists as clean, such as a.shellescape.
func (e *evaluator) isHarmlessMember(ownerName, member string) bool {
	switch {
	case member == "length", member == "size", member == "__name__", member == "name" && ownerName == "__class__", len(member) > 1 && numericNames[member]:
		return true
	case e.lang.ruby:
		return e.pack.Clean[member] || member == "id" || strings.HasSuffix(member, "_id") || member == "name" && ownerName == "class"
	}
	return false
}

// callValue returns the value of the call of a name. It depends on what the language's pack says
// about the function. The operand begins at index start, and the call's bracket is at index open.
// on is the value before the function's name.
func (e *evaluator) callValue(on value, name string, start, open, depth int) value {
	list := e.arguments(open)
	isMethod, isJoin := e.is(open-2, "."), name == "join" && e.is(open-2, ".") && len(list) == 1
	switch {
	case on.table && isMethod && tableLookups[name]:
		return e.lookedUp(list, depth)
	case tableMakers[name] && e.isTable(e.inside(open)): // Map.of("a", "b")
		return constantTable()
	case name == "presence_in" && e.lang.ruby: // params[:a].presence_in(LIST)
		return harmless()
	case e.isCleaned(name, open): // parseInt(a)
		return harmless()
	case e.isExtension(name, open): // it has no separator in it, so it leads nowhere
		return unknown()
	case e.lang.name == "python" && isMethod && e.is(start, "self") && open == start+3 && len(list) == 0: // self.limit()
		return ownFrom("")
	case isMethod && (e.isLookup(name) || e.is(start, "self") && open-start > 4): // self.store.read(a)
		return unknown()
	case e.pack.Formats[name] && on.literal: // "a {}".format(b)
		return e.fillFormat(on, e.inside(open), e.lang.name == "python", depth)
	case e.pack.Formats[name] && len(list) > 0: // fmt.Sprintf("a %s", b)
		return e.formatCall(list, e.inside(open).to, depth)
	case e.pack.Joins[name]: // "a".concat(b)
		return e.joinCall(on, name, list, depth)
	case isJoin && e.lang.name == "python": // " ".join(a)
		return e.joinedList(e.evaluate(list[0].extent, depth+1), list[0].extent, on.text)
	case isJoin && start < open-2 && (e.lang.name == "javascript" || e.lang.ruby): // a.join(" ")
		return e.joinedList(on, extent{start, open - 2}, e.evaluate(list[0].extent, depth+1).text)
	case e.pack.Keeps[name] && len(list) > 0 && (!isMethod || e.lang.name == "go"): // String(a), strings.ToUpper(a)
		return e.evaluate(list[0].extent, depth+1)
	case e.pack.Keeps[name]: // a.trim()
		return on
	case isMethod && e.pack.Parts[name]: // a.get(b)
		return e.partOf(on, list)
	case e.makesPlaceholders(extent{start, e.after(open)}): // list("?", n)
		return value{text: "?"}
	}
	v := e.unknownFromAll(list)
	switch {
	case e.lang.name == "go" && start == open-1, isOwnName(name): // link(a), a function of the package
		v.text = hole + ownMark
	case e.lang.name == "javascript" && name == "map" && len(list) == 1 && e.picksNumber(list[0].extent): // rows.map((row) => row.id)
		return harmless()
	case e.isOwnCall(start, open) && !letsThrough(name):
		v.text = hole + ownMark
	case e.lang.name == "javascript" && isMarkupName(name): // makeHtml(a)
		v.text = hole + markupMark
	}
	return v
}

// isOwnCall reports whether a call seems to be one of the program's own code. In JavaScript and
// Rust, that is a call of a function by its name alone, or of a method of this or self. In Java, it
// is a call of a method of a field. In other languages it returns false. The operand begins at index
// start, and the call's bracket is at index open.
func (e *evaluator) isOwnCall(start, open int) bool {
	switch e.lang.name {
	case "javascript", "rust":
		return start == open-1 || e.isOneOf(start, "this", "self") && open == start+3
	case "java":
		if e.is(start, "this") && e.is(start+1, ".") {
			start += 2
		} else if _, given := e.scope.values[e.written(start)]; given || e.scope.isParameter(e.written(start)) {
			return false
		}
		return open == start+3 && e.isWord(start)
	}
	return false
}

// picksNumber reports whether a function takes a record's key or a number out of each element of a
// list: (row) => row.id, (row) => row.n as number.
func (e *evaluator) picksNumber(x extent) bool {
	return e.is(x.to-2, ".") && e.is(x.to-1, "id") || e.is(x.to-2, "as") && e.is(x.to-1, "number")
}

// isCleaned reports whether a function's result does no harm: the pack lists the function, as
// shlex.quote, or a name says so, as in sanitizeName and clean.Token. Java's valueOf of a type other
// than String counts as well, because it returns a number or a constant.
func (e *evaluator) isCleaned(name string, open int) bool {
	if e.pack.Clean[name] || saysClean(name) {
		return true
	}
	if !e.is(open-2, ".") || !e.isWord(open-3) {
		return false
	}
	owner := e.written(open - 3)
	if name == "valueOf" && e.lang.name == "java" && isTypeName(owner) && owner != "String" {
		return true
	}
	return e.pack.Clean[owner+"."+name] || saysClean(owner) || owner == "clean"
}

// isExtension reports whether a call returns the end of a file's name after the last dot, as Go's
// Ext does. It comes from the name, and hardly ever contains a part of a path.
func (e *evaluator) isExtension(name string, open int) bool {
	switch e.lang.name {
	case "go":
		return name == "Ext"
	case "javascript", "ruby":
		return name == "extname"
	case "java":
		x := e.inside(open)
		return name == "getExtension" || name == "substring" && e.any(x, func(i int) bool {
			return e.is(i, "lastIndexOf") && e.is(i+1, "(") && e.after(i+1) == i+4 && e.kindAt(i+2) == stringText && e.content(i+2) == "."
		})
	}
	return false
}

// saysClean reports whether the name of a function, or of the package or object that has it, says
// that the function sanitizes. The word clean alone is not enough: a clean path may lead anywhere.
func saysClean(name string) bool {
	name = strings.ToLower(name)
	return strings.Contains(name, "sanitiz") || strings.Contains(name, "sanitis")
}

// joinCall returns the value of a call that joins its arguments to what it is called on.
func (e *evaluator) joinCall(on value, name string, list []argument, depth int) value {
	if e.lang.name == "go" { // it is called on a package
		on = value{}
	}
	var last value
	for _, a := range list {
		last = e.evaluate(a.extent, depth+1)
		on.add(last)
	}
	if name == "Join" && len(list) == 2 && separatesCommands(last.text) { // strings.Join(args, " ")
		on.literal = true
	}
	return on
}

// partOf returns the value of a part of something, which a method with these arguments returns. It
// comes from where the entire value does, and is as constant.
func (e *evaluator) partOf(entire value, list []argument) value {
	if !entire.changing {
		return entire
	}
	v := e.unknownFromAll(list)
	v.addOrigin(entire.origin)
	return v
}

// unknownFromAll returns an unknown value that has the origins of the elements of a list, or of the
// arguments of a call: decode(name) has the origin of name.
func (e *evaluator) unknownFromAll(list []argument) value {
	v := unknown()
	for _, a := range list {
		i := a.from
		for i < a.to && (e.tokens[i].kind == operator || e.is(i, "mut")) { // &mut a
			i++
		}
		if i < a.to && e.tokens[i].kind == word {
			if given := e.scope.value(e.written(i)); given.changing {
				v.addOrigin(given.origin)
			}
		}
	}
	return v
}

// joinedList returns the value of a list whose elements are joined, in a.join(" ") of
// JavaScript and Ruby and in " ".join(a) of Python. The list has the extent x.
func (e *evaluator) joinedList(list value, x extent, separator string) value {
	switch {
	case !list.changing:
		return harmless()
	case e.makesPlaceholders(x): // ids.map(() => "?")
		return value{text: "?"}
	case e.cleansElements(x):
		return value{text: "0", origin: list.origin}
	}
	if !list.literal && separatesCommands(separator) {
		list.text, list.literal = hole+separator+hole, true
	}
	return list
}

// separatesCommands reports whether a text between the elements of a list makes a command
// line of them. A list that is joined by such a text counts as built, like a text with holes.
func separatesCommands(text string) bool {
	return text == " " || commandSigns[strings.TrimSpace(text)]
}

// cleansElements reports whether a list's elements are cleaned, as in args.map(quote), in
// Python's quote(a) for a in args and in Ruby's rows.map(&:id).
func (e *evaluator) cleansElements(x extent) bool {
	return e.any(x, func(i int) bool {
		return e.isWord(i) && (e.pack.Clean[e.written(i)] || e.lang.ruby && e.isSequence(i-1, ":", "id"))
	})
}

// makesPlaceholders reports whether an expression makes a list of a query's placeholders,
// as ids.map(() => "?") does.
func (e *evaluator) makesPlaceholders(x extent) bool {
	const longest = 40 // tokens
	return e.any(extent{x.from, min(x.to, x.from+longest)}, func(i int) bool {
		return e.tokens[i].kind == stringText && placeholders[strings.Trim(e.content(i), ", ()")]
	})
}
