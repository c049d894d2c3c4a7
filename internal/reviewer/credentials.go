package reviewer

import (
	"slices"
	"strings"

	"github.com/agent-airlock/airlock/internal/finding"
	"github.com/agent-airlock/airlock/internal/lazyregexp"
)

// writtenCredential is the place of a credential in a text, without its value.
type writtenCredential struct {
	start, end int
	what       string // the beginning of the finding's message
}

const (
	inAddress    = "An address contains a password"
	inConnection = "A connection string contains a password"
)

func namedValue(name string, start, end int) writtenCredential {
	return writtenCredential{start, end, "The value of " + name + " is written down"}
}

var (
	// madeUpPath matches paths of files whose credentials are made up.
	madeUpPath = lazyregexp.New(`(?i)(^|/)(\.github|fixtures?|mocks?|examples?|samples?|docs?|demos?|i18n|locales?|lang|translations?|testing|integration|openapi|swagger|sample[_-]?data|seeds?|tests?[-_]data)/|(example|sample|template|mock|fixture|test|swagger|openapi|compose)[^/]*\.[a-z]+$|(^|/)(\.devcontainer|dev|development|docker)/|(^|/)(readme|install|changelog|changes|news|faq|todo)$|\.(md|rst|adoc|txt|html?|svg|example|sample|template|dist|tmpl|lock|sum|csv|tsv|sql|po|pot)$`)
	// settingPath matches paths of files that contain settings with names, such as password: x.
	settingPath = lazyregexp.New(`(?i)\.(ya?ml|env|properties|ini|cfg|cnf|conf|toml|json|config|xml|tfvars|sh|bash|zsh)$|(^|/)(\.env|\.pypirc|dockerfile)[^/]*$`)
	// startsServices matches settings that start services, each from an image.
	startsServices = lazyregexp.New(`(?m)^services:\s*$(?s:.*)^\s+image:\s`)
	// secretName matches names of secrets in code, settingName those in files of settings,
	// and settingLine a line that sets one of these.
	secretName  = lazyregexp.New(`(?i)(^|[^a-z])(\w*(password|passwd|passphrase|pwd|(db|database|user|root|admin|smtp|mail|email|ssh|ftp|sudo|become|login|sql|pg|postgres|redis|proxy)_?pass)|\w*(client|app|shared|jwt|session|cookie|auth)_?secret|secret|secret_?key|\w*(api_?key|access_?token|auth_?token))$`)
	settingName = lazyregexp.New(`(?i)^[\w.-]*(?:password|passwd|passphrase|pwd|[_.-]pass|secret|api[_-]?key|(?:access|auth)[_-]?token)$`)
	settingLine = lazyregexp.New(`(?i)^\s*(?:export\s+|-\s+|set\s+|ENV\s+|ARG\s+)?["']?([\w.-]*(?:password|passwd|passphrase|pwd|[_.-]pass|secret|api[_-]?key|(?:access|auth)[_-]?token))["']?\s*[:=]\s*["']?([^\s"'#,]{4,128})["']?\s*,?\s*(?:#.*)?$`)
	// otherName matches names of things that are not the secret itself: forgotPassword.
	otherName = lazyregexp.New(`(?i)forgot|reset|change|confirm|invalid|wrong|missing|show|hide|enter|label|placeholder|hint|title|error|message|regex|pattern|field|column|header|prompt|min|max|len|type|kind|policy|rule|env|path|file|url|param|attr|selector|hash|crypt|format|encod|algorithm|mock|fake|test|dummy|example|(?:first|second|third|last|next|single|multi|one|two|render|shader|shadow|depth|by|low|high|band)[._-]?pass$`)
)

// ordinaryPart matches words of names that contain what otherName matches, such as admin, in which
// min is.
var ordinaryPart = lazyregexp.New(`(?i)admin|exchange|center|enterprise|profile|curl|latest|contest|terminal|calendar`)

// isOtherName reports whether a name is that of something else than the secret itself.
func isOtherName(name string) bool {
	return otherName.MatchString(ordinaryPart.ReplaceAllString(name, ""))
}

// credentials finds passwords and keys that a file contains as the value of a name like
// password, in an address, in a connection string or in one of the credentialForms. Lines that begin
// like a comment do not count: they show examples. s is nil if the file's language is not known.
func (r *Reviewer) credentials(f File, s *source) []finding.Finding {
	rule := r.byID["hard-coded-credential"]
	if !r.uses(rule) || testPath.MatchString(f.Path) || madeUpPath.MatchString(strings.TrimSuffix(f.Path, ".sql")) {
		return nil
	}
	lines := s
	if lines == nil {
		lines = unscanned(f)
	}
	outsideComments := func(places []writtenCredential) []writtenCredential {
		return slices.DeleteFunc(places, func(p writtenCredential) bool { return lines.isInComment(p.start) })
	}
	var places []writtenCredential
	if isDump := madeUpPath.MatchString(f.Path); !isDump { // only files that end in .sql match here
		places = outsideComments(passwordsInAddresses(f.Text))
	}
	givesToServices := s == nil && startsServices.MatchString(f.Text) // what the file starts gets the passwords
	switch {
	case s != nil:
		places = append(places, s.credentialsInCode()...)
	case settingPath.MatchString(f.Path) && !givesToServices:
		places = append(places, outsideComments(credentialsInSettings(f.Text))...)
	}
	if !givesToServices {
		places = append(places, outsideComments(f.credentialsInForms(lines))...)
	}
	var found []finding.Finding
	seen := map[int]bool{}
	for _, p := range places {
		if seen[p.start] {
			continue
		}
		seen[p.start] = true
		found = append(found, rule.finding(f.Path, p.what, lines.rangeOf(int32(p.start), int32(p.end))))
	}
	return found
}

// withCredentials adds findings of credentials, except on lines where a secret was found.
func withCredentials(all, more []finding.Finding) []finding.Finding {
	hasSecret := map[int]bool{}
	for _, f := range all {
		if strings.HasPrefix(f.Rule, secretRule) {
			hasSecret[f.Range.StartLine] = true
		}
	}
	for _, f := range more {
		if !hasSecret[f.Range.StartLine] {
			all = append(all, f)
		}
	}
	return all
}

// credentialsInCode finds literals that are assigned to a name like password or compared with
// it, and passwords in calls and in connection strings.
func (s *source) credentialsInCode() []writtenCredential {
	var places []writtenCredential
	for i, t := range s.tokens {
		name := ""
		switch t.kind {
		case word:
			name = s.written(i)
			places = append(places, s.passwordArgument(i)...)
		case stringText:
			name = s.content(i)
			places = append(places, passwordsInConnections(name, int(t.from))...)
		}
		const longest = 60 // bytes of a name
		if len(name) > longest || !endsLikeSecret(name) || !secretName.MatchString(name) || isOtherName(name) {
			continue
		}
		index, compared := s.valueIndex(i)
		if index == 0 || index >= len(s.tokens) {
			continue
		}
		value := extent{index, s.after(index)}
		if literal, ok := s.plainLiteral(value); ok && s.endsValue(value.to) && isCredible(name, s.content(literal), compared) {
			places = append(places, namedValue(name, int(s.tokens[literal].from), int(s.tokens[literal].to)))
		}
	}
	return places
}

// endsLikeSecret reports whether a name ends like that of a secret. It is a cheap test before
// secretName.
func endsLikeSecret(name string) bool {
	for _, end := range []string{"password", "passwd", "passphrase", "pwd", "pass", "secret", "key", "token"} {
		if n := len(name) - len(end); n >= 0 && strings.EqualFold(name[n:], end) {
			return true
		}
	}
	return false
}

// valueIndex returns the index of the value that the name at index i is set to or compared with, or
// 0. compared reports whether the program compares the two. It is false where an operator compares
// an element such as config["password"]: the literal on the other side is often a name, not a
// password.
func (s *source) valueIndex(i int) (index int, compared bool) {
	if index = s.valueInList(i); index > 0 {
		return index, false
	}
	sign := i + 1
	if s.is(sign, "]") && s.tokens[i].kind == stringText { // config["password"] = …
		sign++
	}
	switch {
	case s.isOneOf(sign, "=", ":=", "=>"):
		return sign + 1, false
	case s.isOneOf(sign, "==", "===", "!=", "!=="):
		return sign + 1, s.tokens[i].kind == word
	case s.isSequence(sign, ".", "equals", "("):
		return sign + 3, true
	case !s.is(sign, ":"):
		return 0, false
	}
	if k := s.kindAt(sign + 1); k == stringText || k == opening {
		return sign + 1, false
	}
	const longestType = 8                                                                    // tokens
	for j := sign + 1; j < min(len(s.tokens), sign+longestType) && !s.tokens[j].first; j++ { // let password: &str = …
		if s.is(j, "=") {
			return j + 1, false
		}
	}
	return 0, false
}

// valueInList returns the index of the literal that is assigned to the name at index i in a
// statement with as many literals as names, such as user, password = "app", "..."; or 0.
func (s *source) valueInList(i int) int {
	const most = 8 // names on each side
	first, last := i, i
	for n := 0; n < most && first >= 2 && s.is(first-1, ",") && s.isWord(first-2); n++ {
		first -= 2
	}
	for n := 0; n < most && s.is(last+1, ",") && s.isWord(last+2); n++ {
		last += 2
	}
	if first == last || !s.tokens[first].first || !s.isOneOf(last+1, "=", ":=") {
		return 0
	}
	values := last + 2 - first // from a name to its value
	for name := first; name <= last; name += 2 {
		if v := name + values; s.kindAt(v) != stringText || name < last && !s.is(v+1, ",") {
			return 0
		}
	}
	if end := last + values + 1; !s.endsValue(end) || s.is(end, ",") {
		return 0
	}
	return i + values
}

// endsValue reports whether a value ends before the token at index i.
func (s *source) endsValue(i int) bool {
	return i >= len(s.tokens) || s.kindAt(i) == closing || s.isOneOf(i, ",", ";", "{", "&&", ":") || s.tokens[i].first && s.kindAt(i) != operator
}

// passwordPosition maps calls that take a password to its position among the arguments.
var passwordPosition = map[string]int{
	"getConnection": 3, "PasswordAuthentication": 2, "UsernamePasswordCredentials": 2, "setBasicAuth": 2, "SetBasicAuth": 2,
	"basicAuth": 2, "basic_auth": 2, "HTTPBasicAuth": 2, "BasicAuth": 2,
}

// signing are the functions of a package jwt whose second argument is the key.
var signing = wordSetOf("sign verify encode decode")

// passwordArgument finds a password among the arguments of a call such as
// DriverManager.getConnection(url, "scott", "tiger"), the key in a call of a signing function, and
// a password in Python's auth=("user", "password"). The word at index i is the name.
func (s *source) passwordArgument(i int) []writtenCredential {
	name := s.written(i)
	position, open := passwordPosition[name], i+1
	if name == "auth" && s.is(i+1, "=") && s.lang.name == "python" {
		position, open = 2, i+2
	}
	isKey := signing[name] && s.is(i-1, ".") && s.isOneOf(i-2, "jwt", "JWT", "jsonwebtoken")
	if isKey {
		position = 2
	}
	if position == 0 || !s.is(open, "(") || s.isOneOf(i-1, "func", "def", "fn") {
		return nil
	}
	list := s.arguments(open)
	if len(list) < position || len(list) > position && name == "getConnection" {
		return nil
	}
	literal, ok := s.plainLiteral(list[position-1].extent)
	if !ok || !isPlausible(s.content(literal)) || isKey && !isCredible("secret", s.content(literal), false) {
		return nil
	}
	return []writtenCredential{{int(s.tokens[literal].from), int(s.tokens[literal].to), "An argument of " + name + " is a password that is written down"}}
}

// credentialsInSettings finds the values of names like password, and passwords in connection
// strings, in a file of settings.
func credentialsInSettings(text string) []writtenCredential {
	var places []writtenCredential
	offset := 0
	for line := range strings.Lines(text) {
		if len(line) <= longestSource {
			places = append(places, credentialsInLine(line, offset)...)
		}
		offset += len(line)
	}
	return places
}

// credentialsInLine finds what credentialsInSettings does in one line, which begins at an offset.
func credentialsInLine(line string, offset int) []writtenCredential {
	if sign := strings.IndexAny(line, ":="); sign > 0 && endsLikeSecret(strings.TrimRight(line[:sign], " \t\"'")) {
		if m := settingLine.FindStringSubmatchIndex(strings.TrimRight(line, "\r\n")); m != nil {
			name, value := line[m[2]:m[3]], line[m[4]:m[5]]
			if isOtherName(name) || commonPasswords[value] || !isCredible(name, value, false) {
				return nil
			}
			return []writtenCredential{namedValue(name, offset+m[4], offset+m[5])}
		}
	}
	return append(credentialsInPairs(line, offset), passwordsInConnections(line, offset)...)
}

// credentialsInPairs finds the values of names like password in one line of JSON, such as
// {"user": "app", "password": "..."}. The line begins at an offset.
func credentialsInPairs(line string, offset int) []writtenCredential {
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
		if !closed || rest[0] != '"' || strings.Contains(value, `\`) || len(value) > longestCredential ||
			!endsLikeSecret(name) || !settingName.MatchString(name) || isOtherName(name) {
			continue
		}
		from = begin + len(value)
		if isCredible(name, value, false) {
			places = append(places, namedValue(name, offset+begin, offset+from))
		}
	}
}

var (
	// connectionPassword matches the password in a connection string.
	connectionPassword = lazyregexp.New(`(?:^|[;\s"'])(?:[Pp]assword|[Pp]wd)\s*=\s*([^;\s"'&{}<>$%*]{4,64})`)
	// connectionPart matches the other parts of such a string.
	connectionPart = lazyregexp.New(`(?i)(?:^|[;\s"'])(?:server|data source|host|user id|uid|user|username|dbname|database|initial catalog)\s*=`)
	// connectionUser matches the user in such a string.
	connectionUser = lazyregexp.New(`(?i)(?:^|[;\s"'])(?:user id|uid|user|username)\s*=\s*([^;\s"'&]+)`)
	// localDatabase matches a database on the same machine, as it is started for tests.
	localDatabase = lazyregexp.New(`(?i)(?:^|[;\s"'])(?:server|data source|host)\s*=\s*(?:localhost|127\.0\.0\.1|::1)(?:[:;,\s"']|$)`)
)

// passwordsInConnections finds passwords in connection strings, such as
// "Server=db;Uid=app;Pwd=...", in a text that begins at an offset.
func passwordsInConnections(text string, offset int) []writtenCredential {
	if len(text) > longestSource || !strings.Contains(text, "=") || !strings.Contains(text, "assword") && !strings.Contains(text, "wd") ||
		!connectionPart.MatchString(text) || localDatabase.MatchString(text) {
		return nil
	}
	user := ""
	if m := connectionUser.FindStringSubmatch(text); m != nil {
		user = m[1]
	}
	var places []writtenCredential
	for _, m := range connectionPassword.FindAllStringSubmatchIndex(text, -1) {
		if password := text[m[2]:m[3]]; isPlausible(password) && !strings.EqualFold(user, password) {
			places = append(places, writtenCredential{offset + m[2], offset + m[3], inConnection})
		}
	}
	return places
}

// longestAddress bounds how many bytes of an address are looked at.
const longestAddress = 256

// passwordsInAddresses finds passwords in addresses such as https://user:password@host/ and
// user:password@tcp(host:3306).
func passwordsInAddresses(text string) []writtenCredential {
	var places []writtenCredential
	// find judges the text user:password between two offsets, which is sent to a host.
	find := func(begin, end int, host string) {
		user, password, _ := strings.Cut(text[begin:end], ":")
		if isPlausible(password) && !strings.EqualFold(user, password) && strings.ToUpper(password) != password && !isMadeUpHost(host) && !isServiceDefault(password, host) {
			places = append(places, writtenCredential{begin + len(user) + 1, end, inAddress})
		}
	}
	eachAfter(text, "://", func(begin int) {
		length := strings.IndexFunc(text[begin:min(len(text), begin+longestAddress)]+" ", endsAuthority)
		authority := text[begin:min(begin+length, len(text))]
		if at := strings.LastIndexByte(authority, '@'); at >= 0 {
			find(begin, begin+at, authority[at+1:])
		}
	})
	for _, sign := range []string{"@tcp(", "@unix("} {
		eachAfter(text, sign, func(after int) {
			end := after - len(sign)
			begin := max(0, end-longestAddress)
			begin += strings.LastIndexFunc(text[begin:end], endsAuthority) + 1
			host, _, _ := strings.Cut(text[after:min(len(text), after+longestAddress)], ")")
			find(begin, end, host)
		})
	}
	return places
}

// eachAfter calls a function with the offset after each occurrence of a sign in a text.
func eachAfter(text, sign string, found func(after int)) {
	for from := 0; ; {
		i := strings.Index(text[from:], sign)
		if i < 0 {
			return
		}
		from += i + len(sign)
		found(from)
	}
}

// endsAuthority reports whether a character ends the authority of a URL.
func endsAuthority(r rune) bool {
	return r <= ' ' || strings.ContainsRune("/?#\"'`<>\\|()", r)
}
