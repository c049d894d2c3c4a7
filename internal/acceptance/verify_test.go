package acceptance_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/agent-airlock/airlock/internal/acceptance"
)

// tree is a work tree in memory. Commands "sleep DURATION" take that long.
type tree struct {
	files   map[string]string
	changed []string
	unknown error  // why it is not known what changed
	printed string // by a command that fails; "" for one that succeeds

	mu     sync.Mutex
	events []string
}

func (w *tree) Branch() (string, error)                              { return "main", nil }
func (w *tree) IsAt(string) bool                                     { return false }
func (w *tree) HasCommit(_ context.Context, id string) (bool, error) { return id == "c0ffee", nil }
func (w *tree) Changed(context.Context) ([]string, string, error) {
	return w.changed, "main", w.unknown
}
func (w *tree) Paths(context.Context) (paths []string, err error) {
	for name := range w.files {
		paths = append(paths, name)
	}
	return paths, nil
}
func (w *tree) Stat(name string) (acceptance.Entry, error) {
	if name == "." {
		return acceptance.Entry{Kind: acceptance.DirectoryEntry}, nil
	}
	if text, ok := w.files[name]; ok {
		return acceptance.Entry{Kind: acceptance.FileEntry, Size: int64(len(text))}, nil
	}
	return acceptance.Entry{}, acceptance.ErrNoPath
}
func (w *tree) Read(name string, _ int64) ([]byte, error) { return []byte(w.files[name]), nil }
func (w *tree) Run(ctx context.Context, line string) (acceptance.Ran, error) {
	w.mu.Lock()
	w.events = append(w.events, line)
	w.mu.Unlock()
	if d, err := time.ParseDuration(strings.TrimPrefix(line, "sleep ")); err == nil {
		select {
		case <-ctx.Done():
			return acceptance.Ran{ExitCode: -1}, context.Cause(ctx)
		case <-time.After(d):
		}
	}
	if line == "panic" {
		panic("secret")
	}
	if w.printed != "" {
		return acceptance.Ran{ExitCode: 1, Output: []byte(w.printed)}, nil
	}
	return acceptance.Ran{Output: []byte(strings.Repeat("x", 3<<20))}, nil
}
func (w *tree) Checks(_ context.Context, names []string) (map[string]acceptance.Checked, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.events = append(w.events, "checks "+strings.Join(names, " "))
	out := map[string]acceptance.Checked{}
	for _, name := range names {
		out[name] = acceptance.Checked{Status: acceptance.Pass, Command: "run " + name}
	}
	out["build"] = acceptance.Checked{Status: acceptance.Skip, Reasons: []string{"there is nothing to build"}}
	return out, nil
}
func (w *tree) Test(_ context.Context, name string) (acceptance.Checked, error) {
	return acceptance.Checked{}, errors.New("no test " + name)
}

// request makes a request with a criterion for each hint; their ids are A, B and so on. more is the
// JSON of further members; "" stands for the validation type "code".
func request(t *testing.T, more string, hints ...string) acceptance.Request {
	t.Helper()
	var criteria []string
	for i, h := range hints {
		hint, _ := json.Marshal(h)
		criteria = append(criteria, fmt.Sprintf(`{"id": %q, "description": "d", "validation_hint": %s}`, string(rune('A'+i)), hint))
	}
	if more == "" {
		more = `"validation_type": "code"`
	}
	req, err := acceptance.ReadRequest([]byte(`{"task_id": "t", ` + more + `, "unknown": 7, "acceptance_criteria": [` + strings.Join(criteria, ",") + `]}`))
	if err != nil {
		t.Fatal(err)
	}
	return req
}

func deps(w *tree) acceptance.Deps {
	return acceptance.Deps{Now: time.Now, Mask: func(s string) string { return strings.ReplaceAll(s, "hunter2", "***") },
		Worktree: func(context.Context) (acceptance.Worktree, error) { return w, nil },
		Reach:    func(context.Context, string) error { return nil },
		Fetch: func(_ context.Context, r acceptance.Fetch) (acceptance.Answer, error) {
			return acceptance.Answer{Status: 200, Body: []byte("hunter2")}, nil
		},
	}
}

// show returns the statuses of a response in one line, as "A PASS, B FAIL: VERDICT".
func show(r acceptance.Response) string {
	var parts []string
	for _, c := range r.Results {
		parts = append(parts, c.ID+" "+string(c.Status))
	}
	return strings.Join(parts, ", ") + ": " + string(r.Verdict)
}

// hintCase is a hint, and how its criterion has to end.
type hintCase struct {
	hint string
	want acceptance.Status
}

func hintsOf(cases []hintCase) (hints []string) {
	for _, c := range cases {
		hints = append(hints, c.hint)
	}
	return hints
}

// compareStatuses compares a response with the statuses that the hints of its criteria should have.
func compareStatuses(t *testing.T, r acceptance.Response, cases []hintCase) {
	t.Helper()
	if len(r.Results) != len(cases) {
		t.Fatalf("%d results of %d criteria", len(r.Results), len(cases))
	}
	for i, c := range cases {
		if got := r.Results[i]; got.Status != c.want {
			t.Errorf("%s: %s (%s), want %s", c.hint, got.Status, got.Evidence, c.want)
		}
	}
}

func TestEvaluators(t *testing.T) {
	w := &tree{files: map[string]string{"a/b.md": "text", "x/dup.md": "", "y/dup.md": "", "z.md": "", "node_modules/q/z.md": "", "p/only.md": "", "vendor/p/only.md": "", "Makefile": "all:"}}
	cases := []hintCase{
		{"b.md", acceptance.Pass}, {"dup.md", acceptance.Blocked}, {"missing.md", acceptance.Fail}, {"word", acceptance.Blocked}, {"only.md", acceptance.Pass},
		{`b.md contains "text"`, acceptance.Pass}, {`b.md contains "other"`, acceptance.Fail},
		{`Makefile contains "all"`, acceptance.Pass}, {`Makefile contains "none"`, acceptance.Fail}, {`The login page contains "Welcome"`, acceptance.Blocked},
		{`src/*.md contains "x"`, acceptance.Blocked}, {"`Dockerfile` contains \"x\"", acceptance.Fail}, {`check:tests, and the output contains "ok"`, acceptance.Blocked},
		{"check:tests and check:build", acceptance.Pass}, {"check:smell", acceptance.Blocked},
		{"GET https://x.example -> 404", acceptance.Fail}, {"$ panic", acceptance.Blocked}, {"test:X", acceptance.Blocked},
		{"/etc/passwd", acceptance.Blocked}, {".git/config", acceptance.Blocked}, {"check:build", acceptance.Skip},
	}
	r, err := acceptance.Verify(t.Context(), request(t, "", hintsOf(cases)...), acceptance.Config{Trust: acceptance.Owner, Parallel: 4}, deps(w))
	if err != nil {
		t.Fatal(err)
	}
	compareStatuses(t, r, cases)
	if r.Verdict != acceptance.VerdictPartial {
		t.Errorf("the verdict is %s", r.Verdict)
	}
	if n := slices.Index(w.events, "checks tests build"); n < 0 || slices.Index(w.events[n+1:], "checks tests build") >= 0 {
		t.Errorf("the checks did not run once: %q", w.events)
	}
	for _, c := range r.Results {
		if strings.Contains(c.Evidence, "secret") {
			t.Errorf("%s: %s", c.ID, c.Evidence)
		}
	}
}

// TestNearMisses asserts that the progress warns of an unknown member, which is ignored, if its name
// is like that of a missing one.
func TestNearMisses(t *testing.T) {
	for more, want := range map[string]string{
		`"services": {"ports": [80], "api_url": "https://x.example"}, "type": "feature", "x": 1`: `$.services has the unknown member "ports", which is ignored; did you mean required_ports?`,
		`"worktree": "/tmp"`:                    `$ has the unknown member "worktree", which is ignored; did you mean worktree_path?`,
		`"timeout_second": 7, "Branch": "main"`: `$ has the unknown member "Branch", which is ignored; did you mean branch?|$ has the unknown member "timeout_second", which is ignored; did you mean timeout_seconds?`,
		`"claimed_evidence": {"commit": "abcd"}, "labels": ["a"], "claimed_evidence_url": "x"`: `$.claimed_evidence has the unknown member "commit", which is ignored; did you mean commit_hash?`,
		`"claimed_evidence": {"summary": "x", "note": "y"}, "priority": 1`:                     "",
	} {
		d := deps(&tree{files: map[string]string{"a.md": ""}})
		var got []string
		d.Progress = func(s acceptance.Step) {
			if strings.Contains(s.Text, "unknown") {
				got = append(got, s.Text)
			}
		}
		if _, err := acceptance.Verify(t.Context(), request(t, `"validation_type": "code", `+more, "a.md"), acceptance.Config{Trust: acceptance.Owner}, d); err != nil {
			t.Fatal(err)
		}
		if shown := strings.Join(got, "|"); shown != want {
			t.Errorf("%s:\n got %s\nwant %s", more, shown, want)
		}
	}
}

// Criteria are evaluated at the same time, those of a focus area first. Those for which the time
// does not suffice are blocked; the results of the others stay.
func TestTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &tree{files: map[string]string{"a.md": ""}}
		req := request(t, `"validation_type": "code", "timeout_seconds": 60, "focus_areas": ["C"]`, "a.md", "$ sleep 59s", "$ sleep 10s", "$ sleep 1h")
		r, err := acceptance.Verify(t.Context(), req, acceptance.Config{Trust: acceptance.Owner, Parallel: 8}, deps(w))
		if err != nil || show(r) != "C PASS, A PASS, B PASS, D BLOCKED: BLOCKED" || r.Duration != 60 {
			t.Errorf("%s after %v s, %v", show(r), r.Duration, err)
		}
		if !strings.Contains(r.Results[3].Evidence, "1m0s") {
			t.Error(r.Results[3].Evidence)
		}
		w.events = nil
		r, err = acceptance.Verify(t.Context(), req, acceptance.Config{Trust: acceptance.Owner}, deps(w))
		if err != nil || w.events[0] != "sleep 10s" {
			t.Errorf("%q, %v", w.events, err)
		}
		if show(r) != "C PASS, A PASS, B BLOCKED, D BLOCKED: BLOCKED" { // a file waits for no command
			t.Error(show(r))
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := acceptance.Verify(ctx, req, acceptance.Config{Trust: acceptance.Owner}, deps(w)); err == nil {
			t.Error("an interruption has no error")
		}
	})
}

// TestStrangers tests rule R11: for a stranger's text Airlock looks at paths and runs checks, but
// commands and hosts have to be the owner's, and no program is asked.
func TestStrangers(t *testing.T) {
	w := &tree{files: map[string]string{"a.md": "x"}}
	asked := false
	d := deps(w)
	d.Fetch = func(_ context.Context, r acceptance.Fetch) (acceptance.Answer, error) {
		if r.Trust == acceptance.Owner {
			t.Error("a stranger's URL is asked for as the owner's")
		}
		return acceptance.Answer{}, errors.New("refused")
	}
	d.Validator = &acceptance.Program{Name: "v", Find: func() error { return nil }, Ask: func(context.Context, []byte) ([]byte, error) {
		asked = true
		return nil, errors.New("asked")
	}}
	cases := []hintCase{
		{"a.md", acceptance.Pass}, {`a.md contains "x"`, acceptance.Pass}, {"check:linter", acceptance.Pass},
		{"$ rm -rf /", acceptance.Blocked}, {"$ make smoke", acceptance.Pass}, {"$ make smoke; rm -rf /", acceptance.Blocked},
		{"http://localhost", acceptance.Blocked}, {"test:X", acceptance.Blocked}, {"judge me", acceptance.Blocked},
	}
	hints := hintsOf(cases)
	r, err := acceptance.Verify(t.Context(), request(t, "", hints...), acceptance.Config{Commands: []string{"make smoke"}}, d)
	if err != nil || r.Verdict != acceptance.VerdictBlocked || asked {
		t.Errorf("%s, asked %t, %v", r.Verdict, asked, err)
	}
	compareStatuses(t, r, cases)
	if slices.ContainsFunc(w.events, func(e string) bool { return strings.Contains(e, "rm") }) {
		t.Errorf("%q", w.events)
	}
	if _, err := acceptance.Verify(t.Context(), request(t, "", hints...), acceptance.Config{StrangersToValidator: true}, d); err != nil || !asked {
		t.Errorf("the owner allows the validator: asked %t, %v", asked, err)
	}
	r, _ = acceptance.Verify(t.Context(), request(t, `"validation_type": "code", "services": {"required_ports": [22]}`, "a.md"), acceptance.Config{}, d)
	if r.Verdict != acceptance.VerdictBlocked {
		t.Errorf("a stranger's services were reached: %s", show(r))
	}
}

// validator answers each question with the next answer, or again with the last one, and keeps the
// questions.
func validator(questions *[]string, answers ...string) *acceptance.Program {
	return &acceptance.Program{Name: "v", Find: func() error { return nil }, Ask: func(_ context.Context, question []byte) ([]byte, error) {
		*questions = append(*questions, string(question))
		return []byte(answers[min(len(*questions), len(answers))-1]), nil
	}}
}

func answer(verdict, results string) string {
	return `{"task_id":"t","verdict":"` + verdict + `","confidence":0.5,"timestamp":"2026-01-01T00:00:00Z","criteria_results":[` + results + `]}`
}

func TestValidator(t *testing.T) {
	w := &tree{files: map[string]string{"a.md": "x"}}
	pass := `{"criterion_id":"B","status":"PASS","evidence":"hunter2"}`
	for name, c := range map[string]struct {
		answers   []string
		want      string
		asked     int
		confident float64
	}{
		"judges":            {[]string{answer("PASS", pass)}, "A PASS, B PASS, C BLOCKED: BLOCKED", 1, 0.5},
		"fenced":            {[]string{"Here:\n```json\n" + answer("PASS", pass) + "\n```"}, "A PASS, B PASS, C BLOCKED: BLOCKED", 1, 0.5},
		"second try":        {[]string{"nonsense", answer("PASS", pass)}, "A PASS, B PASS, C BLOCKED: BLOCKED", 2, 0.5},
		"wrong verdict":     {[]string{answer("FAIL", pass)}, "A PASS, B BLOCKED, C BLOCKED: BLOCKED", 2, 0.33},
		"another criterion": {[]string{answer("PASS", `{"criterion_id":"A","status":"PASS","evidence":"e"}`)}, "A PASS, B BLOCKED, C BLOCKED: BLOCKED", 2, 0.33},
		"fails":             {[]string{answer("FAIL", `{"criterion_id":"B","status":"FAIL","evidence":"e","remediation":"mend"}`)}, "A PASS, B FAIL, C BLOCKED: PARTIAL", 1, 0.5},
	} {
		var questions []string
		d := deps(w)
		d.Validator = validator(&questions, c.answers...)
		r, err := acceptance.Verify(t.Context(), request(t, "", "a.md", "judge", "judge too"), acceptance.Config{Trust: acceptance.Owner}, d)
		if err != nil || show(r) != c.want || len(questions) != c.asked || *r.Confidence != c.confident {
			t.Errorf("%s: %s, asked %d times, confidence %v, %v\n%+v", name, show(r), len(questions), *r.Confidence, err, r.Results)
		}
		if raw, _ := r.Encode(); strings.Contains(string(raw), "hunter2") {
			t.Errorf("%s: a secret is in the response", name)
		}
		if strings.Contains(questions[0], `"A"`) || !strings.Contains(questions[0], `"unknown": 7`) {
			t.Errorf("%s: the question is %s", name, questions[0])
		}
		if c.asked == 2 && (!strings.Contains(questions[1], "previous_response") || !strings.Contains(questions[1], "ValidationResponse")) {
			t.Errorf("%s: the second question says nothing of the first answer", name)
		}
	}
}

// The pictures of the validator and of the browser command are all kept, although they have one name.
func TestPicturesOfBothPrograms(t *testing.T) {
	d := deps(&tree{files: map[string]string{}})
	var saving sync.Mutex
	saved := map[string]string{}
	d.Save = func(name string, data []byte) error {
		saving.Lock()
		defer saving.Unlock()
		saved[name] = string(data)
		return nil
	}
	program := func(picture string) *acceptance.Program {
		var questions []string
		found := strings.TrimSuffix(answer("PASS", `{"criterion_id":"A","status":"PASS","evidence":"e"}`), "}") + `,"evidence_collected":{"screenshots":[{"path":"page.png"}]}}`
		p := validator(&questions, found)
		p.Collect = func(string) ([]byte, error) { return []byte(picture), nil }
		return p
	}
	d.Validator, d.Browser = program("of the validator"), program("of the browser")
	r, err := acceptance.Verify(t.Context(), request(t, `"validation_type": "both"`, "judge"), acceptance.Config{Trust: acceptance.Owner}, d)
	if err != nil || show(r) != "A PASS: PASS" {
		t.Fatalf("%s, %v", show(r), err)
	}
	var pictures []string
	for _, s := range r.Evidence.Screenshots {
		pictures = append(pictures, saved[s.Path])
	}
	slices.Sort(pictures)
	if want := []string{"of the browser", "of the validator"}; !slices.Equal(pictures, want) {
		t.Errorf("%q, want %q", pictures, want)
	}
}

// With the validation type "both", a criterion passes only if the machine and the browser let it pass.
func TestBoth(t *testing.T) {
	w := &tree{files: map[string]string{"a.md": "x", "b.md": "", "c.md": ""}}
	var questions []string
	d := deps(w)
	d.Browser = validator(&questions, answer("PARTIAL", `{"criterion_id":"A","status":"PASS","evidence":"e"},{"criterion_id":"B","status":"FAIL","evidence":"e"},{"criterion_id":"C","status":"PASS","evidence":"e"},{"criterion_id":"D","status":"PASS","evidence":"e"}`))
	for kind, want := range map[string]string{
		"both": "A PASS, B FAIL, C FAIL, D BLOCKED: PARTIAL", "browser": "A PASS, B FAIL, C PASS, D PASS: PARTIAL",
	} {
		r, err := acceptance.Verify(t.Context(), request(t, `"validation_type": "`+kind+`"`, "a.md", "b.md", "missing.md", "judge"), acceptance.Config{Trust: acceptance.Owner}, d)
		if err != nil || show(r) != want {
			t.Errorf("%s: %s, %v", kind, show(r), err)
		}
	}
	for _, c := range []struct{ hints, browser, want string }{ // a side that skips everything does not pass
		{"a.md b.md", "SKIP SKIP", "A BLOCKED, B BLOCKED: BLOCKED"},
		{"check:build", "PASS", "A BLOCKED: BLOCKED"},
		{"check:build a.md", "PASS SKIP", "A PASS, B PASS: PASS"},
		{"a.md missing.md", "SKIP SKIP", "A BLOCKED, B FAIL: FAIL"},
		{"a.md", "BLOCKED", "A BLOCKED: BLOCKED"},
	} {
		var results []string
		var verdict []acceptance.Status
		for i, status := range strings.Fields(c.browser) {
			results = append(results, fmt.Sprintf(`{"criterion_id":%q,"status":%q,"evidence":"e"}`, string(rune('A'+i)), status))
			verdict = append(verdict, acceptance.Status(status))
		}
		d.Browser = validator(&questions, answer(string(acceptance.VerdictOf(verdict)), strings.Join(results, ",")))
		r, err := acceptance.Verify(t.Context(), request(t, `"validation_type": "both"`, strings.Fields(c.hints)...), acceptance.Config{Trust: acceptance.Owner}, d)
		if err != nil || show(r) != c.want {
			t.Errorf("%s with %s: %s, want %s, %v", c.hints, c.browser, show(r), c.want, err)
		}
	}
	d.Browser = nil
	r, err := acceptance.Verify(t.Context(), request(t, `"validation_type": "both"`, "a.md", "missing.md"), acceptance.Config{Trust: acceptance.Owner}, d)
	if err != nil || show(r) != "A BLOCKED, B FAIL: FAIL" {
		t.Errorf("%s, %v", show(r), err)
	}
	// A hint that no machine understands is for the validator, which is there. Only the
	// browser command is missing.
	d.Validator = validator(&questions, answer("PASS", `{"criterion_id":"A","status":"PASS","evidence":"e"}`))
	r, err = acceptance.Verify(t.Context(), request(t, `"validation_type": "both"`, "judge"), acceptance.Config{Trust: acceptance.Owner}, d)
	if err != nil || show(r) != "A BLOCKED: BLOCKED" || !strings.Contains(r.Results[0].Remediation, "acceptance: browser") || strings.Contains(r.Results[0].Remediation, "hint") {
		t.Errorf("%s, %v: %+v", show(r), err, r)
	}
}

// Evidence is bounded and masked, and its names stay below the directory, whatever the criteria's ids.
func TestEvidence(t *testing.T) {
	w := &tree{files: map[string]string{}}
	kept := map[string][]byte{}
	d := deps(w)
	d.Save = func(name string, data []byte) error { kept[name] = data; return nil }
	req, err := acceptance.ReadRequest([]byte(`{"task_id":"t","validation_type":"code","acceptance_criteria":[{"id":"../../etc","description":"hunter2","validation_hint":"$ print and more"},{"id":"..","description":"d","validation_hint":"GET https://x.example"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	r, err := acceptance.Verify(t.Context(), req, acceptance.Config{Trust: acceptance.Owner}, d)
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range kept {
		if strings.Contains(name, "..") && !strings.HasPrefix(name, "criterion-..") || len(data) > 2<<20 || strings.Contains(string(data), "hunter2") || strings.Contains(name, "/../") {
			t.Errorf("%s: %d bytes", name, len(data))
		}
		if !slices.ContainsFunc(r.Evidence.Files, func(f acceptance.File) bool { return f.Path == name }) {
			t.Errorf("%s is not listed", name)
		}
	}
	if len(kept) != 4 || len(r.Evidence.Tests[0].Snippet) > 500+3 {
		t.Errorf("%d files, snippet %d", len(kept), len(r.Evidence.Tests[0].Snippet))
	}
}

func TestGates(t *testing.T) {
	w := &tree{files: map[string]string{"a.md": "x", "b.md": ""}, changed: []string{"a.md", "deleted.md", "docs/old/c.md"}}
	claim := func(files, commit string) string {
		return `"validation_type": "code", "claimed_evidence": {"files_modified": [` + files + `], "commit_hash": "` + commit + `"}`
	}
	for _, c := range []struct {
		name, more, hint, judge string
		want                    acceptance.NextStep
		gates                   string
	}{
		{"nothing claimed", "", "a.md", "", acceptance.Done, "SKIP PASS"},
		{"a right claim", claim(`"a.md", "deleted.md"`, "C0FFEE"), "a.md", "", acceptance.Done, "PASS PASS"},
		{"a wrong file", claim(`"b.md"`, "c0ffee"), "a.md", `{"verdict":"PASS","reasoning":"x"}`, acceptance.CorrectClaim, "FAIL PASS"},
		{"a wrong commit", claim(`"a.md"`, "abcd"), "a.md", "", acceptance.CorrectClaim, "FAIL PASS"},
		{"an absolute path", claim(`"/src/app/a.md", "/mirror//deleted.md"`, "c0ffee"), "/src/app/./a.md", "", acceptance.Done, "PASS PASS"},
		{"the work tree's own path", claim(`"a.md"`, "c0ffee"), "/src/app", "", acceptance.Done, "PASS PASS"},
		{"an absolute path outside", claim(`"/src/app/../a.md"`, "c0ffee"), "a.md", "", acceptance.CorrectClaim, "FAIL PASS"},
		{"another directory's path", claim(`"/src/application/a.md"`, "c0ffee"), "a.md", "", acceptance.CorrectClaim, "FAIL PASS"},
		{"a directory", claim(`"docs", "docs/old/"`, "c0ffee"), "a.md", "", acceptance.Done, "PASS PASS"},
		{"a part of a directory's name", claim(`"doc"`, "c0ffee"), "a.md", "", acceptance.CorrectClaim, "FAIL PASS"},
		{"a path outside", claim(`"../a.md"`, "c0ffee"), "a.md", "", acceptance.CorrectClaim, "FAIL PASS"},
		{"a failure", "", "c.md", `{"verdict":"PASS","reasoning":"x"}`, acceptance.Fix, "SKIP FAIL"},
		{"blocked", "", "judge", "", acceptance.Unblock, "SKIP BLOCKED"},
		{"the judge agrees", "", "a.md", `{"verdict":"PASS","reasoning":"x"}`, acceptance.Done, "SKIP PASS PASS"},
		{"the judge gives no reason", "", "a.md", `{"verdict":"PASS"}`, acceptance.Done, "SKIP PASS PASS"},
		{"the judge disagrees", "", "a.md", `{"verdict":"FAIL","reasoning":"x"}`, acceptance.Fix, "SKIP PASS FAIL"},
		{"the judge disagrees with itself", "", "a.md", `{"verdict":"FAIL","reasoning":"x","verdict":"PASS"}`, acceptance.Unblock, "SKIP PASS BLOCKED"},
		{"the judge is confused", "", "a.md", `{"verdict":"MAYBE"}`, acceptance.Unblock, "SKIP PASS BLOCKED"},
	} {
		d := deps(w)
		if c.judge != "" {
			d.Judge = &acceptance.Program{Find: func() error { return nil }, Ask: func(_ context.Context, question []byte) ([]byte, error) {
				if !strings.Contains(string(question), `"request"`) || !strings.Contains(string(question), `"response"`) {
					t.Errorf("%s: the judge reads %s", c.name, question)
				}
				return []byte(c.judge), nil
			}}
		}
		r, err := acceptance.Verify(t.Context(), request(t, c.more, c.hint), acceptance.Config{Trust: acceptance.Owner, Roots: []string{"", "/src/app/", "/mirror"}}, d)
		if err != nil {
			t.Fatal(err)
		}
		var gates []string
		for _, g := range r.Gates {
			gates = append(gates, string(g.Status))
			if strings.HasSuffix(g.Evidence, ": ") {
				t.Errorf("%s: gate %d has the evidence %q", c.name, g.Number, g.Evidence)
			}
		}
		if got := strings.Join(gates, " "); got != c.gates || r.NextStep != c.want {
			t.Errorf("%s: gates %s, next %s", c.name, got, r.NextStep)
		}
	}
}

// TestAClaimOfTheEntireWorkTree asserts that such a claim fails, and that the reason is true.
func TestAClaimOfTheEntireWorkTree(t *testing.T) {
	d := deps(&tree{files: map[string]string{"a.md": "x"}, changed: []string{"a.md"}})
	r, err := acceptance.Verify(t.Context(), request(t, `"validation_type": "code", "claimed_evidence": {"files_modified": ["/src/app", "docs/.."]}`, "a.md"), acceptance.Config{Trust: acceptance.Owner, Roots: []string{"/src/app"}}, d)
	if err != nil || len(r.Claims) != 2 {
		t.Fatalf("%v, %+v", err, r.Claims)
	}
	for _, claim := range r.Claims {
		if claim.Status != acceptance.Fail || claim.Evidence != "It is the entire work tree: name the files." {
			t.Errorf("%+v", claim)
		}
	}
}

// TestClaimsWithoutGit asserts that a file which may have been deleted is not called a wrong claim.
func TestClaimsWithoutGit(t *testing.T) {
	d := deps(&tree{files: map[string]string{"a.md": "x"}, unknown: errors.New("there is no git clone")})
	r, err := acceptance.Verify(t.Context(), request(t, `"validation_type": "code", "claimed_evidence": {"files_modified": ["a.md", "b.md", "../c.md"]}`, "a.md"), acceptance.Config{Trust: acceptance.Owner}, d)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, claim := range r.Claims {
		got = append(got, string(claim.Status)+" "+claim.Evidence)
	}
	want := []string{"BLOCKED Whether it is changed", "BLOCKED There is no such file, and whether it was deleted", "FAIL "}
	if !slices.EqualFunc(got, want, strings.HasPrefix) {
		t.Errorf("%q, want %q", got, want)
	}
}

// A program that is missing blocks before anything runs, unless it is an optional judge or nothing
// is asked of it.
func TestMissingPrograms(t *testing.T) {
	missing := &acceptance.Program{Name: "no-such-program", Find: func() error { return errors.New("it is not installed") },
		Ask: func(context.Context, []byte) ([]byte, error) { return nil, errors.New("it ended with exit code 127") }}
	for name, c := range map[string]struct {
		hint, kind string
		deps       func(*acceptance.Deps)
		optional   bool
		want       string // of the evidence; "" where the command runs
	}{
		"a validator":             {"judge", "code", func(d *acceptance.Deps) { d.Validator = missing }, false, "The validator 'no-such-program' cannot be used: it is not installed."},
		"a validator for nothing": {"$ true", "code", func(d *acceptance.Deps) { d.Validator = missing }, false, ""},
		"a browser":               {"$ true", "both", func(d *acceptance.Deps) { d.Browser = missing }, false, "The browser command 'no-such-program' cannot be used: it is not installed."},
		"a judge":                 {"$ true", "code", func(d *acceptance.Deps) { d.Judge = missing }, false, "The judge 'no-such-program' cannot be used: it is not installed."},
		"an optional judge":       {"$ true", "code", func(d *acceptance.Deps) { d.Judge = missing }, true, ""},
	} {
		w := &tree{}
		d := deps(w)
		c.deps(&d)
		r, err := acceptance.Verify(t.Context(), request(t, `"validation_type": "`+c.kind+`"`, c.hint, "$ true"), acceptance.Config{Trust: acceptance.Owner, JudgeOptional: c.optional}, d)
		if err != nil {
			t.Fatal(err)
		}
		switch {
		case c.want == "" && (show(r) != "A PASS, B PASS: PASS" || r.NextStep != acceptance.Done || len(w.events) != 2):
			t.Errorf("%s: %s, %s, ran %q", name, show(r), r.NextStep, w.events)
		case c.want != "" && (show(r) != "A BLOCKED, B BLOCKED: BLOCKED" || r.Results[0].Evidence != c.want || len(w.events) != 0):
			t.Errorf("%s: %s, %s, ran %q", name, show(r), r.Results[0].Evidence, w.events)
		}
	}
}

// A long answer is a snippet within the schema's limit, and a secret is masked before it is
// cut, wherever the cut is.
func TestLongAnswers(t *testing.T) {
	d := deps(&tree{})
	d.Fetch = func(context.Context, acceptance.Fetch) (acceptance.Answer, error) {
		return acceptance.Answer{Status: 200, Body: []byte(strings.Repeat("é", 496) + "hunter2" + strings.Repeat("x", 1<<19-3-496*2-7) + "hunter2" + strings.Repeat("y", 1<<20))}, nil
	}
	saved := map[string]string{}
	d.Save = func(name string, data []byte) error { saved[name] = string(data); return nil }
	r, err := acceptance.Verify(t.Context(), request(t, "", "https://x.example"), acceptance.Config{Trust: acceptance.Owner}, d)
	if err != nil || r.Verdict != acceptance.VerdictPass {
		t.Fatalf("%+v %v", r, err)
	}
	if s := r.Evidence.Answers[0].Snippet; utf8.RuneCountInString(s) != 500 || strings.Contains(s, "hun") {
		t.Errorf("%d characters: %s", utf8.RuneCountInString(s), s[len(s)-20:])
	}
	if s := saved["criterion-A/1-response.txt"]; strings.Contains(s, "hun") || len(s) > 1<<20+100 || !strings.Contains(s, "left out") {
		t.Errorf("%d bytes", len(s))
	}
}

// TestRedirectsThatAreNotFollowed asserts that a criterion says why the answer is that of a redirect.
func TestRedirectsThatAreNotFollowed(t *testing.T) {
	d := deps(&tree{})
	d.Fetch = func(_ context.Context, r acceptance.Fetch) (acceptance.Answer, error) {
		a := acceptance.Answer{Status: 301}
		if r.Redirects {
			a.NotFollowed = `the redirect to "https://x.example/" is not followed: the owner allows another port`
		}
		return a, nil
	}
	r, err := acceptance.Verify(t.Context(), request(t, "", "http://x.example", "GET http://x.example -> 404", "GET http://x.example -> 301", "GET http://x.example -> 302"), acceptance.Config{}, d)
	if err != nil || show(r) != "A FAIL, B FAIL, C PASS, D FAIL: PARTIAL" {
		t.Fatalf("%s, %v", show(r), err)
	}
	const why = `; the redirect to "https://x.example/" is not followed: the owner allows another port.`
	for i, want := range []string{"GET http://x.example answers with status 301" + why, "GET http://x.example answers with status 301" + why, "GET http://x.example answers with status 301.", "GET http://x.example answers with status 301."} {
		if got := r.Results[i].Evidence; got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	for i, want := range []string{"Name the URL to which it redirects, or make it answer with a status from 200 to 299.", "Name the URL to which it redirects, or make it answer with status 404.", "", "Make it answer with status 302."} {
		if got := r.Results[i].Remediation; got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// A disk that is full costs the evidence and not the answer.
func TestEvidenceThatCannotBeKept(t *testing.T) {
	d := deps(&tree{files: map[string]string{"a.md": ""}})
	d.Save = func(string, []byte) error { return errors.New("no space left on device") }
	var steps []string
	d.Progress = func(s acceptance.Step) { steps = append(steps, s.Text) }
	r, err := acceptance.Verify(t.Context(), request(t, "", "a.md"), acceptance.Config{Trust: acceptance.Owner}, d)
	if err != nil || r.Verdict != acceptance.VerdictPass {
		t.Fatalf("%+v %v", r, err)
	}
	for _, name := range []string{"request.json", "response.json"} {
		i := slices.IndexFunc(r.Evidence.Files, func(f acceptance.File) bool { return f.Path == name })
		if i < 0 || !strings.Contains(r.Evidence.Files[i].Description, "no space left") || !strings.Contains(steps[len(steps)-1], name) {
			t.Errorf("%s: %+v, %q", name, r.Evidence.Files, steps)
		}
	}
}

// A pattern is not a path: where no file has that name, no machine decides.
func TestPatterns(t *testing.T) {
	w := &tree{files: map[string]string{"docs/a.md": "", "docs/#1.md": ""}}
	r, err := acceptance.Verify(t.Context(), request(t, "", "docs/*.md", "docs/a.md#top", "docs/#1.md", "`docs/?.md` exists"), acceptance.Config{Trust: acceptance.Owner}, deps(w))
	if want := "A BLOCKED, B BLOCKED, C PASS, D BLOCKED: BLOCKED"; err != nil || show(r) != want {
		t.Errorf("%s, %v", show(r), err)
	}
}
