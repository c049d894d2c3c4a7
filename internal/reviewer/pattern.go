package reviewer

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
)

// patternFile is a pattern as it is written: a call or a setting, and what has to
// hold for it. The expressions are RE2's, so they take linear time.
type patternFile struct {
	Call, Set []string
	On        []string // methods, where what they are called on is the value
	Argument  any      // from 1, or a name; 0 where the call itself matters
	Each      bool     // what follows has to hold for one element of the argument, which is a list
	Is        string   // built, changing or input
	Text      string   // of the value's literal parts, with \x00 for what changes
	Source    string   // of the value's source, and that of the names in it
	Written   string   // of the value as it is written there
	Unless    string   // none in the value's source and in the call's arguments
	Arguments string   // of all arguments as written
	Statement string   // of the line and the names of the functions that it is in
	Except    string   // none in the line and the names of the functions that it is in
	Guard     string   // none in the function around it, before it
	Chain     string   // of the calls that the call hangs on
	Behind    string   // of what stands behind the call
	File      string   // of the whole file
	Without   string   // none in the whole file
}

// pattern is a pattern that is ready to be used, for one of its names.
type pattern struct {
	patternFile
	rule     *Rule
	name     []string // its parts; the first may be "*"
	position int      // of the argument, from 1; 0 where the call itself matters
	keyword  string   // the argument's name, in the place of its position
	// What the fields of these names ask for; nil where they ask for nothing.
	text, source, written, unless, arguments, statement, except, guard, chain, behind,
	file, without *regexp.Regexp
}

// compile makes a pattern ready, but for its name.
func compile(rule *Rule, raw patternFile) (pattern, error) {
	p := pattern{patternFile: raw, rule: rule, position: 1}
	if !slices.Contains([]string{"", "built", "changing", "input"}, raw.Is) {
		return p, fmt.Errorf("%q is not built, changing or input", raw.Is)
	}
	if len(raw.Call)+len(raw.Set)+len(raw.On) == 0 {
		return p, errors.New("a pattern needs call, set or on")
	}
	switch a := raw.Argument.(type) {
	case nil:
	case int:
		p.position = a
	case string:
		p.keyword = a
	default:
		return p, fmt.Errorf("argument %v is neither a number nor a name", a)
	}
	for _, e := range []struct {
		from string
		to   **regexp.Regexp
	}{{raw.Text, &p.text}, {raw.Source, &p.source}, {raw.Written, &p.written}, {raw.Unless, &p.unless}, {raw.Arguments, &p.arguments},
		{raw.Statement, &p.statement}, {raw.Except, &p.except}, {raw.Guard, &p.guard}, {raw.Chain, &p.chain}, {raw.Behind, &p.behind}, {raw.File, &p.file}, {raw.Without, &p.without}} {
		if e.from == "" {
			continue
		}
		re, err := regexp.Compile(e.from)
		if err != nil {
			return p, err
		}
		*e.to = re
	}
	return p, nil
}

// pick returns the argument that a pattern is about.
func (p *pattern) pick(arguments []argument) (extent, bool) {
	if p.position == 0 && p.keyword == "" {
		return extent{}, true
	}
	n := 0
	for _, a := range arguments {
		if a.name == "" {
			n++
		}
		if p.keyword != "" && a.name == p.keyword || p.keyword == "" && a.name == "" && n == p.position {
			return a.extent, true
		}
	}
	return extent{}, false
}
