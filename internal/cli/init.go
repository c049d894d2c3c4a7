package cli

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/agent-airlock/airlock/internal/action"
	"github.com/agent-airlock/airlock/internal/exitcode"
	"github.com/agent-airlock/airlock/internal/phase"
	"github.com/agent-airlock/airlock/internal/scaffold"
	"github.com/agent-airlock/airlock/internal/text"
)

type initFlags struct {
	dir, agent               string
	allow                    []string
	checks, yes, force, json bool
	dryRun                   bool
	given                    func(flag string) bool
}

func newInit(env Environment) *cobra.Command {
	var f initFlags
	cmd := &cobra.Command{
		Use:   "init",
		Short: "Set up a repository: workflows, policy and the agent's instructions",
		Long: `Set up the git repository in the current directory, by three questions or by flags:
what agents may do, which agent works, and whether pull requests are checked.

It writes the workflows, with the actions pinned by commit and exactly the
permissions that the policy needs; the policy; and what the agent is told. Then it
says what is left to do. Nothing is sent anywhere.

It can be run again. A file that somebody edited is left as it is, and shown with
the difference (exit code 1), unless --force is given; in a file of instructions
only the section between the markers of airlock changes.

What agents may do (--allow), one or several:

` + choiceLines() + `
or any kind of safe output, such as create-issue; and "nothing".`,
		Example: `  airlock init
  airlock init --allow triage,code --agent claude-code --check-pull-requests
  airlock init --allow create-issue --agent other --dry-run
  airlock init --yes`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			f.given = cmd.Flags().Changed
			return runInit(env, f)
		},
	}
	flags := cmd.Flags()
	flags.StringSliceVar(&f.allow, "allow", nil, "what agents may do: names of the list above, or nothing (default: triage)")
	flags.StringVar(&f.agent, "agent", "", "which agent works: "+strings.Join(scaffold.AgentNames(), ", ")+" (default: other)")
	flags.BoolVar(&f.checks, "check-pull-requests", true, "whether pull requests are checked")
	flags.BoolVar(&f.yes, "yes", false, "ask nothing: take the defaults, or the answers of an earlier run, for what no flag says")
	flags.BoolVar(&f.force, "force", false, "overwrite files that somebody edited")
	flags.BoolVar(&f.dryRun, "dry-run", false, "write nothing; say what would be written")
	flags.BoolVar(&f.json, "json", false, "print the result as JSON")
	flags.StringVar(&f.dir, "dir", ".", "a directory of the repository")
	return cmd
}

func choiceLines() string {
	var b strings.Builder
	for _, p := range scaffold.Presets() {
		fmt.Fprintf(&b, "  %-8s %s\n", p.Name, p.Summary)
	}
	return b.String()
}

func runInit(env Environment, f initFlags) error {
	root, err := repositoryRoot(f.dir)
	if err != nil {
		return exitcode.UsageError(err)
	}
	dir, err := action.OpenDir(root)
	if err != nil {
		return exitcode.UsageError(err)
	}
	defer dir.Close()
	answers, err := f.answers(env, dir)
	if err != nil {
		return exitcode.UsageError(err)
	}
	projects, err := phase.Projects(root)
	if err != nil {
		return exitcode.UsageError(err)
	}
	report, err := scaffold.Write(dir, scaffold.Config{Answers: answers, Release: releaseOf(env), Projects: projects, Force: f.force, DryRun: f.dryRun})
	if err != nil {
		return exitcode.UsageError(err)
	}
	if f.json {
		if err := printJSON(env, report); err != nil {
			return err
		}
	} else if err := showSetup(env, report, f.dryRun); err != nil {
		return err
	}
	if slices.ContainsFunc(report.Files, func(r scaffold.Result) bool { return r.State == scaffold.Edited }) {
		return exitcode.ErrFindings
	}
	return nil
}

// repositoryRoot returns the root of the work tree that a directory is in.
func repositoryRoot(dir string) (string, error) {
	path, err := filepath.Abs(dir)
	if err == nil {
		path, err = filepath.EvalSymlinks(path) // the user's own word; below the root no link is followed
	}
	if err != nil {
		return "", fmt.Errorf("there is no directory %q", dir)
	}
	if !isDirectory(path) {
		return "", fmt.Errorf("%q is not a directory", dir)
	}
	for at := path; ; at = filepath.Dir(at) {
		if info, err := os.Lstat(filepath.Join(at, ".git")); err == nil && info.Mode()&fs.ModeSymlink == 0 {
			return at, nil
		}
		if at == path && isDirectory(filepath.Join(at, "objects")) && isDirectory(filepath.Join(at, "refs")) {
			return "", fmt.Errorf("%s is a bare repository, without files: use a clone of it", path)
		}
		if at == filepath.Dir(at) {
			return "", fmt.Errorf("%s is not in a git repository: run 'git init' first, or name one with --dir", path)
		}
	}
}

// answers returns what the flags say, and for the rest the answers of a person, of an earlier
// run, or the defaults.
func (f initFlags) answers(env Environment, dir *action.Dir) (scaffold.Answers, error) {
	answers, earlier, err := scaffold.ReadAnswers(dir)
	if err != nil {
		return answers, err
	}
	if !earlier {
		answers = scaffold.Answers{Allow: []string{"triage"}, Agent: "other", CheckPulls: true}
	}
	if f.given("allow") {
		if answers.Allow = allowed(f.allow); len(f.allow) == 0 {
			return answers, fmt.Errorf("--allow is empty: name what agents may do, such as %s, or write nothing", strings.Join(presetNames(), ", "))
		}
	}
	if f.given("agent") {
		answers.Agent = f.agent
	}
	if f.given("check-pull-requests") {
		answers.CheckPulls = f.checks
	}
	ask := func(flag string) bool { return !f.given(flag) }
	complete := f.given("allow") && f.given("check-pull-requests") && (f.given("agent") || len(answers.Allow) == 0)
	if f.yes || complete {
		return answers, answers.Validate()
	}
	in, isFile := env.Stdin.(*os.File)
	if !isFile || !term.IsTerminal(int(in.Fd())) {
		var missing []string
		for _, flag := range []string{"allow", "agent", "check-pull-requests"} {
			if ask(flag) {
				missing = append(missing, "--"+flag)
			}
		}
		return answers, fmt.Errorf("there is no terminal to ask in: give %s, or --yes for the defaults\n%s%s%s", strings.Join(missing, ", "),
			"  --allow                "+strings.Join(presetNames(), ", ")+", nothing, or kinds\n",
			"  --agent                "+strings.Join(scaffold.AgentNames(), ", ")+"\n",
			"  --check-pull-requests  true or false")
	}
	q := questions{in: bufio.NewReader(io.LimitReader(in, 1<<16)), out: env.Stderr}
	if ask("allow") {
		answers.Allow, err = q.allow(answers.Allow)
	}
	if err == nil && ask("agent") && len(answers.Allow) > 0 {
		answers.Agent, err = q.agent(answers.Agent)
	}
	if err == nil && ask("check-pull-requests") {
		answers.CheckPulls, err = q.checks(answers.CheckPulls)
	}
	if err != nil {
		return answers, err
	}
	return answers, answers.Validate()
}

// allowed reads the names of --allow, where "nothing" stands alone for none.
func allowed(names []string) []string {
	if len(names) == 1 && strings.TrimSpace(names[0]) == "nothing" {
		return nil
	}
	return names
}

func presetNames() []string {
	var names []string
	for _, p := range scaffold.Presets() {
		names = append(names, p.Name)
	}
	return names
}

// questions are asked on a terminal, until each has an answer.
type questions struct {
	in  *bufio.Reader
	out io.Writer
}

func (q questions) allow(def []string) (names []string, err error) {
	fmt.Fprintln(q.out, "What may agents do? Numbers or names, with commas between them.")
	var options []string
	for i, p := range scaffold.Presets() {
		fmt.Fprintf(q.out, "  %d  %-8s %s\n", i+1, p.Name, p.Summary)
		options = append(options, p.Name)
	}
	fmt.Fprintf(q.out, "  %d  %-8s %s\nKinds of safe outputs, such as create-discussion, can be named too.\n", len(options)+1, "nothing", "there is no agent: pull requests are checked, and that is all")
	options = append(options, "nothing")
	shown := strings.Join(def, ",")
	if shown == "" {
		shown = "nothing"
	}
	err = q.ask(shown, func(answer string) error {
		names = nil
		for part := range strings.SplitSeq(answer, ",") {
			names = append(names, numbered(part, options))
		}
		if names = allowed(names); names == nil {
			return nil
		}
		return scaffold.Answers{Allow: names, Agent: "other"}.Validate()
	})
	return names, err
}

func (q questions) agent(def string) (name string, err error) {
	fmt.Fprintln(q.out, "Which agent works?")
	options := scaffold.AgentNames()
	for i, a := range scaffold.Agents() {
		fmt.Fprintf(q.out, "  %d  %-12s %s\n", i+1, a.Name, a.Title)
	}
	err = q.ask(def, func(answer string) error {
		name = numbered(answer, options)
		return scaffold.Answers{Allow: []string{"triage"}, Agent: name}.Validate()
	})
	return name, err
}

func (q questions) checks(def bool) (yes bool, err error) {
	fmt.Fprintln(q.out, "Are pull requests to be checked (format, lint, build, tests, two reviews)? yes or no")
	shown := "no"
	if def {
		shown = "yes"
	}
	err = q.ask(shown, func(answer string) error {
		switch strings.ToLower(answer) {
		case "y", "yes":
			yes = true
		case "n", "no":
			yes = false
		default:
			return fmt.Errorf("%q is neither yes nor no", text.Truncate(text.OneLine(answer), 60))
		}
		return nil
	})
	return yes, err
}

// numbered returns the option of a number, or the answer itself.
func numbered(answer string, options []string) string {
	answer = strings.TrimSpace(answer)
	if n, err := strconv.Atoi(answer); err == nil && n >= 1 && n <= len(options) {
		return options[n-1]
	}
	return answer
}

// ask reads lines until one is accepted. An empty one is the default.
func (q questions) ask(def string, accept func(answer string) error) error {
	for {
		fmt.Fprintf(q.out, "[%s] ", def)
		line, err := q.in.ReadString('\n')
		if err != nil {
			fmt.Fprintln(q.out)
			return errors.New("the questions were not answered, so nothing was written; --help lists the flags")
		}
		answer := strings.TrimSpace(line)
		if answer == "" {
			answer = def
		}
		err = accept(answer)
		if err == nil {
			return nil
		}
		fmt.Fprintln(q.out, err)
	}
}

// releaseOf returns what this binary knows of its version: a released one is told, others know
// what the Go toolchain recorded.
func releaseOf(env Environment) scaffold.Release {
	r := scaffold.Release{Version: versionOf(env), Commit: env.Commit}
	if info, ok := debug.ReadBuildInfo(); ok && env.Version == "" && r.Commit == "" {
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				r.Commit = s.Value
			}
		}
	}
	return r
}

// showSetup prints what was written and what is left to do, for a person.
func showSetup(env Environment, r scaffold.Report, dryRun bool) error {
	w := &strings.Builder{}
	if dryRun {
		fmt.Fprintln(w, "Nothing was written. This would become of the files:")
	}
	for _, f := range r.Files {
		words := map[scaffold.State]string{scaffold.Yours: "yours", scaffold.Edited: "kept"}[f.State]
		if words == "" {
			words = string(f.State)
		}
		fmt.Fprintf(w, "  %-9s  %s\n", words, f.Path)
	}
	for _, f := range r.Files {
		if f.Difference != "" {
			fmt.Fprintf(w, "\n%s was edited, so it is left as it is. --force overwrites it. The difference:\n\n%s", f.Path, printable(f.Difference))
		}
	}
	for _, note := range r.Notes {
		fmt.Fprintf(w, "\n%s\n", wrapped(note, "", env))
	}
	fmt.Fprint(w, "\nNext:\n")
	for i, step := range r.Next {
		fmt.Fprintf(w, "%2d. %s\n", i+1, wrapped(step, "    ", env))
	}
	_, err := io.WriteString(env.Stdout, w.String())
	return err
}

// printable replaces what would act on a terminal in text of several lines.
func printable(s string) string {
	var b strings.Builder
	for line := range strings.Lines(s) {
		body, end := strings.TrimRight(line, "\r\n"), line[len(strings.TrimRight(line, "\r\n")):]
		if strings.ContainsFunc(body, func(r rune) bool { return r != '\t' && !unicode.IsPrint(r) }) {
			body = text.OneLine(body)
		}
		b.WriteString(body + end)
	}
	return b.String()
}

// wrapped breaks a paragraph for a terminal; lines after the first begin with the prefix.
func wrapped(s, prefix string, env Environment) string {
	width := terminalWidth(env.Stdout)
	if width < 40 {
		return s
	}
	var lines []string
	line := ""
	for word := range strings.FieldsSeq(s) {
		if line != "" && len(prefix)+len(line)+1+len(word) > width-1 {
			lines = append(lines, line)
			line = ""
		}
		if line != "" {
			line += " "
		}
		line += word
	}
	return strings.Join(append(lines, line), "\n"+prefix)
}
