package usage

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/agent-airlock/airlock/internal/action"
	"github.com/agent-airlock/airlock/internal/exitcode"
	"github.com/agent-airlock/airlock/internal/manpage"
)

// WriteManual writes the manual pages of root and of the commands below it into a directory, which
// is made if it is not there. Its errors carry their exit code.
func WriteManual(root *cobra.Command, dir, version string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return exitcode.UsageError(fmt.Errorf("the directory of the manual pages cannot be made: %w", err))
	}
	return writePages(root, dir, version)
}

// writePages writes the page of a command, and those of the commands below it.
func writePages(cmd *cobra.Command, dir, version string) error {
	out, err := action.CreateUserFile(filepath.Join(dir, manName(cmd)+".1"))
	if err != nil {
		return exitcode.UsageError(err)
	}
	if _, err := out.Write([]byte(manPage(cmd, version).Source())); err != nil {
		_ = out.Abort()
		return exitcode.FailedError(err)
	}
	if err := out.Commit(); err != nil {
		return exitcode.FailedError(err)
	}
	for _, child := range listedCommands(cmd) {
		if err := writePages(child, dir, version); err != nil {
			return err
		}
	}
	return nil
}

// manName returns the name of a command's page, such as airlock-loop-start.
func manName(cmd *cobra.Command) string {
	return strings.ReplaceAll(cmd.CommandPath(), " ", "-")
}

// listedCommands returns the commands below cmd that its help lists, without "help" itself.
func listedCommands(cmd *cobra.Command) []*cobra.Command {
	return slices.DeleteFunc(slices.Clone(cmd.Commands()), func(child *cobra.Command) bool { return !child.IsAvailableCommand() })
}

// manPage returns a command's manual page.
func manPage(cmd *cobra.Command, version string) manpage.Page {
	cmd.InitDefaultHelpFlag()
	page := manpage.Page{Name: manName(cmd), Version: version, Summary: cmd.Short, Synopsis: cmd.UseLine(), Description: cmd.Long, Example: cmd.Example}
	if cmd.HasParent() {
		page.Related = append(page.Related, manName(cmd.Parent()))
	}
	for _, child := range listedCommands(cmd) {
		page.Commands = append(page.Commands, manpage.Command{Name: child.CommandPath(), Summary: child.Short})
		page.Related = append(page.Related, manName(child))
	}
	for _, s := range []struct {
		title string
		flags *pflag.FlagSet
	}{{"OPTIONS", cmd.NonInheritedFlags()}, {"OPTIONS OF EACH COMMAND", cmd.InheritedFlags()}} {
		if s.flags.HasAvailableFlags() {
			page.Sections = append(page.Sections, manpage.Section{Title: s.title, Options: manOptions(s.flags)})
		}
	}
	return page
}

func manOptions(flags *pflag.FlagSet) (options []manpage.Option) {
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Hidden {
			return
		}
		value, usage := pflag.UnquoteUsage(f)
		o := manpage.Option{Name: f.Name, Shorthand: f.Shorthand, Value: value, Usage: usage}
		if f.DefValue != "false" && f.DefValue != "[]" && !strings.Contains(usage, "(default") {
			o.Default = f.DefValue
		}
		options = append(options, o)
	})
	return options
}
