package apply

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash"
	"strconv"
	"strings"

	"github.com/agent-airlock/airlock/internal/event"
	"github.com/agent-airlock/airlock/internal/policy"
	"github.com/agent-airlock/airlock/internal/safeoutput"
)

// keyLen is the length of an item's key: SHA-256 in lower-case hexadecimal.
const keyLen = 2 * sha256.Size

// itemKey is the idempotency key of one item: SHA-256 over the repository's id,
// the workflow run's id, the job, the step, the matrix index, the kind, the
// target, the canonical item and its ordinal (from 0) among equal items. The
// attempt is not part of it, so a re-run finds what an earlier one wrote.
//
// Every field is preceded by its length (8 bytes, big endian), so that no two
// lists of fields have the same encoding.
func itemKey(run event.Run, repositoryID int64, kind, target string, canonical []byte, ordinal int) string {
	h := sha256.New()
	writeField(h, strconv.FormatInt(repositoryID, 10))
	writeField(h, strconv.FormatInt(run.ID, 10))
	writeField(h, run.Job)
	writeField(h, run.Step)
	writeField(h, strconv.Itoa(run.MatrixIndex))
	writeField(h, kind)
	writeField(h, target)
	writeField(h, string(canonical))
	writeField(h, strconv.Itoa(ordinal))
	return hex.EncodeToString(h.Sum(nil))
}

// groupKey is the key of an object that carries several items: SHA-256 over
// what it is and the items' keys in order, each preceded by its length.
func groupKey(what string, keys []string) string {
	h := sha256.New()
	writeField(h, what)
	for _, k := range keys {
		writeField(h, k)
	}
	return hex.EncodeToString(h.Sum(nil))
}

func writeField(h hash.Hash, s string) {
	var n [8]byte
	binary.BigEndian.PutUint64(n[:], uint64(len(s)))
	h.Write(n[:])
	h.Write([]byte(s))
}

// maxMembers is how many items one group has at most: a marker's key has room
// for 256 hexadecimal digits, of which the group's own key takes 64, and each
// remaining digit says of four members whether the object carries them.
const maxMembers = (256 - keyLen) * 4

// membersKey is the marker key of an object that carries some of a group's
// items: the group's key followed by a bitmap, one bit a member, the first
// member in the highest bit of the first digit. It stays readable when a re-run
// would divide the same items differently.
func membersKey(group string, size int, carries func(member int) bool) string {
	digits := make([]byte, (size+3)/4)
	for i := range digits {
		v := 0
		for bit := range 4 {
			if m := i*4 + bit; m < size && carries(m) {
				v |= 8 >> bit
			}
		}
		digits[i] = "0123456789abcdef"[v]
	}
	return group + string(digits)
}

// members reads a marker's key: ok is false when it is not one of this group.
func members(key, group string, size int) (carries func(member int) bool, ok bool) {
	if len(key) != keyLen+(size+3)/4 || key[:keyLen] != group {
		return nil, false
	}
	bitmap := key[keyLen:]
	return func(m int) bool {
		if m < 0 || m >= size {
			return false
		}
		v, err := strconv.ParseUint(bitmap[m/4:m/4+1], 16, 8)
		return err == nil && v&(8>>(m%4)) != 0
	}, true
}

// keyKind is what a key says of the kind: our item is another one than an agent's
// equal one.
func keyKind(kind safeoutput.Kind, own bool) string {
	if own {
		return "own " + string(kind)
	}
	return string(kind)
}

// targetKey names a target in a key: numbers of issues, pull requests and
// discussions come from one sequence.
func targetKey(t policy.Target) string {
	if t.Number == 0 {
		return "repository"
	}
	return "#" + strconv.Itoa(t.Number)
}

// What a later workflow run finds again has a marker of 145 digits:
//
//	64  what it is: the kind, the target and the stable name
//	64  the scope: what its stable names have in common
//	 1  1 when it was settled, because its reason is gone, else 0
//	16  the id of the workflow run that wrote it last
//
// The first two parts are the object's key. Groups of items, whose keys begin
// alike, end at 128 digits.
const (
	stableLen       = 2 * keyLen
	stableMarkerLen = stableLen + 1 + 16
)

// place is whose objects a key belongs to: those of one job of one workflow about
// one target, in whatever workflow run. Jobs of a matrix are different ones.
func place(run event.Run, repositoryID int64, what, kind, target string) []string {
	return []string{what, strconv.FormatInt(repositoryID, 10), run.WorkflowPath, run.Job, strconv.Itoa(run.MatrixIndex), kind, target}
}

// nameKey says what an object is: the first half of its key.
func nameKey(run event.Run, repositoryID int64, kind, target, name string, ordinal int) string {
	return hashOf(append(place(run, repositoryID, "name", kind, target), name, strconv.Itoa(ordinal)))
}

// scopeKey says what an object belongs to: the second half of its key.
func scopeKey(run event.Run, repositoryID int64, kind, target, scope string) string {
	return hashOf(append(place(run, repositoryID, "scope", kind, target), scope))
}

// scopeOf is what a stable name has before its first '/'.
func scopeOf(name string) string {
	scope, _, _ := strings.Cut(name, "/")
	return scope
}

func hashOf(fields []string) string {
	h := sha256.New()
	for _, f := range fields {
		writeField(h, f)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// history is what the marker of an object that is found again says besides its key.
type history struct {
	settled bool
	run     int64 // of the workflow run that wrote it last; 0 outside a workflow run
}

// known is what is known of an object that a later attempt or workflow run goes on
// with.
type known struct {
	history
	body        string
	annotations int  // of a check run
	answered    bool // of a review comment: it has replies
}

// found returns our objects with exactly this key, those of the lowest id first.
func (s *Snapshot) found(key string) []Object {
	var out []Object
	for _, o := range s.own[key[:keyLen]] {
		if o.key == key {
			out = append(out, o)
		}
	}
	return out
}

// marker is what a body's marker holds for an entry: its key and, where it is
// found again, this workflow run.
func (e *entry) marker(run event.Run) string {
	if len(e.key) != stableLen {
		return e.key
	}
	return stableMarker(e.key, history{run: run.ID})
}

func stableMarker(key string, h history) string {
	settled := "0"
	if h.settled {
		settled = "1"
	}
	return key + settled + fmt.Sprintf("%016x", uint64(h.run))
}

// readMarker divides the marker of an object that is found again, whose body it is
// the last line of; other markers stay whole, and nothing is known.
func readMarker(marker, body string) (key string, k *known) {
	if len(marker) != stableMarkerLen {
		return marker, nil
	}
	run, err := strconv.ParseUint(marker[stableLen+1:], 16, 63)
	if err != nil {
		return marker, nil
	}
	return marker[:stableLen], &known{history: history{settled: marker[stableLen] == '1', run: int64(run)}, body: body}
}

// later reports whether a later workflow run than this one has written an object:
// what this one knows is out of date then.
func (h history) later(run event.Run) bool { return run.ID != 0 && h.run > run.ID }

// stableName is the name by which later workflow runs find the entry's object
// again; "" where none looks for it.
func (e *entry) stableName() string {
	switch it := e.item.(type) {
	case *safeoutput.StickyComment:
		return it.Name
	case *safeoutput.CreateReviewComment:
		return e.approved.Accepted().Stable() // "" for an agent's
	}
	return ""
}
