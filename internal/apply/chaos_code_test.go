package apply

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/agent-airlock/airlock/internal/githubtest"
	"github.com/agent-airlock/airlock/internal/policy"
)

// codeChaos is one schedule of items that carry code, with real git.
type codeChaos struct {
	*codeBench
	mu      sync.Mutex // git's requests come from other processes
	r       *rand.Rand
	lines   []string
	start   string   // the commit at which the branch topic begins
	theirs  []string // commits of other people, each as its branch and id
	onPull  bool     // an item pushes to pull request #7
	commits int      // number of commits in the series
	diary   []string
}

func newCodeChaos(t *testing.T, seed uint64) *codeChaos {
	r := rand.New(rand.NewPCG(seed, 7))
	c := &codeChaos{codeBench: newCodeBench(t), r: r, onPull: r.IntN(2) == 0, commits: 1 + r.IntN(2)}
	if c.onPull {
		c.codeBench.onPull()
		c.lines = append(c.lines, aPush)
	}
	if !c.onPull || r.IntN(2) == 0 {
		pull := aPull
		if r.IntN(3) == 0 {
			pull = strings.ReplaceAll(aPull, `"title"`, `"branch":"topic","title"`) // somebody else's
			c.pull(func(s *policy.ChangeSettings) { s.AllowedBranches = []string{"**"} })
		}
		c.lines = append(c.lines, pull)
	}
	signed := r.IntN(3) == 0
	sign := func(s *policy.ChangeSettings) { s.SignedCommits = signed }
	c.pull(sign)
	c.push(sign)
	c.start = c.git.SHA("topic")
	if c.commits == 2 {
		c.write(map[string]string{"docs/b.md": "new\n"}).commit("Add b")
	}
	c.write(map[string]string{"docs/a.md": "one\ntwo\n3\n"})
	c.note("signed %t, %d commits, items %s", signed, c.commits, c.lines)
	return c
}

func (c *codeChaos) note(format string, args ...any) {
	c.diary = append(c.diary, fmt.Sprintf(format, args...))
}

// hook returns a fault hook that makes one request in rate fail. Now and then, somebody else
// pushes.
func (c *codeChaos) hook(rate int) func(githubtest.Request) githubtest.Fault {
	return func(req githubtest.Request) githubtest.Fault {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.r.IntN(15) == 0 && len(c.theirs) < 4 {
			branches := []string{"main", "topic"}
			if ours := c.ourBranch(); ours != "" {
				branches = append(branches, ours)
			}
			branch := branches[c.r.IntN(len(branches))]
			c.theirs = append(c.theirs, branch+" "+c.git.Commit(branch, map[string]string{fmt.Sprint("theirs", len(c.theirs)): "x\n"}, "Somebody else's"))
			c.note("  somebody pushes to %s", branch)
		}
		var f githubtest.Fault
		name := ""
		switch isGit := strings.HasPrefix(req.Operation, "git-http/"); {
		case c.r.IntN(rate) != 0:
		case isGit:
			name, f = c.gitFault()
		default:
			name, f = drawFault(c.r, req, c.clock.Now(), 0)
		}
		c.note("  %d %s %s", req.Seq, req.Operation, name)
		return f
	}
}

// ourBranch returns our branch. It returns "" until the branch has a commit of ours. Until then the
// branch counts as other people's, if they have committed to it.
func (c *codeChaos) ourBranch() string {
	branches := c.branches("refs/heads/airlock", "refs/heads/topic-2")
	if len(branches) == 0 {
		return ""
	}
	branch := branches[0]
	if !strings.Contains(c.git.Run("log", "--format=%B", "main.."+branch), trailerName+": ") {
		return ""
	}
	return branch
}

// gitFault returns the name of something that goes wrong with a fetch or a push, and the fault.
func (c *codeChaos) gitFault() (string, githubtest.Fault) {
	after := c.r.IntN(2) == 0
	switch c.r.IntN(5) {
	case 0:
		return fmt.Sprint("cut, after the effect: ", after), githubtest.Fault{Cut: true, After: after}
	case 1:
		return "cut in the answer", githubtest.Fault{CutBody: true}
	case 2:
		return "the effect comes late", githubtest.Fault{Late: time.Duration(1+c.r.IntN(30)) * time.Second}
	case 3:
		return "limited", githubtest.SecondaryLimit(429, 1)
	}
	return fmt.Sprint("502, after the effect: ", after), githubtest.ServerError(502, after)
}

// attempt runs the step once. It returns nil if the step was killed or could not begin.
func (c *codeChaos) attempt(n int, calm bool) []Result {
	c.cfg.Run.Attempt = n
	approved, _ := c.judge(c.lines...)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	rt := c.srv.Transport()
	c.srv.SetFault(nil)
	if !calm {
		c.srv.SetFault(c.hook(3 + c.r.IntN(12)))
		if c.r.IntN(3) > 0 {
			k := &killer{next: rt, left: 1 + c.r.IntN(12), after: c.r.IntN(2) == 0}
			c.note("attempt %d: killed at request %d, after its effect: %t", n, k.left, k.after)
			if c.r.IntN(3) == 0 {
				k.cancel = cancel
				c.note("  by an interruption")
			}
			rt = k
		}
	}
	results, err := c.process(ctx, rt, c.clock, approved)
	c.note("attempt %d ended: %s %v", n, states(results), err)
	c.checkResults(results)
	return results
}

// checkResults asserts that the results agree with the repository.
func (c *codeChaos) checkResults(results []Result) {
	c.t.Helper()
	for _, r := range results {
		switch {
		case r.State != Applied && r.State != Adopted:
			continue
		case r.Object == nil:
			if r.State == Applied {
				c.t.Errorf("%s is applied, but its result has no object: %s", r.Kind, r.Message)
			}
			continue
		case r.Kind == "create-pull-request" && (len(c.pulls()) != 1 || c.pulls()[0].Number != r.Object.Number || !c.contains(r.Object.Branch, r.Object.SHA)):
			c.t.Errorf("it is %s, but there is no such pull request: %+v", r.State, r.Object)
		case r.Kind == "push-to-branch" && !c.contains("topic", r.Object.SHA):
			c.t.Errorf("it is %s, but the branch does not contain %s", r.State, r.Object.SHA)
		}
	}
}

func (c *codeChaos) contains(branch, sha string) bool {
	return strings.Contains(c.git.Run("rev-list", branch), sha)
}

// checkTheirs asserts that no commit of other people is lost.
func (c *codeChaos) checkTheirs() {
	c.t.Helper()
	for _, commit := range c.theirs {
		if branch, sha, _ := strings.Cut(commit, " "); !c.contains(branch, sha) {
			c.t.Errorf("somebody else's commit on %s is lost", branch)
		}
	}
}

// checkEnd compares the repository with what one undisturbed run makes of it.
func (c *codeChaos) checkEnd() {
	c.t.Helper()
	c.checkTheirs()
	trailers := func(revs string) string {
		return strconv.Itoa(strings.Count(c.git.Run("log", "--format=%B", revs), trailerName+": "))
	}
	onTopic := "0"
	if c.onPull {
		onTopic = strconv.Itoa(c.commits)
		if got := c.file("topic", "docs/a.md"); got != "one\ntwo\n3" {
			c.t.Errorf("topic has %q", got)
		}
	}
	if got := trailers(c.start + "..topic"); got != onTopic {
		c.t.Errorf("topic has %s commits of the item, not %s", got, onTopic)
	}
	pulls := 0
	if strings.Contains(strings.Join(c.lines, ""), "create-pull-request") {
		pulls = 1
	}
	if got := len(c.pulls()); got != pulls {
		c.t.Fatalf("%d pull requests, not %d", got, pulls)
	}
	branches := c.branches("refs/heads")
	if len(branches) != 2+pulls {
		c.t.Errorf("the branches are %q", branches)
	}
	if pulls == 0 {
		return
	}
	p := c.pulls()[0]
	if p.Title != "Mend the demo" || !strings.HasPrefix(p.Body, "It was broken.") || p.State != "open" {
		c.t.Errorf("the pull request is %+v", p)
	}
	changed := slices.DeleteFunc(strings.Fields(c.git.Run("diff", "--name-only", "main..."+p.Pull.Head.Ref)), func(name string) bool { return strings.HasPrefix(name, "theirs") })
	if got := strings.Join(changed, "\n"); got != strings.TrimSpace("docs/a.md\n"+strings.Repeat("docs/b.md", c.commits-1)) {
		c.t.Errorf("it changes %q", got)
	}
	if got := c.file(p.Pull.Head.Ref, "docs/a.md"); got != "one\ntwo\n3" {
		c.t.Errorf("it has %q", got)
	}
}

// TestWhateverHappensCodeIsPushedOnce applies items that carry code until one attempt completes all
// of them. Meanwhile requests to GitHub and git fail at random, runs are killed or interrupted, and
// other people push. At the end, the branches and pull requests must be those of one undisturbed
// run, and nobody's commit may be lost.
func TestWhateverHappensCodeIsPushedOnce(t *testing.T) {
	eachSeed(t, 2, func(t *testing.T, seed uint64) {
		c := newCodeChaos(t, seed)
		defer explain(t, seed, &c.diary)
		faulty := 1 + c.r.IntN(3)
		for n := 1; ; n++ {
			results := c.attempt(n, n > faulty)
			c.clock.Advance(time.Duration(c.r.IntN(5)) * time.Second)
			// An attempt may end with a denied item: a false 404 makes its pull request look missing.
			if n := Count(results); n[Applied]+n[Adopted] == len(c.lines) {
				break
			}
			if n > faulty {
				t.Errorf("it does not end without faults: %s", states(results))
				break
			}
		}
		c.clock.Advance(time.Minute) // until late writes have taken effect
		c.checkEnd()
	})
}

// subjectChaos is one schedule of several runs of a scheduled workflow, which are about two
// subjects.
type subjectChaos struct {
	*codeChaos
	versions map[string]string // by subject: the content of its file after the last run about it
	branches map[string]string // by subject
}

// The subjects, as different runs write them, and the files that they change.
var (
	chaosTitles = map[string][]string{"login": {"Fix the login page", "fix the Login page.", "Fix  the login page"}, "parser": {"Upgrade the parser", "Upgrade the Parser!", "“Upgrade” the parser"}}
	chaosFiles  = map[string]string{"login": "login.txt", "parser": "parser.txt"}
)

// actAsOthers is what other people do between two runs.
func (c *subjectChaos) actAsOthers() {
	if c.r.IntN(3) == 0 {
		c.git.Commit("main", map[string]string{fmt.Sprint("main", len(c.diary)): "x\n"}, "Move on")
		c.note("main moves on")
	}
	for _, subject := range slices.Sorted(maps.Keys(c.branches)) {
		branch := c.branches[subject]
		switch c.r.IntN(4) {
		case 0:
			c.theirs = append(c.theirs, branch+" "+c.git.Commit(branch, map[string]string{fmt.Sprint("theirs", len(c.theirs)): "x\n"}, "Somebody else's"))
			c.note("somebody commits to %s", subject)
		case 1:
			c.theirs = append(c.theirs, branch+" "+c.updateBranch(branch))
			c.note("somebody updates %s", subject)
		}
	}
}

// play is one workflow run, which is tried again until it ends.
func (c *subjectChaos) play(number int) {
	c.nextRun()
	var wanted []string
	for _, subject := range [][]string{{"login"}, {"parser"}, {"login", "parser"}, {"parser", "login"}}[c.r.IntN(4)] {
		titles := chaosTitles[subject]
		wanted = append(wanted, subject)
		c.versions[subject] = fmt.Sprintf("version %d", number)
		c.lines = append(c.lines, titled(titles[c.r.IntN(len(titles))], ""))
	}
	files := map[string]string{} // of both, because a run's items share its changes
	for _, subject := range wanted {
		files[chaosFiles[subject]] = c.versions[subject] + "\n"
	}
	c.write(files)
	c.note("run %d: %s", number, c.lines)
	for n := 1; n <= 6; n++ {
		c.cfg.Run.Attempt = n
		approved, _ := c.judge(c.lines...)
		rt := c.srv.Transport()
		c.srv.SetFault(nil)
		if n < 3 && c.r.IntN(2) == 0 {
			c.srv.SetFault(c.hook(4 + c.r.IntN(12)))
			rt = &killer{next: rt, left: 4 + c.r.IntN(20), after: c.r.IntN(2) == 0}
		}
		results, err := c.process(context.Background(), rt, c.clock, approved)
		c.note("  attempt %d ended: %s %v", n, states(results), err)
		c.clock.Advance(time.Minute)
		if count := Count(results); count[Applied]+count[Adopted] == len(c.lines) {
			for i, subject := range wanted {
				if branch := results[i].Object.Branch; c.branches[subject] != "" && c.branches[subject] != branch {
					c.t.Errorf("%s moved from the branch %q to %q", subject, c.branches[subject], branch)
				} else {
					c.branches[subject] = branch
				}
			}
			c.lines = nil
			return
		}
	}
	c.t.Errorf("run %d does not end", number)
}

// TestWhateverHappensSubjectsStayApart plays runs of a schedule about two subjects, while
// requests fail, runs are killed, and people commit to the branches. Each subject must end with
// one pull request, which has the changes of the last run about it, and everybody's commits.
func TestWhateverHappensSubjectsStayApart(t *testing.T) {
	eachSeed(t, 1, func(t *testing.T, seed uint64) {
		c := &subjectChaos{codeChaos: &codeChaos{codeBench: newCodeBench(t), r: rand.New(rand.NewPCG(seed, 11))}, versions: map[string]string{}, branches: map[string]string{}}
		defer explain(t, seed, &c.diary)
		c.ev.Name = "schedule"
		signed := c.r.IntN(3) == 0
		c.pull(func(s *policy.ChangeSettings) { s.SignedCommits = signed })
		for number := range 2 + c.r.IntN(4) {
			c.play(number)
			c.actAsOthers()
		}
		if got := len(c.pulls()); got != len(c.branches) {
			t.Errorf("%d pull requests for %d subjects", got, len(c.branches))
		}
		for subject, branch := range c.branches {
			if got := c.file(branch, chaosFiles[subject]); got != c.versions[subject] {
				t.Errorf("%s is at %q, not %q", subject, got, c.versions[subject])
			}
		}
		c.checkTheirs()
	})
}
