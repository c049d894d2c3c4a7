package config

import (
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
)

// Acceptance is how acceptance criteria are verified, the key "acceptance". It allows an
// agent nothing: it enables no kind.
type Acceptance struct {
	Given bool // the key is there
	// Validator, Browser and Judge are command lines; "" where none is configured.
	Validator, Browser, Judge string
	// PassEnv are names of variables that these three get in addition to the usual ones.
	PassEnv []string
	// ValidatorForIssues lets the validator and the browser command judge criteria from
	// issues, which strangers can write.
	ValidatorForIssues bool
	// Commands are the command lines that criteria from issues may run.
	Commands []string
	// Hosts are the hosts to which criteria from issues may send requests, each as host or
	// host:port. The owner's own criteria may send requests to any host, except that a private
	// host has to be among these.
	Hosts         []string
	JudgeOptional bool // a judge that gives no valid answer does not block
	AcceptPartial bool // the verdict PARTIAL is as good as PASS for what follows
	// RequireCriteria fails a pull request for which there are no criteria.
	RequireCriteria bool
	// Tick ticks, after the merge, the boxes of the criteria that were verified.
	Tick bool
}

// acceptanceKey is the key at the top that configures acceptance verdicts.
func acceptanceKey() key[SafeOutputs] {
	return key[SafeOutputs]{
		name: "acceptance", doc: "How acceptance criteria are verified. It allows an agent nothing.",
		takes: sectionOr("acceptance", "settings or no value, such as {validator: ./validate}", nullNode),
		set: func(d *decoder, given *node, _ any, c *SafeOutputs) {
			c.Acceptance.Given = true
			section(d, "acceptance", given.entries, acceptanceTable(), &c.Acceptance)
		},
	}
}

// acceptanceTable is the table of keys below acceptance.
var acceptanceTable = sync.OnceValue(func() []key[Acceptance] {
	return []key[Acceptance]{
		into("validator", "The command that judges criteria whose hint no machine understands. It reads a validation request from standard input and prints a validation response. Default: none.", commandLine("./validate"), func(a *Acceptance) *string { return &a.Validator }),
		into("browser", "The command that judges the criteria of requests of the type browser or both, in the same form. Default: none.", commandLine("./look"), func(a *Acceptance) *string { return &a.Browser }),
		into("judge", "The command that has the last word on the verdict PASS: it reads the request and the response, and prints a verdict and its reasoning. Default: none.", commandLine("./judge"), func(a *Acceptance) *string { return &a.Judge }),
		yesNo("judge-optional", "Whether a judge that gives no valid answer is ignored instead of blocking. Default: false.", func(a *Acceptance) *bool { return &a.JudgeOptional }),
		yesNo("accept-partial", "Whether the verdict PARTIAL is accepted by its gate. Default: false.", func(a *Acceptance) *bool { return &a.AcceptPartial }),
		into("pass-env", "Names of variables that the validator, the browser command and the judge get, such as the key of an AI service. Default: none.", programVariables(), func(a *Acceptance) *[]string { return &a.PassEnv }),
		yesNo("validator-for-issues", "Whether the validator and the browser command also judge criteria from issues, which strangers can write. Default: false.", func(a *Acceptance) *bool { return &a.ValidatorForIssues }),
		into("commands", "Command lines that criteria from issues may run, each exactly as it is written here. Default: none.", texts(`{"type": "string", "maxLength": 10000, "pattern": "\\S"}`, "[make smoke]", checkNotBlank), func(a *Acceptance) *[]string { return &a.Commands }),
		into("allowed-hosts", "Hosts, or host:port, to which URLs in criteria from issues may lead; a private address has to be named here even for criteria of the owner. Default: none.", texts(`{"type": "string", "pattern": "^[^\\s/@*]+$"}`, "[\"localhost:3000\"]", CheckHost), func(a *Acceptance) *[]string { return &a.Hosts }),
		yesNo("require-criteria", "Whether a pull request without acceptance criteria fails. Default: false.", func(a *Acceptance) *bool { return &a.RequireCriteria }),
		yesNo("tick", "Whether the boxes of verified criteria in the issue's own list are ticked after the pull request is merged. Default: false.", func(a *Acceptance) *bool { return &a.Tick }),
	}
})

// checkNotBlank checks a command line that is only compared with others. The error's text
// continues a sentence that begins with the command line.
func checkNotBlank(line string) error {
	if strings.TrimSpace(line) == "" {
		return errors.New("names no command")
	}
	return nil
}

// programVariables returns the shape of names of variables for the owner's own programs. GitHub's
// tokens cannot be among them.
func programVariables() shape {
	return texts(`{"type": "string", "pattern": "`+variablePattern+`"}`, "[ANTHROPIC_API_KEY]", CheckProgramVariable)
}

// CheckProgramVariable checks the name of a variable for a program of the owner's. The
// error's text continues a sentence that names it.
func CheckProgramVariable(name string) error {
	if err := CheckVariable(name); err != nil {
		return err
	}
	for _, forbidden := range []string{"GITHUB_", "GH_", "ACTIONS_", "INPUT_", "RUNNER_"} {
		if strings.HasPrefix(strings.ToUpper(name), forbidden) {
			return fmt.Errorf("begins with %s: GitHub's own variables are not passed on", forbidden)
		}
	}
	return nil
}

// CheckHost checks a host, or host:port, that requests may be sent to. The error's text
// continues a sentence that names it.
func CheckHost(host string) error {
	name := host
	if h, port, err := net.SplitHostPort(host); err == nil {
		if port == "" {
			return errors.New("has no port after its colon")
		}
		name = h
	}
	if name == "" || strings.ContainsAny(name, "/@ \t\r\n") || strings.Contains(name, "*") {
		return errors.New("is not a host, such as example.com or localhost:3000")
	}
	return nil
}
