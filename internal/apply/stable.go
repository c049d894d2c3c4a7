package apply

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"

	"github.com/agent-airlock/airlock/internal/event"
	"github.com/agent-airlock/airlock/internal/safeoutput"
)

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
