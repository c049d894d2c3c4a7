package apply

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/agent-airlock/airlock/internal/githubtest"
	"github.com/agent-airlock/airlock/internal/intake"
	"github.com/agent-airlock/airlock/internal/safeoutput"
	"github.com/agent-airlock/airlock/internal/tasklist"
)

// criteriaText is an issue's text as GitHub's form sends it.
var criteriaText = strings.ReplaceAll("Intro\n\n## Acceptance criteria\n\n- [ ] one\n  - [ ] nested  \n- [ ] twice\n- [ ] twice\n- [x] done\n- [ ] open\n\n```\n- [ ] one\n```\n<!-- - [ ] one -->\n", "\n", "\r\n")

var hubot = githubtest.Account{Login: "hubot", ID: 5}

// tickBench returns a repository with body as the issue's text.
func tickBench(t *testing.T, body string, o githubtest.Options) *bench {
	t.Helper()
	f := fixture()
	f.Issues[0].Body, f.Issues[0].Author, f.Issues[0].CreatedAt = body, hubot, noon.Add(-time.Hour)
	return newBench(t, f, o)
}

// tickItem returns the item that ticks the boxes of criteria.
func tickItem(texts ...string) []intake.OwnItem {
	it := &safeoutput.TickBoxes{Issue: issueNumber}
	for _, s := range texts {
		it.Boxes = append(it.Boxes, tasklist.Digest(s))
	}
	return []intake.OwnItem{{Item: it}}
}

// tick applies an item that ticks the boxes of criteria. over, if not nil, returns a transport over
// that of the server.
func (b *bench) tick(over func(http.RoundTripper) http.RoundTripper, texts ...string) Result {
	b.t.Helper()
	b.allowOwn()
	plan := b.planOf(b.approve(tickItem(texts...)))
	if over != nil {
		b.deps.GitHub = b.clientOver(over(b.srv.Transport()))
	}
	results := execute(context.Background(), b.deps, plan)
	if len(results) != 1 {
		b.t.Fatal(results)
	}
	return results[0]
}

// between is a transport that calls functions right before an issue is written, when Airlock has
// already read it, and right after.
type between struct {
	next          http.RoundTripper
	before, after func(n int) // called around the write number n, from 1; may be nil
	n             int
}

// RoundTrip implements http.RoundTripper.
func (g *between) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.Method != http.MethodPatch {
		return g.next.RoundTrip(req)
	}
	g.n++
	if g.before != nil {
		g.before(g.n)
	}
	resp, err := g.next.RoundTrip(req)
	if g.after != nil {
		g.after(g.n)
	}
	return resp, err
}

// edits lets somebody edit the issue's text, as in a browser.
func (b *bench) edits(who githubtest.Account, change func(string) string) {
	b.clock.Advance(time.Second)
	b.srv.Change(func(f *githubtest.Fixture) {
		i := f.Issues[0]
		if len(i.Edits) == 0 {
			i.FirstBody = i.Body
		}
		i.Body = change(i.Body)
		i.Edits = append(i.Edits, githubtest.Edit{Field: "body", To: i.Body, Editor: who, At: b.clock.Now()})
	})
	b.clock.Advance(time.Second)
}

func replace(from, to string) func(string) string {
	return func(s string) string { return strings.Replace(s, from, to, 1) }
}

func TestTickBoxes(t *testing.T) {
	b := tickBench(t, criteriaText, githubtest.Options{})
	r := b.tick(nil, "one", "nested", "twice", "done", "gone")
	want(t, []Result{r}, "applied")
	ticked := strings.Replace(strings.Replace(criteriaText, "[ ] one", "[x] one", 1), "[ ] nested", "[x] nested", 1)
	if got := b.issue(issueNumber).Body; got != ticked {
		t.Errorf("the text is\n%q", got)
	}
	if r.Message != "ticked 2 boxes in #5" || r.Object == nil || r.Object.Number != issueNumber {
		t.Errorf("%+v", r)
	}
	notes := strings.Join(r.Notes, "\n")
	for _, part := range []string{`more than once: "twice"`, "after they were verified: 1 of the criteria"} {
		if !strings.Contains(notes, part) {
			t.Errorf("the notes lack %q:\n%s", part, notes)
		}
	}
	if got := operations(b.srv.Writes()); len(got) != 1 || got[0] != "issues/update" {
		t.Errorf("writes %v", got)
	}
	again := b.tick(nil, "one", "nested", "done")
	want(t, []Result{again}, "adopted")
	if len(b.srv.Writes()) != 1 {
		t.Error("it was written again")
	}
}

func TestTickBoxesLeavesAlone(t *testing.T) {
	for name, tt := range map[string]struct {
		body    string
		prepare func(t *testing.T, b *bench)
		want    string
		part    string
	}{
		"a criterion that was edited":  {strings.Replace(criteriaText, "] one", "] one and more", 1), nil, "skipped(not-ticked)", "changed or removed"},
		"no list":                      {"Nothing.", nil, "skipped(not-ticked)", "changed or removed"},
		"an empty text":                {"", nil, "skipped(not-ticked)", "changed or removed"},
		"a list under another heading": {strings.Replace(criteriaText, "Acceptance criteria", "Ideas", 1), nil, "skipped(not-ticked)", "changed or removed"},
		"two equal texts":              {strings.Replace(criteriaText, "] open", "] one", 1), nil, "skipped(not-ticked)", `more than once: "one"`},
		"a box that somebody unticked": {criteriaText, func(t *testing.T, b *bench) {
			want(t, []Result{b.tick(nil, "one")}, "applied")
			b.edits(hubot, replace("[x] one", "[ ] one"))
		}, "skipped(not-ticked)", "somebody has unticked them: 1 box"},
		"an issue that was transferred or deleted": {criteriaText, func(t *testing.T, b *bench) {
			b.srv.Change(func(f *githubtest.Fixture) { f.Issues = f.Issues[1:] })
		}, "failed(not-found)", "#5"},
	} {
		t.Run(name, func(t *testing.T) {
			b := tickBench(t, tt.body, githubtest.Options{})
			if tt.prepare != nil {
				tt.prepare(t, b)
			}
			writes := len(b.srv.Writes())
			r := b.tick(nil, "one")
			want(t, []Result{r}, tt.want)
			if !strings.Contains(r.Message, tt.part) {
				t.Errorf("the message lacks %q: %s", tt.part, r.Message)
			}
			if len(b.srv.Writes()) != writes {
				t.Error("something was written")
			}
		})
	}
}

func TestTickBoxesOfUnusualIssues(t *testing.T) {
	long := "## Acceptance criteria\n- [ ] one\n\n"
	long += strings.Repeat("é漢\r\n", (65536-len(long))/4)
	for name, tt := range map[string]struct {
		body   string
		change func(*githubtest.Issue)
	}{
		"closed":                    {criteriaText, func(i *githubtest.Issue) { i.State = "closed" }},
		"locked":                    {criteriaText, func(i *githubtest.Issue) { i.Locked = true }},
		"as long as GitHub accepts": {long, nil},
	} {
		t.Run(name, func(t *testing.T) {
			b := tickBench(t, tt.body, githubtest.Options{})
			if tt.change != nil {
				b.srv.Change(func(f *githubtest.Fixture) { tt.change(f.Issues[0]) })
			}
			want(t, []Result{b.tick(nil, "one")}, "applied")
			if got := b.issue(issueNumber).Body; got != strings.Replace(tt.body, "[ ] one", "[x] one", 1) {
				t.Error("the text is another one")
			}
		})
	}
}

func TestTickBoxesPutsBackWhatItOverwrote(t *testing.T) {
	another := githubtest.Account{Login: "github-actions[bot]", ID: 41898282} // a job of the same account
	for name, who := range map[string]githubtest.Account{"somebody else's": hubot, "another job's": another} {
		t.Run(name, func(t *testing.T) {
			b := tickBench(t, criteriaText, githubtest.Options{})
			r := b.tick(func(rt http.RoundTripper) http.RoundTripper {
				return &between{next: rt, before: func(n int) {
					if n == 1 {
						b.edits(who, func(s string) string { return replace("[ ] open", "[x] open")(replace("Intro", "Introduction")(s)) })
					}
				}}
			}, "one")
			want(t, []Result{r}, "applied")
			wanted := strings.NewReplacer("Intro", "Introduction", "[ ] open", "[x] open").Replace(replace("[ ] one", "[x] one")(criteriaText))
			if got := b.issue(issueNumber).Body; got != wanted {
				t.Errorf("the text is\n%q", got)
			}
			if notes := strings.Join(r.Notes, "\n"); !strings.Contains(notes, "that text was put back") || !strings.Contains(notes, strings.TrimSuffix(who.Login, "[bot]")) {
				t.Errorf("the notes do not say whose text was put back: %s", notes)
			}
		})
	}
	t.Run("a criterion that was changed at that moment", func(t *testing.T) {
		b := tickBench(t, criteriaText, githubtest.Options{})
		r := b.tick(func(rt http.RoundTripper) http.RoundTripper {
			return &between{next: rt, before: func(n int) {
				if n == 1 {
					b.edits(hubot, replace("] one", "] one and more"))
				}
			}}
		}, "one", "nested")
		want(t, []Result{r}, "applied")
		wanted := replace("[ ] nested", "[x] nested")(replace("] one", "] one and more")(criteriaText))
		if got := b.issue(issueNumber).Body; got != wanted {
			t.Errorf("the text is\n%q", got)
		}
		if r.Message != "ticked 1 box in #5" {
			t.Error(r.Message)
		}
	})
	t.Run("next to a box that somebody unticked", func(t *testing.T) {
		b := tickBench(t, criteriaText, githubtest.Options{})
		want(t, []Result{b.tick(nil, "one")}, "applied")
		b.edits(hubot, replace("[x] one", "[ ] one"))
		r := b.tick(func(rt http.RoundTripper) http.RoundTripper {
			return &between{next: rt, before: func(n int) {
				if n == 1 {
					b.edits(hubot, replace("Intro", "Introduction"))
				}
			}}
		}, "one", "open")
		want(t, []Result{r}, "applied")
		wanted := strings.NewReplacer("Intro", "Introduction", "[ ] open", "[x] open").Replace(criteriaText)
		if got := b.issue(issueNumber).Body; got != wanted || r.Message != "ticked 1 box in #5" || strings.Contains(strings.Join(r.Notes, "\n"), "not ticked any more") {
			t.Errorf("%s, %q, the text is\n%q", r.Message, r.Notes, got)
		}
	})
	t.Run("every time", func(t *testing.T) {
		b := tickBench(t, criteriaText, githubtest.Options{})
		r := b.tick(func(rt http.RoundTripper) http.RoundTripper {
			return &between{next: rt, before: func(n int) {
				b.edits(hubot, replace("Intro", fmt.Sprintf("Intro %d", n)))
			}}
		}, "one")
		want(t, []Result{r}, "failed(overwritten)")
		if !strings.Contains(r.Message, "put back by hand") {
			t.Error(r.Message)
		}
	})
	t.Run("and again right after", func(t *testing.T) {
		b := tickBench(t, criteriaText, githubtest.Options{})
		r := b.tick(func(rt http.RoundTripper) http.RoundTripper {
			return &between{next: rt,
				before: func(int) { b.edits(hubot, replace("Intro", "Theirs")) },
				after:  func(int) { b.edits(hubot, replace("Intro", "Another")) }}
		}, "one")
		want(t, []Result{r}, "failed(overwritten)")
		if got := b.issue(issueNumber).Body; !strings.HasPrefix(got, "Another") {
			t.Errorf("the newest text is gone: %q", got)
		}
	})
	t.Run("somebody who undoes it right after", func(t *testing.T) {
		b := tickBench(t, criteriaText, githubtest.Options{})
		r := b.tick(func(rt http.RoundTripper) http.RoundTripper {
			return &between{next: rt, after: func(int) { b.edits(hubot, func(string) string { return criteriaText }) }}
		}, "one")
		want(t, []Result{r}, "applied")
		if got := b.issue(issueNumber).Body; got != criteriaText || !strings.Contains(strings.Join(r.Notes, "\n"), "1 box is not ticked any more") {
			t.Errorf("%q %v", got, r.Notes)
		}
	})
}

// unlike is a transport over which GitHub shows versions otherwise than expected.
type unlike struct {
	next   http.RoundTripper
	change func(shown string) string // of an answer about an issue's text
}

// RoundTrip implements http.RoundTripper.
func (g unlike) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := g.next.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	body, err := io.ReadAll(resp.Body)
	if strings.Contains(string(body), `"userContentEdits"`) {
		body = []byte(g.change(string(body)))
	}
	resp.Body = io.NopCloser(bytes.NewReader(body))
	return resp, err
}

// withoutTexts leaves the texts of the versions out of an answer.
func withoutTexts(shown string) string {
	return regexp.MustCompile(`"diff":"(?:[^"\\]|\\.)*"`).ReplaceAllString(shown, `"diff":null`)
}

// withoutVersions leaves the versions out of an answer.
func withoutVersions(shown string) string {
	return regexp.MustCompile(`"nodes":\[.*\]`).ReplaceAllString(shown, `"nodes":[]`)
}

func TestTickBoxesWhereVersionsAreNotShown(t *testing.T) {
	t.Run("without texts", func(t *testing.T) {
		b := tickBench(t, criteriaText, githubtest.Options{})
		want(t, []Result{b.tick(func(rt http.RoundTripper) http.RoundTripper { return unlike{rt, withoutTexts} }, "one")}, "applied")
	})
	t.Run("without texts, and somebody edits", func(t *testing.T) {
		b := tickBench(t, criteriaText, githubtest.Options{})
		r := b.tick(func(rt http.RoundTripper) http.RoundTripper {
			return &between{next: unlike{rt, withoutTexts}, before: func(int) { b.edits(hubot, replace("Intro", "Theirs")) }}
		}, "one")
		want(t, []Result{r}, "failed(overwritten)")
		if !strings.Contains(r.Message, "hubot edited the text of #5") {
			t.Error(r.Message)
		}
	})
	t.Run("no versions", func(t *testing.T) {
		b := tickBench(t, criteriaText, githubtest.Options{})
		r := b.tick(func(rt http.RoundTripper) http.RoundTripper { return unlike{rt, withoutVersions} }, "one")
		want(t, []Result{r}, "applied")
		if !strings.Contains(strings.Join(r.Notes, "\n"), "is not known") {
			t.Error(r.Notes)
		}
	})
	t.Run("late", func(t *testing.T) {
		b := tickBench(t, criteriaText, githubtest.Options{})
		n := 0
		r := b.tick(func(rt http.RoundTripper) http.RoundTripper {
			return unlike{rt, func(shown string) string {
				if n++; n < 4 {
					return withoutVersions(shown)
				}
				return shown
			}}
		}, "one")
		want(t, []Result{r}, "applied")
		if len(r.Notes) > 0 {
			t.Error(r.Notes)
		}
	})
}

func TestTickBoxesFaults(t *testing.T) {
	for name, tt := range map[string]struct {
		fault  githubtest.Fault
		want   string
		ticked bool
		part   string
	}{
		"403":                             {githubtest.Fault{Status: 403, Body: `{"message":"Resource not accessible by integration"}`}, "failed(permission)", false, "issues: write"},
		"a lost answer":                   {githubtest.Fault{Cut: true, After: true}, "applied", true, ""},
		"a lost request":                  {githubtest.Fault{Cut: true}, "applied", true, ""},
		"a server error that took effect": {githubtest.ServerError(502, true), "applied", true, ""},
		"a server error":                  {githubtest.ServerError(502, false), "applied", true, ""},
		"an answer without an effect":     {githubtest.Fault{Status: 200, Body: `{"number":5,"id":1}`}, "failed(not-taken)", false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			b := tickBench(t, criteriaText, githubtest.Options{})
			b.srv.SetFault(once("issues/update", tt.fault))
			r := b.tick(nil, "one")
			want(t, []Result{r}, tt.want)
			if got := b.issue(issueNumber).Body; (got != criteriaText) != tt.ticked || !strings.Contains(r.Message, tt.part) {
				t.Errorf("%q: %s", got, r.Message)
			}
			if edits := b.issue(issueNumber).Edits; len(edits) > 1 {
				t.Errorf("%d edits", len(edits))
			}
		})
	}
	t.Run("a write that takes effect late, after another one", func(t *testing.T) {
		b := tickBench(t, criteriaText, githubtest.Options{})
		us := githubtest.Account{Login: "github-actions[bot]", ID: 41898282}
		late := replace("[ ] one", "[x] one")(criteriaText)
		r := b.tick(func(rt http.RoundTripper) http.RoundTripper {
			return &between{next: rt, before: func(n int) {
				switch n {
				case 1: // the first write is lost, and takes effect late
					b.srv.SetFault(once("issues/update", githubtest.Fault{Cut: true}))
				case 2:
					b.edits(hubot, replace("Intro", "Theirs"))
				}
			}, after: func(n int) {
				if n == 2 {
					b.edits(us, func(string) string { return late })
				}
			}}
		}, "one")
		if got := b.issue(issueNumber).Body; !strings.HasPrefix(got, "Theirs") && r.State != Failed {
			t.Errorf("somebody's text is gone without a word: %+v\n%q", r, got)
		}
	})
	t.Run("a lost request, and somebody ticks one of the boxes", func(t *testing.T) {
		b := tickBench(t, criteriaText, githubtest.Options{})
		b.srv.SetFault(once("issues/update", githubtest.Fault{Cut: true}))
		r := b.tick(func(rt http.RoundTripper) http.RoundTripper {
			return &between{next: rt, after: func(n int) {
				if n == 1 {
					b.edits(hubot, replace("[ ] one", "[x] one"))
				}
			}}
		}, "one", "nested")
		want(t, []Result{r}, "applied")
		if r.Message != "ticked 1 box in #5" {
			t.Error(r.Message)
		}
	})
	t.Run("a lost request, and somebody ticks one box and changes the other's text", func(t *testing.T) {
		b := tickBench(t, criteriaText, githubtest.Options{})
		b.srv.SetFault(once("issues/update", githubtest.Fault{Cut: true}))
		r := b.tick(func(rt http.RoundTripper) http.RoundTripper {
			return &between{next: rt, after: func(n int) {
				if n == 1 {
					b.edits(hubot, replace("[ ] one", "[x] one"))
					b.edits(hubot, replace("[ ] nested", "[ ] another"))
				}
			}}
		}, "one", "nested")
		want(t, []Result{r}, "adopted")
		if notes := strings.Join(r.Notes, "\n"); strings.Count(notes, "not ticked, because their text was changed") != 1 {
			t.Errorf("the notes are %q", r.Notes)
		}
	})
	t.Run("no token", func(t *testing.T) {
		b := tickBench(t, criteriaText, githubtest.Options{})
		b.token = ""
		want(t, []Result{b.tick(nil, "one")}, "failed(no-token)")
	})
	t.Run("a dry run", func(t *testing.T) {
		b := tickBench(t, criteriaText, githubtest.Options{})
		b.cfg.DryRun = true
		r := b.tick(nil, "one", "nested")
		want(t, []Result{r}, "staged")
		if r.Message != "would tick 2 boxes in #5" {
			t.Error(r.Message)
		}
	})
}
