package doors

import (
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync/atomic"

	"github.com/agent-airlock/airlock/internal/action"
	"github.com/agent-airlock/airlock/internal/report"
)

// ResultWriter writes a result. Its errors are WriteErrors, so that they can be
// distinguished from errors of reading the input.
type ResultWriter struct {
	Name   string // the name of the result in errors; "" if the errors of Writer name it
	Writer io.Writer

	lost atomic.Pointer[WriteError]
}

// Write implements io.Writer.
func (w *ResultWriter) Write(p []byte) (int, error) {
	n, err := w.Writer.Write(p)
	if err != nil {
		lost := &WriteError{w.Name, err}
		w.lost.CompareAndSwap(nil, lost)
		err = lost
	}
	return n, err
}

// Lost returns the error of the first Write that failed, or nil. It is needed because some callers
// of Write ignore its errors.
func (w *ResultWriter) Lost() error {
	if lost := w.lost.Load(); lost != nil {
		return lost
	}
	return nil
}

// Unwrap returns the writer to which the result goes.
func (w *ResultWriter) Unwrap() io.Writer { return w.Writer }

// WriteError is why a result could not be written.
type WriteError struct {
	name string
	err  error
}

// Error implements error.
func (e *WriteError) Error() string {
	if e.name == "" {
		return e.err.Error()
	}
	if pe, ok := errors.AsType[*fs.PathError](e.err); ok {
		return e.name + ": " + pe.Err.Error()
	}
	return e.name + ": " + e.err.Error()
}

// Unwrap returns the underlying error.
func (e *WriteError) Unwrap() error { return e.err }

// PendingFiles are the files of one command, which appear together when it ends.
type PendingFiles []*action.Pending

// Create begins the file at path. Without a path it returns fallback, which may be nil. For "-" it
// returns fallback, too, but if that is nil, it begins a file of this name.
func (p *PendingFiles) Create(path string, fallback io.Writer) (io.Writer, error) {
	if path == "" || path == "-" && fallback != nil {
		return fallback, nil
	}
	f, err := action.CreateUserFile(path)
	if err != nil {
		return nil, err
	}
	return p.Add(f), nil
}

// Add adds a file that has been begun and returns its writer.
func (p *PendingFiles) Add(f *action.Pending) io.Writer {
	*p = append(*p, f)
	return &ResultWriter{Writer: f}
}

// Commit makes the files appear.
func (p *PendingFiles) Commit() error {
	for _, f := range *p {
		if err := f.Commit(); err != nil {
			return err
		}
	}
	return nil
}

// Abort removes what was not committed. It ignores errors, because a command that does not commit
// fails with an error of its own.
func (p *PendingFiles) Abort() {
	for _, f := range *p {
		_ = f.Abort()
	}
}

// OutputDir is the name of a directory for what could not be delivered. It is created when it is
// needed.
type OutputDir string

// WriteFile implements apply.Files.
func (d OutputDir) WriteFile(name string, data []byte) (string, error) {
	if err := os.MkdirAll(string(d), 0o755); err != nil {
		return "", err
	}
	path := filepath.Join(string(d), name)
	return path, action.WriteUserFile(path, data)
}

// WriteJSON writes a document as JSON that people can read as well.
func WriteJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

// WriteReport writes what a person reads: the plan of a dry run, then the report. With
// colour it adds ANSI colours.
func WriteReport(w io.Writer, rep *report.Report, colour bool) error {
	if rep.DryRun {
		if err := rep.PlanText(w, colour); err != nil {
			return err
		}
		if _, err := io.WriteString(w, "\n"); err != nil {
			return err
		}
	}
	return rep.Text(w, colour)
}
