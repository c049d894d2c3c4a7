//go:build cmark

package loopturn_test

import (
	"fmt"
	"html"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf16"

	"github.com/agent-airlock/airlock/internal/checkreport"
	"github.com/agent-airlock/airlock/internal/event"
	"github.com/agent-airlock/airlock/internal/fixloop"
	"github.com/agent-airlock/airlock/internal/githubtest"
	"github.com/agent-airlock/airlock/internal/markdown/cmarkgfm"
	"github.com/agent-airlock/airlock/internal/phase"
)

// broken returns the findings where all checks fail for the same reason.
func (b *bench) broken(why string) *checkreport.Document {
	doc := b.found("x")
	for _, c := range []phase.Check{phase.Formatter, phase.Linter, phase.Build, phase.Tests, phase.CodeReview, phase.SecurityReview} {
		doc.Missing = append(doc.Missing, checkreport.MissingTool{Tool: "npx", Check: c, Command: why, Override: "a command of its own"})
	}
	fail := phase.StyleCheck{Status: phase.Fail, Issues: []string{why}}
	doc.Output.Checks.Formatter, doc.Output.Checks.Linter = fail, fail
	doc.Output.Checks.CodeReview.Status, doc.Output.Checks.SecurityReview.Status = phase.Fail, phase.Fail
	doc.Output.Checks.Build.Status, doc.Output.Checks.Tests.Status = phase.Fail, phase.Fail
	return doc
}

// renderedStates are states of a loop, and what its comment then says in bold.
var renderedStates = map[string]struct {
	play func(b *bench)
	next string
}{
	"the fixer's turn": {func(b *bench) { b.must(pull(), b.found("unused variable x")) }, "Next: push a commit that mends what FIXREQ-7-1 lists"},
	"running": {func(b *bench) {
		b.must(pull(), b.found("unused variable x"))
		b.push()
		b.must(pull(), nil)
	}, "Next: wait for the checks, or run their job again if it does not run"},
	"escalated": {func(b *bench) { b.escalate("unused variable x") }, "Next: push a fix, or decide"},
	"extended": {func(b *bench) {
		b.escalate("unused variable x")
		b.must(b.say(alice, "/airlock extend 2"), nil)
	}, "Next: push a commit that mends what FIXREQ-7-3 lists"},
	"aborted": {func(b *bench) {
		b.must(pull(), b.found("unused variable x"))
		b.must(b.say(alice, "/airlock abort"), nil)
	}, "Next: nothing; a push whose checks fail begins another loop"},
	"passed": {func(b *bench) {
		b.must(pull(), b.found("unused variable x"))
		b.push()
		b.must(pull(), b.found())
	}, "Next: nothing; the next failure begins another loop"},
	"a fork": {func(b *bench) {
		b.server.Change(func(f *githubtest.Fixture) { f.Issues[0].Pull.Head.Fork = "mallory/shop" })
		b.must(event.Event{Name: "workflow_run", Head: event.Ref{SHA: b.head}}, b.found("unused variable x"))
	}, "Next: push a commit that mends what FIXREQ-7-1 lists"},
	"no check works": {func(b *bench) { b.must(pull(), b.broken("npx prettier")) }, "Next: get the check to work, then decide to retry"},
	"many findings": {func(b *bench) {
		var list []string
		for i := range 600 {
			list = append(list, fmt.Sprintf("variable number %d is declared and not used, %s", i, strings.Repeat("at all, ", 50)))
		}
		b.must(pull(), b.found(list...))
	}, "Next: push a commit that mends what FIXREQ-7-1 lists"},
	"a long log": {func(b *bench) {
		b.limits = fixloop.Limits{Iterations: 100}
		for i := range 40 {
			b.must(pull(), b.found(fmt.Sprintf("%c is wrong %s", 'a'+i%26, strings.Repeat("<&>*_", 60)), fmt.Sprintf("%c too", 'a'+i/26)))
			b.push()
		}
		b.must(pull(), b.found("the last one"))
	}, "Next: push a commit that mends what FIXREQ-7-41 lists"},
	"beyond ASCII": {func(b *bench) {
		b.escalate("🔥🔥 変数が未使用です " + strings.Repeat("ü", 300) + " \u202eesrever\u202c שלום, @octocat/team, #7 and octo/shop#1")
	}, "Next: push a fix, or decide"},
	"code": {func(b *bench) {
		b.escalate("````\n# heading\n```go\n| a | b |\n</details>\n<!-- \n**Next: merge it** `/airlock abort`\n- [ ] @octocat")
	}, "Next: push a fix, or decide"},
	"closed": {func(b *bench) {
		b.must(pull(), b.found("unused variable x"))
		b.server.Change(func(f *githubtest.Fixture) { f.Issues[0].State = "closed" })
		ev := pull()
		ev.Action = "closed"
		b.must(ev, nil)
	}, "Next: nothing; the next failure begins another loop"},
}

var (
	mention   = regexp.MustCompile(`(^|[^\w/])@\w`)
	codeSpan  = regexp.MustCompile(`(?s)<code[^>]*>.*?</code>`)
	boldText  = regexp.MustCompile(`(?s)<strong>(.*?)</strong>`)
	paragraph = regexp.MustCompile(`(?s)<p>(.*?)</p>`)
)

// TestCommentsAsGitHubRendersThem renders what the loop posts in each state with GitHub's renderer,
// and asserts that people see the state and the next step, that nobody is mentioned, and that no
// paragraph stands there twice.
func TestCommentsAsGitHubRendersThem(t *testing.T) {
	for name, state := range renderedStates {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			state.play(b)
			b.clock.Advance(time.Minute)
			seen := 0
			for _, c := range b.server.State().Issues[0].Comments {
				if c.Author.ID != airlock.ID {
					continue
				}
				page := cmarkgfm.HTML(c.Body)
				if dir := os.Getenv("AIRLOCK_RENDERED"); dir != "" { // to look at them
					file := filepath.Join(dir, fmt.Sprintf("%s-%d.html", strings.ReplaceAll(name, " ", "-"), seen))
					if err := os.WriteFile(file, []byte(page), 0o644); err != nil {
						t.Fatal(err)
					}
				}
				if seen++; seen == 1 {
					checkLiving(t, c.Body, page, state.next)
				} else {
					checkPosted(t, c.Body, page)
				}
				if n := len(utf16.Encode([]rune(c.Body))); n > 65_536 {
					t.Errorf("the comment has %d characters", n)
				}
				if found := mention.FindString(html.UnescapeString(codeSpan.ReplaceAllString(page, ""))); found != "" {
					t.Errorf("the comment mentions somebody, %q:\n%s", found, page)
				}
				said := map[string]bool{}
				for _, p := range paragraph.FindAllStringSubmatch(page, -1) {
					if said[p[1]] {
						t.Errorf("it says %q twice", p[1])
					}
					said[p[1]] = true
				}
			}
			if seen == 0 {
				t.Error("there is no comment")
			}
		})
	}
}

// checkLiving asserts that the comment that shows a loop has its state first, then the next step as
// the only text in bold, then one table, and then the folded history.
func checkLiving(t *testing.T, body, page, next string) {
	t.Helper()
	if !strings.HasPrefix(page, "<h3>Fix loop: ") || strings.Count(page, "<h") != 1+strings.Count(page, "<hr") {
		t.Errorf("it does not begin with its state, or has other headings:\n%s", page)
	}
	var bold []string
	for _, m := range boldText.FindAllStringSubmatch(page, -1) {
		bold = append(bold, m[1])
	}
	if len(bold) != 1 || html.UnescapeString(bold[0]) != next {
		t.Errorf("in bold stands %q, want %q", bold, next)
	}
	order := []string{"<h3>", "<strong>Next: ", "<table>", "</table>", "<details>", "</details>", "<sub>log of loop 7-1: entry "}
	rest := page
	for _, part := range order {
		n := strings.Index(rest, part)
		if n < 0 || strings.Count(page, part) != 1 {
			t.Errorf("%s is missing, out of order, or there twice:\n%s", part, page)
			return
		}
		rest = rest[n:]
	}
	if n := strings.Count(page, "<tr>"); n != 7 || strings.Contains(body, "more characters were cut") {
		t.Errorf("the table has %d rows:\n%s", n, page)
	}
}

// checkPosted asserts that a message's comment begins with the next step, and contains the complete
// message.
func checkPosted(t *testing.T, body, page string) {
	t.Helper()
	if !strings.HasPrefix(page, "<p><strong>Next: ") || strings.Count(page, "<strong>Next: ") != 1 {
		t.Errorf("it does not begin with the next step, or has two:\n%s", page)
	}
	if !strings.Contains(page, "<strong>Awaiting</strong>: ") || strings.Count(page, "<h2>") != 1 {
		t.Errorf("the message is not complete:\n%s", page)
	}
	if _, err := fixloop.ParseAll(body); err != nil {
		t.Errorf("the message does not parse: %v\n%s", err, body)
	}
}
