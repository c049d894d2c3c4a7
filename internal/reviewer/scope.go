package reviewer

import (
	"regexp"
	"slices"
	"strings"
)

// scopes knows the last value that was given to each name, function by function:
// what a function gave its names is forgotten at its end.
type scopes struct {
	*source
	values  map[string]value
	undo    []undo
	nested  []function
	pending bool // a function's head was read, its body was not
	head    function
	params  []parameter
	marks   *regexp.Regexp // matches parameters that hold a stranger's text; may be nil
}

// parameter is a name in a function's head; origin says where its value comes from.
type parameter struct{ name, origin string }

type undo struct {
	name string
	old  value
	had  bool
}

// function is a function whose body is being read.
type function struct {
	name   string
	begin  int // index of the keyword or the bracket that begins it
	end    int // index of the bracket that ends it, or -1 where its indentation tells
	indent int
	undo   int // length of the undo list when it began
}

func newScopes(s *source, marks *regexp.Regexp) *scopes {
	return &scopes{source: s, values: map[string]value{}, marks: marks}
}

// value returns what is known of a name.
func (s *scopes) value(name string) value {
	if v, ok := s.values[name]; ok {
		return v
	}
	switch name {
	case "true", "false", "nil", "null", "None", "True", "False", "undefined", "__dirname", "__filename", "__file__":
		return value{said: name}
	}
	if constantName(name) || numeric[name] || s.lang.ruby && name == "id" && len(s.nested) > 0 { // the record's own: a parameter has a value
		return value{said: name}
	}
	return changing()
}

// numeric are names that hold numbers in all languages.
var numeric = set([]string{"pid", "pids", "ppid", "uid", "gid", "port", "i", "j", "n", "idx", "index", "count", "row", "col", "width", "height", "lft", "rgt"})

// set gives a name a value until the end of the function.
func (s *scopes) set(name string, v value) {
	old, had := s.values[name]
	if len(s.nested) > 0 {
		s.undo = append(s.undo, undo{name, old, had})
	}
	s.values[name] = v
}

// in returns the names of the functions that are being read, the innermost last.
func (s *scopes) in() string {
	var names []string
	for _, f := range s.nested[max(0, len(s.nested)-2):] {
		names = append(names, f.name)
	}
	return strings.Join(names, " ")
}

// enter looks whether a function begins or ends at the token at index i.
func (s *scopes) enter(i int) {
	t := s.tokens[i]
	for n := len(s.nested); n > 0; n = len(s.nested) {
		f := s.nested[n-1]
		if f.end >= 0 && i < f.end || f.end < 0 && (!t.first || t.kind == closing || s.indent(i) > f.indent) {
			break
		}
		s.leave(f)
	}
	switch {
	case t.kind == word && slices.Contains(s.lang.functions, s.written(i)) && s.written(i) != "lambda":
		s.begin(i)
	case t.kind == open && s.is(i, "{") && s.beginsBody(i):
		name := ""
		if s.pending {
			name = s.head.name
		}
		s.pending = false
		s.push(function{name: name, begin: i, end: s.after(i) - 1, undo: len(s.undo)})
	}
}

// begin reads the head of a function that a keyword begins.
func (s *scopes) begin(i int) {
	s.head, s.params, s.pending = function{begin: i, end: -1, undo: len(s.undo)}, nil, true
	for j := i + 1; j < len(s.tokens) && j < i+40; j = s.after(j) {
		if s.lang.indented && s.tokens[j].first {
			break // what follows is its body
		}
		if s.tokens[j].kind == word && s.head.name == "" && (s.is(j+1, "(") || s.lang.indented || s.is(j+1, "<") || s.is(j+1, "[")) {
			s.head.name = s.written(j)
		}
		if s.is(j, "(") {
			s.parameters(j)
		}
		if s.is(j, "{") || s.is(j, ":") || s.is(j, ";") {
			break
		}
	}
	if s.lang.indented {
		s.pending = false
		s.head.indent = s.indent(i)
		s.push(s.head)
	}
}

// parameters reads the brackets with a function's parameters that the token at
// index i opens.
func (s *scopes) parameters(i int) {
	for k := i + 1; k < min(s.after(i)-1, i+80); k++ {
		if s.tokens[k].kind == word {
			s.params = append(s.params, parameter{name: s.written(k)})
		}
	}
	if s.marks == nil {
		return
	}
	for _, a := range s.arguments(i) {
		begin := a.from
		if a.name != "" { // "name: type"
			begin -= 2
		}
		origin := s.between(extent{begin, a.to})
		if !s.marks.MatchString(origin) {
			continue
		}
		last := ""
		for k := begin; k < a.to && !s.is(k, ":"); k = s.after(k) {
			if w := s.written(k); s.tokens[k].kind == word && w[0] >= 'a' {
				last = w
			}
			if s.is(k, "(") && s.kindAt(k+1) == word && s.after(k) == k+3 && s.is(k+3, ":") { // "Query(name): type"
				last = s.written(k + 1)
			}
		}
		if last != "" {
			s.params = append(s.params, parameter{last, origin})
		}
	}
}

func (s *scopes) push(f function) {
	s.nested = append(s.nested, f)
	for _, p := range s.params {
		if _, known := s.values[p.name]; known || p.origin != "" || p.name == "id" {
			s.set(p.name, value{said: hole, changing: true, origin: p.origin})
		}
	}
	s.params = nil
}

// leave forgets what a function gave its names.
func (s *scopes) leave(f function) {
	s.nested = s.nested[:len(s.nested)-1]
	for n := len(s.undo); n > f.undo; n-- {
		if u := s.undo[n-1]; u.had {
			s.values[u.name] = u.old
		} else {
			delete(s.values, u.name)
		}
	}
	s.undo = s.undo[:f.undo]
}

// longestHead bounds how many tokens before a brace are looked at for the end of a
// function's parameters.
const longestHead = 24

// notFunctions are words before brackets that begin no function.
var notFunctions = set([]string{"if", "for", "while", "switch", "catch", "with", "synchronized", "match", "try", "else"})

// notTypes are words that cannot stand in the type that a function returns.
var notTypes = set([]string{"return", "throw", "new", "try", "do", "else", "finally", "class", "interface", "enum", "extends", "case", "default", "yield", "await", "in", "of"})

// beginsBody reports whether the brace at index i begins the body of a function: a
// head was read, or an arrow or the brackets of parameters stand before it.
func (s *scopes) beginsBody(i int) bool {
	if s.pending {
		return true
	}
	if s.lang.indented || s.lang.name == "go" || s.lang.name == "rust" {
		return false
	}
	if s.is(i-1, "=>") {
		return true
	}
	end := s.headEnd(i)
	if end < 1 {
		return false
	}
	p := int(s.tokens[end].pair)
	if p < 1 || s.kindAt(p-1) != word || notFunctions[s.written(p-1)] {
		return false
	}
	s.head = function{name: s.written(p - 1)}
	s.parameters(p)
	s.pending = true
	return true
}

// headEnd returns the index of the bracket that ends the parameters before the brace at
// index i, 0 if there are none: "throws IOException" may stand in between, or ": Type".
func (s *scopes) headEnd(i int) int {
	for j := i - 1; j > 0 && j > i-longestHead; j-- {
		switch {
		case s.is(j, ")"):
			if j == i-1 || s.is(j+1, "throws") || s.is(j+1, ":") && j < i-2 {
				return j
			}
			return 0
		case s.kindAt(j) == word:
			if notTypes[s.written(j)] {
				return 0
			}
		case s.is(j, "]"), s.is(j, "}"):
			if j = int(s.tokens[j].pair); j < 0 {
				return 0
			}
		case s.is(j, ":"):
			if !s.is(j-1, ")") {
				return 0
			}
		case !s.is(j, ",") && !s.is(j, ".") && !s.is(j, "<") && !s.is(j, ">") && !s.is(j, "|") && !s.is(j, "&"):
			return 0
		}
	}
	return 0
}
