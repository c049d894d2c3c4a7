package main_test

import (
	"encoding/base64"
	"net/url"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/agent-airlock/airlock/internal/token"
)

// secretForms returns the forms in which secrets could leak: as they are, in a
// URL, and in Base64. There are three Base64 forms, because a secret may begin at each
// byte of a group of three.
func secretForms(secrets ...string) []string {
	var forms []string
	for _, s := range secrets {
		if s == "" {
			continue
		}
		forms = append(forms, s, url.QueryEscape(s), url.PathEscape(s))
		for _, enc := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
			for begin := range 3 { // bytes of the secret in a group that begins with other text
				length := (len(s) - begin) / 3 * 3 // of the complete groups
				forms = append(forms, enc.EncodeToString([]byte(s[begin:begin+length])))
			}
		}
	}
	slices.Sort(forms)
	return slices.Compact(forms)
}

// obeyed is a workflow command that the runner would execute.
type obeyed struct{ name, properties, message string }

// obey returns the commands that the runner would execute from one stream of a log.
// Lines end at \n, \r or both. A command is "::name properties::message" after white
// space, or "##[name properties]message" anywhere. After stop-commands, everything is
// ignored up to the command that its message names.
func obey(t *testing.T, log string) []obeyed {
	t.Helper()
	var got []obeyed
	stopped := ""
	for _, line := range strings.FieldsFunc(log, func(r rune) bool { return r == '\n' || r == '\r' }) {
		c, ok := commandOf(line)
		switch {
		case !ok:
		case stopped != "" && c.name == stopped:
			stopped = ""
		case stopped != "":
		case c.name == "stop-commands":
			stopped = c.message
		default:
			got = append(got, c)
		}
	}
	if stopped != "" {
		t.Error("commands stay stopped")
	}
	return got
}

func commandOf(line string) (obeyed, bool) {
	if s, ok := strings.CutPrefix(strings.TrimLeftFunc(line, unicode.IsSpace), "::"); ok {
		if head, message, ok := strings.Cut(s, "::"); ok {
			name, properties, _ := strings.Cut(head, " ")
			return obeyed{name, properties, message}, true
		}
	}
	if _, s, ok := strings.Cut(line, "##["); ok {
		if head, message, ok := strings.Cut(s, "]"); ok {
			name, properties, _ := strings.Cut(head, " ")
			return obeyed{name, properties, message}, true
		}
	}
	return obeyed{}, false
}

// assertOwnCommands asserts that the log contains only Airlock's own commands: groups and
// annotations with its own titles, masks of its token, and debug messages.
func assertOwnCommands(t *testing.T, log, secret string) {
	t.Helper()
	for _, c := range obey(t, log) {
		ok := false
		switch c.name {
		case "endgroup":
			ok = c.message == ""
		case "group":
			ok = strings.HasPrefix(c.message, "Airlock: ")
		case "notice", "warning", "error":
			ok = strings.Contains(","+c.properties, ",title=Airlock")
		case "add-mask":
			ok = isForm(c.message, secret)
		case "debug":
			ok = true
		}
		if !ok {
			t.Errorf("the runner would obey %+v", c)
		}
	}
}

// isForm reports whether the text is one of the forms in which the token could leak.
func isForm(text, secret string) bool {
	return slices.Contains(token.New(secret, "https://api.github.com").Forms(), text)
}
