//go:build unix

package gitrepo_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agent-airlock/airlock/internal/command"
	"github.com/agent-airlock/airlock/internal/gitrepo"
)

// TestHostileCloneRunsNothing is rule R6: whatever a clone's configuration,
// attributes and hooks, and the environment of this process name, is not run.
func TestHostileCloneRunsNothing(t *testing.T) {
	c, _, base, head := fork(t)
	canary := filepath.Join(t.TempDir(), "canary")
	evil := filepath.Join(t.TempDir(), "evil")
	if err := os.WriteFile(evil, []byte("#!/bin/sh\necho \"$0 $*\" >> "+canary+"\ncat\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	arm(t, c, evil)

	// The corpus is live: a git that trusts the clone runs it.
	trusting(t, c)
	if _, err := os.Stat(canary); err != nil {
		t.Fatalf("the corpus does nothing: %v", err)
	}
	if err := os.Remove(canary); err != nil {
		t.Fatal(err)
	}

	home := t.TempDir()
	if err := os.WriteFile(filepath.Join(home, ".gitconfig"), []byte(hostileConfig(evil)), 0o644); err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]string{
		"HOME": home, "XDG_CONFIG_HOME": home, "GIT_CONFIG_GLOBAL": home + "/.gitconfig", "GIT_CONFIG_SYSTEM": home + "/.gitconfig",
		"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "diff.external", "GIT_CONFIG_VALUE_0": evil, "GIT_CONFIG_PARAMETERS": "'diff.external=" + evil + "'",
		"GIT_EXTERNAL_DIFF": evil, "GIT_SSH_COMMAND": evil, "GIT_PAGER": evil, "PAGER": evil, "GIT_ASKPASS": evil, "GIT_EDITOR": evil,
		"GIT_DIR": c.dir + "/.git", "GIT_EXEC_PATH": filepath.Dir(evil), "GIT_TRACE": canary, "GIT_PROXY_COMMAND": evil, "LD_PRELOAD": "/no/such.so",
	} {
		t.Setenv(name, value)
	}
	r := c.open()
	if _, err := r.Diff(t.Context(), base, head); err != nil {
		t.Error(err)
	}
	if _, err := r.Files(t.Context(), head, []string{"a.txt", ".gitattributes"}, 1000); err != nil {
		t.Error(err)
	}
	if _, err := r.Has(t.Context(), head); err != nil {
		t.Error(err)
	}
	if refs, err := c.locate().Refs(); err != nil || len(refs) == 0 {
		t.Errorf("%v, %v", refs, err)
	}
	if data, err := os.ReadFile(canary); err == nil {
		t.Errorf("the clone ran:\n%s", data)
	}
}

// hostileConfig names a program wherever git's configuration can.
func hostileConfig(evil string) string {
	return strings.ReplaceAll(`[core]
	fsmonitor = EVIL
	hooksPath = HOOKS
	sshCommand = EVIL
	pager = EVIL
	editor = EVIL
	askPass = EVIL
	gitProxy = EVIL
	alternateRefsCommand = EVIL
	attributesFile = ATTRIBUTES
[diff]
	external = EVIL
[diff "evil"]
	command = EVIL
	textconv = EVIL
[filter "evil"]
	clean = EVIL
	smudge = EVIL
	process = EVIL
	required = true
[merge "evil"]
	driver = EVIL
[credential]
	helper = !EVIL
[gpg]
	program = EVIL
[log]
	showSignature = true
[interactive]
	diffFilter = EVIL
[uploadpack]
	packObjectsHook = EVIL
[url "ext::EVIL "]
	insteadOf = https://
[protocol "ext"]
	allow = always
[alias]
	diff-tree = !EVIL
	cat-file = !EVIL
[pager]
	diff-tree = EVIL
	cat-file = EVIL
[remote "origin"]
	url = ext::EVIL
	promisor = true
	partialclonefilter = blob:none
	uploadpack = EVIL
[extensions]
	partialClone = origin
`, "EVIL", evil)
}

// arm makes the clone hostile.
func arm(t *testing.T, c clone, evil string) {
	t.Helper()
	attributes := "* diff=evil filter=evil merge=evil textconv=evil\n"
	hooks := filepath.Join(c.dir, ".git", "hooks")
	config := strings.NewReplacer("HOOKS", hooks, "ATTRIBUTES", c.dir+"/.gitattributes").Replace(hostileConfig(evil))
	c.write(".gitattributes", attributes)
	c.write("a.txt", "dirty\n")
	c.write(".git/info/attributes", attributes)
	c.write(".git/evil.inc", config)
	c.write(".git/config", "[core]\n\trepositoryformatversion = 1\n[include]\n\tpath = evil.inc\n[includeIf \"gitdir:/\"]\n\tpath = evil.inc\n"+config)
	c.write(".git/config.worktree", config)
	for _, hook := range []string{"post-checkout", "pre-commit", "post-index-change", "reference-transaction", "fsmonitor-watchman", "pre-auto-gc"} {
		data, err := os.ReadFile(evil)
		if err != nil {
			t.Fatal(err)
		}
		c.write(".git/hooks/"+hook, string(data))
		if err := os.Chmod(filepath.Join(hooks, hook), 0o755); err != nil {
			t.Fatal(err)
		}
	}
}

// trusting runs what an unwary tool would.
func trusting(t *testing.T, c clone) {
	t.Helper()
	for _, args := range [][]string{{"status"}, {"diff"}, {"diff", "main", "topic"}} {
		_, err := command.Run(t.Context(), command.Spec{Program: "git", Args: args, Dir: c.dir, Env: []string{"PATH=" + gitrepo.DefaultPath, "HOME=" + t.TempDir()}})
		if err != nil {
			t.Fatal(err)
		}
	}
}
