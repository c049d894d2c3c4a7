package sarif

import (
	"encoding/json"
	"slices"
	"strings"
)

// Cleaner makes text safe. An adapter of the sanitizer implements it.
type Cleaner interface {
	// Plain applies the rules for text that is shown as it is: the character rules.
	Plain(s string) (string, []Note)
	// Body applies the rules for Markdown.
	Body(s string) (string, []Note)
	// URL applies the link rules to an address: its clean form, and whether it
	// is allowed; for one that is not, a text that names its host.
	URL(address string) (string, bool)
}

// Clean returns an untrusted log with every string in it made safe, wherever it
// stands: what is named "markdown" as Markdown, absolute URIs by the link rules
// (a denied one is left out), everything else, names included, as plain
// text. Members that are null are left out. Nothing else is changed, but
// members are sorted. The artifacts' own URIs are judged by Prepare.
//
// The error is about the log: it is not JSON, no object, or nested too deeply.
func Clean(log json.RawMessage, c Cleaner) (json.RawMessage, []Note, error) {
	o, nulls, err := decode(log)
	if err != nil {
		return nil, nil, err
	}
	n := notes{}
	n.add(RuleNulls, "", nulls)
	types().walk(logType, o, &linkCleaner{Cleaner: c, notes: n})
	s := &stringCleaner{Cleaner: c, notes: n}
	s.object(o)
	return encode(o), n.list(), nil
}

// linkCleaner judges the members that hold absolute URIs.
type linkCleaner struct {
	Cleaner
	notes notes
}

func (l *linkCleaner) enter(typ string, o object) bool {
	for name := range types()[typ].linksOrNone() {
		switch v := o[name].(type) {
		case string:
			if u, ok := l.judge(v); ok {
				o[name] = u
			} else {
				delete(o, name)
			}
		case []any:
			kept := []any{}
			for _, e := range v {
				address, isText := e.(string)
				if u, ok := l.judge(address); ok && isText {
					kept = append(kept, u)
				}
			}
			o[name] = kept
		}
	}
	return true
}

func (l *linkCleaner) leave(string, object) bool { return true }

func (l *linkCleaner) judge(address string) (string, bool) {
	clean, ok := l.URL(address)
	if ok && !hasScheme(clean) {
		l.notes.add(RuleLinks, "no absolute address", 1) // nothing says what it is relative to
		return clean, false
	}
	if !ok {
		l.notes.add(RuleLinks, strings.TrimSuffix(strings.Trim(clean, "()"), "/redacted"), 1)
	}
	return clean, ok
}

func (t *objectType) linksOrNone() map[string]bool {
	if t == nil {
		return nil
	}
	return t.links
}

// stringCleaner cleans all strings, by their members' names.
type stringCleaner struct {
	Cleaner
	notes notes
}

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

func (s *stringCleaner) value(name string, v any) any {
	switch v := v.(type) {
	case string:
		apply := s.Plain
		if name == "markdown" {
			apply = s.Body
		}
		clean, changed := apply(v)
		s.notes.addAll(changed)
		return clean
	case []any:
		for i, e := range v {
			v[i] = s.value(name, e)
		}
	case object:
		s.object(v)
	}
	return v
}

// isPlainName reports a name that needs no cleaning.
func isPlainName(s string) bool {
	for i := range len(s) {
		if c := s[i]; !isLetter(c) && (c < '0' || c > '9') && strings.IndexByte("-_.$/%", c) < 0 {
			return false
		}
	}
	return true
}
