//go:build unix

package doors_test

import (
	"errors"
	"testing"

	"github.com/agent-airlock/airlock/internal/doors"
	"github.com/agent-airlock/airlock/internal/event"
	"github.com/agent-airlock/airlock/internal/gitrepo"
	"github.com/agent-airlock/airlock/internal/gitrepo/gittest"
)

// TestResolveCommit asserts that each form of a name leads to the commit, also that of an annotated
// tag, which is an object of its own.
func TestResolveCommit(t *testing.T) {
	t.Parallel()
	c := gittest.New(t)
	c.Write("a.txt", "1\n")
	first := c.Commit("First")
	c.Git("tag", "v1")
	c.Git("tag", "-a", "-m", "annotated", "v1.1")
	c.Git("update-ref", "refs/remotes/origin/topic", first)
	c.Write("a.txt", "2\n")
	second := c.Commit("Second")
	g := doors.OpenLocalGit(t.Context(), c.Dir, "", event.Event{}, func(line string) { t.Error(line) })
	if g == nil {
		t.Fatal("git cannot be used")
	}
	defer g.Close()
	for name, want := range map[string]string{"main": second, "topic": first, "v1": first, "v1.1": first, "main~1": first, first: first} {
		if got, err := g.ResolveCommit(name); err != nil || got != want {
			t.Errorf("%s: %q, %v, want %s", name, got, err, want)
		}
	}
	if got, err := g.ResolveCommit("none"); !errors.Is(err, gitrepo.ErrNoRef) {
		t.Errorf("none: %q, %v", got, err)
	}
}
