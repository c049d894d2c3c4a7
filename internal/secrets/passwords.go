package secrets

import (
	"encoding/base64"
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/agent-airlock/airlock/internal/lazyregexp"
)

// passwordRules returns our own rules for passwords, and for other secrets that a function finds
// better than an expression. A password has no form of its own; the text around it shows that it
// is one. A weak password does not count, because it is an example or for a developer's machine.
func passwordRules() []*rule {
	return []*rule{
		{id: urlRule, name: "a password in a URL", keywords: []string{"://", `:\/\/`, "%3a%2f%2f"}, find: urlPassword},
		{id: "connection-string-password", name: "a password in a connection string", keywords: []string{"password=", "passwd=", "pwd="}, find: connectionPassword},
		{id: "netrc-password", name: "a password of .netrc", keywords: []string{"password ", "password\t", "password\n", "password\r"}, find: netrcPassword},
		{id: "npmrc-auth", name: "a credential of .npmrc", keywords: []string{"_authtoken", "_auth=", "_auth =", "_password=", "_password ="}, find: npmrcAuth},
		{id: "docker-auth", name: "a credential of Docker", keywords: []string{`"auth"`}, find: dockerAuth},
		{id: "private-key-in-url", name: "a private key in the form of a query", keywords: []string{"-----begin+"}, find: queryPrivateKey},
		{id: "sql-password", name: "a password of a database's user", keywords: []string{"identified by '", "password '", "password = '", "password='"}, find: sqlPassword},
		{id: "xml-password", name: "a password in XML", keywords: []string{"<password>", "<passwd>", "<passphrase>"}, find: xmlPassword},
		{id: "php-password", name: "a password in a constant of PHP", keywords: []string{"password', '", `password", "`, "password','", `password","`, "_pass', '", `_pass", "`, "_pass','", `_pass","`}, find: phpPassword},
		{id: "ansible-password", name: "a password of Ansible", keywords: []string{"ansible_become_pass", "ansible_ssh_pass", "ansible_sudo_pass", "ansible_password"}, find: ansiblePassword},
		{id: "pgpass", name: "a password of .pgpass", keywords: []string{":5432:", ":*:"}, find: pgpassPassword},
		{id: "command-password", name: "a password that a command gets", keywords: []string{"sshpass", "docker login", "podman login", "registry login", "--password-stdin", "chpasswd"}, find: commandPassword},
		{id: "basic-auth", name: "a password of HTTP's basic authentication", keywords: []string{"basic "}, find: basicAuth},
	}
}

// endOf returns the offset of the first byte from start on for which stop is true, at most 512
// bytes after start.
func endOf(text string, start int, stop func(c byte) bool) int {
	end, most := start, min(len(text), start+512)
	for end < most && !stop(text[end]) {
		end++
	}
	return end
}

// endsURL reports whether a byte ends a URL in a text.
func endsURL(c byte) bool {
	return c <= ' ' || c == '"' || c == '\'' || c == '`' || c == '<' || c == '>' || c == '\\'
}

// endsUserInfo reports whether a byte ends the user information of a URL.
func endsUserInfo(c byte) bool {
	return endsURL(c) || c == '/' || c == '?' || c == '#' || c == 0x7f
}

// urlPassword finds the password of a URL such as postgres://user:password@host/; start and
// end are where "://" is.
func urlPassword(text string, start, end int) (from, to int, ok bool) {
	if start == 0 || !wordByte(text[start-1]) {
		return 0, 0, false
	}
	stop := endOf(text, end, endsUserInfo)
	authority := text[end:stop]
	at := strings.LastIndexByte(authority, '@')
	_, afterColon, hasColon := strings.Cut(authority, ":")
	isPort := afterColon != "" && strings.Trim(afterColon, "0123456789") == ""
	beforePath := stop < len(text) && strings.IndexByte("/?#", text[stop]) >= 0
	if at < 0 && hasColon && !isPort && beforePath {
		// The password may contain a slash or a question mark that nobody encoded.
		authority = text[end:endOf(text, end, endsURL)]
		at = strings.IndexByte(authority, '@')
	}
	colon := strings.IndexByte(authority, ':')
	if at < 0 || colon < 0 || colon > at {
		return 0, 0, false
	}
	host, _, _ := strings.Cut(authority[at+1:], ",") // replicas
	host = strings.TrimRight(host, ".)];")
	if host == "" {
		return 0, 0, false
	}
	password := authority[colon+1 : at]
	plain, err := url.PathUnescape(password)
	// If // is in place of the password, another URL begins there. An invalid escape is part of a
	// variable, such as %s.
	if err != nil || strings.HasPrefix(password, "//") || !utf8.ValidString(plain) || isWeak(plain, isLocalHost(host)) {
		return 0, 0, false
	}
	return end + colon + 1, end + at, true
}

// connectionPassword finds a password among the parameters of a URL, or of a connection string
// such as Server=host;Password=x; the keyword ends with "=".
func connectionPassword(text string, start, end int) (from, to int, ok bool) {
	before := text[max(0, start-40):start]
	i := strings.LastIndexAny(before, "?&; \t\n\"'`=,")
	if i < 0 {
		return 0, 0, false
	}
	to = endOf(text, end, func(c byte) bool { return endsURL(c) || c == '&' || c == ';' || c == ',' || c == ')' })
	isParameter := strings.IndexByte("?&;", before[i]) >= 0
	if !isParameter && to < len(text) && text[to] == ';' {
		isParameter = strings.Contains(text[max(0, start-200):start], ";") // the name has other words before it
	}
	if !isParameter || isWeak(text[end:to], false) || strings.Contains(text[end:to], "%s") {
		return 0, 0, false
	}
	return end, to, true
}

// netrcPassword finds a password of .netrc: machine, login and password with their values; start
// is where the word password is.
func netrcPassword(text string, start, end int) (from, to int, ok bool) {
	before, last := cutLastWord(text[max(0, start-300):start])
	_, key := cutLastWord(before) // last is the value of this key
	if key != "login" && key != "account" && key != "machine" && key != "user" && last != "default" {
		return 0, 0, false
	}
	from = endOf(text, end, func(c byte) bool { return c > ' ' })
	if from < len(text) && text[from] == '"' {
		from++
	}
	to = endOf(text, from, func(c byte) bool { return c <= ' ' || c == '"' || c == '`' })
	if isWeak(text[from:to], false) {
		return 0, 0, false
	}
	return from, to, true
}

// sqlPassword finds a password that a statement of SQL gives to a user; the keyword ends with the
// password's quote.
func sqlPassword(text string, start, end int) (from, to int, ok bool) {
	before := strings.ToLower(text[max(0, start-200):start])
	before = before[strings.LastIndexByte(before, ';')+1:]
	if !givesPassword.MatchString(before) {
		return 0, 0, false
	}
	to = endOf(text, end, endsURL)
	isHash := strings.HasPrefix(text[end:], "*") || strings.HasPrefix(text[end:], "md5") && isHex(text[end+len("md5"):max(to, end+len("md5"))])
	return end, to, to < len(text) && text[to] == '\'' && !isHash && !isWeak(text[end:to], false)
}

// givesPassword matches the beginning of a statement of SQL that gives a user a password.
var givesPassword = lazyregexp.New(`\b(?:create|alter)\s+(?:user|role|login)\s|\bgrant\s`)

// xmlPassword finds the content of an element of XML; the keyword is its tag.
func xmlPassword(text string, _, end int) (from, to int, ok bool) {
	to = endOf(text, end, endsURL)
	return end, to, strings.HasPrefix(text[to:], "</") && !isWeak(text[end:to], false)
}

// phpPassword finds the value of a constant of PHP; the keyword is the end of its name, up to the
// quote of the value.
func phpPassword(text string, start, end int) (from, to int, ok bool) {
	to = endOf(text, end, endsURL)
	isDefined := strings.Contains(strings.ToLower(text[max(0, start-40):start]), "define(")
	return end, to, isDefined && to < len(text) && text[to] == text[end-1] && !isWeak(text[end:to], false)
}

// ansiblePassword finds the value of a variable of Ansible; the keyword is the beginning of its name.
func ansiblePassword(text string, _, end int) (from, to int, ok bool) {
	sign := endOf(text, end, func(c byte) bool { return !wordByte(c) && c != '"' && c != '\'' })
	from = endOf(text, sign, func(c byte) bool { return c != ' ' && c != '=' && c != ':' && c != '"' && c != '\'' })
	to = endOf(text, from, endsURL)
	return from, to, strings.ContainsAny(text[sign:from], "=:") && !isWeak(text[from:to], false)
}

// pgpassPassword finds the password in a line of .pgpass, such as db1:5432:app:app:secret; start is
// where its port is.
func pgpassPassword(text string, start, _ int) (from, to int, ok bool) {
	host := strings.LastIndexFunc(text[max(0, start-100):start], func(r rune) bool { return r <= ' ' || r == '"' || r == '\'' }) + 1
	from = max(0, start-100) + host
	to = endOf(text, from, endsURL)
	fields := strings.SplitN(text[from:to], ":", 5)
	if from == start || len(fields) < 5 || fields[1] != "5432" && fields[1] != "*" || strings.Contains(fields[4], ":") || isWeak(fields[4], false) {
		return 0, 0, false
	}
	return to - len(fields[4]), to, true
}

var (
	// beforeGiven matches what stands before a password in a command line that gives it to a command.
	beforeGiven = lazyregexp.New(`\bsshpass\s+-p\s*|\blogin\s(?:[^\n|;&]{0,100}?\s)?(?:(?:-p|--password)[ =]|--password-stdin[^\n|;&]{0,100}?<<<)\s*|\b(?:echo|printf)\s+(?:-n\s+)?`)
	// reader matches what stands after a password that is printed for a command.
	reader = lazyregexp.New(`^["']?\s*\|[\w ]{0,30}?\b(chpasswd\b|login\s[^\n|;&]{0,100}?--password-stdin)`)
)

// commandPassword finds a password in the line of a command; the keyword is a part of that line.
func commandPassword(text string, start, end int) (from, to int, ok bool) {
	const reach = 256 // bytes after the keyword
	begin := lineStart(text, start)
	line, _, _ := strings.Cut(text[begin:min(len(text), end+reach)], "\n")
	for _, m := range beforeGiven.FindAllStringSubmatchIndex(line, -1) {
		first := m[1]
		stop := func(c byte) bool { return c <= ' ' || strings.IndexByte("\"';|&<>()`\\", c) >= 0 }
		if first < len(line) && (line[first] == '"' || line[first] == '\'') {
			quote := line[first]
			first++
			stop = func(c byte) bool { return c <= ' ' || c == quote }
		}
		last := endOf(line, first, stop)
		if command := line[m[0]:]; strings.HasPrefix(command, "echo") || strings.HasPrefix(command, "printf") {
			r := reader.FindStringSubmatch(line[last:])
			if r == nil {
				continue
			}
			if r[1] == "chpasswd" {
				first += strings.IndexByte(line[first:last], ':') + 1
			}
		}
		if last > first && !isWeak(line[first:last], false) {
			return begin + first, begin + last, true
		}
	}
	return 0, 0, false
}

// cutLastWord returns what is before the last word of a text, and that word.
func cutLastWord(text string) (before, word string) {
	const blank = " \t\r\n"
	text = strings.TrimRight(text, blank)
	i := strings.LastIndexAny(text, blank) + 1
	return text[:i], text[i:]
}

// npmrcAuth finds the value of _authToken, _auth or _password in .npmrc.
func npmrcAuth(text string, start, end int) (from, to int, ok bool) {
	if start > 0 && (wordByte(text[start-1]) || text[start-1] == '.') {
		return 0, 0, false
	}
	notBlank := func(c byte) bool { return c != ' ' && c != '\t' }
	from = end
	if text[end-1] != '=' {
		from = endOf(text, end, notBlank)
		if from < len(text) && (text[from] == '"' || text[from] == '\'') {
			from = endOf(text, from+1, notBlank)
		}
		if from == len(text) || text[from] != '=' && text[from] != ':' {
			return 0, 0, false
		}
		from++
	}
	from = endOf(text, from, notBlank)
	if from < len(text) && (text[from] == '"' || text[from] == '\'') {
		from++
	}
	to = endOf(text, from, func(c byte) bool { return !encodedByte(c) && c != '=' && c != '.' && c != '~' })
	value := text[from:to]
	if to < len(text) && (text[to] == '(' || text[to] == '$' || text[to] == '{') {
		return 0, 0, false
	}
	if decoded, isText := decodedText(value); isText {
		value = afterUser(decoded)
	}
	return from, to, !isWeak(value, false)
}

// afterUser returns the password of a credential that may have a user before it.
func afterUser(credential string) string {
	if _, password, hasUser := strings.Cut(credential, ":"); hasUser {
		return password
	}
	return credential
}

// dockerAuth finds the value of "auth" in Docker's configuration: user and password in Base64.
func dockerAuth(text string, _, end int) (from, to int, ok bool) {
	from = endOf(text, end, func(c byte) bool { return c != ' ' && c != ':' && c != '\t' })
	if from == end || from == len(text) || text[from] != '"' {
		return 0, 0, false
	}
	return basicCredential(text, from+1)
}

// queryPrivateKey finds a private key in PEM as the query of a URL has it, where a plus sign stands
// for a space.
func queryPrivateKey(text string, start, end int) (from, to int, ok bool) {
	const dashes = "-----"
	block := text[start:min(len(text), end+endlessAfter)]
	if last := strings.Index(block, dashes+"END"); last >= 0 {
		afterDashes := last + len(dashes)
		if i := strings.Index(block[afterDashes:], dashes); i >= 0 {
			block = block[:afterDashes+i+len(dashes)]
		} else {
			block = block[:last]
		}
	}
	head, _, _ := strings.Cut(block[len("-----BEGIN+"):], dashes)
	return start, start + len(block), strings.HasSuffix(head, "PRIVATE+KEY") && len(head) < 40 && hasKey(block)
}

// basicAuth finds user and password in Base64 after the word Basic, in a header of HTTP.
func basicAuth(text string, start, end int) (from, to int, ok bool) {
	if start > 0 && wordByte(text[start-1]) {
		return 0, 0, false
	}
	return basicCredential(text, end)
}

// basicCredential returns where user and password in Base64 are, unless the password is weak.
func basicCredential(text string, from int) (start, end int, ok bool) {
	to := endOf(text, from, func(c byte) bool { return !encodedByte(c) && c != '=' })
	decoded, isText := decodedText(text[from:to])
	user, password, hasUser := strings.Cut(decoded, ":")
	if !isText || !hasUser || isWeak(password, false) || strings.ContainsAny(user, " \n") {
		return 0, 0, false
	}
	return from, to, true
}

// decodedText returns what Base64 stands for, and whether that is text of at least six bytes.
func decodedText(encoded string) (decoded string, isText bool) {
	plain := strings.NewReplacer("-", "+", "_", "/").Replace(strings.TrimRight(encoded, "="))
	data, err := base64.RawStdEncoding.DecodeString(plain)
	if err != nil || len(data) < 6 {
		return "", false
	}
	for _, c := range data {
		if c < ' ' && c != '\n' && c != '\r' && c != '\t' || c == 0x7f {
			return "", false
		}
	}
	return strings.TrimSpace(string(data)), utf8.Valid(data)
}
