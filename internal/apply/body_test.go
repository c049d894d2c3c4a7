package apply

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/agent-airlock/airlock/internal/event"
	"github.com/agent-airlock/airlock/internal/githubtest"
	"github.com/agent-airlock/airlock/internal/markdown"
	"github.com/agent-airlock/airlock/internal/policy"
)

func TestSplitKeepsEveryWord(t *testing.T) {
	var long strings.Builder
	for i := range 400 {
		long.WriteString("word" + strings.Repeat("x", i%7) + " ")
		if i%20 == 19 {
			long.WriteString("\n\n")
		}
	}
	fenced := "before\n\n```go\n" + strings.Repeat("line of code\n", 100) + "```\n\nafter"
	for name, s := range map[string]string{
		"short":   "just this",
		"empty":   "",
		"long":    long.String(),
		"fence":   fenced,
		"no gaps": strings.Repeat("a", 3000),
		"astral":  strings.Repeat("😀", 1500),
	} {
		t.Run(name, func(t *testing.T) {
			parts := split(s, 500)
			var back strings.Builder
			for i, p := range parts {
				if n := markdown.UTF16Len(p); n > 500 {
					t.Errorf("part %d has %d units", i, n)
				}
				if open := markdown.CloseOpen(p); open != "" {
					t.Errorf("part %d leaves a fence open", i)
				}
				back.WriteString(p)
			}
			strip := func(s string) string { return strings.NewReplacer(" ", "", "\n", "", "`", "", "go", "").Replace(s) }
			if strip(back.String()) != strip(s) {
				t.Error("text was lost or changed")
			}
		})
	}
}

// TestSplitIsLinear splits a text that is so long that more than linear time would be noticed.
func TestSplitIsLinear(t *testing.T) {
	s := strings.Repeat("word and word\n", 200_000) // 2.8 MB
	if n := len(split(s, 60_000)); n < 40 || n > 100 {
		t.Errorf("%d parts", n)
	}
}

func FuzzSplit(f *testing.F) {
	f.Add("a\n\n```go\ncode\n```\nb", 300)
	f.Add(strings.Repeat("~~~~\nx\n", 200), 256)
	f.Add(strings.Repeat("😀 ", 400), 257)
	f.Add("<details>\n"+strings.Repeat("text ", 200), 300)
	f.Fuzz(func(t *testing.T, s string, room int) {
		if room < minRoom || room > 4000 || len(s) > 20_000 || !utf8.ValidString(s) {
			return
		}
		parts := split(s, room)
		pos := 0
		for _, p := range parts {
			if n := markdown.UTF16Len(p); n > room {
				t.Fatalf("a part of %d units, room %d", n, room)
			}
			// Every character but blanks, line ends and fences comes out, in order.
			for _, c := range p {
				for pos < len(s) && mayBeDropped(s[pos]) {
					pos++
				}
				if c < utf8.RuneSelf && mayBeDropped(byte(c)) {
					continue
				}
				if want, n := utf8.DecodeRuneInString(s[pos:]); want == c {
					pos += n
				}
			}
		}
		for pos < len(s) && mayBeDropped(s[pos]) {
			pos++
		}
		if pos != len(s) {
			t.Fatalf("text from %q on is lost", s[pos:min(len(s), pos+40)])
		}
	})
}

// mayBeDropped reports whether split may leave out or repeat a byte.
func mayBeDropped(c byte) bool { return c == ' ' || c == '\n' || c == '`' || c == '~' }

func TestBodyEndsWithTheMarkerAndFits(t *testing.T) {
	cfg := Config{Sanitizer: sanitizer(t), Workflow: "CI [x](y)", Run: event.Run{URL: "https://github.com/o/r/actions/runs/1"}}
	key := groupKey("x")
	for name, text := range map[string]string{
		"short":       "Hello",
		"empty":       "",
		"too long":    strings.Repeat("A paragraph of text.\n\n", 5000),
		"astral":      strings.Repeat("😀", 70_000),
		"open fence":  "```\n" + strings.Repeat("code\n", 30_000),
		"megabytes":   strings.Repeat("x", 5<<20),
		"old markers": "text\n" + markdown.Marker(groupKey("y")),
	} {
		t.Run(name, func(t *testing.T) {
			body, cut := cfg.body(text, cfg.footer(nil), key)
			if n := markdown.UTF16Len(body); n > maxBody {
				t.Errorf("%d UTF-16 units", n)
			}
			if len(body) > 262_144 {
				t.Errorf("%d bytes", len(body))
			}
			if got, ok := markdown.LastLineMarker(body); !ok || got != key {
				t.Errorf("the last line is not the key's marker: …%q", body[max(0, len(body)-150):])
			}
			if strings.Count(body, "airlock:v1") != 1 {
				t.Error("there is another marker")
			}
			if wantCut := markdown.UTF16Len(text) > maxBody-400; cut != wantCut {
				t.Errorf("cut: %v, want %v", cut, wantCut)
			}
			if cut != strings.Contains(body, cutNote) {
				t.Error("the note does not agree with the cut")
			}
			if !strings.Contains(body, "Asked for by an agent") {
				t.Error("the footer is missing")
			}
		})
	}
}

// TestNoTextIsLostWithoutANote cuts texts at a limit that falls next to a visible character or
// inside it.
func TestNoTextIsLostWithoutANote(t *testing.T) {
	cfg := Config{Sanitizer: sanitizer(t)}
	for _, unit := range []string{"x", "😀", "👩‍👩‍👧‍👦", "&amp;"} {
		for before := range 12 {
			text := strings.Repeat("a", maxBody-before) + strings.Repeat(unit, 100)
			if composed, cut := cfg.compose(text, "", maxBody); !cut || !strings.HasSuffix(composed, cutNote) {
				t.Errorf("%d characters and then %q: cut %t, …%q", maxBody-before, unit, cut, composed[max(0, len(composed)-60):])
			}
		}
	}
}

// TestFooterStandsAlone asserts that nothing of a text is open where the footer begins. Package
// sanitize tests what browsers make of such texts.
func TestFooterStandsAlone(t *testing.T) {
	cfg := Config{Sanitizer: sanitizer(t)}
	for _, text := range []string{
		"<div>\n\n<rp>", "<del>", "x <del>y", "<h1>", "<table>", "<table><tr><td>", "<details><summary>x", "<summary>", "<a href=\"#x\">x",
		"<sub>", "<pre>\nx", "```\nx", "~~~\nx", "<!-- x", "<![CDATA[ x", "<div title=\"", "- <table>", "> <details>", "<script>", "$$\nx",
	} {
		body, _ := cfg.body(text, cfg.footer(nil), groupKey("x"))
		before, _, ok := strings.Cut("\n\n"+body, "\n\n> Asked for by an agent")
		if open := markdown.CloseOpen(before); !ok || open != "" || strings.Contains(before, "<rp>") {
			t.Errorf("%q: %q is open in\n%s", text, open, body)
		}
	}
}

func TestFooters(t *testing.T) {
	cfg := Config{Sanitizer: sanitizer(t)}
	for _, tt := range []struct {
		name string
		f    *policy.Footer
		want string
	}{
		{"none", &policy.Footer{None: true}, ""},
		{"own", &policy.Footer{Text: "By *us*"}, "By *us*"},
		{"built in", &policy.Footer{}, "> Asked for by an agent; checked and posted by Airlock."},
	} {
		if got := cfg.footer(tt.f); got != tt.want {
			t.Errorf("%s: %q", tt.name, got)
		}
	}
	body, _ := cfg.body("text", "Thanks to @octocat, fixes #12", groupKey(""))
	if strings.Contains(body, "@octocat") {
		t.Errorf("the footer was not cleaned: %q", body)
	}
}

func TestEnterpriseHosts(t *testing.T) {
	b := newBench(t, fixture(), githubtest.Options{Enterprise: true}).on("pull_request", pullNumber)
	want(t, b.run(anIssue, aDiscussion, reviewLine("main.go", 3, "x")), "applied applied applied")
}

func TestBuiltInFooter(t *testing.T) {
	for _, tt := range []struct {
		cfg  Config
		part string
	}{
		{Config{}, "by an agent; checked"},
		{Config{Run: event.Run{URL: "https://github.com/o/r/actions/runs/1"}}, "[a workflow run](https://github.com/o/r/actions/runs/1)"},
		{Config{Workflow: "w", Run: event.Run{URL: "http://ghe.example.com/o/r/actions/runs/1"}}, "in the workflow w;"},
		{Config{Workflow: "a_b*"}, `in the workflow a_b\*;`},
		{Config{Run: event.Run{WorkflowPath: ".github/workflows/x.yml"}}, "in the workflow .github/workflows/x.yml;"},
	} {
		if got := tt.cfg.footer(nil); !strings.Contains(got, tt.part) {
			t.Errorf("%q lacks %q", got, tt.part)
		}
	}
}
