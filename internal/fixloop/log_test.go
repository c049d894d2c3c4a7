package fixloop

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestLog(t *testing.T) {
	p := story(t)
	l := NewLog(p.state, p.log, p.now)
	golden(t, "log.md", l.Markdown())
	golden(t, "log.mermaid", l.Mermaid())
	if page := l.Page(); !strings.Contains(page, "**Total Messages**: 16  \n**Total Iterations**: 3\n\n") || strings.ReplaceAll(page, "  \n", "\n") != l.Markdown() {
		t.Errorf("the page:\n%s", page)
	}
	var b strings.Builder
	if err := l.Timeline(&b, 80, p.now); err != nil {
		t.Fatal(err)
	}
	golden(t, "timeline.txt", b.String())
	raw, err := json.MarshalIndent(l, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "log.json", string(raw)+"\n")
	var again Log
	if err := json.Unmarshal(raw, &again); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(l, again); diff != "" {
		t.Error(diff)
	}
	golden(t, "entry.md", p.log[7].LogEntry())
}

func TestTheSpecsStatistics(t *testing.T) {
	p := begun(t, Loop{})
	p.results(failing(Tests, "a"))
	p.fix("a")
	p.results(nil)
	p.wait(time.Minute).results(nil)
	got := NewLog(p.state, p.log, p.now).Markdown()
	want := `**Total Messages**: 6
**Failure Reports**: 1
**Fix Requests**: 1
**Fix Completions**: 1
**Re-validation Triggers**: 1
**Re-validation Results**: 1
**Success Notifications**: 1
`
	if !strings.Contains(got, want) || !strings.HasSuffix(got, "**Iterations**: 2 (1 initial + 1 retry)\n**Outcome**: Success (all validations passed)\n") {
		t.Error(got)
	}
}

func TestALogBeforeTheStart(t *testing.T) {
	p := newPlay(t, Loop{})
	l := NewLog(p.state, nil, p.now)
	var b strings.Builder
	if err := l.Timeline(&b, 0, p.now); err != nil || !strings.Contains(l.Markdown(), "**Started**: not yet\n") || l.Duration != 0 {
		t.Errorf("%v\n%s\n%s", err, l.Markdown(), b.String())
	}
}

func TestADiagramStaysSmall(t *testing.T) {
	p := begun(t, Loop{Limits: Limits{Iterations: 200}})
	for i := range 120 {
		p.results(failing(Tests, "failure "+strings.Repeat("x", i)))
		p.fix("tried")
	}
	got := NewLog(p.state, p.log, p.now).Mermaid()
	if n := strings.Count(got, ">>"); n != maxArrows || !strings.Contains(got, "earlier messages left out") {
		t.Errorf("%d arrows\n%.300s", n, got)
	}
}
