package intake

import (
	"strings"

	"github.com/agent-airlock/airlock/internal/lazyregexp"
)

// storedElsewhere matches a notice that a text was stored in a file.
var storedElsewhere = lazyregexp.New(`(?i)\b(?:saved|stored|written|persisted|moved|offloaded|dumped|spilled)\b(?: (?:to|in|into|at|under|as))?(?: (?:an?|the|this))?(?: (?:temporary|temp|local|output))?(?: (?:file|path|disk))?\s*[:=]?\s*` +
	"[`'\"]?(?:file://)?[^\\s`'\"]*[/.\\\\][^\\s`'\"]*[`'\"]?[\\s.]*$")

// tooLongReason matches the reason that such a notice gives: that the text was too long.
var tooLongReason = lazyregexp.New(`(?i)\b(?:too (?:large|long|big)|truncated|exceed(?:s|ed)?|over the limit|persisted[- ]output|full (?:content|output|result|response|text)s?)\b`)

// isStoredElsewhere reports whether a text is nothing but a program's notice that the real text was
// too long and is in a file: "[Content too large, saved to file: abc.json]". Some clients of tools
// replace arguments by such notices.
func isStoredElsewhere(text string) bool {
	const longest = 1000
	if len(text) > longest || !strings.ContainsAny(text, `/.\`) {
		return false
	}
	note := strings.TrimSpace(text)
	if begin, inner, ok := strings.Cut(note, ">"); ok && strings.HasPrefix(begin, "<") { // <persisted-output>
		if i := strings.LastIndex(inner, "</"); i >= 0 {
			inner = inner[:i]
		}
		note = strings.TrimSpace(inner)
	}
	note = strings.Trim(note, "[](){}*_ \t\r\n")
	lastWord := note[strings.LastIndexAny(note, " \t\n\f\r")+1:]
	if !strings.ContainsAny(lastWord, `/.\`) || strings.Count(note, "\n") > 2 {
		return false
	}
	return mayGiveReason(text) && tooLongReason.MatchString(text) && storedElsewhere.MatchString(note)
}

// mayGiveReason reports quickly whether tooLongReason may match a text.
func mayGiveReason(text string) bool {
	text = strings.ToLower(text)
	for _, word := range [...]string{"too ", "truncated", "exceed", "over the limit", "persisted", "full "} {
		if strings.Contains(text, word) {
			return true
		}
	}
	return false
}
