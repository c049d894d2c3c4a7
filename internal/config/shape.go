package config

import (
	"errors"
	"fmt"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/agent-airlock/airlock/internal/branchname"
	"github.com/agent-airlock/airlock/internal/lazyregexp"
	"github.com/agent-airlock/airlock/internal/phase"
	"github.com/agent-airlock/airlock/internal/policy"
	"github.com/agent-airlock/airlock/internal/policy/tree"
	"github.com/agent-airlock/airlock/internal/sanitize"
	"github.com/agent-airlock/airlock/internal/text"
)

// shape is what a key takes as its value.
type shape struct {
	// schema describes the value in JSON Schema (draft-07), for editors. A test asserts
	// that it accepts what parse accepts.
	schema string
	// wants describes what is expected, with an example.
	wants string
	// parse decodes a node. The fault's fields may be empty; see read.
	parse func(n *node) (any, *fault)
}

// fault is what is wrong with a value: the node to point at, and the reason. next is what else is
// wrong, with another element of the same list.
type fault struct {
	at   *node
	why  string
	next *fault
}

// faults are what is wrong with the elements of a list, in their order.
type faults struct{ first, last *fault }

func (l *faults) add(given *node, format string, args ...any) {
	f := &fault{at: given, why: fmt.Sprintf(format, args...)}
	if l.first == nil {
		l.first = f
	} else {
		l.last.next = f
	}
	l.last = f
}

// mismatch returns the fault of a value that does not have its shape at all.
func mismatch() (any, *fault) { return nil, &fault{} }

func wrong(given *node, format string, args ...any) (any, *fault) {
	return nil, &fault{at: given, why: fmt.Sprintf(format, args...)}
}

// read decodes a node. Where parse gives no place or reason, the fault has the node and
// "expected ..., found ...", or for a missing value "a value is missing; expected ...".
func (s shape) read(n *node) (any, *fault) {
	value, f := s.parse(n)
	if f == nil {
		return value, nil
	}
	if f.at == nil {
		f.at = n
	}
	switch {
	case f.why != "":
	case n.kind == nullNode:
		f.why = fmt.Sprintf("a value is missing; expected %s, or remove the key", s.wants)
	default:
		f.why = fmt.Sprintf("expected %s, found %s", s.wants, n.describe())
	}
	return nil, f
}

// expressionIn returns the first text with an expression of a workflow in a value: in a text, a
// list, or the mappings in a list; nil if there is none. A mapping itself is a section, whose own
// keys are looked at when they are decoded.
func expressionIn(n *node) *node {
	if n.kind == textNode && strings.Contains(n.text, "${{") {
		return n
	}
	for i := range n.items {
		if e := expressionIn(&n.items[i]); e != nil {
			return e
		}
		for j := range n.items[i].entries {
			if e := expressionIn(&n.items[i].entries[j].value); e != nil {
				return e
			}
		}
	}
	return nil
}

// matching returns the shape of the values for which parse returns true.
func matching[T any](schema, wants string, parse func(n *node) (T, bool)) shape {
	return shape{schema, wants, func(n *node) (any, *fault) {
		if v, ok := parse(n); ok {
			return v, nil
		}
		return mismatch()
	}}
}

// converted returns a shape whose values are converted.
func converted[From, To any](s shape, convert func(From) To) shape {
	parse := s.parse
	s.parse = func(n *node) (any, *fault) {
		v, f := parse(n)
		if f != nil {
			return nil, f
		}
		return convert(v.(From)), nil
	}
	return s
}

// anything accepts every value, the missing one included: for keys that are
// understood and not used.
func anything() shape {
	return shape{`{}`, "anything", func(n *node) (any, *fault) { return n, nil }}
}

// sectionOr returns the shape of a mapping, whose keys a definition of the schema describes, or of
// a value of one of the kinds. Its value is the node.
func sectionOr(definition, wants string, kinds ...nodeKind) shape {
	schema := `{"anyOf": [{"$ref": "#/definitions/` + definition + `"}`
	for _, k := range kinds {
		schema += map[nodeKind]string{boolNode: `, {"type": "boolean"}`, nullNode: `, {"type": "null"}`}[k]
	}
	return matching(schema+"]}", wants, func(n *node) (*node, bool) { return n, n.kind == mapNode || slices.Contains(kinds, n.kind) })
}

// sections returns the shape of a list of mappings or of texts that stand for one. Its value is the
// node.
func sections(item, wants string) shape {
	return shape{`{"type": "array", "items": ` + item + `}`, wants, func(n *node) (any, *fault) {
		if n.kind != listNode {
			return mismatch()
		}
		var found faults
		for i := range n.items {
			if k := n.items[i].kind; k != textNode && k != mapNode {
				found.add(&n.items[i], "expected %s, found %s in the list", wants, n.items[i].describe())
			}
		}
		return n, found.first
	}}
}

func boolean() shape {
	return matching(`{"type": "boolean"}`, "true or false", func(n *node) (bool, bool) { return n.text == "true", n.kind == boolNode })
}

// yesUnlessFalse returns the shape of true, false or no value at all, which means true: the widely
// used form "title:" allows the title.
func yesUnlessFalse() shape {
	return matching(`{"anyOf": [{"type": "boolean"}, {"type": "null"}]}`, "true, false or no value", func(n *node) (bool, bool) {
		return n.text != "false", n.kind == boolNode || n.kind == nullNode
	})
}

// wholeNumber returns the number of a node.
func wholeNumber(n *node) (int, bool) {
	if n.kind != numberNode {
		return 0, false
	}
	if i, err := strconv.ParseInt(n.text, 10, 32); err == nil {
		return int(i), true
	}
	f, err := strconv.ParseFloat(n.text, 64)
	if err != nil || f != math.Trunc(f) || math.Abs(f) > math.MaxInt32 {
		return 0, false
	}
	return int(f), true
}

// limit returns the shape of a number of things: at least 1, or -1 for no limit.
func limit(example int) shape {
	wants := fmt.Sprintf("a whole number of at least 1, such as %d, or -1 for no limit", example)
	return shape{`{"anyOf": [{"const": -1}, {"type": "integer", "minimum": 1, "maximum": 2147483647}]}`, wants, func(n *node) (any, *fault) {
		i, ok := wholeNumber(n)
		switch {
		case ok && i == 0:
			return wrong(n, "0 would let nothing through; expected %s (\"enabled: false\" switches a kind off)", wants)
		case !ok || i < -1:
			return mismatch()
		}
		return i, nil
	}}
}

// integerBetween returns the shape of a whole number from least to most.
func integerBetween(least, most, example int) shape {
	wants := fmt.Sprintf("a whole number from %d to %d, such as %d", least, most, example)
	schema := fmt.Sprintf(`{"type": "integer", "minimum": %d, "maximum": %d}`, least, most)
	return matching(schema, wants, func(n *node) (int, bool) {
		i, ok := wholeNumber(n)
		return i, ok && least <= i && i <= most
	})
}

// duration returns the shape of a time with its unit. The schema does not include its bounds.
func duration(least, most time.Duration, example string) shape {
	wants := fmt.Sprintf("a time from %s to %s with its unit, such as %q", trimZeros(least), trimZeros(most), example)
	return shape{`{"type": "string", "pattern": "^([0-9]+(ms|s|m|h))+$"}`, wants, func(n *node) (any, *fault) {
		if n.kind == numberNode {
			return wrong(n, "expected %s, found %s without a unit; write %q if seconds are meant", wants, n.describe(), n.text+"s")
		}
		d, err := time.ParseDuration(n.text)
		if n.kind != textNode || err != nil || d < least || d > most || strings.Trim(n.text, "0123456789msh") != "" {
			return mismatch()
		}
		return d, nil
	}}
}

// trimZeros writes a duration without the parts at its end that are zero.
func trimZeros(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

// line returns the shape of one line of text. most is the largest number of characters.
func line(most int, example string) shape {
	schema := fmt.Sprintf(`{"type": "string", "minLength": 1, "maxLength": %d, "pattern": "^[^\\r\\n]*$"}`, most)
	return shape{schema, "one line of text, such as " + example, func(n *node) (any, *fault) {
		if n.kind != textNode || n.text == "" || strings.ContainsAny(n.text, "\r\n") {
			return mismatch()
		}
		if count := utf8.RuneCountInString(n.text); count > most {
			return wrong(n, "the text has %d characters; at most %d are allowed", count, most)
		}
		return n.text, nil
	}}
}

// branchName returns the shape of the name of a branch.
func branchName(example string) shape { return branchText(200, example, branchname.Check) }

// branchPrefix returns the shape of the beginning of the names of new branches.
func branchPrefix(example string) shape {
	return branchText(100, example, func(prefix string) error {
		if err := branchname.Check(prefix + "1"); err != nil {
			return fmt.Errorf("no branch name can begin like this: %w", err)
		}
		return nil
	})
}

// branchText returns the shape of a text that check accepts. most is the largest number of
// characters.
func branchText(most int, example string, check func(string) error) shape {
	const schema = `{"type": "string", "minLength": 1, "maxLength": %d, "pattern": "^[^\\x00-\\x20\\x7f~^:?*\\[\\\\-][^\\x00-\\x20\\x7f~^:?*\\[\\\\]*$"}`
	one := line(most, example)
	return shape{fmt.Sprintf(schema, most), one.wants, func(n *node) (any, *fault) {
		if _, f := one.parse(n); f != nil {
			return nil, f
		}
		if err := check(n.text); err != nil {
			return wrong(n, "%v", err)
		}
		return n.text, nil
	}}
}

// lineOrNumber returns the shape of a name that may look like a number.
func lineOrNumber(most int, example string) shape {
	one := line(most, example)
	schema := fmt.Sprintf(`{"anyOf": [%s, {"type": "integer", "minimum": 0}]}`, one.schema)
	return shape{schema, one.wants, func(n *node) (any, *fault) {
		if n.kind == numberNode && len(n.text) <= most && strings.Trim(n.text, "0123456789") == "" {
			return n.text, nil
		}
		if i, ok := wholeNumber(n); ok && i >= 0 {
			return strconv.Itoa(i), nil
		}
		return one.parse(n)
	}}
}

// longText returns the shape of a text of one or more lines. most is the largest number of bytes.
func longText(most int) shape {
	schema := fmt.Sprintf(`{"type": "string", "maxLength": %d, "pattern": "\\S"}`, most)
	return shape{schema, "a text, of several lines if you like", func(n *node) (any, *fault) {
		switch {
		case n.kind != textNode || text.IsBlank(n.text):
			return mismatch()
		case len(n.text) > most:
			return wrong(n, "the text has %d bytes; at most %d are allowed", len(n.text), most)
		}
		return n.text, nil
	}}
}

// commandLine returns the shape of a command as people write it, on one line or several.
func commandLine(example string) shape {
	const most = 10_000
	schema := fmt.Sprintf(`{"type": "string", "maxLength": %d, "pattern": "\\S"}`, most)
	return shape{schema, "a command line, such as " + strconv.Quote(example), func(n *node) (any, *fault) {
		if n.kind != textNode || text.IsBlank(n.text) || len(n.text) > most {
			return mismatch()
		}
		if err := phase.CheckCommand(n.text); err != nil {
			return wrong(n, "%v", err)
		}
		return n.text, nil
	}}
}

// oneOf returns the shape of one of a few words.
func oneOf(words ...string) shape {
	all := `"` + strings.Join(words, `", "`) + `"`
	return shape{`{"enum": [` + all + `]}`, "one of " + all, func(n *node) (any, *fault) {
		switch {
		case n.kind != textNode:
			return mismatch()
		case slices.Contains(words, n.text):
			return n.text, nil
		}
		near := text.Nearest(n.text, words)
		for _, w := range words {
			if strings.EqualFold(w, n.text) {
				near = w
			}
		}
		if near != "" {
			return wrong(n, "expected one of %s, found %s; did you mean %q?", all, n.describe(), near)
		}
		return mismatch()
	}}
}

// texts returns the shape of a list of texts, or a single one. item is the schema of one. An
// error of check continues a sentence that begins with the text in quotes.
func texts(item, example string, check func(string) error) shape {
	wants := "a list of texts, such as " + example
	schema := fmt.Sprintf(`{"anyOf": [{"type": "array", "items": %[1]s}, %[1]s]}`, item)
	return shape{schema, wants, func(n *node) (any, *fault) {
		items := []node{*n}
		if n.kind == listNode {
			items = n.items
		} else if n.kind != textNode {
			return mismatch()
		}
		list := make([]string, 0, len(items))
		var found faults
		for i := range items {
			if items[i].kind != textNode {
				found.add(&items[i], "expected %s, found %s in the list", wants, items[i].describe())
			} else if err := check(items[i].text); err != nil {
				found.add(&items[i], "%s %v", quote(items[i].text), err)
			}
			list = append(list, items[i].text)
		}
		return list, found.first
	}}
}

// onlyList returns the shape of a list of texts that does not accept a single text instead. The
// shape's schema still accepts one, so it is only for sections that have a schema of their own.
func (s shape) onlyList() shape {
	parse := s.parse
	s.parse = func(n *node) (any, *fault) {
		if n.kind != listNode {
			return mismatch()
		}
		return parse(n)
	}
	return s
}

// target returns the shape of what items may act on.
func target() shape {
	const wants = `"triggering", "*" or a number, such as 42`
	const schema = `{"anyOf": [{"enum": ["triggering", "*"]}, {"type": "integer", "minimum": 1, "maximum": 2147483647}, {"type": "string", "pattern": "^0*[1-9][0-9]{0,8}$"}]}`
	return matching(schema, wants, func(n *node) (policy.TargetRule, bool) {
		i, ok := wholeNumber(n)
		switch {
		case n.kind == textNode && n.text == "triggering":
			return policy.TargetRule{}, true
		case n.kind == textNode && n.text == "*":
			return policy.TargetRule{Any: true}, true
		case n.kind == textNode && strings.Trim(n.text, "0123456789") == "":
			parsed, err := strconv.ParseInt(n.text, 10, 32)
			i, ok = int(parsed), err == nil
		}
		return policy.TargetRule{Number: i}, ok && i >= 1
	})
}

// footer returns the shape of the owner's text, or of true or false for whether there is a footer.
// "always", "if-body" and "none", the words of the widely used front matter, are understood too.
func footer() shape {
	const most = 2000
	const schema = `{"anyOf": [{"type": "boolean"}, {"type": "string", "minLength": 1, "maxLength": 2000, "pattern": "\\S", ` +
		`"not": {"pattern": "^([Yy][Ee][Ss]|[Nn][Oo]|[Oo][Nn]|[Oo][Ff][Ff])$"}}]}`
	return shape{schema, `true, false, or a text, such as "Written by an agent."`, func(n *node) (any, *fault) {
		switch {
		case n.kind == boolNode:
			return policy.Footer{None: n.text == "false"}, nil
		case n.kind != textNode || text.IsBlank(n.text):
			return mismatch()
		case utf8.RuneCountInString(n.text) > most:
			return wrong(n, "the footer has more than %d characters", most)
		}
		switch strings.ToLower(n.text) {
		case "always", "if-body":
			return policy.Footer{}, nil
		case "none":
			return policy.Footer{None: true}, nil
		case "yes", "no", "on", "off":
			return wrong(n, "%s would stand below every body as a text; write true or false", quote(n.text))
		}
		return policy.Footer{Text: n.text}, nil
	}}
}

// labels returns the shape of names of labels that GitHub accepts.
func labels() shape {
	const most = 50
	const item = `{"type": "string", "minLength": 1, "maxLength": 50, "pattern": "^[^\\x00-\\x1f\\x7f]*[^\\x00-\\x20\\x7f][^\\x00-\\x1f\\x7f]*$"}`
	return texts(item, "[bug, automation]", func(s string) error {
		switch {
		case text.IsBlank(s):
			return errors.New("is empty; a label needs a name")
		case strings.ContainsFunc(s, unicode.IsControl):
			return errors.New("contains a control character, which a label cannot have")
		case utf8.RuneCountInString(s) > most:
			return fmt.Errorf("is longer than %d characters, the most that a label can have", most)
		}
		return nil
	})
}

// labelPatterns returns the shape of labels in which "*" stands for any text.
func labelPatterns() shape {
	s := labels()
	parse := s.parse
	s.parse = func(n *node) (any, *fault) {
		v, f := parse(n)
		if f != nil {
			return nil, f
		}
		list := v.([]string)
		var found faults
		for i, l := range list {
			at := n.itemAt(i)
			if negated, ok := strings.CutPrefix(l, "!"); ok && policy.AnyLabelMatches(list, negated) {
				found.add(at, "%s takes nothing away from the list, because there is no negation; labels that no item may ask for belong below blocked-labels or blocked", quote(l))
			}
			if braces.MatchString(l) {
				found.add(at, "%s has braces, which stand for nothing but themselves; write each label, or * for any text", quote(l))
			}
		}
		return list, found.first
	}
	return s
}

// braces matches a choice in braces, as in patterns of files.
var braces = lazyregexp.New(`\{[^{}]*,[^{}]*\}`)

// nameItem describes hosts and users only roughly; package sanitize knows better.
const nameItem = `{"type": "string", "minLength": 1, "pattern": "^[^\\s]+$"}`

// domains returns the shape of hosts that links may lead to.
func domains() shape {
	return texts(nameItem, "[example.com]", func(s string) error {
		return checkName(s, sanitize.Config{AllowedDomains: []string{s}}, "is not the name of a host, such as example.com")
	})
}

// references returns the shape of repositories that texts may refer to.
func references() shape {
	const item = `{"type": "string", "pattern": "^(repo|[*]|[A-Za-z0-9_.-]+/([A-Za-z0-9_.-]+|[*]))$"}`
	return texts(item, "[repo, octo/app]", func(s string) error {
		return checkName(s, sanitize.Config{References: []string{s}}, "is not a repository, such as octo/app; repo, octo/* and * are understood too")
	})
}

// mentioned returns the shape of users and teams that a text may mention.
func mentioned() shape {
	return texts(nameItem, "[octocat, org/team]", func(s string) error {
		return checkName(s, sanitize.Config{AllowedMentions: []string{s}}, "is not a user, such as octocat, or a team, such as org/team")
	})
}

// checkName returns nil for a name that is valid in cfg, otherwise an error with the message.
func checkName(name string, cfg sanitize.Config, message string) error {
	if _, err := sanitize.New(cfg); err != nil || strings.ContainsFunc(name, unicode.IsSpace) {
		return errors.New(message)
	}
	return nil
}

// patterns returns the shape of glob patterns of paths from the repository's root.
func patterns() shape { return texts(patternItem, `["docs/**", "*.md"]`, tree.CheckPattern) }

// branches returns the shape of patterns of the names of branches.
func branches() shape { return texts(patternItem, `["feature/*"]`, tree.CheckPattern) }

// patternItem describes patterns only roughly; package tree knows better.
const patternItem = `{"type": "string", "minLength": 1, "maxLength": 500, "pattern": "^[^\\x00-\\x1f\\x7f]*$"}`

const directoryItem = `{"type": "string", "minLength": 1, "maxLength": 1000}`

// directories returns the shape of paths of directories from the repository's root.
func directories() shape {
	return converted(texts(directoryItem, "[api, web/app]", checkDirectory), func(list []string) []string {
		for i := range list {
			list[i] = path.Clean(list[i])
		}
		return list
	})
}

// directory returns the shape of the path of one directory.
func directory() shape {
	return shape{directoryItem, "a directory, such as api", func(n *node) (any, *fault) {
		if n.kind != textNode {
			return mismatch()
		}
		if err := checkDirectory(n.text); err != nil {
			return wrong(n, "%s %v", quote(n.text), err)
		}
		return path.Clean(n.text), nil
	}}
}

func checkDirectory(s string) error {
	clean := path.Clean(s)
	switch {
	case s == "" || len(s) > 1000 || strings.ContainsAny(s, "\x00\r\n"):
		return errors.New("is not the path of a directory")
	case strings.Contains(s, `\`):
		return errors.New(`contains a backslash; write "/" between directories`)
	case path.IsAbs(s) || clean == ".." || strings.HasPrefix(clean, "../"):
		return errors.New("leads out of the repository; write it relative to the repository's root")
	}
	return nil
}
