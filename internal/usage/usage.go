// Package usage explains the use of a tree of commands: what is wrong with arguments and flags and
// what to write instead, the help of each command, and their manual pages.
package usage

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/agent-airlock/airlock/internal/text"
)

// Explain has root and every command below it say what is wrong with its arguments and flags, and
// what to do. It adds the commands help and completion.
func Explain(root *cobra.Command) {
	root.DisableSuggestions = true // unknownCommand makes them
	root.SetFlagErrorFunc(flagError)
	root.SetHelpCommand(newHelp())
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	explainArguments(root)
}

// explainArguments has a command, and those below it, explain what is wrong with what follows it on
// the command line. A command with subcommands refuses any other word, and shows its help if there
// is none. A command with arguments names those that are missing, or one that is too many.
func explainArguments(cmd *cobra.Command) {
	for _, c := range cmd.Commands() {
		explainArguments(c)
	}
	given := cmd.Args
	switch {
	case cmd.HasSubCommands():
		cmd.Args = unknownCommand
		cmd.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
		cmd.DisableFlagsInUseLine = true
	case given != nil:
		cmd.Args = func(cmd *cobra.Command, args []string) error {
			if given(cmd, args) == nil {
				return nil
			}
			return wrongArguments(cmd, args)
		}
	}
}

// wrongArguments returns an error for a wrong number of arguments: which are missing, or which is
// one too many.
func wrongArguments(cmd *cobra.Command, args []string) error {
	var needed []string
	for _, word := range strings.Fields(cmd.Use)[1:] {
		if word == strings.ToUpper(word) && !strings.ContainsAny(word, "[]-") {
			needed = append(needed, word)
		}
	}
	wrong := "an argument is missing"
	if len(args) > 0 {
		wrong = fmt.Sprintf("unexpected argument %q", text.Truncate(args[len(args)-1], 60))
	}
	if len(args) < len(needed) {
		wrong = strings.Join(needed[len(args):], " and ") + " is missing"
	}
	return fmt.Errorf("%s: write '%s %s' ('%s --help' has more)", wrong, cmd.Parent().CommandPath(), cmd.Use, cmd.CommandPath())
}

// newHelp returns the command that shows the help of another one.
func newHelp() *cobra.Command {
	return &cobra.Command{
		Use:     "help [COMMAND]...",
		Short:   "Show what a command does, with examples",
		Example: "  airlock help apply\n  airlock help loop start",
		RunE: func(cmd *cobra.Command, args []string) error {
			about, rest, err := cmd.Root().Find(args)
			if err != nil {
				return err
			}
			if len(rest) > 0 {
				return unknownCommand(about, rest)
			}
			about.InitDefaultHelpFlag()
			return about.Help()
		},
		ValidArgsFunction: func(cmd *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
			about, _, err := cmd.Root().Find(args)
			if err != nil {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			var names []cobra.Completion
			for _, c := range listedCommands(about) {
				names = append(names, cobra.CompletionWithDesc(c.Name(), c.Short))
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
	}
}

// unknownCommand returns an error for a word that is not a command, and suggests a command of a
// similar name. It returns nil if there is no word.
func unknownCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	if !cmd.HasSubCommands() {
		return fmt.Errorf("unknown command %q: '%s' has no commands", args[0], cmd.CommandPath())
	}
	var names []string
	for _, c := range cmd.Commands() {
		names = append(append(names, c.Name()), c.Aliases...)
	}
	return fmt.Errorf("unknown command %q%s ('%s --help' lists the commands)", args[0], text.DidYouMean(args[0], names), cmd.CommandPath())
}

// flagError describes in plain words what is wrong with a flag, and where to look. err has the
// words of the functions that parse flags.
func flagError(cmd *cobra.Command, err error) error {
	words := text.OneLine(err.Error())
	for _, read := range []struct{ by, instead string }{
		{": strconv.ParseInt: ", "give a whole number"}, {": strconv.ParseBool: ", "give true or false, or the flag alone"},
		{": time: ", "give a time with its unit, such as 300s or 5m"},
	} {
		if head, _, ok := strings.Cut(words, read.by); ok {
			words = head + ": " + read.instead
		}
	}
	if name, ok := strings.CutPrefix(words, "unknown flag: --"); ok {
		var names []string
		cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
		if near := text.Nearest(name, names); near != "" {
			words += "; did you mean --" + near + "?"
		}
	}
	return fmt.Errorf("%s ('%s --help' lists the flags)", words, cmd.CommandPath())
}
