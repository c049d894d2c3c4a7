package loopref

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/agent-airlock/airlock/internal/fixloop"
)

// snapshotFile is the name of the file with a log's snapshot.
const snapshotFile = "state.json"

// snapshot is what a log had led to when it was written. It is read if this Airlock would decide
// otherwise than the one that wrote the log, because what was decided stays decided.
type snapshot struct {
	Version  int               `json:"v"` // the log's
	N        int               `json:"n"` // of its newest record
	State    fixloop.State     `json:"state"`
	Messages []fixloop.Message `json:"messages"`
	// Sum is computed as if the snapshot were a record after the newest one, so that it belongs to
	// this log alone.
	Sum string `json:"sum"`
}

// snapshot returns the log's snapshot as JSON.
func (l *Log) snapshot() ([]byte, error) {
	s := snapshot{Version: Version, N: len(l.Records), State: l.State, Messages: l.Messages}
	var err error
	if s.Sum, err = l.chain.sumOf(l.Sum(), s); err != nil {
		return nil, err
	}
	return json.Marshal(s)
}

// restore makes the state and the messages those of the log's snapshot.
func (l *Log) restore(text []byte) error {
	var s snapshot
	if err := json.Unmarshal(text, &s); err != nil {
		return l.otherRules(fmt.Errorf("%s cannot be read: %w", snapshotFile, err))
	}
	sum := s.Sum
	s.Sum = ""
	want, err := l.chain.sumOf(l.Sum(), s)
	if err != nil {
		return err
	}
	if s.N != len(l.Records) || !hmac.Equal([]byte(want), []byte(sum)) {
		return l.otherRules(fmt.Errorf("%s: %w", snapshotFile, ErrForged))
	}
	l.State, l.Messages, l.diverged = s.State, s.Messages, 0
	return nil
}

// ErrOtherRules is the error about a log whose events lead to something else by the rules of this
// Airlock, and whose snapshot cannot be used.
var ErrOtherRules = errors.New("the log of the loop was written by an Airlock with other rules")

func (l *Log) otherRules(why error) error {
	return fmt.Errorf("%w (entry %d leads to something else now), and what that Airlock decided is not known: %w; use the version that wrote the log until the loop has ended, "+
		"or remove the log with 'git push origin :%s' and the comment that shows the loop, so that another loop begins", ErrOtherRules, l.diverged, why, l.Ref)
}

// decided returns the digest of what an event led to.
func decided(s fixloop.State, messages []fixloop.Message) (string, error) {
	raw, err := json.Marshal(struct {
		State    fixloop.State
		Messages []fixloop.Message
	}{s, messages})
	if err != nil {
		return "", err
	}
	digest := sha256.Sum256(raw)
	return hex.EncodeToString(digest[:12]), nil
}
