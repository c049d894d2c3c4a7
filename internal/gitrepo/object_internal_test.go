package gitrepo

import (
	"path/filepath"
	"strings"
	"testing"
)

// TestHasID uses the ids that git gives to the empty blob and the empty tree.
func TestHasID(t *testing.T) {
	t.Parallel()
	tests := []struct {
		oid, kind, data string
		want            bool
	}{
		{"e69de29bb2d1d6434b8b29ae775ad8c2e48c5391", "blob", "", true},
		{"4b825dc642cb6eb9a060e54bf8d69288fbee4904", "tree", "", true},
		{"473a0f4c3be8a93681a267e3b1e9a7dcda1185436fe141f7749120a303721813", "blob", "", true},
		{"ce013625030ba8dba906f756967f9e9ca394464a", "blob", "hello\n", true},
		{"e69de29bb2d1d6434b8b29ae775ad8c2e48c5391", "tree", "", false},
		{"e69de29bb2d1d6434b8b29ae775ad8c2e48c5391", "blob", "x", false},
	}
	for _, tt := range tests {
		if got := hasID(object{kind: tt.kind, data: []byte(tt.data)}, tt.oid); got != tt.want {
			t.Errorf("hasID(%s, %s %q) = %v", tt.oid, tt.kind, tt.data, got)
		}
	}
}

func FuzzLookup(f *testing.F) {
	f.Add([]byte("100644 a\x00"+"aaaaaaaaaaaaaaaaaaaa40000 b\x00bbbbbbbbbbbbbbbbbbbb"), "b")
	f.Add([]byte("100644 a\x00short"), "a")
	f.Fuzz(func(t *testing.T, tree []byte, name string) {
		if e, err := lookup(tree, name, 20); err == nil && !IsObjectID(e.oid) {
			t.Errorf("%q", e.oid)
		}
	})
}

func FuzzValidRef(f *testing.F) {
	f.Add("refs/heads/main")
	f.Add("refs/heads/../x")
	f.Fuzz(func(t *testing.T, name string) {
		if validRef(name) && (!filepath.IsLocal(name) || !strings.HasPrefix(filepath.ToSlash(filepath.Clean(name)), "refs/")) {
			t.Errorf("%q leaves the directory of refs", name)
		}
	})
}
