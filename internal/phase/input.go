package phase

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/agent-airlock/airlock/internal/schema"
	"github.com/agent-airlock/airlock/internal/text"
)

// Names of the published schemas of the input and the output.
const (
	InputSchema  = "phase-validation-input.json"
	OutputSchema = "phase-validation-output.json"
)

// DefaultMaxRetries applies if the input has no max_retries.
const DefaultMaxRetries = 3

// Input is what to validate, as in spec 000, with aliases resolved and defaults set.
type Input struct {
	WorkingDirectory string   `json:"working_directory"` // absolute
	ChangedFiles     []string `json:"changed_files"`     // relative to WorkingDirectory, slash-separated, clean
	Language         Language `json:"language"`          // "" has it detected, unless no check needs it
	// The commands that replace the language's own; "" for none.
	FormatCommand string `json:"format_command"`
	LintCommand   string `json:"lint_command"`
	BuildCommand  string `json:"build_command"`
	TestCommand   string `json:"test_command"`
	// MaxRetries is how often a failed formatter or linter is fixed and run again, 0 to 10.
	// Build and tests are repeated at most once.
	MaxRetries int  `json:"max_retries"`
	SkipBuild  bool `json:"skip_build"`
	SkipTests  bool `json:"skip_tests"`
}

// InvalidInput is all problems of an input, each in one sentence as in the spec's
// Example 4.
type InvalidInput struct{ Problems []string }

func (e *InvalidInput) Error() string { return strings.Join(e.Problems, "; ") }

// NoLanguage reports whether the input names no language and none could be detected.
func (e *InvalidInput) NoLanguage() bool {
	return slices.ContainsFunc(e.Problems, func(p string) bool { return strings.HasPrefix(p, cannotDetect) })
}

// namesAll reports whether each check that runs a command has one of the owner's, or is
// skipped. Then nothing depends on the language.
func (in Input) namesAll() bool {
	return in.FormatCommand != "" && in.LintCommand != "" && (in.BuildCommand != "" || in.SkipBuild) && (in.TestCommand != "" || in.SkipTests)
}

// ReadInput reads the JSON of an input, and checks it, also that its directory can be read. A byte
// order mark is ignored. The error is an *InvalidInput that lists all problems, or about Airlock's
// own schema.
func ReadInput(raw []byte) (Input, error) {
	raw = bytes.TrimSpace(bytes.TrimPrefix(raw, []byte("\ufeff")))
	if len(raw) == 0 {
		return Input{}, &InvalidInput{[]string{"Validation failed: the input is empty; a JSON object is expected, such as {\"working_directory\": \"/src/app\", \"changed_files\": [\"app.py\"]}"}}
	}
	s, ok := schema.Published(InputSchema, "")
	if !ok {
		return Input{}, errors.New("there is no schema " + InputSchema)
	}
	violations, err := s.Validate(raw)
	if err != nil {
		return Input{}, err
	}
	var problems []string
	if place, twice := schema.Duplicate(raw); twice {
		problems = append(problems, fmt.Sprintf("Validation failed: invalid parameter '%s': it is given twice", strings.TrimPrefix(place, "$.")))
	}
	for _, v := range violations {
		problems = append(problems, problem(v))
	}
	var doc map[string]json.RawMessage
	if json.Unmarshal(raw, &doc) == nil { // what the schema cannot express
		problems = append(problems, directoryProblems(doc["working_directory"])...)
		problems = append(problems, fileProblems(doc["changed_files"])...)
		for _, check := range []Check{Formatter, Linter, Build, Tests} {
			problems = append(problems, commandProblems(overrideName(check), doc[overrideName(check)])...)
		}
	}
	if len(problems) > 0 {
		return Input{}, &InvalidInput{problems}
	}
	return decodeInput(raw)
}

func decodeInput(raw []byte) (Input, error) {
	var doc struct {
		Input
		MaxRetries schema.Int `json:"max_retries"` // instead of the Input's
	}
	doc.MaxRetries = DefaultMaxRetries
	if err := json.Unmarshal(raw, &doc); err != nil {
		return Input{}, &InvalidInput{[]string{"Validation failed: " + err.Error()}}
	}
	in := doc.Input
	in.MaxRetries = int(doc.MaxRetries)
	in.Language, _ = LanguageNamed(string(in.Language)) // "" is none
	in.WorkingDirectory = path.Clean(in.WorkingDirectory)
	in.ChangedFiles = nil
	for _, f := range doc.ChangedFiles {
		in.ChangedFiles = append(in.ChangedFiles, path.Clean(f))
	}
	return in, nil
}

// parameters are the members of an input.
var parameters = []string{"working_directory", "changed_files", "language", "format_command", "lint_command", "build_command", "test_command", "max_retries", "skip_build", "skip_tests"}

// problem describes a violation of the schema as the spec does.
func problem(v schema.Violation) string {
	name := strings.TrimPrefix(strings.TrimPrefix(v.Path, "$"), ".")
	switch {
	case v.SchemaPath == "required":
		return fmt.Sprintf("Validation failed: missing required parameter '%s'", name)
	case v.SchemaPath == "additionalProperties":
		return fmt.Sprintf("Validation failed: unknown parameter '%s'%s", name, text.DidYouMean(name, parameters))
	case name == "":
		return "Validation failed: the input is invalid: " + v.Message
	case name == "working_directory" && strings.HasSuffix(v.SchemaPath, "pattern"):
		return "Validation failed: invalid parameter 'working_directory': it must be an absolute path, starting with '/'"
	case name == "language" && strings.HasSuffix(v.SchemaPath, "enum"):
		value, _, _ := strings.Cut(v.Message, " is not one of ") // the list there may be shortened
		return "Validation failed: invalid parameter 'language': " + value + " is not javascript (js), typescript (ts), python (py), go (golang), rust (rs), ruby (rb) or java"
	}
	return fmt.Sprintf("Validation failed: invalid parameter '%s': %s", name, v.Message)
}

func directoryProblems(raw json.RawMessage) []string {
	var dir string
	if json.Unmarshal(raw, &dir) != nil || !strings.HasPrefix(dir, "/") {
		return nil // the schema reports it
	}
	why := unreadable(dir)
	if why == "" {
		return nil
	}
	return []string{fmt.Sprintf("Validation failed: invalid parameter 'working_directory': %s (%s)", why, schema.Quote(dir))}
}

// unreadable returns why a directory cannot be read, or that it is not one; "" if it can be read.
func unreadable(dir string) string {
	if strings.ContainsRune(dir, 0) {
		return "it contains a NUL character"
	}
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return "there is no such directory"
	case err != nil:
		return "it cannot be read: " + reason(err)
	case !info.IsDir():
		return "it is not a directory"
	}
	f, err := os.Open(dir)
	if err != nil {
		return "it cannot be read: " + reason(err)
	}
	_ = f.Close() // it was only opened to see that it can be
	return ""
}

// reason returns the text of a file system's error without the path.
func reason(err error) string {
	var pe *os.PathError
	if errors.As(err, &pe) {
		return pe.Err.Error()
	}
	return err.Error()
}

func commandProblems(name string, raw json.RawMessage) []string {
	var line string
	if json.Unmarshal(raw, &line) != nil || line == "" {
		return nil // the schema reports it, or it is not given
	}
	if err := CheckCommand(line); err != nil {
		return []string{fmt.Sprintf("Validation failed: invalid parameter '%s': %v", name, err)}
	}
	return nil
}

func fileProblems(raw json.RawMessage) []string {
	var files []json.RawMessage
	if json.Unmarshal(raw, &files) != nil {
		return nil
	}
	var problems []string
	for i, r := range files {
		var f string
		if json.Unmarshal(r, &f) != nil || f == "" {
			continue
		}
		why := ""
		switch {
		case strings.HasPrefix(f, "/"):
			why = "it must be relative to working_directory"
		case strings.ContainsRune(f, 0):
			why = "it contains a NUL character"
		case slices.Contains(strings.Split(f, "/"), ".."):
			why = "it must not contain '..'"
		case path.Clean(f) == ".":
			why = "it is not the path of a file"
		default:
			continue
		}
		problems = append(problems, fmt.Sprintf("Validation failed: invalid parameter 'changed_files[%d]': %s (%s)", i, why, schema.Quote(f)))
	}
	return problems
}
