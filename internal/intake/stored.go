package intake

import (
	"regexp"
	"strings"
	"sync"
)

// storedElsewhere matches a notice that a text was stored in a file.
var storedElsewhere = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)\b(?:saved|stored|written|persisted|moved|offloaded|dumped|spilled)\b(?: (?:to|in|into|at|under|as))?(?: (?:an?|the|this))?(?: (?:temporary|temp|local|output))?(?: (?:file|path|disk))?\s*[:=]?\s*` +
		"[`'\"]?(?:file://)?[^\\s`'\"]*[/.\\\\][^\\s`'\"]*[`'\"]?[\\s.]*$")
})

// longForItsPlace matches what such a notice gives as the reason.
var longForItsPlace = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)\b(?:too (?:large|long|big)|truncated|exceed(?:s|ed)?|over the limit|persisted[- ]output|full (?:content|output|result|response|text)s?)\b`)
})

// isStoredElsewhere reports whether a text is nothing but a program's notice that it stored
// the text in a file because it was too long, as some clients of tools do with arguments:
// "[Content too large, saved to file: abc.json]".
func isStoredElsewhere(text string) bool {
	const longest = 1000
	if len(text) > longest || !strings.ContainsAny(text, `/.\`) {
		return false
	}
	whole := strings.TrimSpace(text)
	if begin, inner, ok := strings.Cut(whole, ">"); ok && strings.HasPrefix(begin, "<") { // <persisted-output>
		if i := strings.LastIndex(inner, "</"); i >= 0 {
			inner = inner[:i]
		}
		whole = strings.TrimSpace(inner)
	}
	whole = strings.Trim(whole, "[](){}*_ \t\r\n")
	return strings.Count(whole, "\n") <= 2 && longForItsPlace().MatchString(text) && storedElsewhere().MatchString(whole)
}
