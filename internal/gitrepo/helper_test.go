//go:build unix

package gitrepo_test

import (
	"os"
	"testing"

	"github.com/agent-airlock/airlock/internal/gitrepo/gittest"
	"github.com/agent-airlock/airlock/internal/shorttest"
)

// sharedDir is for what several tests copy.
var sharedDir string

func TestMain(m *testing.M) {
	shorttest.LeaveOut( // each starts git some dozens of times, or writes much
		"TestObjectsAreOrdinaryFiles", "TestRevisionsAreGits", "TestHostileTrees", "TestPushOfHostileNames", "TestMemoryOfGitIsLimited",
		"TestRevisionsThatNameNothing", "TestRevisionsOfAHostileClone", "TestRevisionsOfAWorktree", "TestPushKeepsTheTokenToItself",
		"TestForgedObjects", "TestPatchMessagesDeceiveNobody", "TestAProcessThatFailsIsReplaced", "TestBlobs",
	)
	shorttest.TempInMemory()
	dir, err := os.MkdirTemp("", "gitrepo-")
	if err != nil {
		panic(err)
	}
	sharedDir = dir
	code := m.Run()
	_ = os.RemoveAll(dir)
	os.Exit(code)
}

// clone is a clone that a test writes with git itself.
type clone struct{ gittest.Clone }

func newClone(t testing.TB, initArgs ...string) clone {
	t.Helper()
	return clone{gittest.New(t, initArgs...)}
}

// fork makes a clone whose two branches, at base and head, follow one root.
func fork(t testing.TB, initArgs ...string) (c clone, root, base, head string) {
	t.Helper()
	c.Clone, root, base, head = gittest.Fork(t, initArgs...)
	return c, root, base, head
}
