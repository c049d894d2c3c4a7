package cli

import (
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/term"

	"github.com/agent-airlock/airlock/internal/action"
)

// openAgentOutput finds agent output for apply: a flag, else the variables that
// workflows use, which hold a path or the JSON text itself, else standard input.
func openAgentOutput(w World, path string) (io.ReadCloser, error) {
	if path == "" {
		for _, name := range []string{"GH_AW_AGENT_OUTPUT", "GITHUB_AW_AGENT_OUTPUT"} {
			value := w.Getenv(name)
			if strings.HasPrefix(strings.TrimSpace(value), "{") {
				return io.NopCloser(strings.NewReader(value)), nil
			}
			if value != "" && path == "" {
				path = value
			}
		}
	}
	return openInput(w, path)
}

// unlimited lets the collector's reader be the one that bounds a file: it reads
// what lies below its limit and says what it left out.
const unlimited = 1 << 62

// openInput opens what a user named; "" is standard input.
func openInput(w World, path string) (io.ReadCloser, error) {
	if path == "" {
		path = "-"
	}
	return action.OpenUser(path, w.Stdin, unlimited)
}

func writeJSONFile(path string, v any) error {
	raw, err := indented(v)
	if err != nil {
		return err
	}
	return action.WriteUser(path, raw)
}

// indented is a document as JSON that people can read as well.
func indented(v any) ([]byte, error) {
	raw, err := json.MarshalIndent(v, "", "  ")
	return append(raw, '\n'), err
}

// directory stores what could not be delivered. It is made when it is needed.
type directory string

// WriteFile implements apply.Files.
func (d directory) WriteFile(name string, data []byte) (string, error) {
	if err := os.MkdirAll(string(d), 0o755); err != nil {
		return "", err
	}
	path := filepath.Join(string(d), name)
	return path, action.WriteUser(path, data)
}

// isTerminal reports whether a person sees what is written to w as it is written.
func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}
