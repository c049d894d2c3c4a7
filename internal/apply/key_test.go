package apply

import (
	"testing"

	"github.com/agent-airlock/airlock/internal/event"
)

func TestItemKeyDependsOnEveryField(t *testing.T) {
	run := event.Run{ID: 7, Attempt: 1, Job: "agent", Step: "apply", MatrixIndex: 2}
	base := itemKey(run, 1, "create-issue", "repository", []byte(`{"a":1}`), 0)
	if len(base) != keyLen {
		t.Fatalf("the key has %d digits, want %d", len(base), keyLen)
	}
	with := func(f func(*event.Run)) event.Run { r := run; f(&r); return r }
	for name, key := range map[string]string{
		"repository": itemKey(run, 2, "create-issue", "repository", []byte(`{"a":1}`), 0),
		"run":        itemKey(with(func(r *event.Run) { r.ID = 8 }), 1, "create-issue", "repository", []byte(`{"a":1}`), 0),
		"job":        itemKey(with(func(r *event.Run) { r.Job = "other" }), 1, "create-issue", "repository", []byte(`{"a":1}`), 0),
		"step":       itemKey(with(func(r *event.Run) { r.Step = "other" }), 1, "create-issue", "repository", []byte(`{"a":1}`), 0),
		"matrix":     itemKey(with(func(r *event.Run) { r.MatrixIndex = 3 }), 1, "create-issue", "repository", []byte(`{"a":1}`), 0),
		"kind":       itemKey(run, 1, "create-discussion", "repository", []byte(`{"a":1}`), 0),
		"target":     itemKey(run, 1, "create-issue", "#1", []byte(`{"a":1}`), 0),
		"item":       itemKey(run, 1, "create-issue", "repository", []byte(`{"a":2}`), 0),
		"ordinal":    itemKey(run, 1, "create-issue", "repository", []byte(`{"a":1}`), 1),
	} {
		if key == base {
			t.Errorf("another %s gives the same key", name)
		}
	}
	if again := itemKey(with(func(r *event.Run) { r.Attempt = 2 }), 1, "create-issue", "repository", []byte(`{"a":1}`), 0); again != base {
		t.Error("another attempt gives another key: a re-run would not find what the first one wrote")
	}
}

func TestFieldsOfKeysDoNotRunTogether(t *testing.T) {
	a := itemKey(event.Run{Job: "ab", Step: "c"}, 1, "k", "t", nil, 0)
	b := itemKey(event.Run{Job: "a", Step: "bc"}, 1, "k", "t", nil, 0)
	if a == b {
		t.Error("(ab, c) and (a, bc) have the same key")
	}
}

func TestMembersKeyNamesWhatAnObjectCarries(t *testing.T) {
	for _, size := range []int{1, 3, 4, 5, 64, maxMembers} {
		g := groupKey("review", "x")
		chosen := func(m int) bool { return m%3 == 1 || m == size-1 }
		key := membersKey(g, size, chosen)
		if len(key) > 256 {
			t.Fatalf("size %d: the key has %d digits, more than a marker takes", size, len(key))
		}
		carries, ok := members(key, g, size)
		if !ok {
			t.Fatalf("size %d: the key %s is not read back", size, key)
		}
		for m := range size {
			if carries(m) != chosen(m) {
				t.Errorf("size %d: member %d: got %v", size, m, carries(m))
			}
		}
		if carries(-1) || carries(size) {
			t.Errorf("size %d: a member outside the group is carried", size)
		}
		if _, ok := members(key, groupKey("review", "y"), size); ok {
			t.Error("the key of one group is read as another's")
		}
	}
}
