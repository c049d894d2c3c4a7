package checks

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/agent-airlock/airlock/internal/action"
	"github.com/agent-airlock/airlock/internal/checkreport"
	"github.com/agent-airlock/airlock/internal/doors"
	"github.com/agent-airlock/airlock/internal/exitcode"
	"github.com/agent-airlock/airlock/internal/phase"
)

// Answer is how a command line reports the result of a validation.
type Answer struct {
	Gate   *doors.Gate // required
	People io.Writer   // required; what a person reads
	Colour bool        // People shows ANSI colours
	Output io.Writer   // gets the results as JSON in the form of spec 000; nil if nobody wants this JSON
	Refuse io.Writer   // required; gets JSON of the same form where the input is refused, without results
	Files  Files
}

// Write answers a document and an error as Request.Validate returns them: it writes the results, or
// why there are none. The error carries its exit code.
func (a Answer) Write(doc *checkreport.Document, unchanged bool, err error) error {
	invalid, isInvalid := errors.AsType[*phase.InvalidInput](err)
	switch {
	case isInvalid && doc == nil:
		return a.refuse(invalid)
	case err != nil && !isInvalid:
		return err
	}
	if err := a.results(doc); err != nil {
		return exitcode.FailedError(fmt.Errorf("the results cannot be written: %w", err))
	}
	if isInvalid { // the reviews need no language
		return a.explain(invalid, unchanged)
	}
	if doc.Failed() {
		return exitcode.ErrFindings
	}
	return nil
}

// results writes for a person and for a program, and the files that were asked for.
func (a Answer) results(doc *checkreport.Document) error {
	if err := a.Files.write(doc); err != nil {
		return err
	}
	show := a.Gate.TerminalText()
	for _, o := range doc.Outputs(show) { // first, because the headline has to come last
		fmt.Fprintf(a.People, "\n--- %s\n%s\n", o.Title, strings.TrimRight(o.Text, "\n"))
	}
	fmt.Fprintln(a.People)
	_ = doc.Text(a.People, show, a.Colour) // its failure does not keep the result from being written
	if a.Output == nil {
		return nil
	}
	raw, err := doc.Output.Encode()
	if err != nil {
		return err
	}
	_, err = a.Output.Write(raw)
	return err
}

// refuse answers input that cannot be validated. As spec 000 requires, the answer is that every
// check failed, and lists each problem.
func (a Answer) refuse(invalid *phase.InvalidInput) error {
	raw, err := phase.Refused(a.masked(invalid.Problems)).Encode()
	if err != nil {
		return exitcode.FailedError(err)
	}
	if _, err := a.Refuse.Write(raw); err != nil {
		return exitcode.FailedError(err)
	}
	return a.explain(invalid, false)
}

// masked returns problems without secrets: they quote the input.
func (a Answer) masked(problems []string) []string {
	out := make([]string, len(problems))
	for i, p := range problems {
		out[i] = a.Gate.Scanner().Mask(p)
	}
	return out
}

// explain writes why input cannot be validated, and what to do. unchanged is set where no file has
// changed.
func (a Answer) explain(invalid *phase.InvalidInput, unchanged bool) error {
	for _, p := range a.masked(invalid.Problems) {
		fmt.Fprintf(a.People, "airlock: %s\n", p)
	}
	switch {
	case invalid.NoLanguage() && unchanged:
		fmt.Fprintln(a.People, "airlock: no file has changed that would lead to a project: name the project's directory with --dir, or a commit to compare with by --base")
	case invalid.NoLanguage():
		fmt.Fprintln(a.People, "airlock: "+HowToSetLanguage("--"))
	}
	return &exitcode.Error{Code: exitcode.Usage}
}

// Files are the files that a validation writes; those without a name are not written.
type Files struct {
	Findings string // the findings document
	SARIF    string // the security review's findings
	Version  string // of Airlock, for SARIF
}

// Check reports at the start problems that would otherwise be found only after all checks ran.
func (f Files) Check() error {
	if f.Findings != "" && f.SARIF != "" && filepath.Clean(f.Findings) == filepath.Clean(f.SARIF) {
		return fmt.Errorf("--findings and --sarif name the same file, %s: give each its own", f.SARIF)
	}
	for _, file := range []struct{ flag, name string }{{"--findings", f.Findings}, {"--sarif", f.SARIF}} {
		if file.name == "" {
			continue
		}
		if action.IsDirectory(file.name) {
			return fmt.Errorf("%s: %s is a directory: name a file in it", file.flag, file.name)
		}
		if dir := filepath.Dir(file.name); !action.IsDirectory(dir) {
			return fmt.Errorf("%s: %s cannot be created: there is no directory %s, make it first", file.flag, file.name, dir)
		}
	}
	return nil
}

// write writes the files, which appear together.
func (f Files) write(doc *checkreport.Document) error {
	var files doors.PendingFiles
	defer files.Abort()
	if f.Findings != "" {
		out, err := files.Create(f.Findings, nil)
		if err != nil {
			return err
		}
		if err := doc.Write(out); err != nil {
			return err
		}
	}
	if f.SARIF != "" {
		raw, err := doc.SARIF(f.Version)
		if err != nil {
			return err
		}
		out, err := files.Create(f.SARIF, nil)
		if err != nil {
			return err
		}
		if _, err := out.Write(append(raw, '\n')); err != nil {
			return err
		}
	}
	return files.Commit()
}
