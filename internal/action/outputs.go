package action

import (
	"crypto/rand"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/agent-airlock/airlock/internal/text"
)

// Limits of the runner's command files, in bytes.
const (
	MaxOutput  = 1 << 20   // one output's value: GitHub refuses more than 1 MB a job
	MaxSummary = 1_000_000 // of one step: a little over it, GitHub drops the whole summary
)

// SetOutput sets an output of the step. The value may hold anything; the word
// that ends it in the runner's file is random and does not occur in it. Where no
// runner reads it, the output is written to the log as plain text.
func (r *Runner) SetOutput(name, value string) error {
	if !validOutput(name) {
		return fmt.Errorf("%q cannot be the name of an output", name)
	}
	if len(value) > MaxOutput {
		return fmt.Errorf("the output %s has %s: GitHub takes %s", name, text.Bytes(len(value)), text.Bytes(MaxOutput))
	}
	if r.env.OutputPath == "" {
		if r.env.OnRunner {
			return fmt.Errorf("the output %s cannot be set: GITHUB_OUTPUT is not set", name)
		}
		r.Log(name + ": " + value)
		return nil
	}
	word := delimiter(value)
	return appendTo("GITHUB_OUTPUT", r.env.OutputPath, name+"<<"+word+"\n"+validUTF8(value)+"\n"+word+"\n")
}

// delimiter returns a random word that does not occur in the value.
func delimiter(value string) string {
	for {
		if word := "airlock_" + rand.Text(); !strings.Contains(value, word) {
			return word
		}
	}
}

func validOutput(name string) bool {
	for i := range len(name) {
		c := name[i]
		letter := 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c == '_'
		if !letter && (i == 0 || c != '-' && (c < '0' || c > '9')) {
			return false
		}
	}
	return name != ""
}

// AddSummary appends Markdown to the step's summary. If it does not fit, cut
// shortens it to at most so many bytes, between two blocks and with a note. It
// reports whether a summary was written: where no runner reads one, it is not.
func (r *Runner) AddSummary(markdown string, cut func(markdown string, maxBytes int) string) (bool, error) {
	if r.env.SummaryPath == "" {
		return false, nil
	}
	room := MaxSummary - 2
	if info, err := os.Stat(r.env.SummaryPath); err == nil {
		room -= int(min(info.Size(), MaxSummary))
	}
	content := validUTF8(markdown)
	if len(content) > room {
		if content = cut(content, max(room, 0)); len(content) > room {
			return false, fmt.Errorf("the summary of %s does not fit: GitHub takes %s a step", text.Bytes(len(markdown)), text.Bytes(MaxSummary))
		}
	}
	if err := appendTo("GITHUB_STEP_SUMMARY", r.env.SummaryPath, strings.TrimRight(content, "\n")+"\n\n"); err != nil {
		return false, err
	}
	return true, nil
}

// appendTo appends to one of the runner's files. They lie in a folder that other
// steps can write: a link or a FIFO in the file's place is refused.
func appendTo(variable, path, text string) error {
	before, err := os.Lstat(path)
	if err != nil {
		return fmt.Errorf("the runner's file (%s): %w", variable, explain(path, err))
	}
	if err := ordinary(path, before); err != nil {
		return fmt.Errorf("the runner's file (%s): %w", variable, err)
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|openNonblock|openNofollow, 0)
	if err != nil {
		return fmt.Errorf("the runner's file (%s): %w", variable, explain(path, err))
	}
	info, err := f.Stat()
	if err == nil && !os.SameFile(before, info) {
		err = fs.ErrInvalid
	}
	if err == nil {
		_, err = f.WriteString(text)
	}
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return fmt.Errorf("the runner's file (%s): %w", variable, explain(path, err))
	}
	return nil
}
