package sarif

import (
	"slices"
	"strings"
)

// Cleaner makes texts safe. It adapts the sanitizer, which this package does not
// import.
type Cleaner interface {
	// Plain cleans a text that is shown as it is, by the character rules.
	Plain(text string) (string, []Note)
	// Message cleans a text that may embed links, "[text](address)".
	Message(text string) (string, []Note)
	// Body cleans Markdown.
	Body(markdown string) (string, []Note)
	// URL cleans an address by the link rules and reports whether it is allowed.
	// If it is not, the result is a text that names its host.
	URL(address string) (clean string, allowed bool)
}

// Clean makes every string in an untrusted log safe. The members "markdown" are cleaned as
// Markdown, and all other strings as plain text, names included. The text of a message may embed
// links. A member that has to be an absolute URI, such as "helpUri", is left out if it is not one
// or if the link rules do not allow it. Members that are null are left out, and so is a member
// whose cleaned name is already taken. Members are sorted. Otherwise the log does not change.
// Prepare checks the URIs of artifacts.
func (l *Log) Clean(c Cleaner) []Note {
	n := notes{}
	n.add(RuleNulls, "", l.nulls)
	types().walk(logType, l.root, &linkCleaner{Cleaner: c, notes: n})
	(&stringCleaner{Cleaner: c, notes: n}).object(l.root)
	l.raw, l.nulls = encode(l.root), 0
	return n.list()
}

// linkCleaner cleans the members that have to be absolute URIs, or lists of them, and the texts
// that may embed links.
type linkCleaner struct {
	Cleaner
	notes notes
}

func (l *linkCleaner) enter(typ string, o object) bool {
	if text, ok := o["text"].(string); ok && (typ == "message" || typ == "multiformatMessageString") {
		clean, changed := l.Message(text)
		l.notes.addAll(changed)
		o["text"] = clean
	}
	for _, name := range types()[typ].links {
		switch v := o[name].(type) {
		case string:
			if clean, ok := l.link(v); ok {
				o[name] = clean
			} else {
				delete(o, name)
			}
		case []any:
			kept := []any{}
			for _, e := range v {
				address, isString := e.(string)
				if clean, ok := l.link(address); ok && isString {
					kept = append(kept, clean)
				}
			}
			o[name] = kept
		}
	}
	return true
}

func (l *linkCleaner) leave(string, object) bool { return true }

// link cleans one address and reports whether it stays.
func (l *linkCleaner) link(address string) (clean string, ok bool) {
	clean, ok = l.URL(address)
	switch {
	case !ok: // clean is "(host/redacted)"
		l.notes.add(RuleLinks, strings.TrimSuffix(strings.Trim(clean, "()"), "/redacted"), 1)
	case !hasScheme(clean): // the log does not define what it is relative to
		l.notes.add(RuleLinks, "no absolute address", 1)
		ok = false
	}
	return clean, ok
}

// stringCleaner cleans all strings, by the names of their members.
type stringCleaner struct {
	Cleaner
	notes notes
}

// object cleans the strings in an object, and the names of its members. A member whose
// cleaned name is taken is left out.
func (s *stringCleaner) object(o object) {
	var odd []string
	for name, v := range o {
		if !isPlainName(name) {
			odd = append(odd, name)
		}
		o[name] = s.value(name, v)
	}
	slices.Sort(odd)
	for _, name := range odd {
		clean, changed := s.Plain(name)
		if clean == name {
			continue
		}
		s.notes.addAll(changed)
		if _, taken := o[clean]; taken {
			s.notes.add(RuleNames, "", 1)
		} else {
			o[clean] = o[name]
		}
		delete(o, name)
	}
}

// value cleans v, the value of the member with this name or an element of it, and returns it.
func (s *stringCleaner) value(name string, v any) any {
	switch v := v.(type) {
	case string:
		clean := s.Plain
		if name == "markdown" {
			clean = s.Body
		}
		text, changed := clean(v)
		s.notes.addAll(changed)
		return text
	case []any:
		for i, e := range v {
			v[i] = s.value(name, e)
		}
	case object:
		s.object(v)
	}
	return v
}

// isPlainName reports whether a name certainly needs no cleaning.
func isPlainName(name string) bool {
	for i := range len(name) {
		if c := name[i]; !isLetter(c) && !isDigit(c) && strings.IndexByte("-_.$/%", c) < 0 {
			return false
		}
	}
	return true
}
