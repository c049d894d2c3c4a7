package cli

import (
	"fmt"
	"io"
	"strings"

	"github.com/agent-airlock/airlock/internal/checkreport"
	"github.com/agent-airlock/airlock/internal/phase"
)

// refuseInput answers input that cannot be validated as spec 000 has it: every check
// failed, and each problem named. unchanged reports that no file has changed.
func refuseInput(w World, invalid *phase.InvalidInput, unchanged bool) error {
	raw, err := phase.Refused(invalid.Problems).Encode()
	if err != nil {
		return failedError(err)
	}
	if _, err := w.Stdout.Write(raw); err != nil {
		return failedError(err)
	}
	for _, p := range invalid.Problems {
		fmt.Fprintf(w.Stderr, "airlock: %s\n", p)
	}
	switch {
	case invalid.NoLanguage() && unchanged:
		fmt.Fprintln(w.Stderr, "airlock: no file has changed, which would lead to a project: name one with --dir, or what to compare with by --base")
	case invalid.NoLanguage():
		fmt.Fprintln(w.Stderr, "airlock: "+strings.TrimSuffix(nameLanguage("--"), ","))
	}
	return &exitError{code: ExitUsage}
}

// nameLanguage says what to do where no language could be detected; the settings that
// it names are flags or keys of the configuration, as prefix has it.
func nameLanguage(prefix string) string {
	return strings.ReplaceAll("no package.json, go.mod or the like stands in the folder or above a changed file: set @language, or all of"+
		" @format-command, @lint-command, @build-command (or @skip-build) and @test-command (or @skip-tests), which need no language,", "@", prefix)
}

// write tells a person on standard error and a machine on standard output, and
// writes the files that were asked for.
func (f checkFlags) write(w World, doc *checkreport.Document, g *gate) error {
	var files pendingFiles
	defer files.abort()
	for name, encode := range map[string]func(io.Writer) error{f.findings: doc.Write, f.sarif: func(out io.Writer) error {
		raw, err := doc.SARIF(versionOf(w))
		if err != nil {
			return err
		}
		_, err = out.Write(append(raw, '\n'))
		return err
	}} {
		if name == "" {
			continue
		}
		out, err := files.create(name, nil)
		if err != nil {
			return err
		}
		if err := encode(out); err != nil {
			return err
		}
	}
	if err := files.commit(); err != nil {
		return err
	}
	colour := isTerminal(w.Stderr) && w.Getenv("NO_COLOR") == "" && w.Getenv("TERM") != "dumb"
	words := g.terminalWords()
	for _, o := range doc.Outputs(words) { // first, so that the headline is what is read last
		fmt.Fprintf(w.Stderr, "\n--- %s\n%s\n", o.Title, strings.TrimRight(o.Text, "\n"))
	}
	fmt.Fprintln(w.Stderr)
	_ = doc.Text(w.Stderr, words, colour) // what a person cannot be told is no reason not to tell the machine
	if !f.json && isTerminal(w.Stdout) {
		return nil
	}
	raw, err := doc.Output.Encode()
	if err != nil {
		return err
	}
	_, err = w.Stdout.Write(raw)
	return err
}

// terminalWords are checkWords for a terminal, where nothing is a mention and people
// copy what they read.
func (g *gate) terminalWords() checkreport.Words {
	words := g.checkWords()
	words.Line = func(s string) string { return strings.Join(strings.Fields(words.Code(s)), " ") }
	return words
}

// checkWords makes what tools printed fit to be shown.
func (g *gate) checkWords() checkreport.Words {
	return checkreport.Words{Line: g.words, Code: func(s string) string {
		out, _ := g.sanitizer.Characters(g.secrets.Mask(s))
		return out
	}}
}
