package secrets

import (
	"regexp"
	"strings"
	"sync"
)

// allowText is a list of what is no secret, as it is written.
type allowText struct {
	Condition   string
	RegexTarget string
	Regexes     []string
	StopWords   []string
}

// allowList says what is no secret although a rule's expression matches it.
type allowList struct {
	target string // "": the secret; "match": all that matched; "line": the line around it
	res    func() []*regexp.Regexp
	words  func() *searcher // nil: none
}

// allowLists returns what gitleaks allows by content. Lists that need a path or a
// commit as well are left out: an agent chooses both.
func allowLists(texts []allowText) []allowList {
	var lists []allowList
	for _, t := range texts {
		if strings.EqualFold(t.Condition, "AND") || len(t.Regexes) == 0 && len(t.StopWords) == 0 {
			continue
		}
		a := allowList{target: t.RegexTarget, res: sync.OnceValue(func() []*regexp.Regexp {
			var res []*regexp.Regexp
			for _, text := range t.Regexes {
				res = append(res, regexp.MustCompile(text))
			}
			return res
		})}
		if words := lowerWords(t.StopWords); len(words) > 0 {
			a.words = sync.OnceValue(func() *searcher { return newSearcher(words) })
		}
		lists = append(lists, a)
	}
	return lists
}

// lineReach is how many bytes of a line on each side of a match are looked at to
// see what it is; a line may have megabytes.
const lineReach = 256

// allowed reports whether a match is a known kind of harmless text.
func (r *rule) allowed(text, secret string, matchStart, matchEnd int) bool {
	for _, a := range r.allow {
		target := secret
		switch a.target {
		case "match":
			target = text[matchStart:matchEnd]
		case "line":
			target = line(text, matchStart, matchEnd)
		}
		for _, re := range a.res() {
			if re.MatchString(target) {
				return true
			}
		}
		if a.words != nil && a.words().containsAny(secret) {
			return true
		}
	}
	return false
}

// line returns the lines that a match stands on, or what is near it.
func line(text string, start, end int) string {
	from, to := max(0, start-lineReach), min(len(text), end+lineReach)
	if i := strings.LastIndexByte(text[from:start], '\n'); i >= 0 {
		from += i + 1
	}
	if i := strings.IndexByte(text[end:to], '\n'); i >= 0 {
		to = end + i
	}
	return text[from:to]
}
