package apply

import (
	"encoding/base64"
	"encoding/json"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/agent-airlock/airlock/internal/githubtest"
	"github.com/agent-airlock/airlock/internal/policy"
	"github.com/agent-airlock/airlock/internal/policy/tree"
	"github.com/agent-airlock/airlock/internal/shorttest"
)

// TestChangesAreCheckedAgainstTheRules asserts that nothing is pushed that breaks a rule,
// and that the patch is kept, except in a dry run.
func TestChangesAreCheckedAgainstTheRules(t *testing.T) {
	t.Parallel()
	for _, tt := range shorttest.First(2, []struct {
		name   string
		make   func(b *codeBench)
		policy func(*policy.ChangeSettings)
		rule   string
	}{
		{"workflow", func(b *codeBench) { b.write(map[string]string{".github/workflows/x.yml": "on: push\n"}) }, nil, tree.RuleProtected},
		{"upper case", func(b *codeBench) { b.write(map[string]string{".GitHub/workflows/x.yml": "on: push\n"}) }, nil, tree.RuleProtected},
		{"quoted path", func(b *codeBench) { b.write(map[string]string{".github/\"ä\n.yml": "on: push\n"}) }, nil, tree.RulePath},
		{"not allowed", func(b *codeBench) { b.write(map[string]string{"x.txt": "x"}) }, func(s *policy.ChangeSettings) { s.Files.Allowed = []string{"docs/**"} }, tree.RuleAllowedFiles},
		{"renamed away", func(b *codeBench) {
			if err := os.Rename(filepath.Join(b.dir, "src", "main.go"), filepath.Join(b.dir, "docs", "main.go")); err != nil {
				b.t.Fatal(err)
			}
		}, func(s *policy.ChangeSettings) { s.Files.Allowed = []string{"docs/**"} }, tree.RuleAllowedFiles},
		{"link out", func(b *codeBench) {
			if err := os.Symlink("../../etc/passwd", filepath.Join(b.dir, "docs", "link")); err != nil {
				b.t.Fatal(err)
			}
		}, nil, tree.RuleLink},
		{"too many", func(b *codeBench) { b.write(map[string]string{"a": "1", "b": "2"}) }, func(s *policy.ChangeSettings) { s.Files.MaxFiles = 1 }, tree.RuleMaxFiles},
		{"too much", func(b *codeBench) { b.write(map[string]string{"a": strings.Repeat("x\n", 2000)}) }, func(s *policy.ChangeSettings) { s.Files.MaxSizeKB = 1 }, tree.RuleMaxSize},
		{"submodule", func(b *codeBench) {
			b.sh(b.dir, "update-index", "--add", "--cacheinfo", "160000,"+b.base+",sub")
			b.sh(b.dir, "commit", "-qm", "Add a submodule")
		}, nil, tree.RuleSubmodule},
	}) {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			b := newCodeBench(t)
			if tt.policy != nil {
				b.pull(tt.policy)
			}
			tt.make(b)
			r := b.run(aPull)
			want(t, r, "denied("+tt.rule+")")
			if w := b.srv.Writes(); len(w) != 0 {
				t.Errorf("writes: %s", operations(w))
			}
			if !strings.HasPrefix(r[0].Message, "nothing was pushed: ") || r[0].File == "" {
				t.Errorf("%q, the patch in %q", r[0].Message, r[0].File)
			}
			clear(b.files)
			b.cfg.DryRun = true
			want(t, b.run(aPull), "denied("+tt.rule+")")
			if len(b.files) != 0 {
				t.Errorf("a dry run keeps %d files", len(b.files))
			}
		})
	}
}

// TestViolationBecomesAnIssue asserts that an issue reports refused changes if the owner wants
// one, and that a second attempt does not open another.
func TestViolationBecomesAnIssue(t *testing.T) {
	t.Parallel()
	b := newCodeBench(t)
	b.pull(func(s *policy.ChangeSettings) { s.OnViolation = policy.ViolationIssue })
	b.write(map[string]string{".github/workflows/x.yml": "on: push\n", "latin.txt": "caf\xe9 na\xefve\n"})
	r := b.run(aPull)
	want(t, r, "denied(protected-files)")
	o := r[0].Object
	if o == nil || o.Type != "issue" {
		t.Fatalf("the object is %+v", o)
	}
	if body := b.issue(o.Number).Body; !strings.Contains(body, "+on: push") || !strings.Contains(body, "+caf\uFFFD na\uFFFDve\n") || !strings.Contains(body, "protected-files") || !strings.Contains(body, "It was broken.") {
		t.Errorf("the issue says %s", body)
	}
	b.cfg.Run.Attempt = 2
	b.srv.ResetRequests()
	r = b.run(aPull)
	want(t, r, "denied(protected-files)")
	if w := b.srv.Writes(); len(w) != 0 || r[0].Object == nil {
		t.Errorf("again: %s", operations(w))
	}
}

// fileTexts returns the files that were kept, as text.
func (b *bench) fileTexts() map[string]string {
	files := map[string]string{}
	for name, data := range b.files {
		files[name] = string(data)
	}
	return files
}

// TestSecretsGoNowhere looks for two texts in everything that is written or reported: a known
// secret, as it is and in Base64, and a text that only looks like a secret.
func TestSecretsGoNowhere(t *testing.T) {
	t.Parallel()
	const known = "correct-horse-battery"
	looks := "ghp_" + "R2D2c3poBB8x7y6z5w4v3u2t1s0rQpOnMlKj"
	forms := []string{known, base64.StdEncoding.EncodeToString([]byte(known)), url.QueryEscape("a " + known), looks}
	check := func(t *testing.T, b *codeBench, plan *Plan, r []Result, carriesCode bool) {
		t.Helper()
		want(t, r, "denied(secret)")
		if w := b.srv.Writes(); len(w) != 0 {
			t.Errorf("writes: %s", operations(w))
		}
		files := b.fileTexts()
		shown, err := json.Marshal([]any{plan, r, b.log, files})
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range []string{known, "Y29ycmVjdC1ob3JzZS1iYXR0ZX", looks} {
			if strings.Contains(string(shown), s) {
				t.Errorf("the secret is in %s", shown)
			}
		}
		if !carriesCode {
			if len(b.files) != 0 {
				t.Errorf("files are kept: %d", len(b.files))
			}
			return
		}
		// The work is not lost: the patch is kept without the secret.
		if patch := files[filepath.Base(r[0].File)]; len(files) != 1 || !strings.Contains(patch, "docs/kept.md") || !strings.Contains(patch, "+the work") {
			t.Errorf("%d files, the patch: %s", len(files), patch)
		}
	}
	for i, secret := range forms {
		places := shorttest.Some(3, map[string]func(b *codeBench) string{
			"file": func(b *codeBench) string {
				b.write(map[string]string{"x.txt": "a\nkey " + secret + "\n"})
				return aPull
			},
			"message": func(b *codeBench) string { b.write(map[string]string{"x": "1"}).commit("Add " + secret); return aPull },
			"author": func(b *codeBench) string {
				b.write(map[string]string{"docs/kept.md": "the work\n"}).commit("One\n\ntwo")
				b.sh(b.dir, "commit", "--quiet", "--amend", "--no-edit", "--author", "Ada "+secret+" <ada@example.com>")
				return aPull
			},
			"gone again": func(b *codeBench) string {
				b.write(map[string]string{"x": "key " + secret + "\n"}).commit("One").write(map[string]string{"x": "key\n"}).commit("Two")
				return aPull
			},
			"title": func(b *codeBench) string { return strings.ReplaceAll(aPull, "Mend the demo", "Mend "+secret) },
			"branch": func(b *codeBench) string {
				return strings.ReplaceAll(aPull, `"title"`, `"branch":"x/`+secret+`","title"`)
			},
			"issue": func(b *codeBench) string {
				return line(map[string]any{"type": "create-issue", "title": "T", "body": "a `" + secret + "`"})
			},
			"report": func(b *codeBench) string {
				return line(map[string]any{"type": "create-security-report", "file": "a.go", "line": 1, "severity": "error", "message": "Found " + secret})
			},
		})
		for k, name := range slices.Sorted(maps.Keys(places)) {
			if k%len(forms) != i && !everyCombination() {
				continue
			}
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				b := newCodeBench(t)
				b.write(map[string]string{"docs/kept.md": "the work\n"})
				item := places[name](b)
				plan := b.plan(item)
				check(t, b, plan, execute(t.Context(), b.deps, plan), strings.Contains(item, "create-pull-request"))
			})
		}
	}
	t.Run("was there before", func(t *testing.T) {
		t.Parallel()
		b := newCodeBench(t)
		b.checkout(b.git.Commit("main", map[string]string{"old": "key " + known + "\nrest\n"}, "Long ago"))
		b.write(map[string]string{"old": "key " + known + "\nmended\n"})
		want(t, b.run(aPull), "applied")
	})
}

// TestNamesOfFilesShowNoSecret asserts that notes, refusals, plans and texts do not show a secret
// that is part of a file's name or, in the last case, of a line that the changes remove.
func TestNamesOfFilesShowNoSecret(t *testing.T) {
	t.Parallel()
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
			t.Parallel()
			b := newCodeBench(t)
			b.pull(func(s *policy.ChangeSettings) { s.OnViolation = policy.ViolationIssue })
			prepare(b)
			plan := b.plan(aPull, anIssue)
			r := execute(t.Context(), b.deps, plan)
			if n := Count(r); n[Applied] != 1 || n[Denied]+n[Failed] != 1 {
				t.Errorf("got %s", states(r))
			}
			shown, err := json.Marshal([]any{plan, r, b.log, b.fileTexts(), b.texts()})
			if err != nil {
				t.Fatal(err)
			}
			if i := strings.Index(string(shown), known); i >= 0 {
				t.Errorf("the secret is shown: …%s…", shown[max(0, i-200):i+40])
			}
		})
	}
}

// TestIssueOfCodeIsThereOnce asserts that a second attempt does not open the issue that takes the
// place of a pull request again, although GitHub does not list it yet.
func TestIssueOfCodeIsThereOnce(t *testing.T) {
	t.Parallel()
	for name, path := range map[string]string{"violation": ".github/x.yml", "no pull request": "docs/a.md"} {
		b := newCodeBench(t, func(f *githubtest.Fixture) { f.Repo.NoPullsByActions = name == "no pull request" })
		b.pull(func(s *policy.ChangeSettings) { s.OnViolation, s.FallbackIssue = policy.ViolationIssue, true })
		b.write(map[string]string{path: "x\n"})
		b.run(aPull)
		b.srv.SetFault(once("issues/list-for-repo", githubtest.Fault{Hide: 1}))
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
