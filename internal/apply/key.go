package apply

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"

	"github.com/agent-airlock/airlock/internal/event"
	"github.com/agent-airlock/airlock/internal/markdown"
	"github.com/agent-airlock/airlock/internal/policy"
	"github.com/agent-airlock/airlock/internal/safeoutput"
)

// keyLen is the length of an item's key: SHA-256 in lower-case hexadecimal.
const keyLen = 2 * sha256.Size

// hashFields returns the SHA-256 of a list of fields in hexadecimal. Each field is preceded
// by its length (8 bytes, big endian), so that no two lists have the same encoding.
func hashFields(fields ...string) string {
	h := sha256.New()
	for _, f := range fields {
		h.Write(binary.BigEndian.AppendUint64(nil, uint64(len(f))))
		h.Write([]byte(f))
	}
	return hex.EncodeToString(h.Sum(nil))
}

// itemKey returns the idempotency key of one item: a hash of the repository's id, the workflow
// run's id, the job's identity, the step, the matrix index, the kind, the target, the
// canonical item and its ordinal (from 0) among equal items. The attempt is not part of
// it, so that a re-run finds what an earlier attempt wrote. Outside of a workflow run
// every run has keys of its own.
func itemKey(run event.Run, repositoryID int64, kind, target string, canonical []byte, ordinal int) string {
	id := strconv.FormatInt(run.ID, 10)
	if run.Own != "" {
		id = "own " + run.Own
	}
	return hashFields(strconv.FormatInt(repositoryID, 10), id, run.Identity(), run.Step, strconv.Itoa(run.MatrixIndex),
		kind, target, string(canonical), strconv.Itoa(ordinal))
}

// groupKey returns the key of an object that carries several items: a hash of what the object is
// and of the items' keys in order.
func groupKey(what string, keys ...string) string {
	return hashFields(append([]string{what}, keys...)...)
}

// maxMembers is the largest number of items in one group. A group's marker has 64 hexadecimal
// digits for its own key and one for every four members, so it stays shorter than a stable object's
// key, which has stableLen digits.
const maxMembers = 252

// membersKey returns the marker key of an object that carries some of a group's items: the
// group's key followed by a bitmap, one bit a member, the first member in the highest bit
// of the first digit. It stays readable when a re-run divides the same items differently.
func membersKey(group string, size int, carries func(member int) bool) string {
	digits := make([]byte, (size+3)/4)
	for i := range digits {
		bits := 0
		for bit := range 4 {
			if m := i*4 + bit; m < size && carries(m) {
				bits |= 8 >> bit
			}
		}
		digits[i] = "0123456789abcdef"[bits]
	}
	return group + string(digits)
}

// members reads a marker's key; ok is false when it does not belong to the group.
func members(key, group string, size int) (carries func(member int) bool, ok bool) {
	if len(key) != keyLen+(size+3)/4 || key[:keyLen] != group {
		return nil, false
	}
	return func(m int) bool {
		return m >= 0 && m < size && hexDigit(key[keyLen+m/4])&(8>>(m%4)) != 0
	}, true
}

// hexDigit returns the value of a lower-case hexadecimal digit.
func hexDigit(c byte) byte {
	if c >= 'a' {
		return c - 'a' + 10
	}
	return c - '0'
}

// keyKind returns a kind as a key names it. An item of Airlock's own is not the same as an equal
// one of the agent's.
func keyKind(kind safeoutput.Kind, own bool) string {
	if own {
		return "own " + string(kind)
	}
	return string(kind)
}

// targetKey returns a target as a key names it. Issues, pull requests and discussions are
// numbered together.
func targetKey(t policy.Target) string {
	if t.Number == 0 {
		return "repository"
	}
	return "#" + strconv.Itoa(t.Number)
}

// An object with a stable name, by which later workflow runs find it, has a marker of 145 digits:
//
//	64  what it is: the kind, the target and the stable name
//	64  its scope: the part that its stable name shares with others
//	 1  1 when it is resolved, because its reason is gone; otherwise 0
//	16  the id of the workflow run that wrote it last, or the revision of its text
//
// The first two parts are the object's key. The marker of a group, which also begins with 64 digits
// of a key, has at most 127: see maxMembers.
const (
	stableLen       = 2 * keyLen
	stableMarkerLen = stableLen + 1 + 16
)

// nameKey identifies an object: the first half of its key.
func nameKey(run event.Run, repositoryID int64, kind, target, name string, ordinal int) string {
	return hashFields(append(jobFields("name", run, repositoryID, kind, target), name, strconv.Itoa(ordinal))...)
}

// scopeKey identifies what an object belongs to: the second half of its key.
func scopeKey(run event.Run, repositoryID int64, kind, target, scope string) string {
	return hashFields(append(jobFields("scope", run, repositoryID, kind, target), scope)...)
}

// jobFields returns the fields of a stable key that decide which objects belong together: those
// of one job of one workflow on one target, in any workflow run. Each job of a matrix, and
// each call of a reusable workflow, counts as a job of its own.
func jobFields(what string, run event.Run, repositoryID int64, kind, target string) []string {
	return []string{what, strconv.FormatInt(repositoryID, 10), run.WorkflowPath, run.Identity(), strconv.Itoa(run.MatrixIndex), kind, target}
}

// IsRevised reports whether a comment in the conversation of an issue or pull request is the sticky
// comment with the given name, which has revisions, and whether it is hidden. It reads the marker,
// which no item's text can contain. The caller has to check that Airlock's account wrote the
// comment.
func IsRevised(body string, repositoryID int64, number int, name string) (is, hidden bool) {
	marker, _ := markdown.LastLineMarker(body)
	key, k := readMarker(marker, "")
	if k == nil {
		return false, false
	}
	kind, target := keyKind(safeoutput.KindStickyComment, true), targetKey(policy.Target{Number: number})
	is = key == nameKey(event.Run{}, repositoryID, kind, target, name, 0)+scopeKey(event.Run{}, repositoryID, kind, target, scopeOf(name))
	return is, is && k.resolved
}

// branchKey returns the key by which a later run of the same workflow finds a branch again: a
// hash of the repository's id, the workflow's file, the job's identity, its place in a
// matrix, the step, the kind, the subject (see subjectOf), and the ordinal (from 0) among
// the items that share it. Without the place and the step, jobs of a matrix and steps of a
// job would replace each other's branches.
func branchKey(run event.Run, repositoryID int64, kind safeoutput.Kind, subject string, ordinal int) string {
	return hashFields("stable", strconv.FormatInt(repositoryID, 10), run.WorkflowPath, run.Identity(), run.Step, strconv.Itoa(run.MatrixIndex),
		string(kind), subject, strconv.Itoa(ordinal))
}

// stableName returns the name by which later workflow runs find the entry's object again; ""
// where none looks for it.
func (e *entry) stableName() string {
	switch it := e.item.(type) {
	case *safeoutput.StickyComment:
		return it.Name
	case *safeoutput.CreateReviewComment, *safeoutput.CreateIssue:
		return e.approved.Accepted().Stable() // "" for an agent's
	case *safeoutput.UpdateIssue:
		if it.Operation == safeoutput.OperationReplaceIsland {
			return "island"
		}
	}
	return ""
}

// writer returns the workflow run that an entry's stable key and marker name. A comment with a
// revision, or an issue, belongs to no job, so any job finds it again. The marker of such a comment
// has the revision in place of the run's id.
func (e *entry) writer(run event.Run) event.Run {
	switch it := e.item.(type) {
	case *safeoutput.StickyComment:
		if it.Revision > 0 {
			return event.Run{ID: int64(it.Revision)}
		}
	case *safeoutput.CreateIssue:
		return event.Run{}
	}
	return run
}

// scopeOf returns the part of a stable name before its first '/'.
func scopeOf(name string) string {
	scope, _, _ := strings.Cut(name, "/")
	return scope
}

// history is what the marker of a stable object records in addition to its key.
type history struct {
	resolved bool
	run      int64 // the workflow run that wrote it last, or its revision; 0 outside a workflow run
}

// later reports whether a later workflow run than the given one has written the object:
// what the given one knows is out of date then.
func (h history) later(run event.Run) bool { return run.ID != 0 && h.run > run.ID }

// marker returns the content of an entry's marker: its key and, for a stable object, this
// workflow run.
func (e *entry) marker(run event.Run) string {
	if len(e.key) != stableLen {
		return e.key
	}
	return stableMarker(e.key, history{run: run.ID})
}

func stableMarker(key string, h history) string {
	resolved := "0"
	if h.resolved {
		resolved = "1"
	}
	return key + resolved + fmt.Sprintf("%016x", uint64(h.run))
}

// readMarker divides the marker of a stable object. Any other marker is only a key, and k is nil.
func readMarker(marker, body string) (key string, k *known) {
	if len(marker) != stableMarkerLen {
		return marker, nil
	}
	run, err := strconv.ParseUint(marker[stableLen+1:], 16, 63)
	if err != nil {
		return marker, nil
	}
	return marker[:stableLen], &known{history: history{resolved: marker[stableLen] == '1', run: int64(run)}, body: body}
}
