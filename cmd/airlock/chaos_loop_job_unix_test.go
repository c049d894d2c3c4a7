//go:build unix

package main_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// loopEvent is an event that starts a job. happens makes the event happen; findings and passes say
// what the checks found before the job.
type loopEvent struct {
	happens  func(j *loopJobs) (name string, payload map[string]any)
	findings []string // the errors of the build at the head; if nil, and passes is false, no checks ran
	passes   bool     // the checks ran, and nothing failed
}

// loopStory leads a loop through a fix that does not suffice, a refused one, an escalation, a
// decision by comment, and PASS.
var loopStory = []loopEvent{
	{happens: func(j *loopJobs) (string, map[string]any) { return j.pushedBy("Codertocat") }, findings: []string{"a", "b"}},
	{happens: func(j *loopJobs) (string, map[string]any) {
		j.push(map[string]string{"main.go": "package main // 1\n"})
		return j.pushedBy("fixer[bot]")
	}, findings: []string{"a"}},
	{happens: func(j *loopJobs) (string, map[string]any) {
		j.push(map[string]string{".github/workflows/x.yml": "on: push\n"})
		return j.pushedBy("fixer[bot]")
	}, passes: true},
	{happens: func(j *loopJobs) (string, map[string]any) {
		return j.comment("Codertocat", 21031067, "/airlock extend 1")
	}},
	{happens: func(j *loopJobs) (string, map[string]any) {
		j.git.Run("update-ref", "refs/heads/changes", j.git.Run("rev-parse", "changes~1"))
		j.push(map[string]string{"main.go": "package main // 2\n"})
		return j.pushedBy("fixer[bot]")
	}, passes: true},
}

// loopTimes matches the times, commits and ids by which a loop whose jobs were killed may differ
// from an undisturbed one.
var loopTimes = regexp.MustCompile(`\d{8}T\d{6}Z|\d{4}-\d\d-\d\d(T| )\d\d:\d\d:\d\d(\.\d+)?Z?|\d\d:\d\d:\d\d|until \d\d:\d\d UTC on \d{4}-\d\d-\d\d|entry \d+, [0-9a-f]{20}|\b[0-9a-f]{40}\b|[0-9a-f]{12,}|#issuecomment-\d+`)

// outcome returns the loop's log, and what GitHub shows of the loop with the fixes that were
// requested. In log and comments, times, commits and ids are replaced.
func (j *loopJobs) outcome() (log, github []string) {
	j.t.Helper()
	for line := range strings.Lines(j.git.Run("show", "refs/airlock/loops/2-1:log.jsonl")) {
		r := parse[struct {
			Loop  json.RawMessage `json:"loop"`
			Event json.RawMessage `json:"event"`
		}](j.t, line)
		if r.Loop != nil || r.Event != nil {
			log = append(log, loopTimes.ReplaceAllString(string(r.Loop)+string(r.Event), "TIME"))
		}
	}
	log = append(log, loopTimes.ReplaceAllString(j.git.Run("show", "refs/airlock/loops/2-1:log.md"), "TIME"))
	state := j.server.State()
	for _, c := range state.Issues[1].Comments {
		github = append(github, c.Minimized+" "+loopTimes.ReplaceAllString(c.Body, "TIME"))
	}
	slices.Sort(github) // the order may differ: a comment that a killed job wrote keeps its place
	for _, i := range state.Issues[2:] {
		github = append(github, i.Title)
	}
	asked := map[string]bool{} // a fix may be requested again under the same name: docs/fix-loop.md
	for _, payload := range j.dispatched() {
		asked[fmt.Sprint(payload["request_id"], " ", payload["attempt"])] = true
	}
	return log, append(github, slices.Sorted(maps.Keys(asked))...)
}

// playLoop leads a new loop through the story. It kills each job after the duration that the
// function moment returns, and runs it again, until that function returns false.
func playLoop(t *testing.T, moment func() (time.Duration, bool)) *loopJobs {
	t.Helper()
	j := newLoopJobs(t)
	inputs := map[string]string{"loop-secret": loopSecret, "loop-dispatch": "airlock-fix", "loop-limits": "iterations=3"}
	for n, e := range loopStory {
		event, payload := e.happens(j)
		findings := ""
		if e.findings != nil || e.passes {
			findings = j.findings(e.findings...)
		}
		for ended := false; !ended; {
			turn := j.job(n, event, payload, findings, inputs)
			cmd := exec.Command(binary, "action")
			cmd.Dir, cmd.Env = turn.dir, append([]string{"PATH=" + os.Getenv("PATH"), "TMPDIR=" + t.TempDir()}, turn.environ...)
			var out bytes.Buffer
			cmd.Stdout, cmd.Stderr = &out, &out
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			end := make(chan error, 1)
			go func() { end <- cmd.Wait() }()
			after, kill := moment()
			if !kill {
				after = time.Hour
			}
			select {
			case err := <-end:
				if ended = true; err != nil {
					t.Fatalf("job %d: %v\n%s", n, err, out.String())
				}
			case <-time.After(after):
				_ = cmd.Process.Kill()
				<-end
			}
		}
	}
	return j
}

// TestLoopJobKilled kills the jobs of a loop at random moments and runs them again: log and
// comments must be those of a loop that nobody disturbed. AIRLOCK_CHAOS=5 plays 5 loops with at
// most 4 kills each. All loops are played side by side, because they mostly wait.
func TestLoopJobKilled(t *testing.T) {
	t.Parallel()
	const undisturbed = "undisturbed"
	loops := map[string]uint64{undisturbed: 0, "0": 0} // the seeds of those with kills
	if factor, err := strconv.Atoi(os.Getenv("AIRLOCK_CHAOS")); err == nil {
		for seed := range uint64(factor) {
			loops[strconv.FormatUint(seed, 10)] = seed
		}
	}
	measured, ended := make(chan struct{}), make(chan struct{})
	var most time.Duration // that the first job took; the others take about as long
	var wantLog, wantGitHub []string
	sideBySide(t, loops, func(t *testing.T, name string, seed uint64) {
		if name == undisturbed {
			defer close(ended)
			began, jobs := time.Now(), 0
			wantLog, wantGitHub = playLoop(t, func() (time.Duration, bool) {
				if jobs++; jobs == 2 {
					most = time.Since(began)
					close(measured)
				}
				return 0, false
			}).outcome()
			if last := wantLog[len(wantLog)-1]; !strings.Contains(last, "SUCCESS-2-build-") || !strings.Contains(last, "ESC-2-build-") || !strings.Contains(last, "the fix was refused") {
				t.Errorf("the story is another one:\n%s", last)
			}
			return
		}
		select {
		case <-measured:
		case <-ended:
			return // it failed
		}
		random, kills := rand.New(rand.NewPCG(seed, 13)), 4
		j := playLoop(t, func() (time.Duration, bool) {
			if kills--; kills < 0 {
				return 0, false
			}
			return time.Duration(random.Int64N(int64(most))), true
		})
		log, github := j.outcome()
		<-ended
		if diff := cmp.Diff(wantLog, log); diff != "" {
			t.Errorf("the log (-undisturbed +killed):\n%s", diff)
		}
		if diff := cmp.Diff(wantGitHub, github); diff != "" {
			t.Errorf("on GitHub (-undisturbed +killed):\n%s", diff)
		}
	})
}
