package apply

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"hash"
	"strconv"

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
