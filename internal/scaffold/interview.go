package scaffold

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/agent-airlock/airlock/internal/action"
	"github.com/agent-airlock/airlock/internal/text"
)

// Interview finds the answers. It takes those that the flags give. For the others it asks a person,
// or, if Quick is set, takes the answers of an earlier run or the defaults.
type Interview struct {
	// Allow, Agent and CheckPulls are the answers that the flags give; nil if they give none.
	Allow      *[]string
	Agent      *string
	CheckPulls *bool
	// Quick asks nobody.
	Quick bool
	// In is where a person answers, nil without one, and Out where the questions are shown.
	In  io.Reader
	Out io.Writer
}

// maxAnswers bounds how many bytes of answers are read.
const maxAnswers = 1 << 16

// Answers returns valid answers for a work tree.
func (i Interview) Answers(dir *action.Dir) (Answers, error) {
	answers, earlier, err := ReadAnswers(dir)
	if err != nil {
		return answers, err
	}
	if !earlier {
		answers = Answers{Allow: []string{"triage"}, Agent: "other", CheckPulls: true}
	}
	if i.Allow != nil {
		if len(*i.Allow) == 0 {
			return answers, fmt.Errorf("--allow is empty: name what agents may do, such as %s, or give \"nothing\"", strings.Join(presetNames(), ", "))
		}
		answers.Allow = allowed(*i.Allow)
	}
	if i.Agent != nil {
		answers.Agent = *i.Agent
	}
	if i.CheckPulls != nil {
		answers.CheckPulls = *i.CheckPulls
	}
	complete := i.Allow != nil && i.CheckPulls != nil && (i.Agent != nil || len(answers.Allow) == 0)
	if !i.Quick && !complete {
		if err := i.ask(&answers); err != nil {
			return answers, err
		}
	}
	return answers, answers.Validate()
}

// ask asks a person for what is not given. The answers so far are the defaults.
func (i Interview) ask(answers *Answers) (err error) {
	if i.In == nil {
		return i.missing(*answers)
	}
	q := questions{in: bufio.NewReader(io.LimitReader(i.In, maxAnswers)), out: i.Out}
	if i.Allow == nil {
		answers.Allow, err = q.allow(answers.Allow)
	}
	if err == nil && i.Agent == nil && len(answers.Allow) > 0 {
		answers.Agent, err = q.agent(answers.Agent)
	}
	if err == nil && i.CheckPulls == nil {
		answers.CheckPulls, err = q.checks(answers.CheckPulls)
	}
	return err
}

// missing returns the error that there is nobody to ask, with the flags that would answer.
func (i Interview) missing(answers Answers) error {
	var flags []string
	if i.Allow == nil {
		flags = append(flags, "--allow")
	}
	if i.Agent == nil && (i.Allow == nil || len(answers.Allow) > 0) {
		flags = append(flags, "--agent")
	}
	if i.CheckPulls == nil {
		flags = append(flags, "--check-pull-requests")
	}
	return fmt.Errorf("there is no terminal to ask in: give %s, or --yes for the defaults\n%s%s%s", strings.Join(flags, ", "),
		"  --allow                "+strings.Join(presetNames(), ", ")+", nothing, or kinds\n",
		"  --agent                "+strings.Join(AgentNames(), ", ")+"\n",
		"  --check-pull-requests  true or false")
}

// allowed returns the names of what is allowed, or nil if the only name is "nothing".
func allowed(names []string) []string {
	if len(names) == 1 && strings.TrimSpace(names[0]) == "nothing" {
		return nil
	}
	return names
}

func presetNames() []string {
	var names []string
	for _, p := range Presets() {
		names = append(names, p.Name)
	}
	return names
}

// questions are asked on a terminal, until each has a valid answer.
type questions struct {
	in  *bufio.Reader
	out io.Writer
}

func (q questions) allow(def []string) (names []string, err error) {
	fmt.Fprintln(q.out, "What may agents do? Numbers or names, with commas between them.")
	options := append(presetNames(), "nothing")
	for i, p := range Presets() {
		fmt.Fprintf(q.out, "  %d  %-8s %s\n", i+1, p.Name, p.Summary)
	}
	fmt.Fprintf(q.out, "  %d  %-8s %s\nKinds of safe outputs, such as create-discussion, can be named too.\n", len(options), "nothing", "there is no agent: pull requests are checked, and that is all")
	err = q.ask(cmp.Or(strings.Join(def, ","), "nothing"), func(answer string) error {
		names = nil
		for part := range strings.SplitSeq(answer, ",") {
			names = append(names, numbered(part, options))
		}
		if names = allowed(names); names == nil {
			return nil
		}
		return Answers{Allow: names, Agent: "other"}.Validate()
	})
	return names, err
}

func (q questions) agent(def string) (name string, err error) {
	fmt.Fprintln(q.out, "Which agent works?")
	options := AgentNames()
	for i, a := range Agents() {
		fmt.Fprintf(q.out, "  %d  %-12s %s\n", i+1, a.Name, a.Title)
	}
	err = q.ask(def, func(answer string) error {
		name = numbered(answer, options)
		return Answers{Allow: []string{"triage"}, Agent: name}.Validate()
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

// ask reads lines until one is accepted. An empty line means the default.
func (q questions) ask(def string, accept func(answer string) error) error {
	for {
		fmt.Fprintf(q.out, "[%s] ", def)
		line, err := q.in.ReadString('\n')
		if err != nil {
			fmt.Fprintln(q.out)
			if !errors.Is(err, io.EOF) {
				return err
			}
			return errors.New("the questions were not answered, so nothing was written; --help lists the flags")
		}
		if err = accept(cmp.Or(strings.TrimSpace(line), def)); err == nil {
			return nil
		}
		fmt.Fprintln(q.out, err)
	}
}

// numbered returns the option that an answer names by its number, otherwise the answer itself.
func numbered(answer string, options []string) string {
	answer = strings.TrimSpace(answer)
	if n, err := strconv.Atoi(answer); err == nil && n >= 1 && n <= len(options) {
		return options[n-1]
	}
	return answer
}
