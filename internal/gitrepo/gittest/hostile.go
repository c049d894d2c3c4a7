//go:build unix

package gittest

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/agent-airlock/airlock/internal/command"
	"github.com/agent-airlock/airlock/internal/gitrepo"
)

// HostileConfig returns a configuration of git that names the program evil wherever it can. In it HOOKS
// and ATTRIBUTES stand for the paths of hooks and of a file of attributes.
func HostileConfig(evil string) string {
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

// Arm makes the clone hostile: it names the program evil wherever it can.
func (c Clone) Arm(evil string) {
	c.T.Helper()
	attributes := "* diff=evil filter=evil merge=evil textconv=evil\n"
	hooks := filepath.Join(c.Dir, ".git", "hooks")
	config := strings.NewReplacer("HOOKS", hooks, "ATTRIBUTES", c.Dir+"/.gitattributes").Replace(HostileConfig(evil))
	c.Write(".gitattributes", attributes)
	c.Write("a.txt", "dirty\n")
	c.Write(".git/info/attributes", attributes)
	c.Write(".git/evil.inc", config)
	c.Write(".git/config", "[core]\n\trepositoryformatversion = 1\n[include]\n\tpath = evil.inc\n[includeIf \"gitdir:/\"]\n\tpath = evil.inc\n"+config)
	c.Write(".git/config.worktree", config)
	for _, hook := range []string{"post-checkout", "pre-commit", "post-index-change", "reference-transaction", "fsmonitor-watchman", "pre-auto-gc"} {
		data, err := os.ReadFile(evil)
		if err != nil {
			c.T.Fatal(err)
		}
		c.Write(".git/hooks/"+hook, string(data))
		if err := os.Chmod(filepath.Join(hooks, hook), 0o755); err != nil {
			c.T.Fatal(err)
		}
	}
}

// Trust runs what an unwary tool would.
func (c Clone) Trust() {
	c.T.Helper()
	for _, args := range [][]string{{"status"}, {"diff"}, {"diff", "main", "topic"}} {
		_, err := command.Run(c.T.Context(), command.Spec{Program: "git", Args: args, Dir: c.Dir, Env: []string{"PATH=" + gitrepo.DefaultPath, "HOME=" + c.T.TempDir()}})
		if err != nil {
			c.T.Fatal(err)
		}
	}
}
