package exposure

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/agent-airlock/airlock/internal/lazyregexp"
)

// knownVariables says of some variables why they are credentials, or lead to credentials. Unless
// its value is blank, the name of such a variable alone decides.
var knownVariables = map[string]string{
	"ACTIONS_ID_TOKEN_REQUEST_TOKEN": "it lets every program of the job ask GitHub for identity tokens (permission id-token)",
	"ACTIONS_ID_TOKEN_REQUEST_URL":   "identity tokens (OIDC) can be requested there (permission id-token)",
	"ACTIONS_RUNTIME_TOKEN":          "it is the runner's own token, for artifacts and caches",
	"GIT_ASKPASS":                    "it names a program that gives git passwords",
	"SSH_ASKPASS":                    "it names a program that gives passwords",
}

// fingerprint matches the fingerprint of a public key: images of Python have one in GPG_KEY.
var fingerprint = lazyregexp.New(`^[0-9A-F]{40}$`)

// variables judges the environment.
func (s *search) variables() {
	for _, e := range s.cfg.Environ {
		name, value, _ := strings.Cut(e, "=")
		if strings.TrimSpace(value) == "" || strings.HasPrefix(name, "GIT_CONFIG") {
			continue
		}
		if what := s.variable(name, value); what != "" {
			s.add(place(name, 0), what)
		}
	}
	s.gitVariables()
}

// variable returns what is secret about a variable, or "".
func (s *search) variable(name, value string) string {
	if what, ok := knownVariables[name]; ok {
		return what
	}
	switch {
	case name == "SSH_AUTH_SOCK":
		if socket(value) {
			return "it names an SSH agent, which signs for whoever asks"
		}
		return ""
	case name == "GIT_SSH_COMMAND":
		return sshKey(value)
	case credentialName.MatchString(name) && filepath.IsAbs(value):
		if regular(value) {
			return "by its name, it names a file with a credential"
		}
		return ""
	case credentialName.MatchString(name) && plausible(value):
		return "its name is that of a credential"
	case credentialURL(value):
		return "its value contains a URL with a password"
	case !fingerprint.MatchString(value) && len(s.scanner.Scan(name+"="+value)) > 0:
		return "its value looks like a credential"
	}
	return ""
}

// sshKey returns what is secret about a command that runs ssh, or "".
func sshKey(command string) string {
	if strings.Contains(command, " -i") || strings.Contains(strings.ToLower(command), "identityfile") {
		return "it gives git an SSH key"
	}
	return ""
}

// gitVariables judges the variables that are git configuration themselves.
func (s *search) gitVariables() {
	for name, value := range s.env {
		number, ok := strings.CutPrefix(name, "GIT_CONFIG_KEY_")
		if ok {
			s.gitEntry(newGitEntry(value, s.env["GIT_CONFIG_VALUE_"+number], 0), gitFile{variable: "GIT_CONFIG_VALUE_" + number})
		}
	}
	entries, ok := parseGitParameters(s.env["GIT_CONFIG_PARAMETERS"])
	for _, e := range entries {
		s.gitEntry(e, gitFile{variable: "GIT_CONFIG_PARAMETERS"})
	}
	if !ok {
		s.add("GIT_CONFIG_PARAMETERS", "it is not written as git writes it, so that it cannot be judged")
	}
}

// parseGitParameters reads what `git -c` passes on to other programs: 'key=value' or
// 'key'='value', each in a shell's single quotes, separated by blanks.
func parseGitParameters(text string) (entries []gitEntry, ok bool) {
	for text = strings.TrimSpace(text); text != ""; text = strings.TrimLeft(text, " \t\n") {
		key, rest, ok := unquote(text)
		if !ok {
			return entries, false
		}
		value := ""
		after, divided := strings.CutPrefix(rest, "=")
		switch {
		case !divided: // 'key=value'
			key, value, _ = strings.Cut(key, "=")
		case strings.HasPrefix(after, "'"): // 'key'='value'
			if value, rest, ok = unquote(after); !ok {
				return entries, false
			}
		default: // 'key'=, without a value
			rest = after
		}
		entries = append(entries, newGitEntry(key, value, 0))
		text = rest
	}
	return entries, true
}

// unquote reads a word in single quotes. A quote or an exclamation mark of the word is
// outside of the quotes, after a backslash.
func unquote(text string) (word, rest string, ok bool) {
	var b strings.Builder
	for strings.HasPrefix(text, "'") {
		part, after, closed := strings.Cut(text[1:], "'")
		if !closed {
			return "", "", false
		}
		b.WriteString(part)
		if len(after) < 3 || after[0] != '\\' || after[2] != '\'' {
			return b.String(), after, true
		}
		b.WriteByte(after[1])
		text = after[2:]
	}
	return "", "", false
}

// maxAncestors is how many processes above this one are judged.
const maxAncestors = 100

// ancestors judges the environments of the processes above this one, as far as this user may read
// them. A variable that a shell has unset is still in the environment with which the shell was
// started.
func (s *search) ancestors() {
	if s.cfg.Proc == "" {
		return
	}
	known := slices.Clone(s.cfg.Environ)
	pid := "self"
	for range maxAncestors {
		if pid = s.parent(pid); pid == "" || pid == "0" {
			return
		}
		environ, why := read(filepath.Join(s.cfg.Proc, pid, "environ"))
		if why != "" {
			s.add("the environment of process "+pid, "it cannot be judged: "+why)
		}
		for e := range strings.SplitSeq(environ, "\x00") {
			name, value, _ := strings.Cut(e, "=")
			if slices.Contains(known, e) || strings.TrimSpace(value) == "" {
				continue
			}
			known = append(known, e)
			if what := s.variable(name, value); what != "" {
				s.add(fmt.Sprintf("%s in the environment of process %s", place(name, 0), pid), what)
			}
		}
	}
}

// parent returns the id of a process's parent, or "".
func (s *search) parent(pid string) string {
	status, _ := read(filepath.Join(s.cfg.Proc, pid, "status"))
	for line := range strings.Lines(status) {
		if id, ok := strings.CutPrefix(line, "PPid:"); ok {
			id = strings.TrimSpace(id)
			if _, err := strconv.Atoi(id); err == nil {
				return id
			}
		}
	}
	return ""
}

// VariableNamesCredential reports whether the name of a variable alone says that its value is a
// credential, or leads to one. Find lists such a variable only if its value can be one, or lead to
// one.
func VariableNamesCredential(name string) bool {
	return knownVariables[name] != "" || credentialName.MatchString(name)
}
