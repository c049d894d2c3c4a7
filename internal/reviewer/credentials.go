package reviewer

import (
	"regexp"
	"strings"
	"sync"

	"github.com/agent-airlock/airlock/internal/finding"
)

// credentialRules are read once a process: they are constant.
var credentialRules = sync.OnceValues(func() ([]*Rule, error) { return plainRules("rules/credentials.yaml", SecurityReview, "security") })

// writtenCredential is where one is written, never what it is.
type writtenCredential struct {
	start, end int
	what       string // what the finding says of it
}

var (
	// madeUpPath matches paths of files whose credentials are made up.
	madeUpPath = regexp.MustCompile(`(?i)(^|/)(\.github|fixtures?|mocks?|examples?|samples?|docs?|demos?|i18n|locales?|lang|translations?|testing|integration)/|(example|sample|template|mock|fixture|test|swagger|openapi)[^/]*\.[a-z]+$|\.(md|rst|adoc|txt|html?|svg|example|sample|template|dist|tmpl|lock|sum|csv|tsv|sql|po|pot)$`)
	// settingPath matches paths of files that hold settings by name.
	settingPath = regexp.MustCompile(`(?i)\.(ya?ml|env|properties|ini|cfg|conf|toml|json|config|xml)$|(^|/)\.env[^/]*$`)
	// secretName matches names whose value is secret, secretPart what such a name may
	// end with in a file of settings.
	secretName  = regexp.MustCompile(`(?i)(^|[^a-z])(\w*(password|passwd|passphrase|pwd)|\w*(client|app|shared|jwt|session|cookie|auth)_?secret|secret|secret_?key|\w*(api_?key|access_?token|auth_?token))$`)
	setting     = regexp.MustCompile(`(?i)^\s*(?:export\s+|-\s+|set\s+)?["']?([\w.-]*(?:password|passwd|passphrase|pwd|secret|api[_-]?key|(?:access|auth)[_-]?token))["']?\s*[:=]\s*["']?([^\s"'#,]{4,128})["']?\s*,?\s*(?:#.*)?$`)
	settingName = regexp.MustCompile(`(?i)^[\w.-]*(?:password|passwd|passphrase|pwd|secret|api[_-]?key|(?:access|auth)[_-]?token)$`)
	// otherName matches names of what is said about a secret.
	otherName = regexp.MustCompile(`(?i)forgot|reset|change|confirm|invalid|wrong|missing|show|hide|enter|label|placeholder|hint|title|error|message|regex|pattern|field|column|header|prompt|min|max|len|type|kind|policy|rule|env|path|file|url|param|attr|selector|hash|crypt|format|encod|algorithm|mock|fake|test|dummy|example`)
	// connection matches the password in the text that a driver connects with.
	connection = regexp.MustCompile(`(?:^|[;\s"'])(?:[Pp]assword|[Pp]wd)\s*=\s*([^;\s"'&{}<>$%*]{4,64})`)
	// local matches a database on the same machine, as it is started for tests.
	local     = regexp.MustCompile(`(?i)(?:^|[;\s"'])(?:server|data source|host)\s*=\s*(?:localhost|127\.0\.0\.1|::1)(?:[:;,\s"']|$)`)
	connected = regexp.MustCompile(`(?i)(?:^|[;\s"'])(?:server|data source|host|user id|uid|user|username|dbname|database|initial catalog)\s*=`)
)

// credentials finds passwords and keys that are written into a file as the value of
// a telling name, in an address or in what a driver connects with. s is nil where
// the file's language is not known.
func (r *Reviewer) credentials(f File, s *source) []finding.Finding {
	rule := r.credentialRules["hard-coded-credential"]
	if !r.uses(rule) || testPath.MatchString(f.Path) || madeUpPath.MatchString(f.Path) {
		return nil
	}
	places := inAddresses(f.Text)
	switch {
	case s != nil:
		places = append(places, s.namedCredentials()...)
	case settingPath.MatchString(f.Path):
		places = append(places, inSettings(f.Text)...)
	}
	if len(places) == 0 {
		return nil
	}
	if s == nil {
		s = &source{path: f.Path, text: f.Text, lines: lineStarts(f.Text)}
	}
	var found []finding.Finding
	for _, p := range places {
		found = append(found, s.finding(rule, int32(p.start), int32(p.end), strings.ReplaceAll(rule.Message, "{sink}", p.what)))
	}
	return found
}

const (
	inAddress    = "An address holds a password"
	inConnection = "What connects to a database holds a password"
)

// namedCredentials finds literals that a telling name is given or compared with.
func (s *source) namedCredentials() []writtenCredential {
	var places []writtenCredential
	for i, t := range s.tokens {
		name := ""
		switch t.kind {
		case word:
			name = s.written(i)
			places = append(places, s.calledCredential(i)...)
		case stringText:
			name = s.content(i)
			places = append(places, s.connection(i)...)
		}
		if len(name) > 60 || !telling(name) || !secretName.MatchString(name) || otherName.MatchString(name) {
			continue
		}
		at, compared := s.valueOf(i)
		x := extent{at, min(s.after(min(at, len(s.tokens)-1)), len(s.tokens))}
		said, ok := s.plainText(x)
		if at == 0 || !ok || !s.ends(x.to) || !credible(name, said, compared) {
			continue
		}
		literal := s.tokens[at]
		if literal.kind == open {
			literal = s.tokens[at+1]
		}
		places = append(places, writtenCredential{int(literal.from), int(literal.to), "The value of " + name + " is written down"})
	}
	return places
}

// telling reports whether a name ends as that of a secret does, which is cheaper to
// see than all that secretName asks.
func telling(name string) bool {
	for _, end := range []string{"password", "passwd", "passphrase", "pwd", "secret", "key", "token"} {
		if n := len(name) - len(end); n >= 0 && strings.EqualFold(name[n:], end) {
			return true
		}
	}
	return false
}

// valueOf returns the index of what the name at index i is given or compared with, or 0.
func (s *source) valueOf(i int) (at int, compared bool) {
	if at = s.valueInList(i); at > 0 {
		return at, false
	}
	j := i + 1
	if s.is(j, "]") && s.tokens[i].kind == stringText { // config["password"] = …
		j++
	}
	switch {
	case s.is(j, "="), s.is(j, ":="), s.is(j, "=>"):
		return j + 1, false
	case s.is(j, "=="), s.is(j, "==="), s.is(j, "!="), s.is(j, "!=="):
		return j + 1, s.tokens[i].kind == word
	case s.is(j, ".") && s.is(j+1, "equals") && s.is(j+2, "("):
		return j + 3, true
	case !s.is(j, ":"):
		return 0, false
	}
	if k := s.kindAt(j + 1); k == stringText || k == open {
		return j + 1, false
	}
	for k := j + 1; k < min(len(s.tokens), j+8) && !s.tokens[k].first; k++ { // let password: &str = …
		if s.is(k, "=") {
			return k + 1, false
		}
	}
	return 0, false
}

// valueInList returns the index of the literal that the name at index i is given in a
// statement with as many names as literals, such as user, password = "app", "...";
// or 0.
func (s *source) valueInList(i int) int {
	const most = 8 // names
	first, last := i, i
	for n := 0; n < most && first >= 2 && s.is(first-1, ",") && s.kindAt(first-2) == word; n++ {
		first -= 2
	}
	for n := 0; n < most && s.is(last+1, ",") && s.kindAt(last+2) == word; n++ {
		last += 2
	}
	if first == last || !s.tokens[first].first || !s.is(last+1, "=") && !s.is(last+1, ":=") {
		return 0
	}
	at := last + 2
	for k := first; k <= last; k += 2 {
		if v := at + k - first; s.kindAt(v) != stringText || k < last && !s.is(v+1, ",") {
			return 0
		}
	}
	if !s.ends(at+last-first+1) || s.is(at+last-first+1, ",") {
		return 0
	}
	return at + i - first
}

// ends reports whether a value ends before the token at index i.
func (s *source) ends(i int) bool {
	return i >= len(s.tokens) || s.kindAt(i) == closing || s.is(i, ",") || s.is(i, ";") || s.is(i, "{") || s.is(i, "&&") || s.is(i, ":") ||
		s.tokens[i].first && s.kindAt(i) != op
}

// connection finds a password in the literal at index i that a driver connects with.
func (s *source) connection(i int) []writtenCredential {
	t := s.tokens[i]
	return inConnections(s.content(i), int(t.from))
}

// withCredentials adds findings of credentials, save those in lines in which a
// secret was found.
func withCredentials(all, more []finding.Finding) []finding.Finding {
	secret := map[int]bool{}
	for _, f := range all {
		if strings.HasPrefix(f.Rule, secretRule.ID) {
			secret[f.Range.StartLine] = true
		}
	}
	for _, f := range more {
		if !secret[f.Range.StartLine] {
			all = append(all, f)
		}
	}
	return all
}

// passwordAt are calls that take a password, and which of their arguments it is.
var passwordAt = map[string]int{
	"getConnection": 3, "PasswordAuthentication": 2, "UsernamePasswordCredentials": 2, "setBasicAuth": 2, "SetBasicAuth": 2,
	"basicAuth": 2, "basic_auth": 2, "HTTPBasicAuth": 2, "BasicAuth": 2,
}

// calledCredential finds a password among the arguments of a call such as
// DriverManager.getConnection(url, "scott", "tiger"), and in Python's
// auth=("user", "password"). The word at index i is the name.
func (s *source) calledCredential(i int) []writtenCredential {
	name := s.written(i)
	at, open := passwordAt[name], i+1
	if name == "auth" && s.is(i+1, "=") && s.lang.name == "python" {
		at, open = 2, i+2
	}
	if at == 0 || !s.is(open, "(") || s.is(i-1, "func") || s.is(i-1, "def") || s.is(i-1, "fn") {
		return nil
	}
	list := s.arguments(open)
	if len(list) != at && (len(list) < at || at == 3) {
		return nil
	}
	x := list[at-1].extent
	said, ok := s.plainText(x)
	if !ok || !plausible(said) {
		return nil
	}
	literal := s.tokens[x.from]
	if literal.kind != stringText {
		literal = s.tokens[x.from+1]
	}
	return []writtenCredential{{int(literal.from), int(literal.to), "An argument of " + name + " is a password that is written down"}}
}

// inConnections finds passwords in a text that begins at an offset.
func inConnections(said string, offset int) []writtenCredential {
	if len(said) > longestSource || !strings.Contains(said, "=") || !strings.Contains(said, "assword") && !strings.Contains(said, "wd") || !connected.MatchString(said) || local.MatchString(said) {
		return nil
	}
	var places []writtenCredential
	for _, m := range connection.FindAllStringSubmatchIndex(said, -1) {
		if plausible(said[m[2]:m[3]]) {
			places = append(places, writtenCredential{offset + m[2], offset + m[3], inConnection})
		}
	}
	return places
}

// inSettings finds the values of telling names in a file of settings.
func inSettings(t string) []writtenCredential {
	var places []writtenCredential
	at := 0
	for line := range strings.Lines(t) {
		if len(line) <= longestSource {
			var m []int
			if sign := strings.IndexAny(line, ":="); sign > 0 && telling(strings.TrimRight(line[:sign], " \t\"'")) {
				m = setting.FindStringSubmatchIndex(strings.TrimRight(line, "\r\n"))
			}
			if m == nil {
				places = append(places, inPairs(line, at)...)
				places = append(places, inConnections(line, at)...)
			} else if name := line[m[2]:m[3]]; !otherName.MatchString(name) && credible(name, line[m[4]:m[5]], false) {
				places = append(places, writtenCredential{at + m[4], at + m[5], "The value of " + name + " is written down"})
			}
		}
		at += len(line)
	}
	return places
}

// inPairs finds the values of telling names among the pairs of one line, which begins
// at an offset, as JSON has them: {"user": "app", "password": "..."}.
func inPairs(line string, offset int) []writtenCredential {
	const sign = `":`
	var places []writtenCredential
	for from := 0; ; {
		i := strings.Index(line[from:], sign)
		if i < 0 {
			return places
		}
		end := from + i
		name := line[from+strings.LastIndexByte(line[from:end], '"')+1 : end]
		from = end + len(sign)
		rest := strings.TrimLeft(line[from:], " \t")
		begin := len(line) - len(rest) + 1
		value, _, closed := strings.Cut(strings.TrimPrefix(rest, `"`), `"`)
		if !closed || rest[0] != '"' || strings.Contains(value, `\`) || len(value) > longestValue || !telling(name) || !settingName.MatchString(name) || otherName.MatchString(name) {
			continue
		}
		if credible(name, value, false) {
			places = append(places, writtenCredential{offset + begin, offset + begin + len(value), "The value of " + name + " is written down"})
		}
		from = begin + len(value)
	}
}

// longestValue bounds a credential, in bytes.
const longestValue = 128
