package sanitize

import (
	"strings"
	"unicode"
)

// safeElement tells whether GitHub keeps an element in what it renders. The
// list is that of GitHub's published HTML pipeline.
func safeElement(name string) bool {
	switch name {
	case "h1", "h2", "h3", "h4", "h5", "h6", "h7", "h8", "br", "b", "i", "strong", "em", "a", "pre", "code", "img", "tt",
		"div", "ins", "del", "sup", "sub", "p", "picture", "ol", "ul", "table", "thead", "tbody", "tfoot", "blockquote",
		"dl", "dt", "dd", "kbd", "q", "samp", "var", "hr", "ruby", "rt", "rp", "li", "tr", "td", "th", "s", "strike",
		"summary", "details", "caption", "figure", "figcaption", "abbr", "bdo", "cite", "dfn", "mark", "small", "source",
		"span", "time", "wbr":
		return true
	}
	return false
}

// attrRule says what is done with an attribute.
type attrRule int

const (
	attrUnsafe attrRule = iota // its tag is shown as text
	attrSafe
	attrURL   // its value is judged as an address
	attrSet   // its value is a list of image candidates
	attrTitle // text that is seen only by pointing at it: removed
	attrLook  // appearance that GitHub drops anyway: removed
)

// ruleOf sorts the attributes, by GitHub's published HTML pipeline.
func ruleOf(element, attr string) attrRule {
	switch attr {
	case "href":
		if element == "a" {
			return attrURL
		}
	case "src", "longdesc":
		if element == "img" {
			return attrURL
		}
	case "cite":
		switch element {
		case "blockquote", "del", "ins", "q":
			return attrURL
		}
	case "srcset":
		if element == "source" || element == "img" {
			return attrSet
		}
	case "itemscope", "itemtype":
		if element == "div" {
			return attrSafe
		}
	case "title":
		if element == "abbr" || element == "dfn" {
			return attrSafe
		}
		return attrTitle
	case "class", "style", "hidden", "target", "decoding", "fetchpriority", "sizes", "bgcolor":
		return attrLook
	case "abbr", "align", "alt", "aria-describedby", "aria-hidden", "aria-label", "aria-labelledby", "axis", "border",
		"cellpadding", "cellspacing", "char", "charoff", "charset", "checked", "clear", "cols", "colspan", "color",
		"compact", "coords", "datetime", "dir", "disabled", "for", "frame", "halign", "headers", "height", "hreflang",
		"hspace", "id", "ismap", "itemprop", "label", "lang", "loading", "maxlength", "media", "multiple", "name", "nohref",
		"noshade", "nowrap", "open", "progress", "readonly", "rel", "rev", "role", "rows", "rowspan", "rules", "scope",
		"selected", "shape", "size", "span", "start", "summary", "tabindex", "type", "valign", "value", "vspace", "width":
		return attrSafe
	}
	return attrUnsafe
}

// judgeSet judges the addresses of a srcset; the first denied one decides.
// Readers disagree about what is a blank and whether a comma ends an address, so
// the set is read in every way.
func (s *Sanitizer) judgeSet(set string) verdict {
	v := s.judgeFields(strings.FieldsFunc(set, isBlank))
	if v.allowed && strings.ContainsFunc(set, func(r rune) bool { return r > ' ' && unicode.IsSpace(r) }) {
		v = s.judgeFields(strings.Fields(set))
	}
	return v
}

func (s *Sanitizer) judgeFields(fields []string) verdict {
	for _, field := range fields {
		field = strings.Trim(field, ",")
		if v := s.judge(field); !v.allowed {
			return v
		}
		if strings.IndexByte(field, ',') < 0 {
			continue
		}
		for _, part := range strings.Split(field, ",") {
			if v := s.judge(part); !v.allowed {
				return v
			}
		}
	}
	return verdict{allowed: true}
}
