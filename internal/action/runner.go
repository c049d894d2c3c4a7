package action

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"
	"unicode"

	"github.com/sethvargo/go-githubactions"

	"github.com/agent-airlock/airlock/internal/token"
)

// Runner writes to the log of a step: workflow commands where a runner reads
// them, plain text elsewhere. Its methods may be used by several goroutines.
//
// Nothing that is written through it can be taken for another command than the
// one meant: texts are escaped, or stand between stop-commands (see Guard).
// Write errors of the log are not reported: there is nowhere to report them to.
type Runner struct {
	env Env

	mu      sync.Mutex
	w       io.Writer
	guards  int      // open guards: commands would be ignored, and are kept
	kept    []string // commands to write after the last guard
	word    string   // ends the open guards
	counts  [3]int   // annotations by level
	secrets map[string]bool
}

// NewRunner returns a Runner that writes to w, one stream of the step.
func NewRunner(env Env, w io.Writer) *Runner {
	return &Runner{env: env, w: w, secrets: map[string]bool{}}
}

// Level is the severity of an annotation.
type Level int

// The levels.
const (
	Notice Level = iota
	Warning
	Error
)

// String returns the level's word in GitHub's log commands.
func (l Level) String() string { return [...]string{"notice", "warning", "error"}[l] }

// Annotation is a message that GitHub shows beside the workflow run, and beside
// a line where it names one.
type Annotation struct {
	Level   Level
	Title   string
	Message string
	File    string // relative to the repository's root; "" for none
	// Lines and columns count from 1; 0 leaves one out.
	Line, EndLine, Column, EndColumn int
}

// MaxAnnotations is how many annotations of one level GitHub keeps of a step;
// it drops the rest without a word.
const MaxAnnotations = 10

// Annotate writes an annotation, or a plain line once MaxAnnotations of its
// level have been written; Finish says how many there were.
func (r *Runner) Annotate(a Annotation) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.counts[a.Level]++
	if !r.env.OnRunner || r.counts[a.Level] > MaxAnnotations {
		r.line(a.plain())
		return
	}
	props := githubactions.CommandProperties{}
	for name, text := range map[string]string{"title": a.Title, "file": a.File} {
		if text != "" {
			props[name] = text
		}
	}
	for name, n := range map[string]int{"line": a.Line, "endLine": a.EndLine, "col": a.Column, "endColumn": a.EndColumn} {
		if n > 0 && a.File != "" {
			props[name] = strconv.Itoa(n)
		}
	}
	r.command(a.Level.String(), props, a.Message)
}

// plain renders the annotation as compilers do.
func (a Annotation) plain() string {
	var b strings.Builder
	b.WriteString(a.Level.String() + ": ")
	if a.File != "" {
		b.WriteString(a.File)
		if a.Line > 0 {
			b.WriteString(":" + strconv.Itoa(a.Line))
		}
		b.WriteString(": ")
	}
	if a.Title != "" {
		b.WriteString(a.Title + ": ")
	}
	return b.String() + a.Message
}

// Finish says which annotations were more than GitHub shows. It is called once,
// at the end of the step.
func (r *Runner) Finish() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.env.OnRunner {
		return
	}
	for _, l := range []Level{Error, Warning, Notice} {
		if n := r.counts[l]; n > MaxAnnotations {
			r.line(fmt.Sprintf("%d %ss in all: GitHub shows the first %d of a step, the others are lines of this log", n, l, MaxAnnotations))
		}
	}
}

// Log writes lines for people. They may hold text of anybody's: what the runner
// would take for a command is broken up, visibly.
func (r *Runner) Log(text string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.line(text)
}

// Debug writes a message that is shown when debug logging is on.
func (r *Runner) Debug(text string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.env.OnRunner:
		r.command("debug", nil, text)
	case r.env.Debug:
		r.line("debug: " + text)
	}
}

// Group runs f with its lines folded under the title.
func (r *Runner) Group(title string, f func()) {
	if !r.env.OnRunner {
		r.Log(title)
		f()
		return
	}
	r.locked(func() { r.command("group", nil, title) })
	defer r.locked(func() { r.command("endgroup", nil, "") })
	f()
}

// Mask has the runner replace the token in the log, also in the forms in which
// it travels. It writes nothing where no runner reads it.
func (r *Runner) Mask(t token.Token) {
	if !r.env.OnRunner || t.IsZero() {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, form := range t.Forms() {
		if !r.secrets[form] {
			r.secrets[form] = true
			r.command("add-mask", nil, form)
		}
	}
}

func (r *Runner) locked(f func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	f()
}

// command writes a workflow command, or keeps it while a guard is open.
func (r *Runner) command(name string, props githubactions.CommandProperties, message string) {
	c := &githubactions.Command{Name: name, Properties: props, Message: strings.ToValidUTF8(message, "\uFFFD")}
	if r.guards > 0 {
		r.kept = append(r.kept, c.String())
		return
	}
	_, _ = io.WriteString(r.w, c.String()+"\n")
}

// line writes text as lines of the log.
func (r *Runner) line(text string) {
	if r.env.OnRunner {
		text = Inert(text)
	}
	text = strings.TrimSuffix(text, "\n") + "\n"
	if r.guards > 0 {
		r.kept = append(r.kept, strings.TrimSuffix(text, "\n"))
		return
	}
	_, _ = io.WriteString(r.w, text)
}

// Inert breaks up what the runner takes for a command: "##[" anywhere in a
// line, and "::" at its start, after blanks. Carriage returns end a line for
// the runner, and become line breaks.
func Inert(text string) string {
	text = strings.NewReplacer("\r\n", "\n", "\r", "\n", "##[", "# #[").Replace(text)
	if !strings.Contains(text, "::") {
		return text
	}
	var b strings.Builder
	for line := range strings.Lines(text) {
		rest := strings.TrimLeftFunc(line, func(c rune) bool { return unicode.IsSpace(c) || !unicode.IsGraphic(c) })
		if strings.HasPrefix(rest, "::") {
			b.WriteString(line[:len(line)-len(rest)] + ": ")
			line = rest[1:]
		}
		b.WriteString(line)
	}
	return b.String()
}
