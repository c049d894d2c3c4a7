package sarif

import (
	"cmp"
	"strconv"
	"strings"
)

// maxMessage bounds a message that is put together, in bytes.
const maxMessage = 16 << 10

// message writes a message out: from its id, and with its arguments. Markdown
// with arguments is left out, as the arguments were not cleaned as Markdown.
func (r *resolver) message(o object) bool {
	arguments := list(o, "arguments")
	s := stringMember(o, "text")
	if id := stringMember(o, "id"); id != "" && isBlank(s) {
		m := r.messageString(id)
		s = cmp.Or(upTo(stringMember(m, "text"), maxMessage), id)
		if md, have := stringMember(m, "markdown"), stringMember(o, "markdown"); md != "" && have == "" && r.afford(len(md)) {
			o["markdown"] = md
		}
	}
	if len(arguments) > 0 {
		s = fill(s, arguments)
		delete(o, "markdown")
	}
	if !r.afford(len(s) - len(stringMember(o, "text"))) {
		s, _ = cutText(s, maxDescription)
	}
	if isBlank(s) && r.current != nil {
		s = r.ruleText()
		r.notes.add(RuleMessages, "", 1)
	}
	delete(o, "id")
	delete(o, "arguments")
	o["text"] = s
	return !isBlank(s)
}

// isBlank looks at the start of a text only, so that a long one that is often
// referred to costs little.
func isBlank(s string) bool { return trim(upTo(s, maxMessage)) == "" }

// upTo cuts a text to at most most bytes.
func upTo(s string, most int) string {
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "")
}

// messageString looks an id up in the current result's rule and then in the tool.
func (r *resolver) messageString(id string) object {
	if r.current != nil {
		if m := child(child(r.descriptor(r.rule), "messageStrings"), id); m != nil {
			return m
		}
	}
	return child(child(r.driver, "globalMessageStrings"), id)
}

// fill puts arguments in the place of {0}, {1}, …; {{ and }} stand for braces.
func fill(s string, arguments []any) string {
	var b strings.Builder
	for i := 0; i < len(s) && b.Len() < maxMessage; i++ {
		c := s[i]
		if (c == '{' || c == '}') && i+1 < len(s) && s[i+1] == c {
			b.WriteByte(c)
			i++
			continue
		}
		if c == '{' {
			end := strings.IndexByte(s[i:min(len(s), i+8)], '}')
			if end > 0 {
				n, err := strconv.Atoi(s[i+1 : i+end])
				if err == nil && n >= 0 && n < len(arguments) {
					a, _ := arguments[n].(string)
					b.WriteString(a[:min(len(a), maxMessage)])
					i += end
					continue
				}
			}
		}
		b.WriteByte(c)
	}
	return strings.ToValidUTF8(b.String(), "")
}

// ruleText returns a text for a result that has none of its own.
func (r *resolver) ruleText() string {
	if s, known := r.ruleTexts[r.rule]; known {
		return s
	}
	rule := r.descriptor(r.rule)
	s := unnamedRule
	for _, t := range []string{stringMember(child(rule, "shortDescription"), "text"), stringMember(child(rule, "fullDescription"), "text"), stringMember(rule, "name"), stringMember(rule, "id")} {
		if !isBlank(t) {
			s, _ = cutText(trim(upTo(t, maxMessage)), maxDescription)
			break
		}
	}
	r.ruleTexts[r.rule] = s
	return s
}
