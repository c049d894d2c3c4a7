// Package loopref keeps the log of a fix loop on a ref of its repository, where a job that has
// no store finds it again:
//
//	refs/airlock/loops/<number of the pull request>-<ordinal>
//
// Each change is a commit with the entire log in two forms: JSON lines (log.jsonl), which Airlock
// reads back, and the spec's communication log (log.md), for people. The log contains events: the
// state and the messages follow from them by fixloop.Step. Each event has a digest of what it led
// to. If this version of Airlock would decide otherwise, the state and the messages are read from a
// snapshot (state.json) instead.
//
// A change moves the ref from the commit that was read. If another job was faster, the job reads
// the log again, and decides again. Whoever can write the ref can write the repository; if an agent
// can, a secret has to sign the log.
package loopref

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/agent-airlock/airlock/internal/fixloop"
)

// Version is the version of a log's form. No other one is read.
const Version = 2

// maxLog is the size of a log, in bytes, beyond which it is not continued.
const maxLog = 16 << 20

// Record is one line of a log: which loop it is, an event, or what was delivered.
type Record struct {
	Version int       `json:"v"`
	N       int       `json:"n"` // from 1
	At      time.Time `json:"at"`
	// Loop is set in the first record, and only there.
	Loop  *fixloop.Loop  `json:"loop,omitempty"`
	Event *fixloop.Event `json:"event,omitempty"`
	// Decided is a digest of the state and the messages that the event, or the beginning, led to.
	Decided string `json:"decided,omitempty"`
	// Comment is the id of the comment that commanded the event; 0 for none. With it, the command
	// counts once.
	Comment int64 `json:"comment,omitempty"`
	// Told are the entries that GitHub shows, and Tried those that it refused. Hidden are entries
	// that were hidden later, because they are over. An entry is the Entry of a message, FollowUp,
	// or the name of something else that was delivered.
	Told   []string `json:"told,omitempty"`
	Tried  []string `json:"tried,omitempty"`
	Hidden []string `json:"hidden,omitempty"`
	// Sum chains the record to all before it: SHA-256, with the secret HMAC-SHA-256.
	Sum string `json:"sum"`
}

// chain computes the sums of records.
type chain struct {
	secret string
	name   string // of the log; no other log has it
}

// signed begins the sums of a signed log.
const signed = "hmac-"

func (c chain) sum(previous string, r Record) (string, error) {
	r.Sum = ""
	return c.sumOf(previous, r)
}

// sumOf returns the sum of a value that follows the record with the previous sum.
func (c chain) sumOf(previous string, value any) (string, error) {
	raw, err := json.Marshal(value)
	if err != nil {
		return "", err
	}
	input := []byte(c.name + "\n" + previous + "\n" + string(raw))
	if c.secret == "" {
		digest := sha256.Sum256(input)
		return hex.EncodeToString(digest[:]), nil
	}
	mac := hmac.New(sha256.New, []byte(c.secret))
	mac.Write(input)
	return signed + hex.EncodeToString(mac.Sum(nil)), nil
}

// Log is the log of one loop as it was read, or as it was continued.
type Log struct {
	// Ref is the ref that contains the log. Commit is the commit that the ref was at when the log
	// was read or written; githubapi.NoCommit for a new log.
	Ref, Commit string
	Records     []Record
	State       fixloop.State
	Messages    []fixloop.Message

	chain chain
	seen  map[string]bool // the entries that GitHub shows; true for those that it has hidden since
	// diverged is the number of the first record that leads to something else by this Airlock's
	// rules than it did; State and Messages are those before it. 0 if there is none.
	diverged int
}

// ErrForged is the error about a log whose sums do not fit.
var ErrForged = errors.New("the log of the loop was not written by Airlock with this secret, or was changed since")

// decode reads the log of a ref.
func decode(text []byte, ref string, c chain) (*Log, error) {
	l := &Log{Ref: ref, chain: c}
	dec := json.NewDecoder(bytes.NewReader(text))
	for dec.More() {
		var r Record
		if err := dec.Decode(&r); err != nil {
			return nil, fmt.Errorf("the log of the loop cannot be read after entry %d: %w", len(l.Records), err)
		}
		switch n := len(l.Records) + 1; {
		case r.Version > Version:
			return nil, fmt.Errorf("the log of the loop has version %d, which is newer than this Airlock knows (%d); use the Airlock that wrote it", r.Version, Version)
		case r.Version < Version:
			return nil, fmt.Errorf("the log of the loop has version %d, which does not say what was decided, and which this Airlock (%d) would play by other rules; "+
				"remove it and the comment that shows the loop, so that another one begins: git push origin :%s", r.Version, Version, ref)
		case r.N != n:
			return nil, fmt.Errorf("the log of the loop has entry %d in place of %d: it is cut, or was changed", r.N, n)
		case c.secret == "" && strings.HasPrefix(r.Sum, signed):
			return nil, errors.New("the log of the loop is signed; give the step the secret that it was signed with")
		}
		if err := l.addRead(r); err != nil {
			return nil, err
		}
	}
	if len(l.Records) == 0 {
		return nil, errors.New("the log of the loop is empty")
	}
	return l, nil
}

// addRead adds a record that was read.
func (l *Log) addRead(r Record) error {
	want, err := l.chain.sum(l.Sum(), r)
	if err != nil {
		return err
	}
	if !hmac.Equal([]byte(want), []byte(r.Sum)) {
		return fmt.Errorf("entry %d: %w", r.N, ErrForged)
	}
	if l.diverged == 0 {
		if err := l.play(r); err != nil {
			return err
		}
	}
	l.Records = append(l.Records, r)
	return nil
}

// play adds the state and messages that follow from a record that was read. If nothing can follow by
// this Airlock's rules, or the record's digest shows that something else was decided, play marks the
// log as diverged instead.
func (l *Log) play(r Record) error {
	if (r.Loop != nil) != (len(l.Records) == 0) {
		return fmt.Errorf("the log of the loop has no beginning, or two (entry %d)", r.N)
	}
	state, messages, digest, err := l.consequences(r)
	if err != nil || digest != r.Decided {
		l.diverged = r.N
		return nil
	}
	l.State, l.Messages = state, append(l.Messages, messages...)
	return nil
}

// consequences returns what follows from a record: the state, further messages, and their digest,
// which is "" for a record of deliveries.
func (l *Log) consequences(r Record) (state fixloop.State, messages []fixloop.Message, digest string, err error) {
	switch {
	case r.Loop != nil:
		state, err = fixloop.New(*r.Loop)
	case r.Event != nil:
		state, messages, _, err = fixloop.Step(l.State, *r.Event, r.At)
	default:
		return l.State, nil, "", nil
	}
	if err != nil {
		return state, nil, "", err
	}
	digest, err = decided(state, messages)
	return state, messages, digest, err
}

// Sum returns the sum of the newest record, which identifies the entire log.
func (l *Log) Sum() string {
	if len(l.Records) == 0 {
		return ""
	}
	return l.Records[len(l.Records)-1].Sum
}

// Event continues the log with an event at a time, commanded by a comment or by none (0). The
// error is a *fixloop.Refused if the event does not fit; the log is unchanged then.
func (l *Log) Event(e fixloop.Event, at time.Time, comment int64) error {
	return l.add(Record{Event: &e, At: at, Comment: comment})
}

// Delivered continues the log with entries that GitHub shows (told), and that it refused (tried).
func (l *Log) Delivered(told, tried []string, at time.Time) error {
	return l.add(Record{Told: told, Tried: tried, At: at})
}

func (l *Log) add(r Record) error {
	r.Version, r.N, r.At = Version, len(l.Records)+1, r.At.UTC().Truncate(time.Millisecond)
	raw, err := json.Marshal(r)
	if err != nil {
		return err
	}
	var stored Record // as decode will read it, so that it leads to the same state then
	if err := json.Unmarshal(raw, &stored); err != nil {
		return err
	}
	state, messages, digest, err := l.consequences(stored)
	if err != nil {
		return err
	}
	stored.Decided = digest
	if stored.Sum, err = l.chain.sum(l.Sum(), stored); err != nil {
		return err
	}
	l.State, l.Messages = state, append(l.Messages, messages...)
	l.Records = append(l.Records, stored)
	return nil
}

// MarkSeen notes that GitHub shows an entry, or has hidden it since. RecordSeen adds that to the
// log.
func (l *Log) MarkSeen(entry string, hidden bool) {
	if l.seen == nil {
		l.seen = map[string]bool{}
	}
	l.seen[entry] = hidden
}

// RecordSeen continues the log with what was seen and is not in it yet.
func (l *Log) RecordSeen(at time.Time) error {
	told, _, hidden := l.delivered()
	var nowTold, nowHidden []string
	for _, entry := range slices.Sorted(maps.Keys(l.seen)) {
		if !told[entry] {
			nowTold = append(nowTold, entry)
		}
		if l.seen[entry] && !hidden[entry] {
			nowHidden = append(nowHidden, entry)
		}
	}
	if len(nowTold)+len(nowHidden) == 0 {
		return nil
	}
	return l.add(Record{Told: nowTold, Hidden: nowHidden, At: at})
}

// delivered returns the entries that GitHub shows according to the log, how many attempts to deliver
// each have failed, and the entries that were hidden.
func (l *Log) delivered() (told map[string]bool, tried map[string]int, hidden map[string]bool) {
	told, tried, hidden = map[string]bool{}, map[string]int{}, map[string]bool{}
	for _, r := range l.Records {
		for _, entry := range r.Told {
			told[entry] = true
		}
		for _, entry := range r.Hidden {
			hidden[entry] = true
		}
		for _, entry := range r.Tried {
			tried[entry]++
		}
	}
	return told, tried, hidden
}

// Commanded reports whether a comment's command was carried out before.
func (l *Log) Commanded(comment int64) bool {
	return slices.ContainsFunc(l.Records, func(r Record) bool { return r.Comment == comment && comment != 0 })
}

// FollowUp is the entry of the issue about what a person skipped.
const FollowUp = "follow-up"

// Notice is a message that notifies people, and whether that was done.
type Notice struct {
	Message   fixloop.Message
	Delivered bool
	Tried     int // how many attempts to deliver it have failed
	Hidden    bool
}

// Notices returns the messages that notify people, oldest first.
func (l *Log) Notices() []Notice {
	told, tried, hidden := l.delivered()
	for entry, isHidden := range l.seen {
		told[entry], hidden[entry] = true, hidden[entry] || isHidden
	}
	var out []Notice
	for _, m := range l.Messages {
		if m.Notifies() {
			out = append(out, Notice{m, told[m.Entry], tried[m.Entry], hidden[m.Entry]})
		}
	}
	return out
}

// Delivery reports whether an entry was delivered, and how many attempts have failed.
func (l *Log) Delivery(entry string) (delivered bool, failed int) {
	told, tried, _ := l.delivered()
	return told[entry], tried[entry]
}

// FollowedUp reports whether the issue about what was skipped is there.
func (l *Log) FollowedUp() bool {
	delivered, _ := l.Delivery(FollowUp)
	return delivered
}

// Name returns the name of a pull request's loop, as Log.Name does.
func Name(number, ordinal int) string { return strconv.Itoa(number) + "-" + strconv.Itoa(ordinal) }

// Name returns the loop's name in its ref and in witnesses: the pull request's number and the
// ordinal.
func (l *Log) Name() string { return strings.TrimPrefix(l.Ref, refPrefix) }

// Witness names the newest record in a form that people can see and Check understands.
func (l *Log) Witness() string {
	return fmt.Sprintf("%s%d, %s", l.witnessStart(), len(l.Records), short(l.Sum()))
}

func (l *Log) witnessStart() string { return "log of loop " + l.Name() + ": entry " }

// short returns the part of a sum that a witness shows.
func short(sum string) string {
	sum = strings.TrimPrefix(sum, signed)
	return sum[:min(len(sum), 20)]
}

// ErrRolledBack is the error about a log that lacks entries which were there.
var ErrRolledBack = errors.New("entries of the loop's log that were there are gone: somebody has set its ref back")

// Check returns ErrRolledBack if the log lacks the record that a witness in a text names, and nil if
// the text contains no witness of this loop.
func (l *Log) Check(text string) error {
	_, rest, found := strings.Cut(text, l.witnessStart())
	if !found {
		return nil
	}
	number, rest, _ := strings.Cut(rest, ", ")
	n, err := strconv.Atoi(number)
	if err != nil || n < 1 || len(rest) < 20 {
		return nil
	}
	if n > len(l.Records) || short(l.Records[n-1].Sum) != rest[:20] {
		return fmt.Errorf("%w (the comment has seen entry %d)", ErrRolledBack, n)
	}
	return nil
}

// encode returns the log as JSON lines.
func (l *Log) encode() ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	for _, r := range l.Records {
		if err := enc.Encode(r); err != nil {
			return nil, err
		}
	}
	if b.Len() > maxLog {
		return nil, fmt.Errorf("the log of the loop is larger than %d bytes; abort the loop, and start another one", maxLog)
	}
	return b.Bytes(), nil
}
