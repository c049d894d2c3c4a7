//go:build unix

package gitrepo_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/agent-airlock/airlock/internal/gitrepo"
)

func TestCommit(t *testing.T) {
	t.Parallel()
	c := newClone(t)
	root := c.Commit("root")
	c.Git("checkout", "-q", "-b", "side")
	side := c.Commit("side")
	c.Git("checkout", "-q", "main")
	main := c.Commit("main")
	merge := c.Git("commit-tree", "-p", main, "-p", side, "-m", "Join\n\ntwo lines", "HEAD^{tree}")
	latin := c.Git("-c", "i18n.commitEncoding=ISO-8859-1", "commit-tree", "-p", root, "-m", "Gr\xfc\xdfe", "HEAD^{tree}")
	raw := strings.TrimSpace(c.GitFed(strings.ReplaceAll(c.GitFed("", "cat-file", "commit", main), "main", "not \xff UTF-8"), "hash-object", "-t", "commit", "-w", "--stdin"))
	r := c.Open()

	got, err := r.Commit(t.Context(), merge)
	if err != nil || got.Message != "Join\n\ntwo lines\n" || got.Author != (gitrepo.Person{Name: "a", Email: "a@example.com"}) ||
		!got.When.Equal(time.Unix(1700000000, 0)) || !slices.Equal(got.Parents, []string{main, side}) || got.Tree != c.Git("rev-parse", "HEAD^{tree}") {
		t.Errorf("the merge is %+v, %v", got, err)
	}
	if got, err := r.Commit(t.Context(), latin); got.Message != "Grüße\n" || err != nil {
		t.Errorf("Latin-1: %q, %v", got.Message, err)
	}
	if got, err := r.Commit(t.Context(), raw); got.Message != "not \uFFFD UTF-8\n" || err != nil {
		t.Errorf("invalid: %q, %v", got.Message, err)
	}
	if _, err := r.Commit(t.Context(), strings.Repeat("1", 40)); !errors.Is(err, gitrepo.ErrMissing) {
		t.Errorf("a missing commit: %v", err)
	}
	for _, bad := range []string{"", "HEAD", "main", "--all", root[:7], got.Tree} {
		if _, err := r.Commit(t.Context(), bad); err == nil {
			t.Errorf("%q is read as a commit", bad)
		}
	}
}

func TestBlob(t *testing.T) {
	t.Parallel()
	c := newClone(t)
	c.Write("f", "0123456789")
	commit := c.Commit("f")
	oid := c.Git("rev-parse", "HEAD:f")
	r := c.Open()
	if data, err := r.Blob(t.Context(), oid, 10); string(data) != "0123456789" || err != nil {
		t.Errorf("Blob = %q, %v", data, err)
	}
	if _, err := r.Blob(t.Context(), oid, 9); !errors.Is(err, gitrepo.ErrTooLarge) {
		t.Errorf("over the limit: %v", err)
	}
	if _, err := r.Blob(t.Context(), commit, 1<<20); err == nil {
		t.Error("a commit is read as a file")
	}
	if _, err := r.Blob(t.Context(), strings.Repeat("1", 40), 10); err == nil {
		t.Error("what is missing is read")
	}
}

// TestBlobs asserts that contents come in the order in which their ids were given, whatever their
// total size, and that an error about one file does not affect the others.
func TestBlobs(t *testing.T) {
	t.Parallel()
	c := newClone(t)
	large := strings.Repeat("0123456789abcdef", 600<<10) // two of them are more than one batch
	contents := []string{"a", large + "1", "b", "a", large + "2", "", large + "over the limit", "a", large + "1"}
	limit := int64(len(large) + 1)
	var oids []string
	for _, content := range contents {
		oids = append(oids, strings.TrimSpace(c.GitFed(content, "hash-object", "-w", "--stdin")))
	}
	missing, commit := strings.Repeat("1", 40), c.Commit("no file")
	r := c.Open()
	i := 0
	for data, err := range r.Blobs(t.Context(), slices.Concat(oids, []string{missing, commit, oids[0]}), limit) {
		switch {
		case i < len(contents) && int64(len(contents[i])) > limit:
			if !errors.Is(err, gitrepo.ErrTooLarge) {
				t.Errorf("file %d: %v", i, err)
			}
		case i == len(contents) || i == len(contents)+1:
			if err == nil {
				t.Errorf("what is missing, or a commit, is read as a file")
			}
		case err != nil || string(data) != slices.Concat(contents, []string{"", "", "a"})[i]:
			t.Errorf("file %d has %d bytes, %v", i, len(data), err)
		}
		i++
	}
	if i != len(contents)+3 {
		t.Errorf("%d answers", i)
	}
	var refused []error
	for _, err := range r.Blobs(t.Context(), []string{"HEAD"}, limit) {
		refused = append(refused, err)
	}
	if len(refused) != 1 || refused[0] == nil {
		t.Errorf("HEAD is read as an id: %v", refused)
	}
	for range r.Blobs(t.Context(), nil, limit) {
		t.Error("an answer to no question")
	}
}

func TestWhatIsReadIsWhatTheIdStandsFor(t *testing.T) {
	t.Parallel()
	c := newClone(t)
	c.Write("f", "harmless")
	c.Write("dir/f", "also")
	harmless := c.Commit("harmless")
	c.Write(".github/workflows/x.yml", "on: push")
	c.Write("dir/f", "not harmless")
	evil := c.Commit("evil")
	tree := func(commit string) string { return c.Git("rev-parse", commit+"^{tree}") }
	evilTree, harmlessTree, blob, other := tree(evil), tree(harmless), c.Git("rev-parse", evil+":dir/f"), c.Git("rev-parse", harmless+":dir/f")

	c.forge(evilTree, c.loose(harmlessTree))
	c.forge(blob, c.loose(other))
	r := c.Open()
	if changes, err := r.TreeChanges(t.Context(), harmless, evil); !errors.Is(err, gitrepo.ErrForged) {
		t.Errorf("a replaced tree: %v, %v", changes, err)
	}
	if paths, _, err := r.TreePaths(t.Context(), evil); !errors.Is(err, gitrepo.ErrForged) {
		t.Errorf("paths of a replaced tree: %v, %v", paths, err)
	}
	if data, err := r.Blob(t.Context(), blob, 1<<10); !errors.Is(err, gitrepo.ErrForged) {
		t.Errorf("a replaced file: %q, %v", data, err)
	}
	c.forge(evil, c.loose(harmless))
	if got, err := c.Open().Commit(t.Context(), evil); !errors.Is(err, gitrepo.ErrForged) {
		t.Errorf("a replaced commit: %v, %v", got, err)
	}
}
