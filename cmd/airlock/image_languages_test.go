//go:build image

package main_test

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/tools/txtar"
)

// languageProject is a small project in one of the languages of the checks: the files of the sound
// project, and those that change when it is broken.
type languageProject struct {
	sound, broken map[string]string
	byHand        string // a script that runs the tools themselves, and prints how each ended
}

func readLanguageProject(t *testing.T, file string) languageProject {
	t.Helper()
	archive, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	p := languageProject{sound: map[string]string{}, broken: map[string]string{}}
	for _, f := range archive.Files {
		if f.Name == "by-hand" {
			p.byHand = string(f.Data)
		} else if name, ok := strings.CutPrefix(f.Name, "broken/"); ok {
			p.broken[name] = string(f.Data)
		} else {
			p.sound[f.Name] = string(f.Data)
		}
	}
	return p
}

// verdict is how the formatter, linter and build of a project ended, and how many of its
// tests failed.
type verdict struct {
	Formatter, Linter, Build string
	Failing                  int
}

// install puts into a workspace what an earlier step would have installed there.
func install(t *testing.T, workspace, language string) {
	t.Helper()
	if language != "typescript" {
		return
	}
	for _, name := range []string{"typescript", "prettier"} {
		from := os.DirFS(filepath.Join(os.Getenv("AIRLOCK_NODE_MODULES"), name))
		if err := os.CopyFS(filepath.Join(workspace, "node_modules", name), from); err != nil {
			t.Fatal(err)
		}
	}
	bin := filepath.Join(workspace, "node_modules", ".bin")
	if err := os.Mkdir(bin, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, target := range map[string]string{"tsc": "../typescript/bin/tsc", "prettier": "../prettier/bin/prettier.cjs"} {
		if err := os.Symlink(target, filepath.Join(bin, name)); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(filepath.Join(bin, target), 0o755); err != nil {
			t.Fatal(err)
		}
	}
}

// toolFlags returns flags for `docker run` that let the tools of a project work on this machine,
// too: they find Debian's repository of Maven, and the certificates that Node trusts.
func toolFlags() []string {
	flags := []string{"--volume", "/usr/share/maven-repo:/opt/maven-share/maven-repo:ro", "--volume", "/usr/share/java:/opt/maven-share/java:ro",
		"--volume", "/etc/maven/settings-debian.xml:/opt/maven-share/settings-debian.xml:ro"}
	if os.Getenv("NODE_EXTRA_CA_CERTS") != "" {
		flags = append(flags, "--env", "NODE_EXTRA_CA_CERTS=/etc/ssl/certs/ca-certificates.crt")
	}
	return flags
}

// runByHand runs the tools in the image as a user who works in a copy of the workspace.
func runByHand(t *testing.T, workspace, script string) verdict {
	t.Helper()
	const setUp = `set +e; mkdir /tmp/home && cp -r /usr/local/share/airlock/home/. /tmp/home && cp -r /workspace /tmp/w && cd /tmp/w && rm -rf .git .airlock && export HOME=/tmp/home CI=true
`
	args := append([]string{"run", "--rm", "--network", "host", "--user", "54321:54321", "--volume", workspace + ":/workspace:ro", "--entrypoint", "sh"}, toolFlags()...)
	cmd := exec.CommandContext(t.Context(), docker(), append(args, os.Getenv("AIRLOCK_CHECKS_IMAGE"), "-c", setUp+script)...)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	began := time.Now()
	out, err := cmd.Output()
	t.Logf("by hand: %.1f s", time.Since(began).Seconds())
	if err != nil {
		t.Fatalf("the tools by hand: %v\n%s%s", err, out, stderr.String())
	}
	ended := map[string]int{}
	for line := range strings.Lines(string(out)) {
		what, text, _ := strings.Cut(strings.TrimSpace(line), " ")
		n, err := strconv.Atoi(text)
		if err != nil {
			t.Fatalf("the tools by hand: %q\n%s%s", line, out, stderr.String())
		}
		ended[what] = n
	}
	status := func(what string) string {
		switch code, ran := ended[what]; {
		case !ran:
			return "skipped" // there is nothing to do
		case code == 0:
			return "pass"
		}
		return "fail"
	}
	return verdict{status("formatter"), status("linter"), status("build"), ended["failing"]}
}

// checksOf returns what the step's outputs say of the checks, and the tests' status.
func checksOf(t *testing.T, outputs map[string]string) (v verdict, tests string) {
	t.Helper()
	checks := parse[struct {
		Checks map[string]struct {
			Status  string
			Failing int `json:"failing_count"`
		}
	}](t, outputs["checks"])
	c := checks.Checks
	return verdict{c["formatter"].Status, c["linter"].Status, c["build"].Status, c["tests"].Failing}, c["tests"].Status
}

// TestChecksImageLanguages checks a project of each language in the image, as the runner starts it,
// and compares the result with that of the same tools, run by hand. It checks the sound project in
// mode check, and the broken one in mode all, which also reports the findings. With -short, the
// tools are not run by hand on the sound projects.
func TestChecksImageLanguages(t *testing.T) {
	files, err := filepath.Glob("testdata/languages/*.txtar")
	if err != nil || len(files) < 7 {
		t.Fatalf("%d projects, %v", len(files), err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".txtar")
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := readLanguageProject(t, file)
			h := newHosted(t)
			run := func(mode string, files map[string]string) (*job, result) {
				h.git.Commit("changes", files, "Change")
				j := newJob(t, h.server, "pull_request", "pull_request.opened.json", nil)
				h.start = h.git.SHA("changes")
				writeFile(j.t, filepath.Join(j.workflow, "event.json"), h.event(t))
				j.env["GITHUB_SHA"] = h.start
				h.fill(t, j.workspace, "changes")
				install(t, j.workspace, name)
				writeFile(t, filepath.Join(j.workspace, "lines.ndjson"), `{"type": "noop", "message": "Nothing to do."}`+"\n")
				j.input("mode", mode, "config", "checks:\n  informational: [code-review]\n", "output-file", "lines.ndjson")
				j.image, j.flags = os.Getenv("AIRLOCK_CHECKS_IMAGE"), toolFlags()
				began := time.Now()
				res := j.run()
				t.Logf("mode %s: %.1f s", mode, time.Since(began).Seconds())
				return j, res
			}
			compare := func(j *job, res result, want verdict) {
				got, tests := checksOf(t, j.outputs())
				if got != want || (tests == "fail") != (want.Failing > 0) {
					t.Errorf("the checks say %+v and the tests %s, the tools by hand %+v\n%s%s", got, tests, want, res.stdout, res.stderr)
				}
				j.assertOwned()
			}

			j, res := run("check", p.sound)
			want := verdict{Formatter: "pass", Linter: "pass", Build: "skipped"}
			if strings.Contains(p.byHand, "echo build") {
				want.Build = "pass"
			}
			if !testing.Short() {
				if byHand := runByHand(t, j.workspace, p.byHand); byHand != want {
					t.Errorf("sound: by hand %+v", byHand)
				}
			}
			if compare(j, res, want); res.code != 0 {
				t.Errorf("sound: exit code %d\n%s%s", res.code, res.stdout, res.stderr)
			}
			broken := maps.Clone(p.sound)
			maps.Copy(broken, p.broken)
			j, res = run("all", broken)
			want = runByHand(t, j.workspace, p.byHand)
			if compare(j, res, want); res.code != 1 || want.Failing != 2 {
				t.Errorf("broken: exit code %d, by hand %+v\n%s%s", res.code, want, res.stdout, res.stderr)
			}
			comments := 0
			var bodies []string
			for _, c := range h.server.State().Issues[1].Comments {
				bodies = append(bodies, c.Body)
				if strings.Contains(c.Body, "Airlock checks: ") && strings.Contains(c.Body, "2 failures") {
					comments++
				}
			}
			if comments != 1 {
				t.Errorf("%d comments report it: %q", comments, bodies)
			}
		})
	}
}

// TestChecksImageSize prints what each layer of the image takes, and asserts that they take less
// than 2 GB together.
func TestChecksImageSize(t *testing.T) {
	out, err := exec.CommandContext(t.Context(), docker(), "history", "--human=false", "--no-trunc", "--format", "{{.Size}}\t{{.CreatedBy}}", os.Getenv("AIRLOCK_CHECKS_IMAGE")).Output()
	if err != nil {
		t.Fatal(err)
	}
	var total int64
	for line := range strings.Lines(string(out)) {
		text, what, _ := strings.Cut(strings.TrimSpace(line), "\t")
		size, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		total += size
		if size > 1e6 {
			t.Logf("%6d MB  %.90s", size/1e6, what)
		}
	}
	t.Logf("%6d MB  in all", total/1e6)
	if total >= 2e9 {
		t.Errorf("the image has %d bytes", total)
	}
}

// TestChecksImageNothingMayBeReplaced asserts that an ordinary user can write to nothing in /usr,
// /etc and /opt of the image, from which other users run programs and read caches.
func TestChecksImageNothingMayBeReplaced(t *testing.T) {
	out, err := exec.CommandContext(t.Context(), docker(), "run", "--rm", "--user", "65532:65532", "--entrypoint", "find", os.Getenv("AIRLOCK_CHECKS_IMAGE"),
		"/usr", "/etc", "/opt", "!", "-type", "l", "-writable", "-print", "-o", "-type", "d", "!", "-readable", "-prune").CombinedOutput()
	if err != nil || len(out) > 0 {
		t.Errorf("%v:\n%.2000s", err, out)
	}
}

// TestChecksImageInstallsBunWhole asserts that a command does not run an installation that an
// earlier command left incomplete, for example because of its time limit.
func TestChecksImageInstallsBunWhole(t *testing.T) {
	const script = `mkdir -p /tmp/bin /tmp/app && cd /tmp/app && echo '{"packageManager": "bun@1.2.3"}' >package.json
cat >/tmp/bin/npm <<'END'
#!/bin/sh
case $(uname -m) in aarch64) name=bun-linux-aarch64 ;; *) name=bun-linux-x64-baseline ;; esac
mkdir -p "$3/node_modules/@oven/$name/bin"
{ echo '#!/bin/sh'; [ -e /tmp/ended ] && echo 'echo "bun ran $*"' || echo 'kill -SEGV $$'; } >"$3/node_modules/@oven/$name/bin/bun"
chmod 755 "$3/node_modules/@oven/$name/bin/bun"
[ -e /tmp/ended ] || { touch /tmp/ended; kill -KILL $PPID; }
END
chmod 755 /tmp/bin/npm && export PATH=/tmp/bin:$PATH HOME=/tmp
bun run one
bun run two && bun run three`
	out, err := exec.CommandContext(t.Context(), docker(), "run", "--rm", "--user", "65532:65532", "--entrypoint", "sh", os.Getenv("AIRLOCK_CHECKS_IMAGE"), "-c", script).Output()
	if want := "bun ran run two\nbun ran run three\n"; err != nil || string(out) != want {
		t.Errorf("%v, %q; want %q", err, out, want)
	}
}
