package reviewer

import (
	"slices"
	"strings"

	"github.com/agent-airlock/airlock/internal/lazyregexp"
)

// credentialForm is a way to write a credential. The way itself shows that the text is a credential,
// in files of any language.
type credentialForm struct {
	what  string             // the beginning of the finding's message
	path  *lazyregexp.Regexp // of the files; nil stands for all
	signs []string           // each file with a credential in this form contains one of them; nil if unknown
	// form matches the credential in its last group, and its name, if that matters, in the one before.
	form *lazyregexp.Regexp
	// random is set if only a random value is a credential.
	random bool
}

const (
	givenInSQL     = "A statement of SQL gives a user a password"
	givenToCommand = "A command gets a password"
)

var (
	commandPath = lazyregexp.New(`(?i)\.(sh|bash|zsh|ps1|bat|cmd|ya?ml)$|(^|/)(dockerfile|makefile|jenkinsfile)[^/]*$`)
	phpPath     = lazyregexp.New(`(?i)\.(php|inc)$`)
)

// passwordParts are parts of names of passwords.
var passwordParts = strings.Fields("assw PASSW assphrase pwd Pwd PWD ecret SECRET _pass _PASS")

var credentialForms = []credentialForm{
	{what: "An element or attribute contains a password", path: lazyregexp.New(`(?i)\.(xml|config)$`), signs: passwordParts,
		form: lazyregexp.New(`(?i)[<"\s]([\w.:-]*(?:password|passwd|passphrase|pwd|secret))(?:>|\s*=\s*["']|["']\s+value\s*=\s*["']|["'][^<>"']{0,40}>\s*(?:<value>)?)([^\s<>"']{4,64})(?:["']|</)`)},
	{what: "A constant is a password", path: phpPath, signs: []string{"define("},
		form: lazyregexp.New(`(?i)\bdefine\(\s*["'](\w*(?:password|passwd|passphrase|pwd|pass|secret))["']\s*,\s*["']([^\s"'|]{4,64})["']`)},
	{what: "A variable or element is set to a password", path: phpPath, signs: passwordParts,
		form: lazyregexp.New(`(?i)(?:["'$]|->)(\w*(?:password|passwd|passphrase|pwd|_pass|secret))["']?\]?\s*=>?\s*["']([^\s"'|]{4,64})["']\s*[;,)\]]`)},
	{what: givenInSQL, signs: []string{"identified", "IDENTIFIED"},
		form: lazyregexp.New(`(?i)\b(?:(?:create|alter)\s+user|grant\s[^;]{1,120}?\sto)\s[^;]{1,120}?\bidentified\s+(?:with\s+\S{1,40}\s+)?by\s+'([^'\s]{4,64})'`)},
	{what: givenInSQL, signs: []string{"password '", "PASSWORD '", "password = '", "PASSWORD = '", "password='", "PASSWORD='", "password('", "PASSWORD('"},
		form: lazyregexp.New(`(?i)\b(?:(?:create|alter)\s+(?:user|role|login)|set\s+password\s+for)\s[^;]{1,120}?\bpassword\s*[=(]?\s*'([^'\s]{4,64})'`)},
	{what: givenToCommand, path: commandPath, signs: []string{"sshpass", "docker login", "mysql", "PGPASSWORD", "MYSQL_PWD", "REDISCLI_AUTH"},
		form: lazyregexp.New(`(?:\bsshpass\s+-p\s*|\bdocker\s+login\s(?:[^\n|;&]{0,80}?\s)?(?:-p|--password)[ =]|\bmysql(?:dump|admin)?\s(?:[^\n|;&]{0,80}?\s)?(?:-p|--password=)|\b(?:PGPASSWORD|MYSQL_PWD|REDISCLI_AUTH)=)["']?([^\s"'$;|&)]{6,64})`)},
	{what: givenToCommand, path: commandPath, signs: []string{"--password-stdin"},
		form: lazyregexp.New(`\blogin\s[^\n|;&]{0,80}?--password-stdin[^\n|;&]{0,80}?<<<\s*["']?([^\s"'$;|&()\x60]{6,64})`)},
	{what: givenToCommand, path: commandPath, signs: []string{"--password-stdin", "sudo -S", "chpasswd"},
		form: lazyregexp.New(`\b(?:echo|printf)\s+(?:-n\s+)?["']?(?:[\w.-]+:)?([^\s"'$;|&()\x60]{6,64})["']?\s*\|\s*(?:sudo\s+)?(?:-S\b|chpasswd\b|[\w ]{1,20}\slogin\s[^\n|;&]{0,80}?--password-stdin)`)},
	{what: givenToCommand, path: commandPath, signs: []string{"curl", "wget", "htpasswd", "mongo", "redis-cli", "ldap", "smbclient", "keytool", "openssl"},
		form: lazyregexp.New(`\b(?:curl\s(?:[^\n|;]{0,160}?\s)?(?:-u|--user)[ =]?["']?[\w.@-]{1,40}:|wget\s(?:[^\n|;]{0,160}?\s)?--(?:http-|ftp-)?password[ =]["']?|htpasswd\s+-\w{0,4}b\w{0,4}\s+\S+\s+\S+\s+["']?|mongo\w{0,10}\s(?:[^\n|;&]{0,80}?\s)?(?:-p|--password)[ =]["']?|redis-cli\s(?:[^\n|;&]{0,80}?\s)?-a\s+["']?|ldap\w{3,8}\s(?:[^\n|;&]{0,120}?\s)?-w\s+["']?|smbclient\s(?:[^\n|;&]{0,80}?\s)?-U\s*["']?[\w.\\-]{1,40}%|keytool\s(?:[^\n|;&]{0,200}?\s)?-(?:store|key|srcstore|deststore)pass\s+["']?|openssl\s(?:[^\n|;&]{0,200}?\s)?-(?:passin|passout|pass)\s+["']?pass:)([^\s"'$;|&()\x60]{6,64})`)},
	{what: "A file of passwords contains one", path: lazyregexp.New(`(?i)(^|/)\.?pgpass(\.conf)?$`),
		form: lazyregexp.New(`(?m)^[^#:\n]+:[^:\n]+:[^:\n]+:[^:\n]+:(\S{4,64})$`)},
	{what: "A file of passwords contains one", signs: []string{"pgpass"},
		form: lazyregexp.New(`["']?(?:[^\s:"'|]+:){4}([^\s"'$:|]{4,64})["']?\s*>>?\s*\S*pgpass\b`)},
	{what: "A file of passwords contains one", signs: []string{"machine "},
		form: lazyregexp.New(`\bmachine\s+\S+\s+login\s+\S+\s+password\s+([^\s"'$]{4,64})`)},
	{what: givenToCommand, path: commandPath, signs: []string{"-AsPlainText", "-asplaintext"},
		form: lazyregexp.New(`(?i)\bConvertTo-SecureString\s+(?:-String\s+)?["']([^\s"']{6,64})["'][^\n]{0,80}-AsPlainText`)},
	{what: "An inventory contains a password", signs: []string{"ansible_"},
		form: lazyregexp.New(`\bansible_\w{0,30}pass(?:word)?\s*[=:]\s*["']?([^\s"']{4,64})`)},
	{what: "A variable's default is a password", path: lazyregexp.New(`\.tf$`),
		form: lazyregexp.New(`\bvariable\s+"([\w-]*(?:password|passwd|secret))"\s*\{[^{}]*?\bdefault\s*=\s*"([^"\s]{4,64})"`)},
	{what: inAddress, signs: []string{"jdbc:oracle"},
		form: lazyregexp.New(`(?i)\bjdbc:oracle:\w+:\w+/([^@\s"'/]{4,64})@`)},
	{what: inAddress, signs: []string{"jdbc:"},
		form: lazyregexp.New(`(?i)\bjdbc:[^\s"'<>]{4,160}?[?&;:](?:password|pwd)=([^\s"'&;<>$]{4,64})`)},
	{what: "A configuration of kubectl contains a token", signs: []string{"current-context", "kind: Config"}, random: true,
		form: lazyregexp.New(`\n\s+user:\s*\n(?:\s+[\w-]+:[^\n]*\n){0,4}?\s+token:\s*["']?([\w.~+/=-]{16,500})`)},
	{what: "A header contains a token", signs: []string{"Authorization", "authorization"}, random: true,
		form: lazyregexp.New(`(?i)\bauthorization["']?\]?\s*[:=,]\s*["']?(?:bearer|token)\s+([\w.~+/=-]{20,200})["']`)},
}

// localHost matches the name of the machine itself in an address.
var localHost = lazyregexp.New(`(?i)\b(?:localhost|127\.0\.0\.1)\b|::1\b`)

// hashedPassword matches the hash of a password, which PostgreSQL accepts in the place of one.
var hashedPassword = lazyregexp.New(`^md5[0-9a-f]{32}$`)

// credentialsInForms finds credentials in the forms of the table. A form does not count in a
// comment, in an address of the machine itself, or far from the beginning of its line. lines is the
// file's source, with or without its tokens.
func (f File) credentialsInForms(lines *source) []writtenCredential {
	var places []writtenCredential
	for _, form := range credentialForms {
		if form.path != nil && !form.path.MatchString(f.Path) {
			continue
		}
		if len(form.signs) > 0 && !slices.ContainsFunc(form.signs, func(sign string) bool { return strings.Contains(f.Text, sign) }) {
			continue
		}
		for _, m := range form.form.FindAllStringSubmatchIndex(f.Text, -1) {
			isLocal := form.what == inAddress && localHost.MatchString(f.Text[m[0]:m[1]])
			isFar := m[0] > longestSource && !strings.Contains(f.Text[m[0]-longestSource:m[0]], "\n")
			if isFar || isLocal || lines.isInComment(m[0]) {
				continue
			}
			last := len(m) - 2
			name, value := "password", f.Text[m[last]:m[last+1]]
			if last > 2 {
				name = f.Text[m[2]:m[3]]
			}
			isCredential := (isCredible(name, value, false) || isStrong(value)) && !commonPasswords[value] && !isOtherName(name) && !hashedPassword.MatchString(value)
			if form.random {
				isCredential = isRandom(value) || len(value) >= 20 && isStrong(value)
			}
			if isCredential {
				places = append(places, writtenCredential{m[last], m[last+1], form.what})
			}
		}
	}
	return places
}
