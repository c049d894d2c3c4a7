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
// them, plain text elsewhere. Its methods may be called by several goroutines.
//
// Text that is written through it cannot act as another command: go-githubactions escapes the
// contents of a command, and Inert breaks up text that looks like a command in a line of the log.
type Runner struct {
	env Env

	mu     sync.Mutex
	log    io.Writer
	action *githubactions.Action // writes to log
	counts [3]int                // annotations by level
	masked map[string]bool
}

// NewRunner returns a Runner that writes to w, one stream of the step. Errors of
// w are not reported, because there is nowhere to report them to.
func NewRunner(env Env, w io.Writer) *Runner {
	log := unfailing{w}
	return &Runner{env: env, log: log, action: githubactions.New(githubactions.WithWriter(log)), masked: map[string]bool{}}
}

// unfailing drops the errors of a writer: go-githubactions panics when it cannot
// write a command.
type unfailing struct{ w io.Writer }

// Write implements io.Writer.
func (u unfailing) Write(p []byte) (int, error) {
	_, _ = u.w.Write(p)
	return len(p), nil
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

// Annotation is a message that GitHub shows on the page of the workflow run, and
// next to a line where it names one.
type Annotation struct {
	Level   Level
	Title   string
	Message string
	File    string // relative to the repository's root; "" for none
	// Lines and columns count from 1; 0 leaves one out.
	Line, EndLine, Column, EndColumn int
}

// MaxAnnotations is how many annotations of one level GitHub keeps for a step;
// it drops the others silently.
const MaxAnnotations = 10

// Annotate writes an annotation, or a plain line where no runner reads it or once MaxAnnotations
// of its level have been written; Finish reports how many there were.
func (r *Runner) Annotate(a Annotation) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.counts[a.Level]++
	if !r.env.OnRunner || r.counts[a.Level] > MaxAnnotations {
		r.line(a.plain())
		return
	}
	fields := map[string]string{}
	for name, value := range map[string]string{"title": a.Title, "file": a.File} {
		if value != "" {
			fields[name] = value
		}
	}
	for name, n := range map[string]int{"line": a.Line, "endLine": a.EndLine, "col": a.Column, "endColumn": a.EndColumn} {
		if n > 0 && a.File != "" {
			fields[name] = strconv.Itoa(n)
		}
	}
	annotation := r.action.WithFieldsMap(fields)
	write := [...]func(string, ...any){Notice: annotation.Noticef, Warning: annotation.Warningf, Error: annotation.Errorf}[a.Level]
	write("%s", validUTF8(a.Message))
}

// plain renders the annotation as text: "error: main.go:3: title: message".
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

// Finish logs how many annotations of a level there were, if GitHub does not show them all. It is
// called once, at the end of the step.
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

// Log writes lines for people. They may contain anybody's text: what the runner
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
		r.action.Debugf("%s", validUTF8(text))
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
	r.locked(func() { r.action.Group(validUTF8(title)) })
	defer r.locked(r.action.EndGroup)
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
		if !r.masked[form] {
			r.masked[form] = true
			r.action.AddMask(validUTF8(form))
		}
	}
}

func (r *Runner) locked(f func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	f()
}

// line writes text as lines of the log.
func (r *Runner) line(text string) {
	if r.env.OnRunner {
		text = Inert(text)
	}
	_, _ = io.WriteString(r.log, strings.TrimSuffix(text, "\n")+"\n")
}

func validUTF8(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }

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
