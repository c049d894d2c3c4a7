package runs

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/agent-airlock/airlock/internal/agents"
	"github.com/agent-airlock/airlock/internal/command"
	"github.com/agent-airlock/airlock/internal/lazyregexp"
	"github.com/agent-airlock/airlock/internal/schema"
	"github.com/agent-airlock/airlock/internal/store"
	"github.com/agent-airlock/airlock/internal/text"
)

const (
	// grace is the time between asking an agent to end and killing it.
	grace = 5 * time.Second
	// maxResult is the largest answer of an agent, in bytes.
	maxResult = 4 << 20
	// logWithin is how long a run's end waits for a store that does not take its log.
	logWithin = 30 * time.Second
	// retryAfter is the pause before an agent that failed is started again; it doubles.
	retryAfter = time.Second
	// maxRestarts is how often a run is started again because its worker was lost. A run that kills
	// each worker must not do so forever.
	maxRestarts = 10
)

// exec starts the agent of a run until the agent succeeds, the run's time is over, or the blueprint
// allows no more attempts. Starts by workers that were lost do not count. The error is about the
// store; a run that fails is an outcome.
func (w *Worker) exec(ctx context.Context, t taken) (outcome, error) {
	r := t.Run
	switch {
	case r.Status == Stopping:
		return outcome{Status: Stopped}, nil
	case r.restarts > maxRestarts:
		return failed("worker_lost", fmt.Sprintf("the worker of the run was lost each of the %d times that it was started", r.restarts)), nil
	}
	deadline := time.Now().Add(t.remaining)
	for first, pause := r.Attempt, retryAfter; ; pause *= 2 {
		earlier, err := readEarlierLog(ctx, w.store, r)
		for store.Trouble(err) != "" && time.Now().Before(deadline) && sleep(ctx, retryAfter) {
			earlier, err = readEarlierLog(ctx, w.store, r)
		}
		if err != nil {
			return outcome{}, err
		}
		out := w.attempt(ctx, r, earlier, time.Until(deadline))
		final := out.Status == Completed || out.Error.Code == "timeout"
		wasLast := r.Attempt-first+1 >= r.blueprint.Attempts()
		if final || wasLast || ctx.Err() != nil {
			return out, nil
		}
		if !sleep(ctx, min(pause, time.Until(deadline))) {
			return out, nil
		}
		if r, err = scan(w.store.QueryRow(ctx, `UPDATE runs SET attempt = attempt + 1 WHERE id = $1 RETURNING `+columns, r.ID)); err != nil {
			return out, err
		}
	}
}

// sleep waits for d, and reports whether it did: it returns early if ctx ends.
func sleep(ctx context.Context, d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-ctx.Done():
		return false
	}
}

// attempt runs the agent's process once.
func (w *Worker) attempt(ctx context.Context, r Run, earlier earlierLog, remaining time.Duration) outcome {
	if remaining <= 0 {
		return timedOut(r)
	}
	argv, environ := r.blueprint.Command, w.Environ
	if r.blueprint.Source == agents.BuiltIn {
		var more []string
		argv, more = w.BuiltIn(r.AgentName)
		environ = slices.Concat(environ, more)
	}
	input, err := r.input()
	if err != nil || len(argv) == 0 {
		return failed("not_started", "this server cannot carry out the agent "+r.AgentName)
	}
	log := newLogWriter(w.store, r, earlier, w.Mask)
	spec := command.Spec{
		Program: argv[0], Args: argv[1:], Dir: w.Dir,
		Env:   append(environ[:len(environ):len(environ)], "AIRLOCK_RUN_ID="+r.ID, "AIRLOCK_AGENT="+r.AgentName, "AIRLOCK_ATTEMPT="+strconv.Itoa(r.Attempt)),
		Stdin: bytes.NewReader(input), Stderr: log.stream(), Timeout: remaining, Grace: grace, OutputLimit: maxResult, Supervised: true,
	}
	if r.blueprint.Type == agents.Agent {
		spec.Stdout = log.stream()
	}
	res, err := command.Run(ctx, spec)
	w.closeLog(ctx, log, r.ID)
	switch {
	case ctx.Err() != nil:
		return failed("internal", "the run was ended")
	case err != nil:
		return failed("not_started", text.OneLine(w.Mask(err.Error())))
	}
	return w.ending(r, res)
}

// closeLog keeps the end of a run's log. ctx is that of the agent's process.
func (w *Worker) closeLog(ctx context.Context, log *logWriter, id string) {
	patience := logWithin
	if ctx.Err() != nil && !errors.Is(context.Cause(ctx), errStopped) {
		patience = leaveWithin // this worker ends, or has lost the run
	}
	if err := log.Close(patience); err != nil && ctx.Err() == nil {
		w.Log.Warn("the end of a run's log is not kept", "run", id, "error", err)
	}
}

// ending returns the outcome of an agent's process that has ended.
func (w *Worker) ending(r Run, res command.Result) outcome {
	switch {
	case res.TimedOut:
		return timedOut(r)
	case res.Signal != "":
		return failed("killed", "the agent was ended by the signal "+res.Signal+w.lastWords(res))
	case res.ExitCode != 0:
		out := failed("exit_code", fmt.Sprintf("the agent ended with exit code %d%s", res.ExitCode, w.lastWords(res)))
		out.Error.ExitCode = &res.ExitCode
		return out
	case res.Stdout.Truncated():
		return failed("output_too_large", "the agent printed more than "+text.Bytes(maxResult))
	}
	return w.result(r, res.Stdout.Bytes())
}

// input returns what the agent reads: its prompt, or its parameters as JSON.
func (r Run) input() ([]byte, error) {
	if !r.blueprint.TakesPrompt() {
		return r.Parameters, nil
	}
	var p struct{ Prompt string }
	err := json.Unmarshal(r.Parameters, &p)
	return []byte(p.Prompt), err
}

// result returns the outcome of what the agent printed. A deterministic agent or one with an
// output_schema must print JSON, and any other one may print any text.
func (w *Worker) result(r Run, printed []byte) outcome {
	printed = []byte(w.MaskKnown(string(bytes.ToValidUTF8(printed, []byte("\uFFFD")))))
	if r.blueprint.Type == agents.Agent && r.blueprint.OutputSchema == nil {
		raw, err := json.Marshal(map[string]string{"text": string(printed)})
		if err != nil {
			return failed("internal", err.Error())
		}
		return outcome{Status: Completed, Result: raw}
	}
	b := r.blueprint
	if b.OutputSchema == nil {
		b.OutputSchema = json.RawMessage(`{}`) // any JSON
	}
	printed = stringLiteral.ReplaceAllFunc(printed, w.maskLiteral)
	violations, err := w.validator.Output(b, bytes.TrimSpace(printed))
	if err != nil {
		return failed("internal", err.Error())
	}
	if len(violations) > 0 && r.blueprint.OutputSchema == nil {
		return failed("invalid_output", "what the agent printed is not one JSON value, as a deterministic agent's answer is: "+listViolations(violations))
	}
	if len(violations) > 0 {
		return failed("invalid_output", "what the agent printed does not match its output_schema: "+listViolations(violations))
	}
	result := jsontext.Value(bytes.TrimSpace(printed))
	if _, found := schema.LoneSurrogate(result); found {
		if err := result.Format(jsontext.AllowInvalidUTF8(true)); err != nil { // writes U+FFFD instead
			return failed("internal", err.Error())
		}
	}
	return outcome{Status: Completed, Result: json.RawMessage(result)}
}

// stringLiteral matches a string of JSON.
var stringLiteral = lazyregexp.New(`"[^"\\]*(?:\\.[^"\\]*)*"`)

// maskLiteral masks the known values in a string of JSON that has escapes: an encoder may escape any
// character of a value. The caller has masked the values that are written without escapes.
func (w *Worker) maskLiteral(literal []byte) []byte {
	var s string
	if bytes.IndexByte(literal, '\\') < 0 || json.Unmarshal(literal, &s) != nil {
		return literal
	}
	masked := w.MaskKnown(s)
	if masked == s {
		return literal
	}
	out, _ := json.Marshal(masked) // a string can always be encoded
	return out
}

// mostPath bounds a path in a message, in characters: a value can be nested deeply.
const mostPath = 200

// listViolations writes the first violations on one line.
func listViolations(violations []schema.Violation) string {
	const most = 10
	var parts []string
	for _, v := range violations[:min(len(violations), most)] {
		parts = append(parts, text.Truncate(v.Path, mostPath)+": "+v.Message)
	}
	if n := len(violations) - most; n > 0 {
		parts = append(parts, fmt.Sprintf("and %d more", n))
	}
	return strings.Join(parts, "; ")
}

// lastWords returns a colon and the end of what the agent wrote to standard error, masked; "" if it
// wrote nothing.
func (w *Worker) lastWords(res command.Result) string {
	const most = 1000
	said := strings.TrimSpace(w.Mask(strings.ToValidUTF8(string(res.Stderr.Bytes()), "\uFFFD")))
	if said == "" {
		return ""
	}
	if runes := []rune(said); len(runes) > most {
		said = "…" + string(runes[len(runes)-most:])
	}
	return ": " + text.OneLine(said)
}

func failed(code, message string) outcome {
	return outcome{Status: Failed, Error: &Error{Code: code, Message: message}}
}

func timedOut(r Run) outcome {
	return failed("timeout", "the run took longer than "+r.blueprint.TimeLimit().String())
}
