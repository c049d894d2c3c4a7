package jsonrepair

// state is what may come next.
type state int

const (
	wantValue    state = iota // a value
	wantFirst                 // a value or the end of an array that just began
	wantKey                   // a key
	wantKeyOrEnd              // a key or the end of an object that just began
	wantMore                  // a comma or a closer
)

// value repairs the object or array at pos, with all that is in it.
func (f *fixer) value() error {
	next := wantValue
	for {
		if err := f.skip(); err != nil {
			return err
		}
		var err error
		switch {
		case f.pos == len(f.in):
			return f.end(next)
		case next == wantMore:
			next, err = f.more()
		case f.isCloser() && (next == wantFirst || next == wantKeyOrEnd):
			next, err = wantMore, f.closer()
		case next == wantKey || next == wantKeyOrEnd:
			next, err = wantValue, f.key()
		default:
			next, err = f.oneValue()
		}
		if err != nil {
			return err
		}
		if next == wantMore && len(f.stack) == 0 {
			return nil
		}
	}
}

// end adds what closes the value at the end of the input.
func (f *fixer) end(next state) error {
	switch next {
	case wantValue:
		return cutOff(f.pos, "a value belongs")
	case wantKey:
		return cutOff(f.pos, "a key belongs")
	}
	f.replace(f.pos, f.pos, "")
	f.closeTo(0)
	return nil
}

// closeTo closes all frames above depth.
func (f *fixer) closeTo(depth int) {
	for len(f.stack) > depth {
		top := f.stack[len(f.stack)-1]
		f.note(MissingCloser, f.pos)
		f.replace(f.pos, f.pos, string(closerOf(top.open)))
		f.stack = f.stack[:len(f.stack)-1]
	}
}

func closerOf(open byte) byte { return open + 2 } // '{' and '}', '[' and ']' lie two apart in ASCII

func (f *fixer) isCloser() bool { return f.in[f.pos] == '}' || f.in[f.pos] == ']' }

// more reads a comma or a closer.
func (f *fixer) more() (state, error) {
	switch c := f.in[f.pos]; {
	case f.isCloser():
		return wantMore, f.closer()
	case c != ',':
		return 0, unexpected(f.pos, f.in, "a comma or the end of what is open")
	}
	if n := f.next(f.pos + 1); n == len(f.in) || f.in[n] == '}' || f.in[n] == ']' {
		f.note(TrailingComma, f.pos)
		f.replace(f.pos, f.pos+1, "")
		f.pos++
		return wantMore, nil
	}
	f.pos++
	if f.stack[len(f.stack)-1].open == '{' {
		return wantKey, nil
	}
	return wantValue, nil
}

// closer reads } or ], and closes first what is open inside.
func (f *fixer) closer() error {
	c := f.in[f.pos]
	at := f.enclosing(len(f.stack)-1, c)
	if at < 0 {
		return wrongCloser(f.pos, c)
	}
	f.closeTo(at + 1)
	f.stack = f.stack[:at]
	f.pos++
	return nil
}

// enclosing returns the stack index, at most level, of the innermost frame that
// closer closes, or -1.
func (f *fixer) enclosing(level int, closer byte) int {
	switch {
	case level < 0:
		return -1
	case closer == '}':
		return f.stack[level].object
	}
	return f.stack[level].array
}

func (f *fixer) open() error {
	n := len(f.stack)
	if n == MaxDepth {
		return depthError(f.pos)
	}
	top := frame{open: f.in[f.pos], object: -1, array: -1}
	if n > 0 {
		top.object, top.array = f.stack[n-1].object, f.stack[n-1].array
	}
	if top.open == '{' {
		top.object = n
	} else {
		top.array = n
	}
	f.stack = append(f.stack, top)
	f.pos++
	return nil
}

// key reads a key and its colon.
func (f *fixer) key() error {
	if _, quote := openingQuote(f.in[f.pos:]); quote {
		if err := f.quoted(true); err != nil {
			return err
		}
	} else {
		end := f.word(f.pos)
		if end == f.pos {
			return unexpected(f.pos, f.in, "a key")
		}
		f.note(BareKey, f.pos)
		f.replace(f.pos, f.pos, `"`)
		f.replace(end, end, `"`)
		f.pos = end
	}
	if err := f.skip(); err != nil {
		return err
	}
	if f.pos == len(f.in) {
		return cutOff(f.pos, "a colon belongs")
	}
	if f.in[f.pos] != ':' {
		return unexpected(f.pos, f.in, "the colon after a key")
	}
	f.pos++
	return nil
}

// oneValue reads a value; of an object or array, its opener.
func (f *fixer) oneValue() (state, error) {
	switch c := f.in[f.pos]; {
	case c == '{':
		return wantKeyOrEnd, f.open()
	case c == '[':
		return wantFirst, f.open()
	case c == '-' || c >= '0' && c <= '9':
		return wantMore, f.number()
	}
	if _, quote := openingQuote(f.in[f.pos:]); quote {
		return wantMore, f.quoted(false)
	}
	return wantMore, f.literal()
}
