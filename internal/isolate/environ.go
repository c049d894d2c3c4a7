package isolate

import (
	"net/url"
	"slices"
	"strings"

	"github.com/agent-airlock/airlock/internal/lazyregexp"
	"github.com/agent-airlock/airlock/internal/secrets"
)

// DefaultPass returns the names of variables that toolchains need in addition to PATH,
// LANG and TERM, which are always passed on.
func DefaultPass() []string {
	return []string{
		"GOPROXY", "GOFLAGS", "GOTOOLCHAIN", "GOROOT", "GOSUMDB", "GONOSUMDB", "GONOPROXY", "GOPRIVATE",
		"CARGO_HOME", "RUSTUP_HOME", "RUSTUP_TOOLCHAIN",
		"JAVA_HOME", "MAVEN_OPTS", "GRADLE_OPTS",
		"NODE_ENV", "NODE_EXTRA_CA_CERTS", "NPM_CONFIG_REGISTRY", "npm_config_registry",
		"COREPACK_DEFAULT_TO_LATEST", "COREPACK_NPM_REGISTRY", "COREPACK_INTEGRITY_KEYS",
		"PYTHONPATH", "PIP_INDEX_URL", "GEM_HOME", "GEM_PATH", "BUNDLE_PATH",
	}
}

// secretName matches names under which people keep secrets.
var secretName = lazyregexp.New(`(?i)token|secret|passw|passphrase|credential|private_?key|api_?key|access_?key|(^|_)(auth|key|pat|pwd)(_|$)|^(ACTIONS|INPUT|GITHUB)_`)

// environment builds the part of an environment that does not depend on the user who runs the
// programs. It says that this is CI, and asks for messages in English, because failures are counted
// by such messages. It contains PATH, LANG, TERM and the variables of environ that are named in pass,
// or in DefaultPass if pass is nil. It never passes on CI, HOME and TMPDIR of environ, nor a
// variable that looks like a secret by its name or its value. A note gives the reason why such a
// variable is missing, but never the value. The value of PATH is not examined, but relative
// directories are removed from it.
func environment(environ, pass []string) ([]string, []Note) {
	if pass == nil {
		pass = DefaultPass()
	}
	pass = append([]string{"PATH", "LANG", "TERM"}, pass...)
	env := []string{"CI=true", "LC_MESSAGES=C"}
	var notes []Note
	scanner := secrets.New(nil)
	for _, e := range environ {
		name, value, _ := strings.Cut(e, "=")
		if !slices.Contains(pass, name) || slices.Contains([]string{"CI", "HOME", "TMPDIR"}, name) {
			continue
		}
		switch {
		case secretName.MatchString(name):
			notes = append(notes, Note{name, "its name is that of a secret"})
			continue
		case name != "PATH" && (hasUserInURL(value) || len(scanner.Scan(e)) > 0):
			notes = append(notes, Note{name, "its value looks like a secret"})
			continue
		case name == "PATH":
			dirs := slices.DeleteFunc(strings.Split(value, ":"), func(d string) bool { return !strings.HasPrefix(d, "/") })
			value = strings.Join(dirs, ":")
		}
		env = append(env, name+"="+value)
	}
	return env, notes
}

// hasUserInURL reports whether a value contains a URL with a user name, and perhaps a
// password, or something with an @ that cannot be read as a URL.
func hasUserInURL(value string) bool {
	parts := strings.FieldsFunc(value, func(c rune) bool { return strings.ContainsRune(" ,|;", c) })
	return slices.ContainsFunc(parts, func(part string) bool {
		if !strings.Contains(part, "@") {
			return false
		}
		u, err := url.Parse(part)
		return err != nil || u.User != nil
	})
}
