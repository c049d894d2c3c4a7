package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/agent-airlock/airlock/internal/action"
	"github.com/agent-airlock/airlock/internal/exitcode"
)

func newMan(env Environment) *cobra.Command {
	return &cobra.Command{
		Use:   "man DIR",
		Short: "Write the manual pages of all commands into a directory",
		Long: `Write a manual page for each command into a directory, which is made if it is not
there. The releases have the same pages as an archive.`,
		Example: `  airlock man ~/.local/share/man/man1 && man airlock-apply`,
		Args:    cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			if err := os.MkdirAll(args[0], 0o755); err != nil {
				return exitcode.UsageError(fmt.Errorf("the directory of the manual pages cannot be made: %w", err))
			}
			root := newRoot(env)
			root.InitDefaultCompletionCmd()
			return writeMan(root, args[0], versionOf(env))
		},
	}
}

// writeMan writes the page of a command, and those of the commands below it.
func writeMan(cmd *cobra.Command, dir, version string) error {
	out, err := action.CreateUser(filepath.Join(dir, manName(cmd)+".1"))
	if err != nil {
		return exitcode.UsageError(err)
	}
	if _, err := out.Write([]byte(manPage(cmd, version))); err != nil {
		_ = out.Abort()
		return exitcode.FailedError(err)
	}
	if err := out.Commit(); err != nil {
		return exitcode.FailedError(err)
	}
	for _, child := range listedCommands(cmd) {
		if err := writeMan(child, dir, version); err != nil {
			return err
		}
	}
	return nil
}

// manName is the name of a command's page, such as airlock-loop-start.
func manName(cmd *cobra.Command) string {
	return strings.ReplaceAll(cmd.CommandPath(), " ", "-")
}

// listedCommands are the commands below cmd that its help lists.
func listedCommands(cmd *cobra.Command) []*cobra.Command {
	var listed []*cobra.Command
	for _, child := range cmd.Commands() {
		if child.IsAvailableCommand() {
			listed = append(listed, child)
		}
	}
	return listed
}

// manPage is a command's manual page, in the macros of man(7). It has no date, so that the
// same commands give the same bytes.
func manPage(cmd *cobra.Command, version string) string {
	cmd.InitDefaultHelpFlag()
	name := manName(cmd)
	var page strings.Builder
	macro := func(macro string, arguments ...string) {
		page.WriteString("." + macro)
		for _, a := range arguments {
			page.WriteString(` "` + strings.ReplaceAll(roff(a), `"`, `\(dq`) + `"`)
		}
		page.WriteByte('\n')
	}
	macro("TH", strings.ToUpper(name), "1", "", "airlock "+version, "Airlock")
	page.WriteString(".nh\n") // a hyphenated option could not be copied
	macro("SH", "NAME")
	page.WriteString(roff(name) + ` \- ` + roff(cmd.Short) + "\n")
	macro("SH", "SYNOPSIS")
	macro("B", cmd.UseLine())
	if text := cmd.Long; text != "" {
		macro("SH", "DESCRIPTION")
		writeParagraphs(&page, text)
	}
	if listed := listedCommands(cmd); len(listed) > 0 {
		macro("SH", "COMMANDS")
		for _, child := range listed {
			macro("TP")
			macro("B", child.CommandPath())
			page.WriteString(roff(child.Short) + "\n")
		}
	}
	writeFlags(&page, "OPTIONS", cmd.NonInheritedFlags())
	writeFlags(&page, "OPTIONS OF EACH COMMAND", cmd.InheritedFlags())
	if cmd.Example != "" {
		macro("SH", "EXAMPLES")
		writeVerbatim(&page, cmd.Example)
	}
	var related []string
	if cmd.HasParent() {
		related = append(related, roff(manName(cmd.Parent())))
	}
	for _, child := range listedCommands(cmd) {
		related = append(related, roff(manName(child)))
	}
	if len(related) > 0 {
		macro("SH", "SEE ALSO")
		page.WriteString(".BR " + strings.Join(related, " (1),\n.BR ") + " (1)\n")
	}
	return page.String()
}

// writeParagraphs writes the text of a help: a paragraph is filled, and one whose first line
// is indented is shown as it is.
func writeParagraphs(page *strings.Builder, text string) {
	for i, paragraph := range strings.Split(strings.Trim(text, "\n"), "\n\n") {
		if i > 0 {
			page.WriteString(".PP\n")
		}
		if strings.TrimLeft(paragraph, " \t") != paragraph {
			writeVerbatim(page, paragraph)
		} else {
			page.WriteString(roff(paragraph) + "\n")
		}
	}
}

// writeVerbatim writes indented lines as they are.
func writeVerbatim(page *strings.Builder, text string) {
	page.WriteString(".RS 2\n.nf\n")
	for line := range strings.SplitSeq(text, "\n") {
		page.WriteString(roff(strings.TrimPrefix(strings.TrimPrefix(line, "\t"), "  ")) + "\n")
	}
	page.WriteString(".fi\n.RE\n")
}

// writeFlags writes a section about flags, if there are any.
func writeFlags(page *strings.Builder, title string, flags *pflag.FlagSet) {
	if !flags.HasAvailableFlags() {
		return
	}
	page.WriteString(".SH " + title + "\n")
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Hidden {
			return
		}
		value, usage := pflag.UnquoteUsage(f)
		page.WriteString(".TP\n")
		if f.Shorthand != "" {
			page.WriteString(`\fB\-` + roff(f.Shorthand) + `\fR, `)
		}
		page.WriteString(`\fB\-\-` + roff(f.Name) + `\fR`)
		if value != "" {
			page.WriteString(` \fI` + roff(value) + `\fR`)
		}
		page.WriteString("\n" + roff(usage))
		if f.DefValue != "" && f.DefValue != "false" && f.DefValue != "[]" && !strings.Contains(usage, "(default") {
			page.WriteString(" (default " + roff(f.DefValue) + ")")
		}
		page.WriteByte('\n')
	})
}

// roff is text as a page's source says it: a backslash and a hyphen would be changed, and a
// line that begins with a dot or a quote would be a macro.
func roff(text string) string {
	lines := strings.Split(strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(text), "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
			lines[i] = `\&` + line
		}
	}
	return strings.Join(lines, "\n")
}
