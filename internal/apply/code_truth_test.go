package apply

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agent-airlock/airlock/internal/githubtest"
	"github.com/agent-airlock/airlock/internal/policy"
)

// TestNamesOfFilesShowNoSecret in notes, refusals, plans and texts.
func TestNamesOfFilesShowNoSecret(t *testing.T) {
	const known = "correct-horse-battery"
	for name, prepare := range map[string]func(b *codeBench){
		"conflict": func(b *codeBench) {
			b.checkout(b.git.Commit("main", map[string]string{known: "one\n"}, "Long ago"))
			b.write(map[string]string{known: "two\n"})
			b.git.Commit("main", map[string]string{known: "three\n"}, "Elsewhere")
		},
		"refused path": func(b *codeBench) { b.write(map[string]string{".github/" + known: "x"}) },
		"left out": func(b *codeBench) {
			if err := os.MkdirAll(filepath.Join(b.dir, known, "nested"), 0o755); err != nil {
				b.t.Fatal(err)
			}
			b.sh(filepath.Join(b.dir, known, "nested"), "init", "-q")
			b.write(map[string]string{known + "/nested/x": "x", ".github/x": "x"})
			b.sh(filepath.Join(b.dir, known, "nested"), "add", ".")
			b.sh(filepath.Join(b.dir, known, "nested"), "commit", "-qm", "x")
		},
		"taken away": func(b *codeBench) {
			b.checkout(b.git.Commit("main", map[string]string{"old": "key " + known + "\n"}, "Long ago"))
			b.write(map[string]string{"old": "key\n", ".github/x": "x"})
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := newCodeBench(t)
			b.pull(func(s *policy.ChangeSettings) { s.OnViolation = policy.ViolationIssue })
			prepare(b)
			plan := b.plan(aPull, anIssue)
			r := Execute(t.Context(), b.world, plan)
			if n := Count(r); n[Applied] != 1 || n[Denied]+n[Failed] != 1 {
				t.Errorf("got %s", states(r))
			}
			files := map[string]string{}
			for name, data := range b.files {
				files[name] = string(data)
			}
			var shown strings.Builder
			enc := json.NewEncoder(&shown)
			if err := enc.Encode([]any{plan, r, b.log, files, b.texts()}); err != nil {
				t.Fatal(err)
			}
			if i := strings.Index(shown.String(), known); i >= 0 {
				t.Errorf("the secret is shown: …%s…", shown.String()[max(0, i-200):i+40])
			}
		})
	}
}

// TestFileTooLargeToBeRead is denied by the rule that it breaks, or since nobody
// can look into it.
func TestFileTooLargeToBeRead(t *testing.T) {
	for limit, state := range map[int]string{0: "denied(max-patch-size)", 1 << 20: "denied(secret)"} {
		b := newCodeBench(t)
		b.pull(func(s *policy.ChangeSettings) { s.Files.MaxSizeKB = limit })
		b.write(map[string]string{"large": strings.Repeat("many words\n", maxScanned/11+1)})
		r := b.run(aPull)
		want(t, r, state)
		if w := b.srv.Writes(); len(w) != 0 || r[0].File != "" {
			t.Errorf("writes: %s, kept %q", operations(w), r[0].File)
		}
	}
}

// TestLostCodeIsKnownBeforehand: the plan's texts carry the note already, so that
// what a dry run shows is what would be written.
func TestLostCodeIsKnownBeforehand(t *testing.T) {
	for name, item := range map[string]string{"secret": strings.ReplaceAll(aPull, "broken", "correct-horse-battery"), "violation": aPull} {
		b := newCodeBench(t)
		b.cfg.DryRun = true
		b.pull(func(s *policy.ChangeSettings) { s.OnViolation = policy.ViolationIssue })
		b.write(map[string]string{".github/x.yml": "x"})
		ops := b.plan(item, anIssue).Operations
		if body := string(ops[len(ops)-1].Requests[0].Body); !strings.Contains(body, "were not delivered") {
			t.Errorf("%s: %s", name, body)
		}
	}
}

// TestIssueOfCodeIsThereOnce although GitHub lists it late: the attempt that wrote
// it was killed right after.
func TestIssueOfCodeIsThereOnce(t *testing.T) {
	for name, path := range map[string]string{"violation": ".github/x.yml", "no pull request": "docs/a.md"} {
		b := newCodeBench(t, func(f *githubtest.Fixture) { f.Repo.NoPullsByActions = name == "no pull request" })
		b.pull(func(s *policy.ChangeSettings) { s.OnViolation, s.FallbackIssue = policy.ViolationIssue, true })
		b.write(map[string]string{path: "x\n"})
		b.run(aPull)
		hidden := true
		b.srv.SetFault(func(r githubtest.Request) githubtest.Fault {
			if r.Operation == "issues/list-for-repo" && hidden {
				hidden = false
				return githubtest.Fault{Hide: 1}
			}
			return githubtest.Fault{}
		})
		b.cfg.Run.Attempt = 2
		b.run(aPull)
		var bodies []string
		for _, i := range b.srv.State().Issues {
			if i.Title == "Mend the demo" {
				bodies = append(bodies, i.Body)
			}
		}
		if len(bodies) != 1 || strings.Count(bodies[0], "posted by Airlock") != 1 {
			t.Errorf("%s: %d issues: %q", name, len(bodies), bodies)
		}
	}
}

// TestFetchFaults: what git fetches is asked for again, as the API's reads are.
func TestFetchFaults(t *testing.T) {
	for times, state := range map[int]string{1: "applied applied", 99: "failed(unreachable) applied"} {
		b := newCodeBench(t)
		b.write(map[string]string{"docs/a.md": "1\n"})
		b.git.Commit("main", map[string]string{"other.txt": "other\n"}, "Move on")
		left := times
		b.srv.SetFault(func(r githubtest.Request) githubtest.Fault {
			if r.Operation != "git-http/upload-pack" || left == 0 {
				return githubtest.Fault{}
			}
			left--
			return githubtest.Fault{Status: 502}
		})
		want(t, b.run(aPull, anIssue), state)
	}
}

// TestMessagesSwitchNoWorkflowsOff, also not the title, which a merge puts into one.
func TestMessagesSwitchNoWorkflowsOff(t *testing.T) {
	b := newCodeBench(t)
	b.write(map[string]string{"docs/a.md": "1\n"})
	want(t, b.run(strings.ReplaceAll(aPull, "Mend the demo", "Mend the demo [skip ci]")), "applied")
	if got := b.pulls()[0].Title; got != "Mend the demo (skip ci)" {
		t.Errorf("the title is %q", got)
	}
}

// TestHalfDoneIsSaid tells what of an item is there although it failed.
func TestHalfDoneIsSaid(t *testing.T) {
	b := newCodeBench(t)
	b.write(map[string]string{"docs/a.md": "1\n"})
	want(t, b.run(aPull), "applied")
	b.nextRun()
	b.write(map[string]string{"docs/a.md": "2\n"})
	b.srv.SetFault(githubtest.Faults([]githubtest.FaultRule{{Operation: "pulls/update", Fault: githubtest.Fault{Status: 403}}}))
	r := b.run(strings.ReplaceAll(aPull, "Mend the demo", "Mend it better"))
	want(t, r, "failed(permission)")
	if o := r[0].Object; o == nil || b.file(o.Branch, "docs/a.md") != "2" || !strings.Contains(strings.Join(r[0].Notes, ";"), "was pushed; title and text") {
		t.Errorf("%+v, %q", r[0].Object, r[0].Notes)
	}

	b = newCodeBench(t)
	b.pull(func(s *policy.ChangeSettings) { s.SignedCommits = true })
	b.write(map[string]string{"docs/a.md": "1\n"}).commit("One")
	b.write(map[string]string{"docs/b.md": "2\n"}).commit("Two")
	commits := 0
	b.srv.SetFault(func(r githubtest.Request) githubtest.Fault {
		if r.Operation != "graphql/CreateCommit" {
			return githubtest.Fault{}
		}
		if commits++; commits == 1 {
			return githubtest.Fault{}
		}
		return githubtest.Fault{Status: 403}
	})
	r = b.run(aPull)
	want(t, r, "failed(permission)")
	if !strings.Contains(strings.Join(r[0].Notes, ";"), "some of the commits are on the branch") {
		t.Errorf("notes: %q", r[0].Notes)
	}
	b.srv.SetFault(nil)
	b.cfg.Run.Attempt = 2
	want(t, b.run(aPull), "applied")
	if got := b.git.Run("log", "--format=%s", "main.."+b.pulls()[0].Pull.Head.Ref); got != "Two\nOne" {
		t.Errorf("the commits are %q", got)
	}
}
