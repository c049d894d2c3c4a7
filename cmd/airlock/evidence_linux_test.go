package main_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// onDisks returns a command that runs a shell script in dir and then the binary, in a mount
// namespace of their own: what the script mounts nobody else sees. finish runs the command.
func onDisks(t *testing.T, dir, script string, stdin string, args ...string) *exec.Cmd {
	t.Helper()
	namespaces := "-rm"
	if os.Geteuid() == 0 { // then the checks run as another user, whom a user namespace would not map
		namespaces = "-m"
	}
	for parent := dir; parent != filepath.Clean(os.TempDir()) && parent != "/"; parent = filepath.Dir(parent) {
		_ = os.Chmod(parent, 0o755) // so that the user of the checks gets there
	}
	cmd := exec.CommandContext(t.Context(), "unshare", append([]string{namespaces, "sh", "-c", script + ` exec "$@"`, "sh", binary}, args...)...)
	cmd.Dir, cmd.Env, cmd.Stdin = dir, []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "TMPDIR=" + t.TempDir(), "USER=u"}, strings.NewReader(stdin)
	return cmd
}

// finish runs a command to its end.
func finish(t *testing.T, cmd *exec.Cmd) result {
	t.Helper()
	var stdout, stderr bytes.Buffer
	if cmd.Stdout == nil {
		cmd.Stdout = &stdout
	}
	cmd.Stderr = &stderr
	if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return result{cmd.ProcessState.ExitCode(), stdout.String(), stderr.String()}
}

const (
	noteRequest = `{"task_id":"t","validation_type":"code","acceptance_criteria":[{"id":"A","description":"d","validation_hint":"notes.md"}]}`
	pageRequest = `{"task_id":"t","validation_type":"browser","acceptance_criteria":[{"id":"A","description":"d","validation_hint":"open the page"}]}`
	pageAnswer  = `{"task_id":"t","verdict":"PASS","timestamp":"2026-02-17T14:30:00Z","criteria_results":[{"criterion_id":"A","status":"PASS","evidence":"seen"}],
		"evidence_collected":{"screenshots":[{"path":"page.png","description":"the page","step":1}]}}`
	mountDisk = "mkdir -p disk && mount -t tmpfs -o size=%s none disk &&"
)

// TestEvidenceThatCannotBeKept asserts that Airlock names the next step for each way in which
// evidence cannot be kept. A directory that cannot be used ends the command before anything has
// run: as wrong usage (2), or as a failure (3) if its disk is full. If a file cannot be kept later,
// the verdict stays the same, unless the browser command fails because of that (1). A link to a
// directory can be used.
func TestEvidenceThatCannotBeKept(t *testing.T) {
	t.Parallel()
	disk := func(size string) string { return strings.Replace(mountDisk, "%s", size, 1) }
	for _, c := range []struct {
		name, script, request string
		args                  []string
		code                  int
		stderr                []string
		stdout                string // part of it; "" for none at all
	}{
		{"a file", "echo kept > ev;", noteRequest, nil, 2, []string{"the evidence directory ev is a file: name a directory"}, ""},
		{"below a file", "echo kept > f;", noteRequest, []string{"--evidence", "f/ev"}, 2, []string{"the evidence directory f/ev cannot be made: not a directory: name one that this user can make, or write to"}, ""},
		{"a link that leads nowhere", "ln -s nowhere ev;", noteRequest, nil, 2, []string{"the evidence directory ev is a link that leads nowhere: name a directory"}, ""},
		{"a link to a file", "echo kept > f; ln -s f ev;", noteRequest, nil, 2, []string{"the evidence directory ev is a file: name a directory"}, ""},
		{"a link to itself", "ln -s ev ev;", noteRequest, nil, 2, []string{"the evidence directory ev cannot be made: ", ": name one that this user can make, or write to"}, ""},
		{"read-only", "mkdir ev && mount -t tmpfs -o ro none ev &&", noteRequest, nil, 2, []string{"the evidence directory ev cannot be written to: read-only file system: let this user write there, or name another"}, ""},
		{"no inode", "mkdir ev && mount -t tmpfs -o nr_inodes=1 none ev &&", noteRequest, nil, 3, []string{"nothing can be written to the evidence directory ev: no space left on device; make room there, and try again"}, ""},
		{"no room for the directory", "mkdir disk && mount -t tmpfs -o nr_inodes=1 none disk &&", noteRequest, []string{"--evidence", "disk/ev"}, 3, []string{"the evidence directory disk/ev cannot be made: no space left on device; make room there, and try again"}, ""},
		{"a link to a directory", "mkdir there && ln -s there ev &&", noteRequest, nil, 0, nil, `"path": "response.json"`},
		{"no room for the response", disk("4k") + "ln -s disk ev &&", noteRequest, nil, 0, []string{"evidence: response.json could not be kept: no space left on device; make room there, and verify again; the verdict does not depend on it"}, `"verdict": "PASS"`},
		{"no room at all", disk("8k") + "head -c 8192 /dev/zero > disk/ballast; ln -s disk ev &&", noteRequest, nil, 0,
			[]string{"evidence: request.json, response.json could not be kept: no space left on device; make room there, and verify again; the verdict does not depend on it"}, `the request; it could not be kept: no space left on device; make room there`},
		{"something in its place", "mkdir -p ev/request.json/x &&", noteRequest, nil, 0, []string{"evidence: request.json could not be kept: directory not empty; name an empty directory, and verify again"}, `"verdict": "PASS"`},
		{"no room for a picture", disk("12k") + "ln -s disk ev &&", pageRequest, []string{"--browser", `head -c 30000 /dev/zero > $AIRLOCK_EVIDENCE_DIR/page.png; cat seen.json`}, 0,
			[]string{"evidence: screenshots/1-page.png could not be kept: no space left on device; make room there, and verify again; the verdict does not depend on it"}, `the page (it could not be kept: no space left on device; make room there, and verify again)`},
		{"no room for the browser command", "mkdir tmp && mount -t tmpfs -o size=4k none tmp && head -c 4096 /dev/zero > tmp/ballast; export TMPDIR=$PWD/tmp;", pageRequest,
			[]string{"--browser", `cat seen.json > $AIRLOCK_EVIDENCE_DIR/page.png && cat seen.json`}, 1, nil, `no space left on device; make room there, and verify again`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			writeFile(t, filepath.Join(dir, "work", "notes.md"), "Usage\n")
			writeFile(t, filepath.Join(dir, "work", "seen.json"), pageAnswer)
			args := []string{"verify", "--request", "-", "--dir", "work"}
			if !strings.Contains(strings.Join(c.args, " "), "--evidence") {
				args = append(args, "--evidence", "ev")
			}
			res := finish(t, onDisks(t, dir, c.script, c.request, append(args, c.args...)...))
			if res.code != c.code || (c.stdout == "") != (res.stdout == "") || !strings.Contains(res.stdout, c.stdout) {
				t.Errorf("exit code %d, want %d\n%s%s", res.code, c.code, res.stdout, res.stderr)
			}
			for _, want := range c.stderr {
				if !strings.Contains(res.stderr, want) {
					t.Errorf("standard error lacks %q:\n%s", want, res.stderr)
				}
			}
			if data, err := os.ReadFile(filepath.Join(dir, "ev")); err == nil && string(data) != "kept\n" {
				t.Errorf("the file in the directory's place has %q", data)
			}
		})
	}
}

// TestEvidenceDirectoryIsRemoved removes the directory while a command runs.
func TestEvidenceDirectoryIsRemoved(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "work", "notes.md"), "Usage\n")
	ev := filepath.Join(dir, "ev")
	request := `{"task_id":"t","validation_type":"code","acceptance_criteria":[{"id":"A","description":"d","validation_hint":"$ while test -d ` + ev + `; do sleep 0.02; done"}]}`
	cmd := onDisks(t, dir, "", request, "verify", "--request", "-", "--dir", "work", "--evidence", ev)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	eventually(t, func() bool { _, err := os.Stat(filepath.Join(ev, "request.json")); return err == nil }, "no evidence is kept")
	if err := os.RemoveAll(ev); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("%v\n%s", err, stderr.String())
	}
	if want := "evidence: response.json could not be kept: its directory was removed or replaced meanwhile; verify again; the verdict does not depend on it"; !strings.Contains(stderr.String(), want) {
		t.Errorf("standard error lacks %q:\n%s", want, stderr.String())
	}
	if !strings.Contains(stdout.String(), `"verdict": "PASS"`) {
		t.Error(stdout.String())
	}
}

// TestFullDiskOfVerdictsAndLoops fills the disks on which verdicts and loops are stored. It asserts
// that the message says what to do, and that the same command works once there is room. Some
// commands need earlier records, which must still be there.
func TestFullDiskOfVerdictsAndLoops(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	makeRepository(t, dir)
	writeFile(t, filepath.Join(dir, "answer.json"), `{"task_id":"t","verdict":"PASS","timestamp":"2026-02-17T14:30:00Z","criteria_results":[{"criterion_id":"A","status":"PASS","evidence":"`+strings.Repeat("seen ", 2000)+`"}]}`)
	writeFile(t, filepath.Join(dir, "request.json"), noteRequest)
	const fill = "cat /dev/zero > disk/ballast 2>/dev/null;"
	for name, c := range map[string]struct {
		prepare string // before the disk is full, with $a for the binary
		args    []string
		want    string
		again   int // the exit code with room
	}{
		"a dispatch": {"", []string{"verify", "--dispatch", "request.json", "--store", "disk/d"}, "make room there, and try again", 0},
		"an answer":  {"$a verify --dispatch request.json --store disk/d >/dev/null &&", []string{"verify", "--response", "answer.json", "--store", "disk/d"}, "the response cannot be stored: ", 0},
		"a new loop": {"", []string{"loop", "start", "--store", "disk/s.db", "--title", strings.Repeat("x", 200)}, "cannot grow, because its disk is full: make room there, and try again", 1},
		"a decision": {"$a loop start --store disk/s.db >/dev/null 2>&1;", []string{"loop", "decide", "abort", "--store", "disk/s.db"}, "cannot grow, because its disk is full: make room there, and try again; nothing that was recorded is lost", 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			work := t.TempDir()
			if out, err := exec.Command("cp", "-r", dir+"/.", work).CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			writeFile(t, filepath.Join(work, "policy.yml"), "checks:\n  format-command: \"false\"\n  lint-command: \"false\"\n  test-command: \"false\"\n  build-command: \"false\"\n")
			script := "a=" + binary + "; mkdir -p disk && mount -t tmpfs -o size=12m none disk && " + c.prepare + fill + ` "$@" >full.out 2>full.err; echo $? >full.code; rm disk/ballast;`
			res := finish(t, onDisks(t, work, script, "", c.args...))
			read := func(name string) string {
				data, err := os.ReadFile(filepath.Join(work, name))
				if err != nil {
					t.Fatal(err)
				}
				return string(data)
			}
			if code, stderr := strings.TrimSpace(read("full.code")), read("full.err"); code != "3" || !strings.Contains(stderr, c.want) || !strings.Contains(stderr, "make room there") {
				t.Errorf("on the full disk: exit code %s, want 3 and %q:\n%s", code, c.want, stderr)
			}
			if res.code != c.again {
				t.Errorf("with room: exit code %d, want %d\n%s%s", res.code, c.again, res.stdout, res.stderr)
			}
		})
	}
}
