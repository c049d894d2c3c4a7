package reviewer

const (
	longestFunction = 200  // lines
	longestFile     = 1500 // lines
)

// lengths finds functions and files that are very long. In tests they may be: a test
// is often a list of cases. Of a function only the lines count that are in no
// function inside it, so that a module's wrapper is as short as it looks.
func (c *codeFile) lengths() {
	if testPath.MatchString(c.path) {
		return
	}
	if n := len(c.lines); n > longestFile && n-c.added <= longestFile {
		c.reportLine("long-file", 0)
	}
	scope := newScopes(c.source, nil)
	var open []openFunction
	for i := range c.tokens {
		scope.enter(i)
		same := 0 // how many of the functions are those of the token before
		for same < len(open) && same < len(scope.nested) && open[same].begin == scope.nested[same].begin {
			same++
		}
		for len(open) > same {
			open = c.endFunction(open, i-1)
		}
		for _, f := range scope.nested[same:] {
			open = append(open, openFunction{begin: f.begin})
		}
	}
	for len(open) > 0 {
		open = c.endFunction(open, len(c.tokens)-1)
	}
}

// openFunction is a function that is being read.
type openFunction struct {
	begin int // index of the token that begins it
	inner int // lines of the functions inside it
}

// endFunction ends the innermost function with the token at index end.
func (c *codeFile) endFunction(open []openFunction, end int) []openFunction {
	last := len(open) - 1
	f := open[last]
	lines := c.line(c.tokens[end].start) - c.line(c.tokens[f.begin].start)
	if own := lines - f.inner; own > longestFunction {
		c.report("long-function", c.tokens[f.begin].start, c.tokens[f.begin].end, "")
	}
	if last > 0 {
		open[last-1].inner += lines
	}
	return open[:last]
}
