package loopref_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-airlock/airlock/internal/fixloop"
	"github.com/agent-airlock/airlock/internal/githubapi"
	"github.com/agent-airlock/airlock/internal/githubtest"
	"github.com/agent-airlock/airlock/internal/loopref"
	"github.com/agent-airlock/airlock/internal/token"
)

var (
	repo  = githubapi.Repo{Owner: "octo", Name: "shop"}
	began = time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
)

// open returns a store on a server with a git repository and the pull requests 7 and 8.
func open(t *testing.T, secret string) (*loopref.Store, *githubtest.Git, *githubtest.Server) {
	t.Helper()
	git := githubtest.NewGit(t)
	git.Commit("main", map[string]string{"README.md": "hello\n"}, "Begin")
	clock := githubtest.NewVirtualClock(time.Time{})
	f := githubtest.Fixture{Repo: githubtest.Repo{ID: 5, Owner: "octo", Name: "shop"}, Viewer: githubtest.Account{Login: "airlock[bot]", ID: 99}}
	head := githubtest.Branch{Ref: "fix", SHA: git.SHA("main")}
	for _, n := range []int{7, 8} {
		f.Issues = append(f.Issues, &githubtest.Issue{Number: n, Title: "Count", State: "open", Pull: &githubtest.Pull{Head: head, Base: githubtest.Branch{Ref: "main", SHA: head.SHA}}})
	}
	server := githubtest.New(t, f, githubtest.Options{Clock: clock, Git: git})
	client, err := githubapi.New(githubapi.Options{Clock: clock, Pace: githubapi.Unpaced(), Transport: server.Transport(), APIURL: server.APIURL(), Token: token.New("ghs_x", server.APIURL())})
	if err != nil {
		t.Fatal(err)
	}
	return &loopref.Store{GitHub: client, Repo: repo, Secret: secret}, git, server
}

// begin writes the log of a loop of pull request 7 whose tests fail. before is the log of the loop
// before it, or nil.
func begin(t *testing.T, s *loopref.Store, before *loopref.Log) *loopref.Log {
	t.Helper()
	if _, _, err := s.Load(t.Context(), 7); err != nil {
		t.Fatal(err)
	}
	l, err := s.Begin(before, fixloop.Loop{Issue: 7, Title: "Count"}, began)
	if err != nil {
		t.Fatal(err)
	}
	event(t, l, fixloop.Event{Type: fixloop.EventStart, Head: "a1"})
	event(t, l, fixloop.Event{Type: fixloop.EventResult, Op: 1, Results: results(fixloop.Tests)})
	if err := s.Save(t.Context(), l, began); err != nil {
		t.Fatal(err)
	}
	return l
}

// results returns the results of the six checks of phase validation, of which one fails.
func results(failing fixloop.Check) []fixloop.Result {
	var out []fixloop.Result
	for _, c := range fixloop.Specialists() {
		if c == failing {
			out = append(out, failed(c))
			continue
		}
		out = append(out, fixloop.Result{Check: c, Status: fixloop.ResultPass})
	}
	return out
}

// failed returns the result of a check that fails.
func failed(c fixloop.Check) fixloop.Result {
	return fixloop.Result{Check: c, Status: fixloop.ResultFail, Failures: []fixloop.Failure{{Message: "TestTotal failed <b> & more"}}}
}

func event(t *testing.T, l *loopref.Log, e fixloop.Event) {
	t.Helper()
	if err := l.Event(e, began.Add(time.Minute), 0); err != nil {
		t.Fatal(err)
	}
}

func TestALogComesBackAsItWasWritten(t *testing.T) {
	for _, secret := range []string{"", "correct horse"} {
		s, git, _ := open(t, secret)
		if none, _, err := s.Load(t.Context(), 7); none != nil || err != nil {
			t.Fatalf("%+v, %v", none, err)
		}
		l := begin(t, s, nil)
		got, _, err := s.Load(t.Context(), 7)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(l.Messages, got.Messages); diff != "" || got.State.Status() != l.State.Status() || got.Sum() != l.Sum() || got.Commit != l.Commit {
			t.Fatalf("%s, %s\n%s", got.State.Status(), l.State.Status(), diff)
		}
		entry := got.Notices()[0].Message.Entry
		if err := got.Delivered([]string{entry}, []string{entry, entry}, began); err != nil {
			t.Fatal(err)
		}
		if n := got.Notices(); len(n) != 1 || !n[0].Delivered || n[0].Tried != 2 || n[0].Hidden {
			t.Errorf("notices %+v", n)
		}
		event(t, got, fixloop.Event{Type: fixloop.EventFixDone, Iteration: 1, Fixes: []string{"counted"}})
		if err := s.Save(t.Context(), got, began); err != nil {
			t.Fatal(err)
		}
		if md := git.Run("show", "refs/airlock/loops/7-1:log.md"); !strings.Contains(md, "FIXDONE-7-1") {
			t.Errorf("log.md:\n%s", md)
		}
		if other, _, err := s.Load(t.Context(), 8); other != nil || err != nil {
			t.Errorf("another pull request has the log: %+v, %v", other, err)
		}
	}
}

func TestOfSeveralJobsOneWins(t *testing.T) {
	s, _, _ := open(t, "")
	begin(t, s, nil)
	const jobs = 8
	var wg sync.WaitGroup
	errs := make([]error, jobs)
	loaded := make([]*loopref.Log, jobs)
	for i := range jobs {
		l, _, err := s.Load(t.Context(), 7)
		if err != nil {
			t.Fatal(err)
		}
		loaded[i] = l
	}
	for i := range jobs {
		wg.Go(func() {
			if errs[i] = loaded[i].Event(fixloop.Event{Type: fixloop.EventFixDone, Iteration: 1, Fixes: []string{fmt.Sprint("by job ", i)}}, began, 0); errs[i] == nil {
				mine := *s
				errs[i] = mine.Save(t.Context(), loaded[i], began)
			}
		})
	}
	wg.Wait()
	won := 0
	for i, err := range errs {
		switch {
		case err == nil:
			won++
		case !errors.Is(err, loopref.ErrMoved):
			t.Errorf("job %d: %v", i, err)
		}
	}
	got, _, err := s.Load(t.Context(), 7)
	if err != nil {
		t.Fatal(err)
	}
	if won != 1 || len(got.Records) != 4 {
		t.Errorf("%d jobs won, and the log has %d records, want 1 and 4", won, len(got.Records))
	}
}

func TestALostAnswerIsNoLostLog(t *testing.T) {
	s, _, server := open(t, "")
	l := begin(t, s, nil)
	event(t, l, fixloop.Event{Type: fixloop.EventFixDone, Iteration: 1})
	server.SetFault(func(r githubtest.Request) githubtest.Fault {
		if r.Operation == "graphql/UpdateRefs" {
			return githubtest.Fault{Status: 502, After: true}
		}
		return githubtest.Fault{}
	})
	if err := s.Save(t.Context(), l, began); err != nil {
		t.Fatal(err)
	}
	got, _, err := s.Load(t.Context(), 7)
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Records) != 4 {
		t.Errorf("the log has %d records, want 4", len(got.Records))
	}
}

func TestTheNextLoopOfAPullRequest(t *testing.T) {
	s, _, _ := open(t, "")
	first := begin(t, s, nil)
	event(t, first, fixloop.Event{Type: fixloop.EventClosed})
	if err := s.Save(t.Context(), first, began); err != nil {
		t.Fatal(err)
	}
	if numbers, err := s.Open(t.Context()); len(numbers) != 0 || err != nil {
		t.Errorf("open: %v, %v", numbers, err)
	}
	before, _, err := s.Load(t.Context(), 7)
	if err != nil {
		t.Fatal(err)
	}
	second := begin(t, s, before)
	if second.Ref != "refs/airlock/loops/7-2" {
		t.Errorf("ref %s", second.Ref)
	}
	got, _, err := s.Load(t.Context(), 7)
	if err != nil || got.State.Loop().Ordinal != 2 {
		t.Errorf("%v", err)
	}
	if numbers, err := s.Open(t.Context()); !cmp.Equal(numbers, []int{7}) || err != nil {
		t.Errorf("open: %v, %v", numbers, err)
	}
}

// forge makes a text the log of the loop 7-1.
func forge(git *githubtest.Git, text string) {
	git.Commit("forged", map[string]string{"log.jsonl": text}, "Loop 7-1 open: forged")
	git.Run("update-ref", "refs/airlock/loops/7-1", "refs/heads/forged")
	git.DeleteBranch("forged")
}

func TestForgeriesAreFound(t *testing.T) {
	const ref = "refs/airlock/loops/7-1:log.jsonl"
	text := func(t *testing.T, secret string) string {
		s, git, _ := open(t, secret)
		begin(t, s, nil)
		return git.Run("show", ref) + "\n"
	}
	signed, plain := text(t, "correct horse"), text(t, "")
	lines := strings.SplitAfter(signed, "\n")
	for name, c := range map[string]struct{ secret, text, want string }{
		"an event changed":         {"correct horse", strings.Replace(signed, "TestTotal", "TestOther", 1), "entry 3: the log of the loop was not written by Airlock"},
		"an entry left out":        {"correct horse", lines[0] + strings.Join(lines[2:], ""), "entry 3 in place of 2"},
		"another secret":           {"wrong horse", signed, "was not written by Airlock"},
		"never signed":             {"correct horse", plain, "was not written by Airlock"},
		"signed, without a secret": {"", signed, "give the step the secret"},
		"changed without a secret": {"", strings.Replace(plain, "TestTotal", "TestOther", 1), "was changed since"},
		"cut in a line":            {"", plain[:len(plain)-30], "cannot be read after entry 2"},
		"empty":                    {"", "", "is empty"},
		"prose":                    {"", "hello", "cannot be read"},
		"newer":                    {"", strings.Replace(plain, `{"v":2`, `{"v":3`, 1), "newer than this Airlock"},
		"older":                    {"", strings.Replace(plain, `{"v":2`, `{"v":1`, 1), "git push origin :refs/airlock/loops/7-1"},
	} {
		t.Run(name, func(t *testing.T) {
			s, git, _ := open(t, c.secret)
			forge(git, c.text)
			if _, _, err := s.Load(t.Context(), 7); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
	t.Run("the log of another pull request", func(t *testing.T) {
		s, git, _ := open(t, "correct horse")
		begin(t, s, nil)
		git.Run("update-ref", "refs/airlock/loops/8-1", "refs/airlock/loops/7-1")
		if _, _, err := s.Load(t.Context(), 8); !errors.Is(err, loopref.ErrForged) {
			t.Errorf("%v", err)
		}
	})
}

// TestARefThatSomebodyReplaced asserts that a ref of a loop which leads to something else than a
// commit concerns only that loop, and none if the pull request has a newer one.
func TestARefThatSomebodyReplaced(t *testing.T) {
	s, git, _ := open(t, "")
	begin(t, s, nil)
	git.Run("-c", "user.name=Mona", "-c", "user.email=mona@example.com", "tag", "-a", "-m", "Forged", "tag", "main")
	for _, object := range []string{"refs/tags/tag", "main:README.md", "main^{tree}"} {
		for _, ref := range []string{"8-1", "17-1"} {
			git.Run("update-ref", "refs/airlock/loops/"+ref, object)
		}
		if l, _, err := s.Load(t.Context(), 7); err != nil || l == nil { // the query matches 17-1, too
			t.Errorf("%s: %v, %v", object, l, err)
		}
		if numbers, err := s.Open(t.Context()); !cmp.Equal(numbers, []int{17, 7, 8}) || err != nil {
			t.Errorf("%s: open: %v, %v", object, numbers, err)
		}
		const want = "refs/airlock/loops/8-1 is not a commit, so that it has no log: somebody has replaced it; "
		if _, _, err := s.Load(t.Context(), 8); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v", object, err)
		}
		git.Run("update-ref", "refs/airlock/loops/7-2", "refs/airlock/loops/7-1")
		git.Run("update-ref", "refs/airlock/loops/7-1", object)
		if _, _, err := s.Load(t.Context(), 7); !errors.Is(err, loopref.ErrForged) { // 7-2 is read: it has the log of 7-1
			t.Errorf("%s: %v", object, err)
		}
		git.Run("update-ref", "refs/airlock/loops/7-1", "refs/airlock/loops/7-2")
		git.Run("update-ref", "-d", "refs/airlock/loops/7-2")
	}
}

func TestALogThatWasSetBackIsFound(t *testing.T) {
	s, git, _ := open(t, "correct horse")
	l := begin(t, s, nil)
	old := git.Run("rev-parse", l.Ref)
	event(t, l, fixloop.Event{Type: fixloop.EventFixDone, Iteration: 1})
	if err := s.Save(t.Context(), l, began); err != nil {
		t.Fatal(err)
	}
	witness := "the newest state\n\n" + l.Witness() + "\n"
	got, _, err := s.Load(t.Context(), 7)
	if err != nil || got.Check(witness) != nil || got.Check("no witness") != nil {
		t.Fatalf("%v, %v", err, got.Check(witness))
	}
	git.Run("update-ref", l.Ref, strings.TrimSpace(old))
	if got, _, err = s.Load(t.Context(), 7); err != nil {
		t.Fatal(err)
	}
	if err := got.Check(witness); !errors.Is(err, loopref.ErrRolledBack) {
		t.Errorf("%v", err)
	}
}
