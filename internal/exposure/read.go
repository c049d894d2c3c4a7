package exposure

import (
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"regexp"
	"strconv"
	"strings"
	"syscall"

	"github.com/agent-airlock/airlock/internal/text"
)

// maxCredentialFile is how large a file may be to be judged, in bytes.
const maxCredentialFile = 1 << 20

// read returns what is in a file. Links are followed, as git and other programs
// follow them. An unjudged file is one that a program could read and this one does
// not: then why says so. What is not there, may not be read or holds no text of its
// own (a directory) is neither.
func read(path string) (content, why string) {
	info, err := os.Stat(path)
	if err != nil || info.IsDir() {
		return "", ""
	}
	if !info.Mode().IsRegular() { // which opening could wait for, or wake
		return "", "it is a " + text.FileKind(info.Mode())
	}
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return "", ""
	}
	defer f.Close()
	if info, err = f.Stat(); err != nil || !info.Mode().IsRegular() { // it has just been put there
		return "", "it changes while it is read"
	}
	raw, err := io.ReadAll(io.LimitReader(f, maxCredentialFile+1))
	switch {
	case err != nil:
		return "", "reading it failed"
	case len(raw) > maxCredentialFile:
		return "", fmt.Sprintf("it is larger than %s", text.Bytes(maxCredentialFile))
	}
	return string(raw), ""
}

// regular reports whether an ordinary file that may be read is at the path.
func regular(path string) bool {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return false
	}
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return false
	}
	return f.Close() == nil
}

// socket reports whether a socket is at the path.
func socket(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode()&fs.ModeSocket != 0
}

// credentialName matches names whose value, if it can be one, is a credential. It
// is narrower than secretName, which only keeps a variable from being passed on:
// here a wrong hit keeps the checks from running.
var credentialName = regexp.MustCompile(`(?i)token|secret|passw|passphrase|credential|(private|api|access|deploy|ssh|signing|encryption)[-_]?key|(^|[-_])(auth|pat)([-_]|$)|pass$`)

// plausible reports whether a value can be a credential. It is none if it is a
// switch, a small number, one of the words that stand for a password in tests, one
// or two characters repeated, or a reference to a variable.
func plausible(value string) bool {
	value = strings.TrimSpace(value)
	if len(value) < 4 || strings.HasPrefix(value, "$") || strings.HasPrefix(value, "%") || strings.HasPrefix(value, "{{") {
		return false
	}
	if _, err := strconv.ParseFloat(value, 64); err == nil && len(value) < 10 {
		return false
	}
	switch strings.ToLower(value) {
	case "true", "false", "none", "null", "auto", "always", "never", "disabled", "enabled", "required",
		"password", "pass", "user", "postgres", "root", "test", "testing", "admin", "guest", "secret", "mysql", "redis", "changeme", "dummy":
		return false
	}
	kinds := map[rune]bool{}
	for _, c := range value {
		kinds[c] = true
	}
	return len(kinds) > 2
}

// address finds URLs with somebody's name in them.
var address = regexp.MustCompile(`[A-Za-z][A-Za-z0-9+.-]*://[^\s/?#"'<>@]+@`)

// credentialURL reports whether a text holds a URL with a password, or with a token
// in the place of a name, as `https://TOKEN@host` has. `ssh://git@host` is none.
func credentialURL(text string) bool {
	for _, found := range address.FindAllString(text, -1) {
		u, err := url.Parse(found + "host")
		if err != nil || u.User == nil {
			return true // a strange one, which another parser may take
		}
		password, _ := u.User.Password()
		if plausible(password) || strings.HasPrefix(u.Scheme, "http") && len(u.User.Username()) >= 20 {
			return true
		}
	}
	return false
}
