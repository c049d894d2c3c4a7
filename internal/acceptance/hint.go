package acceptance

import (
	"cmp"
	"net/http"
	"strconv"
	"strings"

	"github.com/agent-airlock/airlock/internal/lazyregexp"
)

// probe is one thing that a machine can verify.
type probe struct {
	kind probeKind
	// path is set for pathExists and pathContains; texts is what the file has to contain.
	path  string
	texts []string
	// perhaps reports that path may be an ordinary word or a pattern: if there is no such path, a
	// machine does not judge the criterion.
	perhaps bool
	command string // the command line
	method  string
	url     string
	status  int    // the status that is expected; 0: any that means success
	name    string // of a check or a test
}

type probeKind int

const (
	pathExists probeKind = iota
	pathContains
	runCommand
	fetchURL
	namedCheck
	namedTest
)

// Parts of a hint, as regular expressions.
const (
	quotedText = "(?:\"[^\"\n]+\"|“[^”\n]+”|`[^`\n]+`|'[^'\n]+')"
	pathToken  = "(?:`[^`\n]+`|\"[^\"\n]+\"|[^\\s\"'`“”,;\x00]+)"
)

var (
	commandLineHint = lazyregexp.New(`(?m)^[ \t]*\$[ \t]+(\S.*?)[ \t]*$`)
	commandSpan     = lazyregexp.New("`\\$[ \t]+([^`\n]+)`")
	containsHint    = lazyregexp.New(`(` + pathToken + `)(?:\s+exists\s*,?(?:\s+and)?)?\s+contains\s+(` + quotedText + `(?:(?:\s*,\s*(?:and\s+)?|\s+and\s+)(?:contains\s+)?` + quotedText + `)*)`)
	oneQuoted       = lazyregexp.New(quotedText)
	urlHint         = lazyregexp.New("(?:\\b(GET|HEAD|POST|PUT|PATCH|DELETE|OPTIONS)\\s+)?`?(https?://[^\\s`\"<>\x00]+)`?(?:\\s*(?:->|→|=>)\\s*(?:([0-9]{3})|(?i:2xx|ok))\\b)?")
	checkHint       = lazyregexp.New(`\bcheck:([A-Za-z_-]*[A-Za-z])`)
	testHint        = lazyregexp.New("\\btest:(\"[^\"\n]+\"|`[^`\n]+`|[^\\s,;`\"\x00]+)")
	existsHint      = lazyregexp.New(`(?i)^(check\s+)?(` + pathToken + `)(\s+exists?)?$`)
	connective      = lazyregexp.New(`(?i)[,;\n]|\.(?:\s|$)|\band\b`)
	pathForm        = lazyregexp.New(`/|^\.|\.[A-Za-z0-9_]{1,10}$`)
)

// The marks that replace probes in a hint.
const (
	mark    = "\x00"
	urlMark = "\x01" // for a URL with neither a method nor a status
)

// quotedMark matches a code span or quotation that contained only probes, in whose place it now has
// marks.
var quotedMark = lazyregexp.New("`([\\s.]*[\x00\x01][\\s\x00\x01.]*)`|\"([\\s.]*[\x00\x01][\\s\x00\x01.]*)\"|“([\\s.]*[\x00\x01][\\s\x00\x01.]*)”")

// parseHint returns the conditions of a hint that a machine can verify; all must be met. If there
// are none, why is the reason, for people.
//
// These may stand in a sentence: a path with "contains" and a text, a command, a URL with its
// method or status, a check, and a test. A path alone, or a URL alone, counts in a sentence only if
// the word "Check" or "exists" is with it, and the sentence also has one of these. So the
// file's existence does not satisfy "remove docs/old.md", and "as in https://example.com" asks for
// nothing.
func parseHint(hint string) (probes []probe, why string) {
	rest := strings.NewReplacer(mark, " ", urlMark, " ").Replace(hint)
	extract := func(form *lazyregexp.Regexp, read func(m []string) (probe, bool)) {
		rest = form.ReplaceAllStringFunc(rest, func(found string) string {
			p, ok := read(form.FindStringSubmatch(found))
			if !ok {
				return found
			}
			probes = append(probes, p)
			return " " + mark + " "
		})
	}
	command := func(m []string) (probe, bool) { return probe{kind: runCommand, command: strings.TrimSpace(m[1])}, true }
	extract(commandSpan, command)
	extract(commandLineHint, command)
	extract(containsHint, func(m []string) (probe, bool) {
		p := probe{kind: pathContains, path: unquote(m[1])}
		p.perhaps = isPerhaps(m[1], p.path)
		for _, text := range oneQuoted.FindAllString(m[2], -1) {
			p.texts = append(p.texts, unquote(text))
		}
		return p, true
	})
	var bareURLs []probe // in the order of their marks
	rest = urlHint.ReplaceAllStringFunc(rest, func(found string) string {
		m := urlHint.FindStringSubmatch(found)
		p := probe{kind: fetchURL, method: cmp.Or(m[1], http.MethodGet), url: strings.TrimRight(m[2], ".,;:!?)")}
		if m[1] == "" && m[3] == "" {
			bareURLs = append(bareURLs, p)
			return " " + urlMark + " "
		}
		p.status, _ = strconv.Atoi(m[3])
		probes = append(probes, p)
		return " " + mark + " "
	})
	extract(checkHint, func(m []string) (probe, bool) { return probe{kind: namedCheck, name: m[1]}, true })
	extract(testHint, func(m []string) (probe, bool) {
		name := unquote(m[1])
		if name == m[1] { // the sentence may end here
			name = strings.TrimRight(name, ".)")
		}
		return probe{kind: namedTest, name: name}, name != ""
	})
	rest = quotedMark.ReplaceAllString(rest, "$1$2$3")
	if len(probes)+len(bareURLs) > 0 {
		if word := turning(rest); word != "" {
			return nil, "its hint may ask for the opposite, an alternative or another result (" + word + "), so no machine can decide it"
		}
	}
	existing, onlyPaths := existence(rest, bareURLs)
	if len(probes)+len(existing) == 0 || !onlyPaths && len(probes) == 0 {
		return nil, "its hint names nothing that a machine can verify"
	}
	return append(probes, existing...), ""
}

// existence reads the rest of a hint as paths that have to exist and URLs that have to answer.
// onlyPaths reports whether the rest has nothing else: a path may have "Check" or "exists" with it,
// but a URL may not. If it is false, the probes are those that count in a sentence. urls are the
// URLs for which the marks urlMark in rest stand, in the same order.
func existence(rest string, urls []probe) (probes []probe, onlyPaths bool) {
	var inSentence []probe
	onlyPaths = true
	asked := false // an earlier part begins with "Check", which counts for the next ones
	for _, part := range connective.Split(rest+"\n", -1) {
		part = strings.TrimSpace(part)
		n := strings.Count(part, urlMark)
		named := urls[:n]
		urls = urls[n:]
		if strings.Trim(part, mark+urlMark+" .") == "" {
			probes = append(probes, named...)
			continue
		}
		m := existsHint.FindStringSubmatch(strings.TrimRight(part, "."))
		if m == nil {
			onlyPaths = false
			continue
		}
		hasCheck, name, hasExists := m[1] != "", m[2], m[3] != ""
		if n > 0 {
			// "Check" or "exists" is with the URL, which then counts only in a sentence. Or the URL is
			// quoted together with something else, and does not count.
			onlyPaths = false
			if name == urlMark {
				inSentence = append(inSentence, named...)
			}
			continue
		}
		asked = asked || hasCheck
		p := probe{kind: pathExists, path: unquote(name)}
		p.perhaps = isPerhaps(name, p.path) && (!hasExists || strings.ContainsAny(name, patternSigns))
		isOtherURL := strings.Contains(name, "://") // not of HTTP
		isWord := p.perhaps && !asked && !pathForm.MatchString(p.path) && !plainName.MatchString(p.path)
		if isOtherURL || isWord {
			onlyPaths = false
			continue
		}
		probes = append(probes, p)
		if (hasCheck || hasExists) && !p.perhaps {
			inSentence = append(inSentence, p)
		}
	}
	if !onlyPaths {
		return inSentence, false
	}
	return probes, true
}

// patternSigns are the characters that may make a name a pattern.
const patternSigns = "*?#["

// isPerhaps reports whether a name may be an ordinary word or a pattern instead of a path. path is the
// name without its quotes.
func isPerhaps(name, path string) bool {
	return strings.ContainsAny(name, patternSigns) || path == name && !pathForm.MatchString(name)
}

// plainName is a name that a file may have, without a directory and an ending.
var plainName = lazyregexp.New(`^[A-Za-z0-9_+@-]+$`)

// unquote returns what is between quotes, or the text itself.
func unquote(s string) string {
	for _, q := range [][2]string{{"\"", "\""}, {"“", "”"}, {"`", "`"}, {"'", "'"}} {
		if inner, ok := strings.CutPrefix(s, q[0]); ok {
			if inner, ok = strings.CutSuffix(inner, q[1]); ok {
				return inner
			}
		}
	}
	return s
}
