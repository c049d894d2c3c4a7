package action

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
)

// tokenVariables are where a token is looked for, the first one that is set
// counting. They are gone from the environment after Enter.
var tokenVariables = [...]string{
	"INPUT_TOKEN", "INPUT_GITHUB-TOKEN", "INPUT_GITHUB_TOKEN",
	"GITHUB_TOKEN", "GH_TOKEN", "GITHUB_ENTERPRISE_TOKEN", "GH_ENTERPRISE_TOKEN",
}

// secretsVariable is the input that names further secrets, a line each.
const secretsVariable = "INPUT_SECRETS"

// handoverVariable names the file descriptor of the pipe that carries the
// secrets into the second run of the program.
const handoverVariable = "AIRLOCK_HANDOVER_FD"

// Secrets are what Enter took out of the environment. They are kept behind a
// function, so that printing them shows none.
type Secrets struct{ get func(variable string) string }

func newSecrets(values map[string]string) Secrets {
	return Secrets{func(variable string) string { return values[variable] }}
}

// trimmed returns the value of a variable without white space around it; "" when
// there is none.
func (s Secrets) trimmed(variable string) string {
	if s.get == nil {
		return ""
	}
	return strings.TrimSpace(s.get(variable))
}

// Token returns the secret of the token, and the variable it came from; "" when
// there is none. It goes straight into token.New.
func (s Secrets) Token() (secret, variable string) {
	for _, name := range tokenVariables {
		if v := s.trimmed(name); v != "" {
			return v, name
		}
	}
	return "", ""
}

// Further returns the values of the input secrets, one a line, without blank lines
// and white space around them. They are not to appear in anything that is written.
func (s Secrets) Further() []string {
	var values []string
	for line := range strings.SplitSeq(s.trimmed(secretsVariable), "\n") {
		if v := strings.TrimSpace(line); v != "" {
			values = append(values, v)
		}
	}
	return values
}

// secretVariable reports whether a variable must not stay in the environment: the
// tokens, the input secrets, and what the runner gives to talk to GitHub's own services (ACTIONS_RUNTIME_TOKEN,
// ACTIONS_ID_TOKEN_REQUEST_TOKEN and their URLs).
func secretVariable(name string) bool {
	name = strings.ToUpper(name) // as Windows does; elsewhere it takes a little more
	return slices.Contains(tokenVariables[:], name) || name == secretsVariable || strings.HasPrefix(name, "ACTIONS_")
}

// split parts an environment in what may stay and what may not.
func split(environ []string) (stay []string, secrets map[string]string) {
	secrets = map[string]string{}
	for _, e := range environ {
		name, value, _ := strings.Cut(e, "=")
		switch {
		case name == handoverVariable:
		case secretVariable(name):
			secrets[strings.ToUpper(name)] = value
		default:
			stay = append(stay, e)
		}
	}
	return stay, secrets
}

// onlyNeeded leaves out what nobody needs any more.
func onlyNeeded(secrets map[string]string) map[string]string {
	kept := map[string]string{}
	for _, name := range append(tokenVariables[:], secretsVariable) {
		if v := secrets[name]; v != "" {
			kept[name] = v
		}
	}
	return kept
}

// Enter is the first act of the action (rule R5). A process's environment can
// be read for as long as it lives, in /proc/<pid>/environ and by ps. Enter takes
// the token, the input secrets and the runner's own secrets out of it: it replaces
// the process by a second run of the same program with the same arguments and the
// rest of the environment, handing token and secrets over by a pipe. In the second run it reads the
// pipe, makes the process unreadable for others of its user (PR_SET_DUMPABLE 0,
// on Linux), and returns. Without a secret in the environment there is no
// second run.
//
// Where a process cannot be replaced (Windows), the variables are only unset.
//
// It must be called before any goroutine, file or child process is started.
func Enter(environ, args []string) (Secrets, error) {
	stay, secrets := split(environ)
	if len(secrets) > 0 {
		// A handover that comes with secrets was not made by us: it is ignored.
		return replace(stay, args, secrets)
	}
	var values map[string]string
	for _, e := range environ {
		if fd, ok := strings.CutPrefix(e, handoverVariable+"="); ok {
			data, err := receive(fd)
			if err == nil {
				err = json.Unmarshal(data, &values)
			}
			if err != nil {
				return Secrets{}, fmt.Errorf("taking over the token: %w", err)
			}
			if err := os.Unsetenv(handoverVariable); err != nil {
				return Secrets{}, err
			}
			break
		}
	}
	return newSecrets(values), closeToOthers()
}
