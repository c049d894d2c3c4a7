package phase

import (
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"strings"

	"github.com/agent-airlock/airlock/internal/command"
)

// notFoundCode is a shell's exit code for a command that it does not find.
const notFoundCode = 127

// MissingProgram returns the name of the tool that a run shows to be missing, ""
// where it shows no such thing. args are the program and its arguments; with none,
// a shell read the line.
func MissingProgram(line string, args []string, r command.Result, err error) string {
	if err != nil {
		program := "sh"
		if len(args) > 0 {
			program = args[0]
		}
		if errors.Is(err, command.ErrNotFound) || errors.Is(err, fs.ErrNotExist) && strings.Contains(program, "/") {
			return program
		}
		return ""
	}
	if r.OK() || r.TimedOut {
		return ""
	}
	said := string(r.Stderr.Tail)
	if len(r.Stderr.Tail) == 0 {
		said = string(r.Stderr.Head)
	}
	if r.ExitCode == notFoundCode {
		return notFound(said + "\n" + r.Stdout.String())
	}
	if len(args) == 0 {
		return ""
	}
	for _, sign := range []struct{ program, pattern string }{
		{"python", `(?m)^\S*python[^\s:]*: No module named (\w+)$`},
		{"python3", `(?m)^\S*python[^\s:]*: No module named (\w+)$`},
		{"cargo", "(?m)^error: (?:no such command: `|'cargo-)([a-z]+)[`']"},
		{"npx", `(?m)^npm (?:ERR!|error) (?:could not determine executable to run|npx canceled due to missing packages|code (?:E404|ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ENOTCACHED|ENOVERSIONS))`},
		{"mvn", `No plugin found for prefix '([a-z]+)'`},
	} {
		if sign.program != args[0] {
			continue
		}
		if sign.program == "mvn" { // says what went wrong on standard output
			said = r.Stdout.String()
		}
		m := regexp.MustCompile(sign.pattern).FindStringSubmatch(said)
		switch {
		case m == nil:
		case len(m) > 1:
			return m[1]
		default:
			return firstWord(strings.Fields(line)[1:])
		}
	}
	return ""
}

// notFound returns the program that a shell, bundler or env says is not there, ""
// where none of them says so: a program may end with their exit code, too.
func notFound(said string) string {
	for _, pattern := range []string{
		`command not found: (\S+)`,
		`([^\s:'"‘’]+)['’]?: (?:command )?not found`,
		`([^\s:'"‘’]+)['’]?: No such file or directory`,
		`(?m)^sh: \d+: ([^\s:]+): Permission denied$`, // dash, where a folder of PATH is closed to the user
	} {
		if m := regexp.MustCompile(pattern).FindStringSubmatch(said); m != nil {
			return m[1]
		}
	}
	return ""
}

// firstWord returns the first word that is no option.
func firstWord(words []string) string {
	for _, w := range words {
		if !strings.HasPrefix(w, "-") {
			return w
		}
	}
	return "npx"
}

// lacking says for people which tool is missing and what to do.
func lacking(m MissingTool) string {
	return fmt.Sprintf("The tool '%s' is missing, which '%s' needs: install it, use the image that holds the toolchains, or set %s to another command", m.Tool, m.Command, m.Override)
}
