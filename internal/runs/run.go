// Package runs starts agents and keeps what became of them. A run is recorded before its
// creation is confirmed, starts again if its worker is killed, and ends once.
package runs

import (
	"crypto/rand"
	"encoding/base32"
	"encoding/binary"
	"encoding/json"
	"strings"
	"time"

	"github.com/agent-airlock/airlock/internal/agents"
)

// Status is where a run is in its life.
type Status string

// A run is pending, then running, and then completed or failed. One that waits too long for a worker
// fails. After a request to stop it, a run that waits for a worker is stopped, and one that a worker
// carries out is stopping first.
const (
	Pending   Status = "pending"
	Running   Status = "running"
	Stopping  Status = "stopping"
	Completed Status = "completed"
	Failed    Status = "failed"
	Stopped   Status = "stopped"
)

// Statuses returns all statuses.
func Statuses() []Status { return []Status{Pending, Running, Stopping, Completed, Failed, Stopped} }

// Final reports whether nothing comes after the status.
func (s Status) Final() bool { return s == Completed || s == Failed || s == Stopped }

// Run is one run of an agent, in JSON as the API returns it.
type Run struct {
	ID           string          `json:"run_id"`
	AgentName    string          `json:"agent_name"`
	AgentVersion int64           `json:"agent_version"`
	Status       Status          `json:"status"`
	Parameters   json.RawMessage `json:"parameters"`
	// Attempt is how often the agent was started, including the times after its worker was killed.
	Attempt int `json:"attempt"`
	// Needs are the tags that a worker must have to take it.
	Needs []string `json:"needs,omitempty"`
	// Worker carries it out, or did so last.
	Worker string `json:"worker,omitempty"`
	// StatusReason is why it waits, unless it waits for a worker that is busy.
	StatusReason *Reason `json:"status_reason,omitempty"`

	CreatedAt time.Time  `json:"created_at"`
	StartedAt *time.Time `json:"started_at,omitempty"`
	EndedAt   *time.Time `json:"ended_at,omitempty"`
	Error     *Error     `json:"error,omitempty"` // why it failed

	blueprint agents.Blueprint // as it was when the run was created
	restarts  int              // how often its worker was lost
}

// Error is why a run failed.
type Error struct {
	// Code is one of: exit_code, killed, timeout, not_started, invalid_output,
	// output_too_large, worker_lost, no_worker, internal.
	Code    string `json:"code"`
	Message string `json:"message"`
	// ExitCode is that of the agent's process, if Code is exit_code.
	ExitCode *int `json:"exit_code,omitempty"`
}

// Event is one change of a run's status.
type Event struct {
	N      int64     `json:"n"` // from 1, without gaps
	RunID  string    `json:"run_id"`
	Status Status    `json:"status"`
	At     time.Time `json:"at"`
}

// idEncoding keeps the order of what it encodes.
var idEncoding = base32.NewEncoding("0123456789abcdefghijklmnopqrstuv").WithPadding(base32.NoPadding)

// newID returns an id that sorts by its time, to the millisecond.
func newID(now time.Time) string {
	var b [15]byte
	binary.BigEndian.PutUint64(b[:], uint64(now.UnixMilli())<<16) // which fills the first six bytes
	_, _ = rand.Read(b[6:])                                       // it never fails
	return "run_" + idEncoding.EncodeToString(b[:])
}

// IsID reports whether a text has the form of a run's id.
func IsID(s string) bool {
	rest, ok := strings.CutPrefix(s, "run_")
	return ok && len(rest) == 24 && !strings.ContainsFunc(rest, func(r rune) bool { return (r < '0' || r > '9') && (r < 'a' || r > 'v') })
}
