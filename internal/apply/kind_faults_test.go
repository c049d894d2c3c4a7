package apply

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/agent-airlock/airlock/internal/githubapi"
	"github.com/agent-airlock/airlock/internal/githubtest"
	"github.com/agent-airlock/airlock/internal/intake"
	"github.com/agent-airlock/airlock/internal/policy"
	"github.com/agent-airlock/airlock/internal/safeoutput"
)

// TestFaultsOnEachKind applies each sort of item that the random schedules draw, and lets requests
// go wrong, once or from then on. It plays a random part of all combinations of a request and a way
// to go wrong; with -faults.all, it plays all of them. The results must be true: an item that is
// applied or adopted is there, an applied item has an id, and a failed item is not there, unless
// its result says that this is not known. After another run each item is there once.
func TestFaultsOnEachKind(t *testing.T) {
	t.Parallel()
	playFaults(t, append(kindScenes(), ownScenes()...), 150)
}

// TestFaultsOnCode does the same with the kinds that carry code.
func TestFaultsOnCode(t *testing.T) {
	t.Parallel()
	playFaults(t, codeScenes(), 3)
}

// TestEachKindMeetsFaults asserts that no kind that writes is left out.
func TestEachKindMeetsFaults(t *testing.T) {
	played := map[string]bool{string(safeoutput.KindNoop): true}
	for _, k := range chaosKinds() {
		played[k.name] = true
	}
	for _, s := range codeScenes() {
		kind, _, _ := strings.Cut(s.name, ":")
		played[kind] = true
	}
	for _, s := range safeoutput.Kinds() {
		if !played[string(s.Kind)] {
			t.Errorf("%s has no row in chaosKinds and no scene in codeScenes", s.Kind)
		}
	}
}

// kindScenes returns a scene for each sort of item of each kind that can be counted on GitHub.
func kindScenes() (scenes []faultScene) {
	for _, k := range chaosKinds() {
		seen := map[string]bool{}
		for seed := range uint64(60) {
			item := k.draw(rand.New(rand.NewPCG(seed, 5)), 1)
			if seen[item.name] || item.times == nil {
				continue
			}
			seen[item.name] = true
			event := "workflow_dispatch"
			if k.events != nil {
				event = k.events[0]
			}
			scenes = append(scenes, itemScene(k.name+": "+item.name, event, nil, item))
		}
	}
	return scenes
}

// ownScenes returns scenes of Airlock's own items.
func ownScenes() []faultScene {
	withHistory := func(b *bench) {
		if err := b.playEarlierRuns(); err != nil {
			b.t.Fatal(err)
		}
	}
	scenes := []faultScene{
		itemScene("own: checks", "pull_request", withHistory, drawOwn(rand.New(rand.NewPCG(1, 5)))...),
		itemScene("own: a sticky comment", "pull_request", nil, drawSticky(rand.New(rand.NewPCG(1, 5)))),
		itemScene("own: a check run", "pull_request", nil, drawCheckRun(60)),
		itemScene("own: an issue", "pull_request", func(b *bench) { b.pol.Own.Loop = true }, followUpIssue()),
		itemScene("own: boxes", "workflow_dispatch", func(b *bench) {
			b.srv.Change(func(f *githubtest.Fixture) {
				issueIn(*f, issueNumber).Body = "## Acceptance criteria\n\n- [ ] It works.\n"
			})
		}, tickedBox("It works.")),
	}
	for i := range scenes {
		scenes[i].plausible = findable
	}
	return scenes
}

// followUpIssue returns the issue that a fix loop leaves.
func followUpIssue() chaosItem {
	const title = "Left for later"
	return chaosItem{
		name: "follow-up issue", once: true,
		own: &intake.OwnItem{Item: &safeoutput.CreateIssue{Title: title, Body: "One finding."}, Stable: "loop/7-1/follow-up"},
		times: func(st githubtest.Fixture) (times int) {
			for _, i := range st.Issues {
				if i.Title == title {
					times++
				}
			}
			return times
		},
	}
}

// tickedBox returns an item that ticks the box of a criterion.
func tickedBox(criterion string) chaosItem {
	return chaosItem{
		name: "box", once: true, own: &tickItem(criterion)[0],
		times: func(st githubtest.Fixture) int {
			return strings.Count(issueIn(st, issueNumber).Body, "- [x] "+criterion)
		},
	}
}

// itemScene returns a scene in which chaosItems are applied.
func itemScene(name, event string, setUp func(*bench), items ...chaosItem) faultScene {
	return faultScene{name: name, plausible: honest, begin: func(t *testing.T) faultPlay {
		t.Helper()
		b := newBench(t, fixture(), githubtest.Options{TrustAnswers: true, PerPage: 2})
		b.triggeredBy(event)
		b.allowOwn()
		for _, k := range []safeoutput.Kind{safeoutput.KindMissingTool, safeoutput.KindMissingData, safeoutput.KindReportIncomplete} {
			b.kind(k, func(kc *policy.KindConfig) { kc.CreateIssue = true })
		}
		if setUp != nil {
			setUp(b)
		}
		var lines []string
		var own []intake.OwnItem
		for _, it := range items {
			if it.own != nil {
				own = append(own, *it.own)
			} else {
				lines = append(lines, it.line)
			}
		}
		p := itemPlay{b, items, b.srv.State(), map[int]bool{}}
		return faultPlay{b, b.approve(own, lines...), p.check}
	}}
}

// honest reports whether the answer of a mishap is not a lie.
func honest(m mishap) bool { return !m.lie }

// findable reports whether a mishap is honest and lets Airlock find its own items again. It cannot
// if a request arrives twice, and so adds its annotations twice, or if a list lacks entries or is
// in another order.
func findable(m mishap) bool {
	return honest(m) && !m.fault.Twice && m.fault.Hide == 0 && !m.fault.Reverse
}

// itemPlay is a scene of items that is being played.
type itemPlay struct {
	*bench
	items  []chaosItem
	before githubtest.Fixture
	// incomplete are the items of which GitHub refused a part, as their results note.
	incomplete map[int]bool
}

// check returns what is wrong after a process.
func (p itemPlay) check(end processEnd) (problems []string) {
	say := func(format string, args ...any) { problems = append(problems, fmt.Sprintf(format, args...)) }
	if end.err == nil && end.results == nil && !end.mishap.kill {
		say("it has no results")
	}
	st := p.srv.State()
	for i, it := range p.items {
		if end.results != nil && slices.ContainsFunc(end.results[i].Notes, func(n string) bool { return strings.Contains(n, "did not accept") }) {
			p.incomplete[i] = true
		}
		if p.incomplete[i] {
			continue
		}
		n := it.times(st)
		if end.last && n != 1 {
			say("after the next run %s is there %d times: %s, %v", it.name, n, states(end.results), end.err)
		}
		if n > 1 && !end.mishap.fault.Twice {
			say("%s is there %d times", it.name, n)
		}
		if end.results == nil {
			continue
		}
		r := end.results[i]
		written := n > it.times(p.before)
		switch done := r.State == Applied || r.State == Adopted || reported(r); {
		case done && n == 0:
			say("%s is %s and not there: %s", it.name, r.State, r.Message)
		case end.last && !done:
			say("after the next run %s is %s(%s): %s", it.name, r.State, r.Code, r.Message)
		case r.State == Applied && !isIdentified(r.Object) && written && it.name != "resolving": // which acts on several threads
			say("%s is applied without a number: %+v", it.name, r.Object)
		case !done && written && !isUnclear(r):
			say("%s is %s(%s) and there: %s", it.name, r.State, r.Code, r.Message)
		}
		if r.Object != nil && r.Object.ID != 0 && !exists(st, r.Object.ID) {
			say("%s has an object that does not exist: %+v", it.name, *r.Object)
		}
	}
	return problems
}

// isIdentified reports whether an object can be found by what is known of it.
func isIdentified(o *Object) bool {
	return o != nil && (o.ID != 0 || o.Number != 0 || o.NodeID != "" || o.SHA != "")
}

// isUnclear reports whether a failed item may have been done, as its result says.
func isUnclear(r Result) bool {
	return r.Code == string(githubapi.Ambiguous) || r.Code == CodeNotTaken || r.Code == CodeUnprocessed || strings.Contains(r.Message, "may or may not have happened")
}

// codeScenes returns scenes of the kinds that carry code. The name of each begins with the kind.
func codeScenes() (scenes []faultScene) {
	for _, signed := range []bool{false, true} {
		sign := func(s *policy.ChangeSettings) { s.SignedCommits = signed }
		scenes = append(scenes,
			codeScene("create-pull-request: a new one", signed, func(c *codePlay) {
				c.pull(sign).pull(func(s *policy.ChangeSettings) { s.Reviewers = []string{"octocat"} })
			}),
			codeScene("create-pull-request: one of an earlier run", signed, func(c *codePlay) {
				c.pull(sign)
				c.write(map[string]string{"docs/a.md": "one\n"})
				c.run(strings.ReplaceAll(aPull, "It was broken.", "It is broken."))
				c.clock.Advance(time.Minute)
				c.nextRun()
				c.cfg.Run.Number++
			}),
			codeScene("push-to-branch: a commit", signed, func(c *codePlay) {
				c.push(sign).onPull()
				c.pushes = true
			}))
	}
	return scenes
}

// codePlay is a scene of an item that carries code.
type codePlay struct {
	*codeBench
	pushes bool   // the item pushes to pull request #7; otherwise it is a pull request of its own
	start  string // the commit of the branch topic at the beginning
	before int    // pull requests of ours at the beginning
	most   int    // commits of ours that may be there: signed ones are not replaced but followed
}

func codeScene(name string, signed bool, setUp func(*codePlay)) faultScene {
	return faultScene{name: fmt.Sprintf("%s, signed %t", name, signed), plausible: honest, begin: func(t *testing.T) faultPlay {
		t.Helper()
		c := &codePlay{codeBench: newCodeBench(t)}
		setUp(c)
		c.start, c.before, c.most = c.git.SHA("topic"), len(c.pulls()), 1
		if signed {
			c.most += c.before
		}
		c.write(map[string]string{"docs/a.md": "one\ntwo\n3\n"})
		line := aPull
		if c.pushes {
			line = aPush
		}
		approved, _ := c.judge(line)
		return faultPlay{c.bench, approved, c.check}
	}}
}

// check returns what is wrong after a process.
func (c *codePlay) check(end processEnd) (problems []string) {
	say := func(format string, args ...any) { problems = append(problems, fmt.Sprintf(format, args...)) }
	var r Result
	if len(end.results) == 1 {
		r = end.results[0]
	} else if end.err == nil && !end.mishap.kill {
		say("it has %d results", len(end.results))
	}
	done := r.State == Applied || r.State == Adopted
	if end.last && !done {
		say("after the next run it is %s(%s): %s, %v", r.State, r.Code, r.Message, end.err)
	}
	if r.State == Applied && !isIdentified(r.Object) {
		say("it is applied without a number: %+v", r.Object)
	}
	if len(r.Message) == 0 && end.results != nil {
		say("its result says nothing")
	}
	branch, since, there, commits := "topic", c.start, false, 0
	if !c.pushes {
		branch, since = strings.Join(c.branches("refs/heads/airlock"), " and "), "main"
	}
	if branch != "" && !strings.Contains(branch, " ") {
		there = c.file(branch, "docs/a.md") == "one\ntwo\n3"
		commits = strings.Count(c.git.Run("log", "--format=%B", since+".."+branch), trailerName+": ")
	}
	pulls := c.pulls()
	switch {
	case commits > c.most:
		say("%d commits of the item are there", commits)
	case len(pulls) > 1:
		say("%d pull requests are there", len(pulls))
	case done && !there:
		say("it is %s, and the branch %q does not have it: %s", r.State, branch, r.Message)
	case done && !c.pushes && len(pulls) != 1:
		say("it is %s, and there are %d pull requests", r.State, len(pulls))
	case r.State == Failed && there && c.pushes && !isUnclear(r):
		say("it is %s(%s), and the branch has it: %s", r.State, r.Code, r.Message)
	case r.State == Failed && len(pulls) > c.before && !isUnclear(r):
		say("it is %s(%s), and the pull request is there: %s", r.State, r.Code, r.Message)
	case r.State == Failed && there && !isUnclear(r) && (r.Object == nil || r.Object.Branch != branch):
		say("it is %s(%s), and no word says that the branch was pushed: %s %q", r.State, r.Code, r.Message, r.Notes)
	}
	if c.pushes || !end.last || len(pulls) != 1 {
		return problems
	}
	p := pulls[0]
	if p.Title != "Mend the demo" || !strings.HasPrefix(p.Body, "It was broken.") || p.State != "open" || !slices.Equal(p.Labels, []string{"bug"}) {
		say("after the next run the pull request is %q %q %s %q", p.Title, p.Body, p.State, p.Labels)
	}
	if c.before == 0 && len(p.Pull.Asked) != 1 {
		say("after the next run %q were asked for a review", p.Pull.Asked)
	}
	return problems
}
