package action

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
)

// tokenVariables are the variables that may contain the token; the first that is set
// counts. After Enter the environment has no value of them.
var tokenVariables = [...]string{
	"INPUT_TOKEN",
	"GITHUB_TOKEN", "GH_TOKEN", "GITHUB_ENTERPRISE_TOKEN", "GH_ENTERPRISE_TOKEN",
}

// orchestrationVariable names the job among all jobs of its workflow run. It is not a
// secret and not documented; it leaves the environment with the runner's other ACTIONS_*
// variables.
const orchestrationVariable = "ACTIONS_ORCHESTRATION_ID"

// secretsVariable is the input of further secrets, one a line.
const secretsVariable = "INPUT_SECRETS"

// loopSecretVariable is the input of the secret that signs the logs of fix loops.
const loopSecretVariable = "INPUT_LOOP-SECRET"

// misnamedVariables are inputs of other actions that contain a token. Airlock has no such
// inputs, and says so. Their values have left the environment by then.
var misnamedVariables = [...]string{"INPUT_GITHUB-TOKEN", "INPUT_GITHUB_TOKEN", "INPUT_REPO-TOKEN", "INPUT_REPO_TOKEN", "INPUT_GH-TOKEN", "INPUT_GH_TOKEN"}

// handoverVariable names the file descriptor of the pipe that carries the
// secrets into the second run of the program.
const handoverVariable = "AIRLOCK_HANDOVER_FD"

var errNotOurs = errors.New(handoverVariable + " is set by Airlock alone: unset it")

// Secrets are what Enter took out of the environment. They are in a
// function, so that printing a Secrets shows none.
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

// Token returns the token's secret, for token.New, and the variable it came from;
// "" when there is none.
func (s Secrets) Token() (secret, variable string) {
	for _, name := range tokenVariables {
		if v := s.trimmed(name); v != "" {
			return v, name
		}
	}
	return "", ""
}

// Further returns the lines of the input secrets, without blank lines and white
// space around them. They must not appear in anything that is written.
func (s Secrets) Further() []string {
	var values []string
	for line := range strings.SplitSeq(s.trimmed(secretsVariable), "\n") {
		if v := strings.TrimSpace(line); v != "" {
			values = append(values, v)
		}
	}
	return values
}

// Loop returns the secret that signs the logs of fix loops; "" when there is none.
func (s Secrets) Loop() string { return s.trimmed(loopSecretVariable) }

// Orchestration returns the runner's name for the job, which no other job of the workflow run
// has; "" when there is none.
func (s Secrets) Orchestration() string { return s.trimmed(orchestrationVariable) }

// secretVariable reports whether a variable must not stay in the environment: the tokens,
// misnamed ones too, the inputs secrets and loop-secret, and all ACTIONS_* variables, which
// are the runner's access to GitHub's own services (ACTIONS_RUNTIME_TOKEN and others).
func secretVariable(name string) bool {
	name = strings.ToUpper(name) // on Windows case does not count; elsewhere this removes a little more
	return slices.Contains(tokenVariables[:], name) || slices.Contains(misnamedVariables[:], name) || name == secretsVariable || name == loopSecretVariable || strings.HasPrefix(name, "ACTIONS_")
}

// split divides an environment into what may stay and the secrets, and drops
// handoverVariable. The name of an input stays, with an empty value: see InputNames.
func split(environ []string) (stay []string, secrets map[string]string) {
	secrets = map[string]string{}
	for _, e := range environ {
		name, value, _ := strings.Cut(e, "=")
		switch {
		case name == handoverVariable:
		case secretVariable(name):
			isInput := strings.HasPrefix(strings.ToUpper(name), inputPrefix)
			if isInput {
				stay = append(stay, name+"=")
			}
			if !isInput || value != "" {
				secrets[strings.ToUpper(name)] = value
			}
		default:
			stay = append(stay, e)
		}
	}
	return stay, secrets
}

// onlyNeeded returns what Airlock uses of the variables that leave.
func onlyNeeded(secrets map[string]string) map[string]string {
	kept := map[string]string{}
	for _, name := range append(tokenVariables[:], secretsVariable, loopSecretVariable, orchestrationVariable) {
		if v := secrets[name]; v != "" {
			kept[name] = v
		}
	}
	return kept
}

// Enter is the first act of the action (rule R5). A process's environment can be
// read for as long as it lives, in /proc/<pid>/environ and by ps. Enter takes the
// token, the input secrets and the runner's own secrets out of it: it replaces the
// process by a second run of the same program, with the same arguments and the rest
// of the environment, and passes token and secrets through a pipe. In the second
// run it reads the pipe, makes the process unreadable for other processes of its
// user (PR_SET_DUMPABLE 0, on Linux), and returns. Without a secret in the
// environment there is no second run.
//
// Where a process cannot be replaced (Windows), the variables are only unset.
//
// It must be called before any goroutine, file or child process is started.
func Enter(environ, args []string) (Secrets, error) {
	stay, secrets := split(environ)
	if len(secrets) > 0 {
		// A handover that comes with secrets is not ours, and is ignored.
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
	return newSecrets(values), CloseToOthers()
}
