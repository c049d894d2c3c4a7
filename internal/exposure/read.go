package exposure

import (
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"strconv"
	"strings"
	"syscall"

	"github.com/agent-airlock/airlock/internal/lazyregexp"
	"github.com/agent-airlock/airlock/internal/text"
)

// maxCredentialFile is how large a file may be to be judged, in bytes.
const maxCredentialFile = 1 << 20

// read returns the content of a file. It follows links, as git and other programs do. If a program
// could read the file and this function does not, why is the reason. Both are "" if the file is
// empty, does not exist, may not be read or is a directory.
func read(path string) (content, why string) {
	info, err := os.Stat(path)
	if err != nil || info.IsDir() {
		return "", ""
	}
	if !info.Mode().IsRegular() { // opening it could wait for something, or start it
		return "", "it is a " + text.FileKind(info.Mode())
	}
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return "", ""
	}
	defer f.Close()
	if info, err = f.Stat(); err != nil || !info.Mode().IsRegular() { // it has just been replaced
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

// credentialName matches names of variables and settings whose value, if it is plausible, is a
// credential. Unlike the pattern of the variables that package isolate does not pass on, it does
// not match names such as GITHUB_REF, because here a wrong match can keep the checks from running.
var credentialName = lazyregexp.New(`(?i)token|secret|passw|passphrase|credential|(private|api|access|deploy|ssh|signing|encryption)[-_]?key|(^|[-_])(auth|pat)([-_]|$)|pass$`)

// plausible reports whether a value can be a credential. A value of fewer than four bytes, a
// switch, a short number, a word that stands for a password in tests, one or two characters
// repeated, and a reference to a variable cannot.
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

// urlWithUser matches the beginning of a URL with a user in it.
var urlWithUser = lazyregexp.New(`[A-Za-z][A-Za-z0-9+.-]*://[^\s/?#"'<>@]+@`)

// credentialURL reports whether a text contains a URL with a plausible password, or with a token
// as the name of the user, as in `https://TOKEN@host`. A URL that cannot be parsed counts, too.
// `ssh://git@host` does not.
func credentialURL(text string) bool {
	for _, found := range urlWithUser.FindAllString(text, -1) {
		u, err := url.Parse(found + "host")
		if err != nil || u.User == nil {
			return true // another parser may accept it
		}
		password, _ := u.User.Password()
		if plausible(password) || strings.HasPrefix(u.Scheme, "http") && len(u.User.Username()) >= 20 {
			return true
		}
	}
	return false
}
