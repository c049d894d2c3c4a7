package phase_test

import (
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/agent-airlock/airlock/internal/phase"
	"github.com/google/go-cmp/cmp"
)

// copies is what a world was asked to copy.
type copies struct {
	left  [][]string        // each with the names that were left out
	stage *stage            // the last one's
	both  map[string][]step // what can be run in the copy, too
}

// ran is what was run in the copy.
func (c *copies) ran() []string {
	if c.stage == nil {
		return nil
	}
	return c.stage.ran
}

// copying returns the stage's world, in which these commands are there in a copy alone.
func (s *stage) copying(lines ...string) (phase.World, *copies) {
	steps := map[string][]step{}
	for _, l := range lines {
		if planned, ok := s.steps[l]; ok {
			steps[l] = planned
			delete(s.steps, l)
		}
	}
	c := &copies{}
	w := s.world()
	w.Copy = func(_ context.Context, leave []string) (phase.Copy, error) {
		dir := s.t.TempDir()
		maps.Copy(steps, c.both)
		c.left, c.stage = append(c.left, leave), newStage(s.t, dir, steps)
		return phase.Copy{Repository: dir, Run: c.stage.run}, os.CopyFS(dir, os.DirFS(s.dir))
	}
	return w, c
}

// inPlace is how checks run where the files are kept.
var inPlace = phase.Config{CheckOnly: true, Suggest: true}

// TestCopyIsMadeOnce, for all roots, and only when a fix is to run. It leaves out the
// tools of languages that fix nothing.
func TestCopyIsMadeOnce(t *testing.T) {
	contents := map[string]string{
		"web/package.json": "{}", "web/a.js": source, "shop/package.json": "{}", "shop/b.js": source, "api/go.mod": "module example.com/m\n", "api/a.go": "package m\n",
	}
	const webFormat, webFix, shopFormat, shopFix = prettierLine + " @web", prettierFix + " @web", prettierLine + " @shop", prettierFix + " @shop"
	const apiFix, ours = "go fmt ./... @api", "ours --fix"
	mended := "one\ntwo\nthree\nfour\nfive\n"
	for name, tt := range map[string]struct {
		config phase.Config
		steps  map[string][]step
		left   [][]string
		ran    []string
		lint   string // the owner's command
	}{
		"all is well":    {inPlace, nil, nil, nil, ""},
		"the tests fail": {inPlace, map[string][]step{npmTest + " @web": {{code: 1}}}, nil, nil, ""},
		"one root": {inPlace, map[string][]step{webFormat: {warned("a.js")}, webFix: {writing(map[string]string{"a.js": mended})}},
			[][]string{{".venv"}}, []string{webFix}, ""},
		"two roots": {inPlace, map[string][]step{webFormat: {warned("a.js")}, webFix: {writing(map[string]string{"a.js": mended})}, shopFormat: {warned("b.js")}, shopFix: {writing(map[string]string{"b.js": mended})}},
			[][]string{{".venv"}}, []string{shopFix, webFix}, ""},
		"another language":         {inPlace, map[string][]step{gofmtLine + " @api": {{code: 1, stderr: "broken"}}, apiFix: ok}, [][]string{{".venv", "node_modules"}}, []string{apiFix}, ""},
		"the owner's command":      {inPlace, map[string][]step{ours: {{code: 1, stdout: "api/a.go:1:1: bad\n"}, {}}}, [][]string{nil}, []string{ours}, ours},
		"nobody wants suggestions": {phase.Config{CheckOnly: true}, map[string][]step{webFormat: {warned("a.js")}}, nil, nil, ""},
		"fixed in place":           {phase.Config{Suggest: true}, map[string][]step{webFormat: {warned("a.js")}, webFix: ok}, nil, nil, ""},
	} {
		dir := files(t, contents)
		steps := map[string][]step{}
		for _, line := range []string{prettierLine, eslintLine, npmTest} {
			steps[line+" @web"], steps[line+" @shop"] = ok, ok
		}
		for line := range goSteps(nil) {
			steps[line+" @api"] = ok
		}
		for line, st := range tt.steps {
			steps[line] = st
		}
		s := newStage(t, dir, steps)
		world, copied := s.copying(webFix, shopFix, apiFix)
		if tt.lint != "" { // its fix is itself
			s.steps[ours], copied.both = tt.steps[ours], map[string][]step{ours: ok}
		}
		if !tt.config.CheckOnly {
			s.steps[webFix] = ok
		}
		r := validate(t, phase.Job{Input: phase.Input{WorkingDirectory: dir, ChangedFiles: []string{"web/a.js", "shop/b.js", "api/a.go"}, MaxRetries: 1, LintCommand: tt.lint}}, tt.config, world)
		slices.Sort(copied.ran())
		if diff := cmp.Diff([]any{tt.left, tt.ran}, []any{copied.left, copied.ran()}); diff != "" {
			t.Errorf("%s:\n%s", name, diff)
		}
		for _, root := range r.Roots {
			for _, f := range root.Checks[0].Gating {
				if want := []string{f.Path + `:2-2="two"`, f.Path + `:4-4="four"`}; tt.left != nil && root.Language == phase.JavaScript && !slices.Equal(said(root.Checks[0].Gating), want) {
					t.Errorf("%s: %q, want %q", name, said(root.Checks[0].Gating), want)
				}
			}
		}
	}
}

// TestNoCopyNoSuggestions: the checks end as they did, and a note says why there is
// nothing more.
func TestNoCopyNoSuggestions(t *testing.T) {
	for _, why := range []string{"", "no space left on device"} {
		dir := files(t, map[string]string{"package.json": "{}", "a.js": source})
		s := newStage(t, dir, map[string][]step{prettierLine: {warned("a.js")}, eslintLine: {linted(dir, "a.js", 2)}, npmTest: ok})
		world, asked, notes := s.world(), 0, 0
		if why != "" {
			world.Copy = func(context.Context, []string) (phase.Copy, error) { asked++; return phase.Copy{}, errors.New(why) }
		}
		r := validate(t, phase.Job{Input: phase.Input{WorkingDirectory: dir, ChangedFiles: []string{"a.js"}}}, inPlace, world)
		for check, want := range map[phase.Check]string{phase.Formatter: "a.js:0-0", phase.Linter: "a.js:2-0 rule2"} {
			c := checkOf(r, check)
			if c.Status != phase.Fail || !slices.Equal(said(c.Gating), []string{want}) {
				t.Errorf("%q, %s: %s, %q", why, check, c.Status, said(c.Gating))
			}
			if slices.Contains(c.Notes, "no suggestions: "+why) {
				notes++
			}
		}
		if why != "" && (asked != 1 || notes != 2) || why == "" && notes != 0 {
			t.Errorf("%q: asked %d times, %d notes", why, asked, notes)
		}
	}
}

// TestInterruptedCopy ends the validation.
func TestInterruptedCopy(t *testing.T) {
	dir := files(t, map[string]string{"package.json": "{}", "a.js": source})
	s := newStage(t, dir, map[string][]step{prettierLine: {warned("a.js")}, eslintLine: ok, npmTest: ok})
	ctx, cancel := context.WithCancel(t.Context())
	world := s.world()
	world.Copy = func(ctx context.Context, _ []string) (phase.Copy, error) {
		cancel()
		return phase.Copy{}, ctx.Err()
	}
	_, err := phase.Validate(ctx, phase.Job{Input: phase.Input{WorkingDirectory: dir, ChangedFiles: []string{"a.js"}}}, inPlace, world)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

// TestAWritingFormatterInACopy is judged by what it changes in a copy, from which all
// else is kept: the linter sees the files as they are, and the linter's fix, run behind
// it, makes suggestions for their lines.
func TestAWritingFormatterInACopy(t *testing.T) {
	const format = "npm run format"
	for name, tt := range map[string]struct {
		writes map[string]string
		status phase.Status
		gating []string
	}{
		"formatted":   {nil, phase.Pass, nil},
		"unformatted": {map[string]string{"a.js": "one\ntwo\nadded\nthree\nfour \nfive\n"}, phase.Fail, []string{"a.js:2-2=\"two\\nadded\""}},
	} {
		repository := files(t, map[string]string{"web/package.json": `{"scripts":{"format":"mine"}}`, "web/a.js": source, "other.js": source})
		dir := filepath.Join(repository, "web")
		steps := map[string][]step{
			format: {writing(tt.writes)}, eslintLine: {linted(dir, "a.js", 2, 4)}, npmTest: ok,
			eslintFix: {step{do: func(t *testing.T, dir string) {
				text, err := os.ReadFile(filepath.Join(dir, "a.js"))
				if err != nil {
					t.Fatal(err)
				}
				write(t, dir, map[string]string{"a.js": strings.Replace(string(text), "four \n", "four\n", 1)})
			}}},
		}
		s := newStage(t, dir, steps)
		copied := newStage(t, "", map[string][]step{format: steps[format], eslintFix: steps[eslintFix]})
		delete(steps, format)
		delete(steps, eslintFix)
		world, made := s.world(), 0
		world.Copy = func(_ context.Context, leave []string) (phase.Copy, error) {
			to := t.TempDir()
			made, copied.dir = made+1, filepath.Join(to, "web")
			if len(leave) > 0 {
				t.Errorf("%s: %q is left out: nobody knows what a script needs", name, leave)
			}
			return phase.Copy{Repository: to, Run: copied.run}, os.CopyFS(to, os.DirFS(repository))
		}
		r := validate(t, phase.Job{Input: phase.Input{WorkingDirectory: dir, ChangedFiles: []string{"a.js"}}, Repository: repository}, inPlace, world)
		f := checkOf(r, phase.Formatter)
		for i, g := range tt.gating {
			tt.gating[i] = "web/" + g
		}
		if f.Status != tt.status || !slices.Equal(said(f.Gating), tt.gating) || made != 1 {
			t.Errorf("%s: %s, %q, %q, %d copies", name, f.Status, said(f.Gating), f.Problems, made)
		}
		if got := said(checkOf(r, phase.Linter).Gating); !slices.Equal(got, []string{`web/a.js:2-0 rule2`, `web/a.js:4-4 rule4="four"`}) {
			t.Errorf("%s: the linter: %q", name, got)
		}
		if text, err := os.ReadFile(filepath.Join(dir, "a.js")); err != nil || string(text) != source {
			t.Errorf("%s: %v, the file is %q", name, err, text)
		}
		if !slices.Equal(copied.ran, []string{format, eslintFix}) {
			t.Errorf("%s: %q", name, copied.ran)
		}
	}
}

// TestAFormatterThatCannotBeJudged names the way out.
func TestAFormatterThatCannotBeJudged(t *testing.T) {
	dir := files(t, map[string]string{"package.json": `{"scripts":{"format":"mine"}}`, "a.js": source})
	s := newStage(t, dir, map[string][]step{eslintLine: ok, npmTest: ok})
	world := s.world()
	world.Copy = func(context.Context, []string) (phase.Copy, error) { return phase.Copy{}, errors.New("too large") }
	f := checkOf(validate(t, phase.Job{Input: phase.Input{WorkingDirectory: dir, ChangedFiles: []string{"a.js"}}}, inPlace, world), phase.Formatter)
	if text := strings.Join(f.Problems, "\n"); f.Status != phase.Fail || !strings.Contains(text, "add a script 'format:check'") || !strings.Contains(text, "nor can it be run in a copy: too large") {
		t.Errorf("%s, %q", f.Status, f.Problems)
	}
}
