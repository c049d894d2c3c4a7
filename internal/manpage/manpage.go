// Package manpage writes manual pages of commands, in the macros of man(7).
package manpage

import "strings"

// Page is the manual page of one command.
type Page struct {
	Name        string // required; such as airlock-loop-start
	Version     string // required; of the program
	Summary     string // required; one line
	Synopsis    string // required; how the command is written
	Description string // paragraphs, with empty lines between them; those that are indented are shown as they are
	Commands    []Command
	Sections    []Section
	Example     string
	Related     []string // the names of other pages
}

// Command is a command below the page's.
type Command struct{ Name, Summary string }

// Section is a section about options.
type Section struct {
	Title   string // required
	Options []Option
}

// Option is one option.
type Option struct {
	Name      string // required; without hyphens
	Shorthand string // one letter, or ""
	Value     string // what stands for its value, "" for none
	Usage     string
	Default   string // "" to mention none
}

// Source returns the page's source. It contains no date, so that the same page gives the same bytes.
func (p Page) Source() string {
	var w writer
	w.macro("TH", strings.ToUpper(p.Name), "1", "", "airlock "+p.Version, "Airlock")
	w.line(".nh") // a hyphenated option could not be copied
	w.macro("SH", "NAME")
	w.line(escape(p.Name) + ` \- ` + escape(p.Summary))
	w.macro("SH", "SYNOPSIS")
	w.macro("B", p.Synopsis)
	if p.Description != "" {
		w.macro("SH", "DESCRIPTION")
		w.paragraphs(p.Description)
	}
	if len(p.Commands) > 0 {
		w.macro("SH", "COMMANDS")
		for _, c := range p.Commands {
			w.macro("TP")
			w.macro("B", c.Name)
			w.line(escape(c.Summary))
		}
	}
	for _, s := range p.Sections {
		w.line(".SH " + s.Title)
		for _, o := range s.Options {
			w.option(o)
		}
	}
	if p.Example != "" {
		w.macro("SH", "EXAMPLES")
		w.verbatim(p.Example)
	}
	if len(p.Related) > 0 {
		w.macro("SH", "SEE ALSO")
		w.line(".BR " + strings.ReplaceAll(escape(strings.Join(p.Related, " ")), " ", " (1),\n.BR ") + " (1)")
	}
	return w.String()
}

// writer writes the source of a page.
type writer struct{ strings.Builder }

func (w *writer) line(source string) { w.WriteString(source + "\n") }

func (w *writer) macro(name string, arguments ...string) {
	line := "." + name
	for _, a := range arguments {
		line += ` "` + strings.ReplaceAll(escape(a), `"`, `\(dq`) + `"`
	}
	w.line(line)
}

// paragraphs writes the paragraphs of a text. A paragraph whose first line is indented keeps its lines.
func (w *writer) paragraphs(text string) {
	for i, paragraph := range strings.Split(strings.Trim(text, "\n"), "\n\n") {
		if i > 0 {
			w.line(".PP")
		}
		if strings.TrimLeft(paragraph, " \t") != paragraph {
			w.verbatim(paragraph)
		} else {
			w.line(escape(paragraph))
		}
	}
}

// verbatim writes lines that are shown one by one, indented by 2. It first removes a tab or two
// spaces from the beginning of each.
func (w *writer) verbatim(text string) {
	w.line(".RS 2\n.nf")
	for line := range strings.SplitSeq(text, "\n") {
		w.line(escape(strings.TrimPrefix(strings.TrimPrefix(line, "\t"), "  ")))
	}
	w.line(".fi\n.RE")
}

func (w *writer) option(o Option) {
	w.line(".TP")
	name := `\fB\-\-` + escape(o.Name) + `\fR`
	if o.Shorthand != "" {
		name = `\fB\-` + escape(o.Shorthand) + `\fR, ` + name
	}
	if o.Value != "" {
		name += ` \fI` + escape(o.Value) + `\fR`
	}
	w.line(name)
	usage := escape(o.Usage)
	if o.Default != "" {
		usage += " (default " + escape(o.Default) + ")"
	}
	w.line(usage)
}

// escape returns text as a page's source writes it: a backslash and a hyphen would be changed, and
// a line that begins with a dot or a quote would be a macro.
func escape(text string) string {
	lines := strings.Split(strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(text), "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
			lines[i] = `\&` + line
		}
	}
	return strings.Join(lines, "\n")
}
