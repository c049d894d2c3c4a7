package sanitize

import (
	"math/bits"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// attrRule is how an attribute is treated: by the grammar that its values have in
// HTML. An attribute with a value outside of its grammar is removed.
type attrRule int

const (
	attrUnknown   attrRule = iota // removed: GitHub does not know it
	attrHidden                    // text that no reader of the page sees: removed
	attrURL                       // an address, to which the rules for links apply
	attrCite                      // an address that no page shows
	attrSet                       // a list of image candidates
	attrAlt                       // what an image shows to those who cannot see it
	attrExpansion                 // what an abbreviation stands for
	attrToken                     // a name that links can lead to
	attrTokens                    // a list of such names
	attrNumber                    // a number or a length
	attrFlag                      // an attribute that is there or not; any of its words means yes
	attrAlign                     // this rule and those below: see attrWords and hasGrammar
	attrDirection
	attrSide
	attrEdges
	attrScope
	attrLoading
	attrTruth
	attrRelation
	attrRole
	attrMarker
	attrLanguage
	attrColor
	attrDate
	attrMedia
	attrImageType
	attrVocabulary
)

// elementRule is the rule for an attribute of an element, or of any element if that is "".
type elementRule struct {
	element string
	rule    attrRule
}

// attrRules has the rules for each attribute, that of any element last. The names are those of
// GitHub's published HTML pipeline, as far as they mean something on the elements that stay; class,
// style and hidden are not among them.
var attrRules = sync.OnceValue(func() map[string][]elementRule {
	rules := map[string][]elementRule{}
	for rule, names := range map[attrRule]string{ // a.href is of the element a, cite of any
		attrURL:       "a.href img.src",
		attrCite:      "cite longdesc",
		attrSet:       "source.srcset img.srcset",
		attrAlt:       "img.alt",
		attrExpansion: "abbr.title dfn.title",
		attrHidden:    "alt title abbr aria-label axis label prompt summary",
		attrToken:     "id name itemprop",
		attrTokens:    "aria-describedby aria-labelledby headers",
		attrNumber: "border cellpadding cellspacing charoff cols colspan height hspace maxlength progress rows rowspan size span start " +
			"tabindex value vspace width",
		attrFlag:       "checked compact disabled ismap itemscope multiple nohref noshade nowrap open readonly selected",
		attrAlign:      "align halign valign",
		attrDirection:  "dir",
		attrSide:       "clear",
		attrEdges:      "frame rules",
		attrScope:      "scope",
		attrLoading:    "loading",
		attrTruth:      "aria-hidden",
		attrRelation:   "a.rel a.rev",
		attrRole:       "role",
		attrMarker:     "type",
		attrLanguage:   "a.hreflang lang",
		attrColor:      "color",
		attrDate:       "datetime",
		attrMedia:      "source.media",
		attrImageType:  "source.type",
		attrVocabulary: "itemtype",
	} {
		for _, name := range strings.Fields(names) {
			if element, own, isOwn := strings.Cut(name, "."); isOwn {
				rules[own] = slices.Insert(rules[own], 0, elementRule{element, rule})
			} else {
				rules[name] = append(rules[name], elementRule{rule: rule})
			}
		}
	}
	return rules
})

// ruleOf returns the rule for an attribute of an element.
func ruleOf(element, name string) attrRule {
	for _, r := range attrRules()[name] {
		if r.element == element || r.element == "" {
			return r.rule
		}
	}
	return attrUnknown
}

// attrWords has the words that a value may consist of, by rule.
var attrWords = [...][]string{
	// Browsers take any value for yes.
	attrFlag: {
		"checked", "compact", "disabled", "ismap", "itemscope", "multiple", "nohref", "noshade", "nowrap", "open",
		"readonly", "selected", "true", "false", "yes", "no", "1", "0",
	},
	attrAlign: {
		"left", "right", "center", "centre", "middle", "top", "bottom", "justify", "baseline", "char",
		"absmiddle", "absbottom", "texttop",
	},
	attrDirection: {"ltr", "rtl", "auto"},
	attrSide:      {"left", "right", "all", "both", "none"},
	attrEdges: {
		"none", "all", "groups", "rows", "cols", "void", "above", "below", "hsides", "vsides", "lhs", "rhs",
		"box", "border",
	},
	attrScope:   {"row", "col", "rowgroup", "colgroup"},
	attrLoading: {"lazy", "eager", "auto"},
	attrTruth:   {"true", "false"},
	attrRelation: {
		"nofollow", "noopener", "noreferrer", "external", "me", "author", "license", "help", "next", "prev",
		"canonical", "alternate", "bookmark", "tag", "ugc", "sponsored", "search", "footnote",
	},
	attrRole: {
		"presentation", "none", "img", "image", "button", "link", "heading", "list", "listitem", "note", "alert",
		"status", "region", "group", "main", "banner", "navigation", "complementary", "contentinfo", "article",
		"figure", "separator", "table", "row", "cell", "columnheader", "rowheader", "tooltip", "math",
		"term", "definition", "doc-noteref", "doc-endnotes", "doc-backlink",
	},
	attrMarker: {"1", "a", "i", "disc", "circle", "square"},
	attrMedia: {
		"all", "screen", "print", "speech", "and", "not", "only", "or", "prefers-color-scheme", "dark", "light",
		"no-preference", "prefers-reduced-motion", "prefers-contrast", "reduce", "more", "less", "width",
		"min-width", "max-width", "height", "min-height", "max-height", "orientation", "portrait", "landscape",
		"resolution", "min-resolution", "max-resolution",
	},
	attrImageType: {
		"image/png", "image/jpeg", "image/jpg", "image/gif", "image/webp", "image/avif", "image/svg+xml",
		"image/apng", "image/x-icon", "image/bmp", "video/mp4", "video/webm",
	},
}

// The limits of attribute values that a page does not show, in bytes. In 2,500 READMEs, the longest
// text for an image has 100 bytes, the longest name 60.
const (
	maxAlt   = 250
	maxToken = 64
	maxCite  = 120
	maxMedia = 120
	maxType  = 40 // the longest of schema.org has 37

	freeNames = 512 // all names together to which nothing in the body leads; more in a long body
)

// hasGrammar reports whether a value, decoded, has the grammar of a rule. The empty value has the
// grammar of every rule. The rules attrURL, attrSet and attrExpansion have checks of their own
// instead.
func (r attrRule) hasGrammar(value string) bool {
	if value == "" {
		return true
	}
	switch r {
	case attrAlt:
		return len(value) <= maxAlt
	case attrCite:
		return len(value) <= maxCite && !strings.ContainsFunc(value, unicode.IsSpace)
	case attrToken:
		return isToken(value)
	case attrTokens:
		return len(value) <= maxToken && !strings.ContainsFunc(value, func(c rune) bool { return !isTokenRune(c) && c != ' ' })
	case attrNumber:
		return isLength(value)
	case attrLanguage:
		return isLanguage(value)
	case attrColor:
		return isColor(value)
	case attrDate:
		return len(value) <= 40 && !strings.ContainsFunc(value, func(c rune) bool { return !strings.ContainsRune("0123456789:.+- TZWPYMDHS", c) })
	case attrMedia:
		words := strings.FieldsFunc(value, func(c rune) bool { return strings.ContainsRune(" \n\t:(),", c) })
		return len(value) <= maxMedia && allWords(slices.DeleteFunc(words, isLength), attrWords[attrMedia])
	case attrVocabulary:
		_, name, ok := strings.Cut(value, "://schema.org/")
		return ok && len(name) <= maxType && !strings.ContainsFunc(name, func(c rune) bool { return c >= utf8.RuneSelf || !isAlpha(byte(c)) })
	case attrRelation, attrRole:
		return len(value) <= maxToken && allWords(strings.Fields(value), attrWords[r])
	}
	return allWords([]string{value}, attrWords[r])
}

// allWords reports whether each of the words is allowed.
func allWords(words, allowed []string) bool {
	for _, word := range words {
		if !slices.Contains(allowed, strings.ToLower(word)) {
			return false
		}
	}
	return true
}

// isToken reports whether s can be a name that a link leads to.
func isToken(s string) bool {
	return len(s) <= maxToken && !strings.ContainsFunc(s, func(r rune) bool { return !isTokenRune(r) })
}

func isTokenRune(r rune) bool {
	if r < utf8.RuneSelf {
		return isAlnum(byte(r)) || strings.IndexByte("-_.:%/+~$#!()[],@*?=&;'|", byte(r)) >= 0
	}
	return unicode.In(r, unicode.L, unicode.M, unicode.N, unicode.So)
}

// isImageSet reports whether s is a list of addresses of images, each with a size or a density. One
// address may have neither: several could be the words of a text that no page shows.
func isImageSet(s string) bool {
	const most = 16
	bare := 0
	for n := 0; ; n++ {
		s = strings.TrimLeftFunc(s, func(r rune) bool { return r == ',' || isURLBlank(r) })
		if s == "" {
			return n <= most && bare <= 1
		}
		end := strings.IndexFunc(s, isURLBlank)
		if end < 0 {
			end = len(s)
		}
		address, sizes := s[:end], ""
		if s = s[end:]; !strings.HasSuffix(address, ",") {
			sizes, s, _ = strings.Cut(s, ",")
		}
		words := strings.FieldsFunc(sizes, isURLBlank)
		if len(words) == 0 {
			bare++
		}
		if len(words) > 2 || len(slices.DeleteFunc(words, isLength)) > 0 || strings.ContainsFunc(address, unicode.IsSpace) {
			return false
		}
	}
}

// isLength reports whether s is a number of a few digits, with a unit or without, or
// "auto".
func isLength(s string) bool {
	const maxDigits = 6
	s = strings.TrimLeft(s, "+-")
	k := 0
	for k < len(s) && (isDigit(s[k]) || s[k] == '.') {
		k++
	}
	if k == 0 {
		return s == "auto"
	}
	switch strings.ToLower(strings.TrimSpace(s[k:])) {
	case "", "%", "px", "em", "rem", "ex", "ch", "pt", "pc", "cm", "mm", "in", "vw", "vh", "x", "w", "dpi", "dppx", "*", ";", "px;":
		return k <= maxDigits
	}
	return false
}

// isLanguage reports whether s is a language with a script and a region at most, as
// in "zh-Hant-TW". "math" and "stl" are excluded, because GitHub draws code in these languages.
func isLanguage(s string) bool {
	if strings.EqualFold(s, "math") || strings.EqualFold(s, "stl") {
		return false
	}
	for i, part := range strings.FieldsFunc(s, func(r rune) bool { return r == '-' || r == '_' }) {
		if len(part) > 4 || len(part) < 2 || i > 2 || strings.ContainsFunc(part, func(r rune) bool { return r >= utf8.RuneSelf || !isAlnum(byte(r)) }) {
			return false
		}
	}
	return len(s) <= len("zho-Hant-419")
}

// isColor reports whether s is a color by number, or may be one by name.
func isColor(s string) bool {
	if digits, ok := strings.CutPrefix(s, "#"); ok {
		return len(digits) <= 8 && !strings.ContainsFunc(digits, func(r rune) bool { return r >= utf8.RuneSelf || hexDigit(byte(r)) == 16 })
	}
	return len(s) <= len("mediumspringgreen") && !strings.ContainsFunc(s, func(r rune) bool { return r >= utf8.RuneSelf || !isAlpha(byte(r)) })
}

// expands reports whether title may be what an abbreviation stands for. The abbreviation must have
// at least two letters. The title must begin with the first one, contain the others after it in
// order, and have at most perLetter bytes for each letter. An empty title is accepted, too.
func expands(title, abbreviation string) bool {
	if title == "" {
		return true
	}
	letters, rest := 0, strings.ToLower(title)
	for _, r := range strings.ToLower(abbreviation) {
		if !unicode.IsLetter(r) {
			continue
		}
		k := strings.IndexRune(rest, r)
		if k < 0 || letters == 0 && k > 0 {
			return false
		}
		rest = rest[k+utf8.RuneLen(r):]
		letters++
	}
	const perLetter = 12
	return letters > 1 && len(title) <= perLetter*letters
}

// contentOf returns the source after an offset up to the end tag of an element, if that
// is near and on the same line, with no other tag before it; "" otherwise.
func (p *pass) contentOf(name string, offset int) string {
	const far = 64
	near := p.src[offset:min(len(p.src), offset+far)]
	content, rest, _ := strings.Cut(near, "</")
	if strings.ContainsAny(content, "<\n") || len(rest) < len(name) || !strings.EqualFold(rest[:len(name)], name) {
		return ""
	}
	return content
}

// mayName reports whether a name may stay. A name may stay if something in the body leads to it.
// Links from elsewhere may lead to the other names. These may have freeNames bytes together, and
// more in a long body.
func (p *pass) mayName(name string) bool {
	if p.anchorsKnown == nil {
		p.anchorsKnown = make(map[string]bool)
		_, rest, ok := strings.Cut(p.src, "#")
		for ; ok; _, rest, ok = strings.Cut(rest, "#") {
			near := rest[:min(len(rest), maxToken+1)]
			if end := indexAnyOrLen(near, " \n\t\"')>]"); end > 0 && end <= maxToken {
				p.anchorsKnown[near[:end]] = true
			}
		}
		// The length is rounded up to a power of two, because the limit must not change with each
		// removal from the body.
		p.namesLeft = freeNames + 1<<bits.Len(uint(len(p.src)))/16
	}
	if p.anchorsKnown[name] {
		return true
	}
	p.namesLeft -= len(name)
	return p.namesLeft >= 0
}

// shrinkGroup returns the group of an element that makes its text smaller, 0 for other elements.
// deepest is how many elements of the group may be nested: in more, nobody can read the text.
func shrinkGroup(name string) (group, deepest int) {
	switch name {
	case "sub", "sup", "small", "rt":
		return 1, 3
	case "code", "tt", "samp", "pre", "h6":
		return 2, 6
	}
	return 0, 0
}
