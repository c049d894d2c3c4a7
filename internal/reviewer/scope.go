package reviewer

import (
	"regexp"
	"slices"
	"strings"
)

// scopes knows which functions a token is in, and the value that each name was last
// given. A function's end forgets what the function gave its names.
type scopes struct {
	*source
	values  map[string]value
	undo    []undo
	nested  []function // functions whose bodies are being read, the innermost last
	pending bool       // a function's head was read, its body was not
	head    function
	params  []parameter
	inputs  *regexp.Regexp // matches parameters with a stranger's text; may be nil
	routes  *regexp.Regexp // matches what stands before a function that answers requests; may be nil
	// hasPaths is set once a key of values is more than a name, such as params[:sort].
	hasPaths bool
	// given, declared and inHeads are those of all functions of nested together: how many of them have
	// a name, and what each says of it, that of the innermost function last.
	given, inHeads map[string]int
	declared       map[string][]bool
}

// parameter is a name in a function's head. If it has a stranger's text, its origin shows that: it
// is the declaration, such as @RequestParam String name, or begins with requestMark.
type parameter struct {
	name, origin string
	isNumber     bool
}

// undo is what was known of a name before a function gave it a value.
type undo struct {
	name  string
	old   value
	known bool
}

// function is a function whose body is being read.
type function struct {
	name   string
	begin  int // index of the keyword or the bracket that begins it
	end    int // index of the bracket that ends it, or -1 where its indentation shows it
	indent int
	undo   int // length of the undo list when it began
	// answers is set if it answers requests, so that what it returns is a response.
	answers bool
	// given are the names of its parameters that can have text, and of their types.
	given wordSet
	// inHead are the words of a head in Java after which a name ends: see isParameter.
	inHead []string
	// declared has the names of a Go function's parameters and receiver, and whether a request's data
	// can be read from each. Of Ruby's parameters it has only params.
	declared map[string]bool
}

func newScopes(s *source, p *pack) *scopes {
	return &scopes{source: s, values: map[string]value{}, inputs: p.Parameters, routes: p.Routes,
		given: map[string]int{}, inHeads: map[string]int{}, declared: map[string][]bool{}}
}

// innermost returns the innermost function. Outside of functions it returns one that begins at -1.
func (s *scopes) innermost() function {
	if n := len(s.nested); n > 0 {
		return s.nested[n-1]
	}
	return function{begin: -1, end: -1}
}

// value returns what is known of a name.
func (s *scopes) value(name string) value {
	given, known := s.values[name]
	isOwnID := s.lang.ruby && name == "id" && len(s.nested) > 0 // the record's: a parameter would have a value
	switch {
	case known && given.text != hole:
		return given
	case !known && (constantWords[name] || isConstantName(name) || numericNames[name] || isOwnID || namesMoment(name)):
		return value{text: name}
	case isOwnName(name):
		return ownFrom(given.origin)
	case s.lang.name == "javascript" && isMarkupName(name):
		return markupFrom(given.origin)
	}
	return unknownFrom(given.origin)
}

// isParameter reports whether a name stands in the head of one of the functions around, which are of
// Java.
func (s *scopes) isParameter(name string) bool { return s.inHeads[name] > 0 }

// headNames returns the names of the parameters in the head before the brace at index begin.
func (s *scopes) headNames(begin int) (names []string) {
	const longest = 120 // tokens of a head
	for i := begin - 1; i > max(0, begin-longest) && !s.isOneOf(i, ";", "{", "}"); i-- {
		if s.isWord(i) && s.isOneOf(i+1, ",", ")", "->") {
			names = append(names, s.written(i))
		}
	}
	return names
}

// set gives a name a value until the end of the function.
func (s *scopes) set(name string, v value) {
	old, known := s.values[name]
	if len(s.nested) > 0 {
		s.undo = append(s.undo, undo{name, old, known})
	}
	s.values[name] = v
}

// functionNames returns the names of the two innermost functions, cut where they are too long.
func (s *scopes) functionNames() string {
	const longest = 200 // bytes
	var names []string
	for _, f := range s.nested[max(0, len(s.nested)-2):] {
		names = append(names, f.name[:min(len(f.name), longest)])
	}
	return strings.Join(names, " ")
}

// enter begins and ends the functions that begin and end at the token at index i.
func (s *scopes) enter(i int) {
	t := s.tokens[i]
	for n := len(s.nested); n > 0 && s.endsAt(s.nested[n-1], i); n = len(s.nested) {
		s.leave(s.nested[n-1])
	}
	switch {
	case t.kind == word && slices.Contains(s.lang.functions, s.written(i)) && s.written(i) != "lambda":
		s.readHead(i)
	case t.kind == opening && s.is(i, "{") && s.readsBody(i):
		f := function{begin: i, end: s.after(i) - 1, undo: len(s.undo)}
		if s.pending {
			f.name, f.answers, f.declared = s.head.name, s.head.answers, s.head.declared
		}
		s.pending = false
		s.push(f)
	}
}

// endsAt reports whether a function has ended at the token at index i.
func (s *scopes) endsAt(f function, i int) bool {
	if f.end >= 0 {
		return i >= f.end
	}
	t := s.tokens[i]
	return t.first && t.kind != closing && s.indent(i) <= f.indent
}

// readHead reads the head of a function that the keyword at index i begins. Where blocks
// are not in braces, it also begins the function.
func (s *scopes) readHead(i int) {
	const longest = 40 // tokens
	s.head, s.params, s.pending = function{begin: i, end: -1, undo: len(s.undo)}, nil, true
	route := s.route(i)
	s.head.answers = route != ""
	for j := i + 1; j < len(s.tokens) && j < i+longest; j = s.after(j) {
		if s.lang.indented && s.tokens[j].first {
			break // what follows is its body
		}
		if s.tokens[j].kind == word && s.head.name == "" && (s.lang.indented || s.isOneOf(j+1, "(", "<", "[")) {
			s.head.name = s.written(j)
		}
		if s.is(j, "(") {
			s.readParameters(j)
			s.declare(j)
			s.readRoute(route, j)
			route = "" // its first brackets are those of its parameters
		}
		if s.isOneOf(j, "{", ":", ";") && !s.isOneOf(j-1, "interface", "struct") {
			break
		}
	}
	if s.lang.indented {
		s.pending = false
		s.head.indent = s.indent(i)
		s.push(s.head)
	}
}

// readParameters reads a function's parameters, whose bracket is the token at index open.
func (s *scopes) readParameters(open int) {
	const longest = 80 // tokens
	for i := open + 1; i < min(s.after(open)-1, open+longest); i++ {
		if s.tokens[i].kind == word {
			s.params = append(s.params, parameter{name: s.written(i), isNumber: s.isNumberAt(i)})
		}
	}
	if s.takesEvent() {
		s.params[0].origin = requestMark + "event"
	}
	if s.inputs == nil {
		return
	}
	for _, a := range s.arguments(open) {
		if a.name != "" { // "name: type"
			a.from -= 2
		}
		if origin := s.sourceText(a.extent); s.inputs.MatchString(origin) {
			if name := s.parameterName(a.extent); name != "" {
				s.params = append(s.params, parameter{name: name, origin: origin})
			}
		}
	}
}

// numberTypes are the types of numbers, truth values and UUIDs.
var numberTypes = wordSetOf("int long short byte double float boolean bool number Integer Long Double Boolean Decimal UUID uuid " +
	"int8 int16 int32 int64 uint uint8 uint16 uint32 uint64 float32 float64 i8 i16 i32 i64 i128 isize u8 u16 u32 u64 u128 usize f32 f64")

// isNumberAt reports whether the word at index i is a parameter of one of numberTypes, or in Python
// of a type whose name ends in Id: id int, int id, id: number, Path(id): Path<i64>.
func (s *scopes) isNumberAt(i int) bool {
	switch s.lang.name {
	case "java":
		return numberTypes[s.wordAt(i-1)]
	case "go":
		return numberTypes[s.wordAt(i+1)]
	case "rust":
		if s.is(i-1, "(") && s.isSequence(i+1, ")", ":") && s.is(i+4, "<") && s.is(i+6, ">") {
			return numberTypes[s.wordAt(i+5)]
		}
	}
	return s.is(i+1, ":") && (numberTypes[s.wordAt(i+2)] || strings.HasSuffix(s.wordAt(i+2), "Id") && s.lang.name == "python") && !s.isOneOf(i+3, ".", "|", "[")
}

// wordAt returns the word at index i, "" where there is none.
func (s *scopes) wordAt(i int) string {
	if !s.isWord(i) {
		return ""
	}
	return s.written(i)
}

// parameterName returns the name of a parameter: the last word that begins with a small letter,
// before the colon if there is one, or the word in brackets of Rust's "Query(name): Query<A>".
func (s *scopes) parameterName(x extent) string {
	name := ""
	for i := x.from; i < x.to && !s.is(i, ":"); i = s.after(i) {
		if written := s.written(i); s.tokens[i].kind == word && written[0] >= 'a' {
			name = written
		}
		if s.is(i, "(") && s.isWord(i+1) && s.after(i) == i+3 && s.is(i+3, ":") {
			name = s.written(i + 1)
		}
	}
	return name
}

// push begins a function. Parameters that are numbers become harmless. A parameter becomes unknown if
// something else had its name, if it has a stranger's text, or if it is called id.
func (s *scopes) push(f function) {
	f.given = wordSet{}
	for _, p := range s.params {
		f.given[p.name] = f.given[p.name] || !p.isNumber
	}
	if s.lang.name == "java" {
		f.inHead = s.headNames(f.begin)
	}
	s.nested = append(s.nested, f)
	s.count(f, 1)
	for name, hasRequest := range f.declared {
		s.declared[name] = append(s.declared[name], hasRequest)
	}
	for _, p := range s.params {
		_, known := s.values[p.name]
		switch {
		case p.isNumber && p.origin == "":
			s.set(p.name, harmless())
		case known || p.origin != "" || p.name == "id":
			s.set(p.name, unknownFrom(p.origin))
		}
	}
	s.params = nil
}

// count adds n to the counts of the names of a function.
func (s *scopes) count(f function, n int) {
	for name, canHaveText := range f.given {
		if canHaveText {
			s.given[name] += n
		}
	}
	for _, name := range f.inHead {
		s.inHeads[name] += n
	}
}

// isGiven reports whether one of the functions around has a name among its parameters that can have
// text.
func (s *scopes) isGiven(name string) bool { return s.given[name] > 0 }

// leave ends a function, and forgets what it gave its names.
func (s *scopes) leave(f function) {
	s.nested = s.nested[:len(s.nested)-1]
	s.count(f, -1)
	for name := range f.declared {
		s.declared[name] = s.declared[name][:len(s.declared[name])-1]
	}
	for n := len(s.undo); n > f.undo; n-- {
		if u := s.undo[n-1]; u.known {
			s.values[u.name] = u.old
		} else {
			delete(s.values, u.name)
		}
	}
	s.undo = s.undo[:f.undo]
}

var (
	// notFunctions are words before brackets that do not begin a function: if (a) {
	notFunctions = wordSetOf("if for while switch catch with synchronized match try else")
	// notTypes are words that cannot stand in the type that a function returns.
	notTypes = wordSetOf("return throw new try do else finally class interface enum extends case default yield await in of")
)

// readsBody reports whether the brace at index i begins the body of a function: a head was read, or
// an arrow or the brackets of parameters stand before it. In the case of such brackets, it also
// reads the head that ends with them, for enter.
func (s *scopes) readsBody(i int) bool {
	if s.pending {
		return s.lang.name != "go" || !s.isOneOf(i-1, "interface", "struct") // func f(a interface{}) {
	}
	if s.lang.indented || s.lang.name == "go" || s.lang.name == "rust" {
		return false
	}
	if s.is(i-1, "=>") {
		return true
	}
	end := s.parametersEnd(i)
	if end < 1 {
		return false
	}
	open := int(s.tokens[end].pair)
	if open < 1 || !s.isWord(open-1) || notFunctions[s.written(open-1)] {
		return false
	}
	s.head = function{name: s.written(open - 1), answers: s.route(open-1) != ""}
	s.readParameters(open)
	s.pending = true
	return true
}

// parametersEnd returns the index of the bracket that ends the parameters before the brace at index
// i, 0 if there are none. "throws IOException" or ": Type" may stand in between.
func (s *scopes) parametersEnd(i int) int {
	const longest = 24 // tokens
	for j := i - 1; j > 0 && j > i-longest; j-- {
		switch {
		case s.is(j, ")"):
			if j == i-1 || s.is(j+1, "throws") || s.is(j+1, ":") && j < i-2 {
				return j
			}
			return 0
		case s.isWord(j):
			if notTypes[s.written(j)] {
				return 0
			}
		case s.isOneOf(j, "]", "}"):
			if j = int(s.tokens[j].pair); j < 0 {
				return 0
			}
		case s.is(j, ":"):
			if !s.is(j-1, ")") {
				return 0
			}
		case !s.isOneOf(j, ",", ".", "<", ">", "|", "&"):
			return 0
		}
	}
	return 0
}
