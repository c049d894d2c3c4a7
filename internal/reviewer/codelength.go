package reviewer

const (
	longestFunction = 200  // lines that hold code
	longestFile     = 1500 // lines
)

// lengths finds functions and files that are very long. Half of such a file has to be
// code. In tests and tasks they may
// be: those are lists. Of a function only the lines count that hold code and are in
// no function inside it, so that a module's wrapper is as short as it looks.
func (c *codeFile) lengths() {
	if testPath.MatchString(c.path) || taskPath.MatchString(c.path) {
		return
	}
	if n := len(c.lines); n > longestFile && n-c.added <= longestFile && c.codeLines() > longestFile/2 {
		c.reportLine("long-file", 0)
	}
	scope := newScopes(c.source, nil)
	var open []openFunction
	for i, t := range c.tokens {
		scope.enter(i)
		same := 0 // how many of the functions are those of the token before
		for same < len(open) && same < len(scope.nested) && open[same].begin == scope.nested[same].begin {
			same++
		}
		for len(open) > same {
			open = c.endFunction(open)
		}
		for _, f := range scope.nested[same:] {
			open = append(open, openFunction{begin: f.begin})
		}
		if t.first && len(open) > 0 {
			open[len(open)-1].lines++
		}
	}
	for len(open) > 0 {
		open = c.endFunction(open)
	}
}

// codeLines counts the lines that a token begins: not those that say what the code does.
func (c *codeFile) codeLines() int {
	n := 0
	for _, t := range c.tokens {
		if t.first {
			n++
		}
	}
	return n
}

// openFunction is a function that is being read.
type openFunction struct {
	begin int // index of the token that begins it
	lines int // with code, in no function inside it
}

// endFunction ends the innermost function.
func (c *codeFile) endFunction(open []openFunction) []openFunction {
	last := len(open) - 1
	if f := open[last]; f.lines > longestFunction {
		c.report("long-function", c.tokens[f.begin].start, c.tokens[f.begin].end, "")
	}
	return open[:last]
}
