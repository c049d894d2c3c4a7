package reviewer

import (
	"regexp"
	"strings"
)

// printers are calls that write for whoever runs the program, by language.
var printers = map[string]map[string]bool{
	"javascript": set([]string{"console.log", "console.debug", "console.info", "console.dir", "alert"}),
	"python":     set([]string{"print", "pprint", "pprint.pprint", "pp"}),
	"go":         set([]string{"fmt.Println", "fmt.Printf", "fmt.Print"}),
	"ruby":       set([]string{"puts", "p", "pp", "ap"}),
	"java":       set([]string{"System.out.println", "System.out.printf", "System.out.print", "System.err.println"}),
	"rust":       set([]string{"println", "eprintln", "print", "eprint"}),
}

// dumpers are calls that nothing but debugging is for.
var dumpers = map[string]map[string]bool{
	"python": set([]string{"ic"}),
	"go":     set([]string{"spew.Dump", "litter.Dump"}),
	"rust":   set([]string{"dbg"}),
}

var (
	// programPath matches paths of programs, whose work it is to print.
	programPath = regexp.MustCompile(`(?i)(^|/)(bin|cli|cmd|commands?|scripts?|tools?|tasks?|examples?|samples?|demos?|docs?|bench(marks?)?)/|(^|/)(main|cli|index|setup|manage|build)\.\w+$|\.rake$`)
	// shout matches texts that say no more than that the program came here.
	shout = regexp.MustCompile(`(?i)^[\W_]*(debug(ging)?|(i am |i'm |got |in |we get |we are )?here|reached( here)?|wtf|asdf+\w*|qwerty?|xxx+|yyy+|zzz+|aaa+|bbb+)[\W_]*\d*[\W_]*$|^[\W_]*(DEBUG|XXX+)\b\s*[:>-]`)
	// label matches what may stand around a name that labels its own value.
	label = regexp.MustCompile(`^[\W_]*([A-Za-z_][\w.\[\]()]*)\s*(?:=+|:|->|=>)?\s*(?:(%[+#]?[a-z]|\{[^}]*\})|\\n|\W)*$`)
	// whole matches the formats that show a value as the program has it.
	whole = regexp.MustCompile(`^(%[+#]?v|\{:#?\?\}|)$`)
)

// output judges a call that writes: the word at index i ends its name, which begins
// at index begin.
func (c *codeFile) output(i, begin int, name string) {
	from, end := c.tokens[begin].start, c.tokens[i].end
	switch {
	case dumpers[c.lang.name][name] && (c.lang.name != "python" || strings.Contains(c.text, "import ic")):
		c.report("debug-output", from, end, name)
	case !printers[c.lang.name][name]:
	case c.debris(c.printed(i)):
		c.report("debug-output", from, end, name)
	case !c.program():
		c.report("print-call", from, end, name)
	}
}

// program reports whether the file is likely to belong to a program, which prints
// what its user asks for.
func (c *codeFile) program() bool {
	return programPath.MatchString(c.path) || c.lang.name == "go" && c.is(0, "package") && c.is(1, "main")
}

// printed returns the arguments of the call of the word at index i.
func (c *codeFile) printed(i int) []argument {
	open := i + 1
	if c.is(open, "!") {
		open++
	}
	if c.is(open, "(") {
		return c.arguments(open)
	}
	end := open
	for end < len(c.tokens) && !c.tokens[end].first {
		end = c.after(end)
	}
	return c.argumentsIn(open, min(end, len(c.tokens)))
}

// debris reports whether what is printed tells something to nobody but the person
// who was debugging: "here", or a variable under its own name.
func (c *codeFile) debris(list []argument) bool {
	if len(list) == 0 {
		return false
	}
	first := list[0]
	if !c.program() && len(list) == 1 && c.is(first.from, "{") && c.after(first.from) == first.to && c.namesOnly(first.from) {
		return true // console.log({ user, items })
	}
	said, ok := c.plainText(first.extent)
	if !ok {
		return first.name == "" && !c.program() && c.isString(first.from) && c.labelsItself(first.from)
	}
	if len(said) < 80 && shout.MatchString(said) {
		return true
	}
	if len(list) != 2 || len(said) > 80 || c.program() {
		return false
	}
	m := label.FindStringSubmatch(said)
	return m != nil && m[1] == c.between(list[1].extent) && whole.MatchString(m[2])
}

// plainText returns what a literal without holes says that an extent consists of.
func (s *source) plainText(x extent) (said string, ok bool) {
	switch {
	case x.to == x.from+1 && s.kindAt(x.from) == stringText:
		return s.content(x.from), true
	case x.to == x.from+3 && s.isString(x.from) && s.kindAt(x.from+1) == stringText:
		return s.content(x.from + 1), true
	}
	return "", false
}

// namesOnly reports whether the braces that open at index i hold names only.
func (c *codeFile) namesOnly(i int) bool {
	names := 0
	for j := i + 1; j < c.after(i)-1; j++ {
		if c.kindAt(j) == word {
			names++
		} else if !c.is(j, ",") {
			return false
		}
	}
	return names > 0
}

// labelsItself reports whether a Python string has a hole such as {x=}.
func (c *codeFile) labelsItself(i int) bool {
	if c.lang.name != "python" {
		return false
	}
	for j := i + 1; j < c.after(i)-1; j = c.after(j) {
		if end := c.after(j) - 1; c.tokens[j].kind == open && c.is(end-1, "=") {
			return true
		}
	}
	return false
}
