package main_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// newCodeWorkspace is a step's surroundings on a runner that has checked out the
// head of the event's pull request, with what an agent left there.
func newCodeWorkspace(t *testing.T, h hosted, lines string, files map[string]string) workspace {
	t.Helper()
	ws := newWorkspace(t, nil)
	ws.dir = h.checkout(t, "changes")
	for name, text := range files {
		h.write(t, ws.dir, name, text)
	}
	git(t, ws.dir, "add", "-A")
	git(t, ws.dir, "commit", "--quiet", "-m", "Do what was asked for")
	h.write(t, ws.dir, "lines.ndjson", lines) // not committed, and no change
	return ws
}

// TestActionCode opens a pull request and pushes to the event's, and tells later
// steps and people where.
func TestActionCode(t *testing.T) {
	t.Parallel()
	h := newHosted(t)
	ws := newCodeWorkspace(t, h, askedPull+askedPush, map[string]string{"docs/new.md": "New.\n"})
	res := run(t, ws.dir, ws.env(h.env(t), map[string]string{"output-file": "lines.ndjson", "config": bothCodeKinds}), "", "action")
	if res.code != 0 {
		t.Fatalf("exit code %d\n%s%s", res.code, res.stdout, res.stderr)
	}
	assertOwnCommands(t, res.stdout, secret)
	pull := h.server.State().Issues[2]
	branch := pull.Pull.Head.Ref
	out := ws.outputs(t)
	for name, want := range map[string]string{
		"applied": "2", "failed": "0", "pull-request-number": "3", "pull-request-url": "https://github.com/Codertocat/Hello-World/pull/3",
		"branch": branch, "commit-sha": h.git.SHA(branch), "patch-file": "",
	} {
		if out[name] != want {
			t.Errorf("output %s is %q, want %q", name, out[name], want)
		}
	}
	for _, b := range []string{branch, "changes"} {
		if got := h.git.Run("diff", "--name-status", b+"~1", b); got != "A\tdocs/new.md" {
			t.Errorf("%s changes\n%s", b, got)
		}
	}
	summary := ws.read(t, ws.summary)
	for _, want := range []string{
		"## Airlock: all 2 requests done", "[pull request #3](https://github.com/Codertocat/Hello-World/pull/3)",
		"on `changes`", "[commit " + h.git.SHA("changes")[:7] + "](https://github.com/Codertocat/Hello-World/commit/" + h.git.SHA("changes") + ")",
	} {
		if !strings.Contains(summary, want) {
			t.Errorf("the summary lacks %q:\n%s", want, summary)
		}
	}
}

// TestActionCodeRefused keeps what the policy denies as a patch that people find.
func TestActionCodeRefused(t *testing.T) {
	t.Parallel()
	h := newHosted(t)
	ws := newCodeWorkspace(t, h, askedPull, map[string]string{"docs/new.md": "New.\n", ".github/workflows/x.yml": "on: push\n"})
	res := run(t, ws.dir, ws.env(h.env(t), map[string]string{"output-file": "lines.ndjson", "config": bothCodeKinds}), "", "action")
	if res.code != 0 || len(h.server.Writes()) != 0 {
		t.Errorf("exit code %d, %d writes:\n%s%s", res.code, len(h.server.Writes()), res.stdout, res.stderr)
	}
	out := ws.outputs(t)
	if out["denied"] != "1" || out["branch"] != "" || !strings.HasPrefix(out["patch-file"], ".airlock/airlock-") {
		t.Errorf("outputs: %q", out)
	}
	patch := filepath.Join(ws.dir, out["patch-file"])
	if text := ws.read(t, patch); !strings.Contains(text, "+++ b/.github/workflows/x.yml") || !strings.Contains(text, "+++ b/docs/new.md") {
		t.Errorf("the patch holds\n%s", text)
	}
	if summary := ws.read(t, ws.summary); !strings.Contains(summary, "`"+out["patch-file"]+"`") || !strings.Contains(summary, "**protected-files**: nothing was pushed: \".github/workflows/x.yml\" is protected") {
		t.Errorf("the summary:\n%s", summary)
	}
	if !strings.Contains(res.stdout, "::warning title=Airlock denied create-pull-request (line 1)::") {
		t.Errorf("no annotation:\n%s", res.stdout)
	}
	git(t, ws.dir, "checkout", "--quiet", h.start) // the patch serves a person
	git(t, ws.dir, "am", "--quiet", "--3way", patch)
}

// TestActionSecrets finds a value of the agent's job in its changes: nothing is
// pushed, and the value appears nowhere.
func TestActionSecrets(t *testing.T) {
	t.Parallel()
	const known, other = "correct horse battery staple", "tr0ub4dor&3-tr0ub4dor"
	for _, tt := range []struct {
		name string
		file string
	}{
		{"as it is", "key = " + known + "\n"},
		{"in base64", "key = dHIwdWI0ZG9yJjMtdHIwdWI0ZG9y\n"},
		{"in an address", "https://example.com/?key=tr0ub4dor%263-tr0ub4dor\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			h := newHosted(t)
			ws := newCodeWorkspace(t, h, askedPull+`{"type": "create-issue", "title": "Key", "body": "It is `+known+`"}`+"\n", map[string]string{"docs/new.md": tt.file})
			res := run(t, ws.dir, ws.env(h.env(t), map[string]string{
				"output-file": "lines.ndjson", "config": bothCodeKinds + "create-issue:\n", "secrets": known + "\n" + other + "\n",
			}), "", "action")
			if len(h.server.Writes()) != 0 {
				t.Errorf("%d writes", len(h.server.Writes()))
			}
			for _, v := range []string{known, other} {
				if !strings.Contains(res.stdout, "::add-mask::"+v+"\n") {
					t.Errorf("the runner is not told to mask %q", v)
				}
			}
			if out := ws.outputs(t); out["denied"] != "2" || out["patch-file"] != "" {
				t.Errorf("outputs: %q", out)
			}
			if !strings.Contains(ws.read(t, ws.summary), "**secret**") {
				t.Errorf("the summary:\n%s", ws.read(t, ws.summary))
			}
			shown := []string{withoutMasks(res.stdout), res.stderr, ws.read(t, ws.summary), ws.read(t, ws.output)}
			left, err := os.ReadDir(filepath.Join(ws.dir, ".airlock"))
			if err != nil || len(left) == 0 {
				t.Fatalf("the step's files: %v, %v", left, err)
			}
			for _, f := range left {
				if f.Name() == "agent-output.json" {
					continue // the agent's own words, on their way to the gate that denies them
				}
				shown = append(shown, ws.read(t, filepath.Join(ws.dir, ".airlock", f.Name())))
			}
			for i, text := range shown {
				for _, form := range secretForms(known, other) {
					if strings.Contains(text, form) {
						t.Errorf("text %d shows a secret as %q:\n%s", i, form, text)
					}
				}
			}
		})
	}
}

// TestSecretsOfTheCommandLine takes the values from AIRLOCK_SECRETS.
func TestSecretsOfTheCommandLine(t *testing.T) {
	t.Parallel()
	const known = "correct horse battery staple"
	s := newCodeStep(t, askedPush)
	s.write(t, s.work, "docs/new.md", "It is "+known+".\n")
	s.env = []string{"AIRLOCK_SECRETS=another value\n" + known}
	res := s.run()
	assertSays(t, res, 1, "denied (secret): nothing was pushed: the file \"docs/new.md\" contains a secret in line 1, column 7")
	if len(s.server.Writes()) != 0 || strings.Contains(res.stderr+res.stdout, known) {
		t.Errorf("%d writes\n%s", len(s.server.Writes()), res.stderr)
	}
}
