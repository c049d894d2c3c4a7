//go:build unix

package gitrepo_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/agent-airlock/airlock/internal/gitrepo/gittest"
)

// TestHostileCloneRunsNothing tests rule R6 of docs/security.md: nothing is run that is named by the
// clone's configuration, attributes or hooks, or by this process's environment.
func TestHostileCloneRunsNothing(t *testing.T) {
	c, _, base, head := fork(t)
	canary := filepath.Join(t.TempDir(), "canary")
	evil := filepath.Join(t.TempDir(), "evil")
	if err := os.WriteFile(evil, []byte("#!/bin/sh\necho \"$0 $*\" >> "+canary+"\ncat\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	c.Arm(evil)

	c.Trust() // git in the clone, as a user runs it, starts evil
	if err := os.Remove(canary); err != nil {
		t.Fatalf("nothing runs evil even where the clone is trusted: %v", err)
	}

	home := t.TempDir()
	if err := os.WriteFile(filepath.Join(home, ".gitconfig"), []byte(gittest.HostileConfig(evil)), 0o644); err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]string{
		"HOME": home, "XDG_CONFIG_HOME": home, "GIT_CONFIG_GLOBAL": home + "/.gitconfig", "GIT_CONFIG_SYSTEM": home + "/.gitconfig",
		"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "diff.external", "GIT_CONFIG_VALUE_0": evil, "GIT_CONFIG_PARAMETERS": "'diff.external=" + evil + "'",
		"GIT_EXTERNAL_DIFF": evil, "GIT_SSH_COMMAND": evil, "GIT_PAGER": evil, "PAGER": evil, "GIT_ASKPASS": evil, "GIT_EDITOR": evil,
		"GIT_DIR": c.Dir + "/.git", "GIT_EXEC_PATH": filepath.Dir(evil), "GIT_TRACE": canary, "GIT_PROXY_COMMAND": evil, "LD_PRELOAD": "/no/such.so",
	} {
		t.Setenv(name, value)
	}
	r := c.Open()
	if _, err := r.Diff(t.Context(), base, head); err != nil {
		t.Error(err)
	}
	if _, err := r.Files(t.Context(), head, []string{"a.txt", ".gitattributes"}, 1000); err != nil {
		t.Error(err)
	}
	if _, err := r.Has(t.Context(), head); err != nil {
		t.Error(err)
	}
	if oid, err := c.Locate().Resolve("refs/heads/topic"); err != nil || oid != head {
		t.Errorf("%s, %v", oid, err)
	}
	if data, err := os.ReadFile(canary); err == nil {
		t.Errorf("the clone ran:\n%s", data)
	}
}
