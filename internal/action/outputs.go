package action

import (
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/agent-airlock/airlock/internal/lazyregexp"
	"github.com/agent-airlock/airlock/internal/nofollow"
	"github.com/agent-airlock/airlock/internal/text"
)

// Limits of the runner's command files, in bytes.
const (
	MaxOutput  = 1 << 20   // of one output's value: GitHub refuses more than 1 MB a job
	MaxSummary = 1_000_000 // of one step's summary: GitHub drops one that is larger
)

var outputName = lazyregexp.New(`^[a-zA-Z_][a-zA-Z0-9_-]*$`)

// SetOutput sets an output of the step. The value may contain anything, because
// the delimiter that ends it in the runner's file is random. Outside a runner, the
// output is written to the log as plain text.
func (r *Runner) SetOutput(name, value string) error {
	if !outputName.MatchString(name) {
		return fmt.Errorf("invalid name of an output %q", name)
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

// AddSummary appends Markdown to the step's summary and reports whether it did:
// outside a runner there is no summary. If the Markdown does not fit, cut shortens
// it to at most maxBytes.
func (r *Runner) AddSummary(markdown string, cut func(markdown string, maxBytes int) string) (bool, error) {
	if r.env.SummaryPath == "" {
		return false, nil
	}
	left := MaxSummary - len("\n\n")
	if info, err := os.Stat(r.env.SummaryPath); err == nil {
		left -= int(min(info.Size(), MaxSummary))
	}
	content := validUTF8(markdown)
	if len(content) > left {
		if content = cut(content, max(left, 0)); len(content) > left {
			return false, fmt.Errorf("the summary of %s does not fit: GitHub takes %s a step", text.Bytes(len(markdown)), text.Bytes(MaxSummary))
		}
	}
	if err := appendTo("GITHUB_STEP_SUMMARY", r.env.SummaryPath, strings.TrimRight(content, "\n")+"\n\n"); err != nil {
		return false, err
	}
	return true, nil
}

// appendTo appends to the runner's file at path, which the variable names. Other
// steps can write to its directory, so path must not be a link or a FIFO.
func appendTo(variable, path, text string) error {
	if err := appendOrdinary(path, text); err != nil {
		return fmt.Errorf("the runner's file (%s): %w", variable, explain(path, err))
	}
	return nil
}

func appendOrdinary(path, text string) error {
	dir, err := os.OpenRoot(filepath.Dir(path))
	if err != nil {
		return err
	}
	defer dir.Close()
	f, _, err := nofollow.Open(dir, filepath.Base(path), os.O_WRONLY|os.O_APPEND)
	if err != nil {
		return err
	}
	defer f.Close()
	if _, err := f.WriteString(text); err != nil {
		return err
	}
	return f.Close()
}
