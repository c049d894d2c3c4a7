package toolreport

import (
	"strings"

	"github.com/agent-airlock/airlock/internal/finding"
)

// goFormats are the patterns of Go's tools, and of many others.
var goFormats = []string{`%f:%l:%c: %m`, `%f:%l: %m`}

// anyForm reads the lines that name a place in the usual way, whichever tool prints them.
var anyForm = &form{formats: goFormats}

var goVetForm = &form{
	formats:       goFormats,
	errorPrefix:   "vet: ",
	continuations: []string{"\t"},
	isUnparsed:    isGoSyntaxError,
}

// isGoSyntaxError reports whether an error is a syntax error in one file, after which Go's tools go
// on with other packages. An error in a package clause ends the run, and is not one of these.
func isGoSyntaxError(f finding.Finding) bool {
	if f.Severity != finding.High || strings.HasPrefix(f.Message, "expected 'package'") {
		return false
	}
	return startsWithAny(f.Message, []string{"expected ", "syntax error", "illegal "}) || strings.HasSuffix(f.Message, " not terminated")
}

var goCompilerForm = &form{
	formats:       goFormats,
	errorPrefix:   "vet: ",
	continuations: []string{"\t"},
	severity:      finding.High,
	isBroken:      isError,
}

// gofmtErrorForm reads the errors of gofmt.
var gofmtErrorForm = &form{formats: goFormats, severity: finding.High, isUnparsed: isError}

var golangciForm = &form{
	formats:  goFormats,
	rule:     `^(?s)(?P<message>.*) \((?P<rule>[a-z0-9_-]+)\)$`,
	ignored:  []string{": # "},
	isBroken: func(f finding.Finding) bool { return f.Rule == "typecheck" },
	own:      []string{"# issues:"},
	crashes:  []string{"level=error", "Error: can't"},
}

var tscForm = &form{
	formats:       []string{`%f(%l,%c): %trror %m`, `%f(%l,%c): %tarning %m`, `%f:%l:%c - %trror %m`},
	rule:          `^(?s)(?P<rule>TS\d+): (?P<message>.*)$`,
	continuations: []string{"  "},
	severity:      finding.High,
	isBroken:      isError,
	own:           []string{"error TS"},
	crashes:       []string{"error TS5", "error TS6", "error TS18003"},
}

// standardForm reads JavaScript Standard Style.
var standardForm = &form{
	formats:    []string{`  %f:%l:%c: %m`},
	rule:       `^(?s)(?P<message>.*?) \((?P<rule>[\w@/-]+)\)(?: \(warning\))?$`,
	isUnparsed: func(f finding.Finding) bool { return f.Rule == "null" },
	own:        []string{"standard: Use JavaScript Standard Style"},
}

// pythonRule separates the code with which Python's linters begin a message.
const pythonRule = `^(?s)(?P<rule>[A-Z]+[0-9]+):? (?:\[\*\] )?(?P<message>.*)$`

// isPythonSyntaxError reports whether a finding of Python's linters is a syntax error.
func isPythonSyntaxError(f finding.Finding) bool {
	return strings.HasPrefix(f.Rule, "E9") || f.Rule == "" && strings.Contains(f.Message, "yntax")
}

// flake8Form reads flake8, pycodestyle and pyflakes.
var flake8Form = &form{formats: goFormats, rule: pythonRule, isUnparsed: isPythonSyntaxError}

// ruffForm reads the findings of ruff that are one line each.
var ruffForm = &form{
	formats:    goFormats,
	rule:       pythonRule,
	isUnparsed: isPythonSyntaxError,
	own:        []string{"Found ", "# file would be ", "# files would be "},
	crashes:    []string{"ruff failed", "error: "},
}

var mypyForm = &form{
	formats:  []string{`%f:%l:%c: %t%*[a-z]: %m`, `%f:%l: %t%*[a-z]: %m`},
	rule:     `^(?s)(?P<message>.*?) {1,2}\[(?P<rule>[a-z0-9-]+)\]$`, // one space if the message was wrapped before the rule
	isBroken: isError,
	wrapped:  true,
	own:      []string{"Found ", "Success: no issues"},
	crashes:  []string{"usage: mypy", "mypy: "},
}

var rubocopForm = &form{
	formats:    []string{`%f:%l:%c: %t: %m`},
	rule:       `^(?s)(?:\[Correctable\] )?(?P<rule>[A-Z]\w*(?:/\w+)+): (?P<message>.*)$`,
	isUnparsed: func(f finding.Finding) bool { return f.Rule == "Lint/Syntax" },
	own:        []string{"# file inspected", "# files inspected"},
	crashes:    []string{"invalid option"},
}

var javacForm = &form{
	formats:       []string{`%f:%l: %trror: %m`, `%f:%l: %tarning: %m`},
	rule:          `^(?s)\[(?P<rule>[a-z-]+)\] (?P<message>.*)$`,
	continuations: []string{"  symbol:", "  location:"},
	interrupted:   true,
	severity:      finding.High,
	isBroken:      isError,
	own:           []string{"# error", "# warning"},
}

// mavenForm reads the compiler's lines as Maven prints them, and those of checkstyle.
var mavenForm = &form{
	formats:       []string{`[%tRROR] %f:[%l,%c] %m`, `[%tARNING] %f:[%l,%c] %m`, `[%tARN] %f:[%l,%c] %m`, `[%tRROR] %f:[%l] %m`, `[%tARN] %f:[%l] %m`},
	rule:          `^(?s)\((?P<category>\w+)\) (?P<rule>\w+): (?P<message>.*)$`,
	continuations: []string{"  symbol:", "  location:", "[ERROR]   symbol:", "[ERROR]   location:"},
	severity:      finding.High,
	isBroken:      func(f finding.Finding) bool { return f.Rule == "" && isError(f) },
}

var checkstyleForm = &form{
	formats: []string{`[%tRROR] %f:%l:%c: %m`, `[%tARN] %f:%l:%c: %m`, `[%tNFO] %f:%l:%c: %m`, `[%tRROR] %f:%l: %m`, `[%tARN] %f:%l: %m`, `[%tNFO] %f:%l: %m`},
	rule:    `^(?s)(?P<message>.*) \[(?P<rule>\w+)\]$`,
	own:     []string{"Audit done.", "Starting audit..."},
}
