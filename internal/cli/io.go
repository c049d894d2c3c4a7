package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"syscall"
	"text/tabwriter"

	"github.com/agent-airlock/airlock/internal/action"
	"github.com/agent-airlock/airlock/internal/config"
	"github.com/agent-airlock/airlock/internal/doors"
	"github.com/agent-airlock/airlock/internal/exitcode"
	"github.com/agent-airlock/airlock/internal/terminal"
)

// loadConfig reads the safe-outputs configuration that the user names, otherwise the one of the
// environment, and shows warnings about it and about the environment's secrets.
func (env Environment) loadConfig(file string) (config.SafeOutputs, error) {
	cfg, err := config.Load(config.Sources{File: file, Getenv: env.Getenv})
	if err != nil {
		return config.SafeOutputs{}, exitcode.UsageError(err)
	}
	cfg.WriteWarnings(env.Stderr)
	if ignored := doors.IgnoredSecrets(doors.EnvironmentScanner(env.Getenv)); ignored != "" {
		fmt.Fprintf(env.Stderr, "warning: %s\n", ignored)
	}
	return cfg, nil
}

// gate returns both doors of the workflow run's repository, with the configuration that loadConfig
// reads.
func (env Environment) gate(file string) (*doors.Gate, error) { return env.strictGate(file, false) }

// strictGate is gate; strict rejects lines with fields that the schema does not know.
func (env Environment) strictGate(file string, strict bool) (*doors.Gate, error) {
	cfg, err := env.loadConfig(file)
	if err != nil {
		return nil, err
	}
	return doors.New(doors.EnvironmentConfig(env.Getenv, cfg, doors.OwnRepository(env.Getenv), strict))
}

// mask masks secrets in a text: those that the environment names, and any text that looks like one.
func (env Environment) mask(text string) string {
	return doors.EnvironmentScanner(env.Getenv).Mask(text)
}

// progress returns a log for what takes long. A person reads it, on standard error.
func (env Environment) progress() func(string) {
	return func(line string) { fmt.Fprintf(env.Stderr, "airlock: %s\n", env.mask(line)) }
}

// warnings returns a log of what is worth a person's attention, on standard error.
func (env Environment) warnings() *slog.Logger {
	return slog.New(slog.NewTextHandler(env.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
}

// open opens what a user named; "" and "-" are standard input.
func (env Environment) open(path string) (io.ReadCloser, error) {
	path = cmp.Or(path, "-")
	if path == "-" && terminal.Is(env.Stdin) {
		fmt.Fprintln(env.Stderr, "airlock: reading lines from the terminal; an end-of-file (Ctrl-D) ends them, and --help says more")
	}
	return action.OpenUserFile(path, env.Stdin, action.Unlimited)
}

// read reads at most limit bytes of what a user named, and one more if there are more.
func (env Environment) read(path string, limit int64) ([]byte, error) {
	in, err := env.open(path)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	return io.ReadAll(io.LimitReader(env.stoppable(in), limit+1))
}

// stoppable returns a reader that reads from r, and fails as soon as a signal stops the program.
func (env Environment) stoppable(r io.Reader) io.Reader {
	return action.Stoppable{In: r, Stopped: env.stopped}
}

// readerIsGone reports whether the reader of a pipe went away, as head does when it has
// seen enough: there is nobody to report to.
func readerIsGone(err error) bool {
	var writing *doors.WriteError
	return errors.As(err, &writing) && errors.Is(writing, syscall.EPIPE)
}

// wantsJSON reports whether standard output gets JSON: where a program reads it, or the user
// asks for it.
func (env Environment) wantsJSON(asked bool) bool { return asked || !terminal.Is(env.Stdout) }

func (env Environment) printJSON(v any) error { return doors.WriteJSON(env.Stdout, v) }

// printList writes a list for a program, as the value of one key of a JSON object, or for a person,
// as a table with a row for each.
func printList[T any](env Environment, asJSON bool, key string, list []T, header []any, row func(T) []any) error {
	if env.wantsJSON(asJSON) {
		return env.printJSON(map[string]any{key: append([]T{}, list...)})
	}
	rows := [][]any{header}
	for _, one := range list {
		rows = append(rows, row(one))
	}
	w := tabwriter.NewWriter(env.Stdout, 0, 0, 2, ' ', 0)
	for _, row := range rows {
		fmt.Fprintf(w, strings.Repeat("%v\t", len(row)-1)+"%v\n", row...)
	}
	return w.Flush()
}
