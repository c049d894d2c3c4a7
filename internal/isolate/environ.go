package isolate

import (
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/agent-airlock/airlock/internal/secrets"
)

// DefaultPass returns the names of variables that toolchains need beside PATH,
// LANG and TERM, which are always passed on.
func DefaultPass() []string {
	return []string{
		"GOPROXY", "GOFLAGS", "GOTOOLCHAIN", "GOROOT", "GOSUMDB", "GONOSUMDB", "GONOPROXY", "GOPRIVATE",
		"CARGO_HOME", "RUSTUP_HOME", "RUSTUP_TOOLCHAIN",
		"JAVA_HOME", "MAVEN_OPTS", "GRADLE_OPTS",
		"NODE_ENV", "NPM_CONFIG_REGISTRY", "npm_config_registry",
		"PYTHONPATH", "PIP_INDEX_URL", "GEM_HOME", "GEM_PATH", "BUNDLE_PATH",
	}
}

// secretName matches names under which people keep secrets.
var secretName = regexp.MustCompile(`(?i)token|secret|passw|passphrase|credential|private_?key|api_?key|access_?key|(^|_)(auth|key|pat|pwd)(_|$)|^(ACTIONS|INPUT|GITHUB)_`)

// environment builds an environment from zero, but for what each user has of its own:
// what always stands in it, and those of environ that are named, save for what looks like a secret by its name or its
// value. PATH loses relative directories. Of a name that is not passed on although
// it was asked for, a note says why; its value is in no note.
func environment(environ, pass []string) ([]string, []Note) {
	if pass == nil {
		pass = DefaultPass()
	}
	pass = append([]string{"PATH", "LANG", "TERM"}, pass...)
	env := []string{"CI=true"}
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
		case name != "PATH" && (holdsPassword(value) || len(scanner.Scan(e)) > 0):
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

// holdsPassword reports whether the value holds a URL with a user name in it.
func holdsPassword(value string) bool {
	return slices.ContainsFunc(strings.FieldsFunc(value, func(c rune) bool { return strings.ContainsRune(" ,|;", c) }), func(part string) bool {
		if !strings.Contains(part, "@") {
			return false
		}
		u, err := url.Parse(part)
		return err != nil || u.User != nil
	})
}
