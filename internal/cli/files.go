package cli

import (
	"encoding/json"
	"fmt"
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
	if f, ok := w.Stdin.(*os.File); ok && path == "-" && term.IsTerminal(int(f.Fd())) {
		fmt.Fprintln(w.Stderr, "airlock: reading lines from the terminal; an end-of-file (Ctrl-D) ends them, and --help says more")
	}
	return action.OpenUser(path, w.Stdin, unlimited)
}

// writeJSON writes a document as JSON that people can read as well.
func writeJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
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

// maxCertificates is how large a file of certificates may be: the bundles of
// operating systems have a quarter of a megabyte.
const maxCertificates = 16 << 20

// readCertificates reads a file of certificates that the user named.
func readCertificates(path string) ([]byte, error) {
	f, err := action.OpenUser(path, nil, maxCertificates)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return f.ReadAll()
}
