//go:build unix

package gitrepo_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/agent-airlock/airlock/internal/agentchanges"
	"github.com/agent-airlock/airlock/internal/gitrepo"
	"github.com/agent-airlock/airlock/internal/gitrepo/gittest"
)

func TestPush(t *testing.T) {
	s, c, one, two, three, beside := published(t)
	r, m := c.Open(), s.remote()
	for _, tt := range []struct {
		name string
		push gitrepo.PushRequest
		kind gitrepo.PushErrorKind // 0: done
		at   string                // where the branch is afterwards
	}{
		{"a branch that is there", gitrepo.PushRequest{Tip: three, Branch: "main"}, gitrepo.PushMoved, two},
		{"a branch that is elsewhere", gitrepo.PushRequest{Tip: three, Branch: "main", Expect: one}, gitrepo.PushMoved, two},
		{"a branch that is not there", gitrepo.PushRequest{Tip: three, Branch: "new", Expect: two}, gitrepo.PushMoved, ""},
		{"create", gitrepo.PushRequest{Tip: three, Branch: "new"}, 0, three},
		{"create again", gitrepo.PushRequest{Tip: three, Branch: "new"}, 0, three},
		{"move", gitrepo.PushRequest{Tip: three, Branch: "main", Expect: two}, 0, three},
		{"move again", gitrepo.PushRequest{Tip: three, Branch: "main", Expect: two}, 0, three},
		{"replace what is elsewhere", gitrepo.PushRequest{Tip: beside, Branch: "new", Expect: two, Replace: true}, gitrepo.PushMoved, three},
		{"replace", gitrepo.PushRequest{Tip: beside, Branch: "new", Expect: three, Replace: true}, 0, beside},
	} {
		err := r.Push(t.Context(), m, tt.push)
		var failed *gitrepo.PushError
		if tt.kind == 0 && err != nil || tt.kind != 0 && (!errors.As(err, &failed) || failed.Kind != tt.kind) {
			t.Errorf("%s: %v", tt.name, err)
		}
		if at := s.at(tt.push.Branch); at != tt.at {
			t.Errorf("%s: the branch is at %q, want %q", tt.name, at, tt.at)
		}
	}
	if tags := s.Git("for-each-ref", "refs/tags"); tags != "" {
		t.Errorf("tags were pushed: %s", tags)
	}
}

func TestPushTakesNoCommitsAway(t *testing.T) {
	s, c, one, two, _, beside := published(t)
	r := c.Open()
	for _, tip := range []string{beside, one} {
		err := r.Push(t.Context(), s.remote(), gitrepo.PushRequest{Tip: tip, Branch: "main", Expect: two})
		if err == nil || !strings.Contains(err.Error(), "does not follow") {
			t.Errorf("err = %v", err)
		}
	}
	if asked := s.requests(); s.at("main") != two || len(asked) > 0 {
		t.Errorf("main is at %s, and the server was asked %v", s.at("main"), asked)
	}
}

func TestPushBelievesNoForgedHistory(t *testing.T) {
	s, c, _, two, three, beside := published(t)
	replaceObject(t, c, beside, three) // which follows two
	err := c.Open().Push(t.Context(), s.remote(), gitrepo.PushRequest{Tip: beside, Branch: "main", Expect: two})
	if !errors.Is(err, gitrepo.ErrForged) || s.at("main") != two {
		t.Errorf("err = %v, main is at %s", err, s.at("main"))
	}
}

func TestPushOfWhatWasTransplanted(t *testing.T) {
	s, c, one, two, _, beside := published(t)
	r := c.Open()
	got, err := r.Transplant(t.Context(), c.series(one, beside), two, gitrepo.Style{Committer: airlock})
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Push(t.Context(), s.remote(), gitrepo.PushRequest{Tip: got.Tip, Branch: "main", Expect: two}); err != nil {
		t.Fatal(err)
	}
	if files := s.Git("ls-tree", "-r", "--name-only", "main"); s.at("main") != got.Tip || files != "f\ng" {
		t.Errorf("main is at %s with %q", s.at("main"), files)
	}
}

func TestFromAPatchToABranchWithoutAClone(t *testing.T) {
	s, _, _, two, _, _ := published(t)
	r := gittest.Open(t, nil)
	if err := r.Fetch(t.Context(), s.remote(), []string{two}, 1); err != nil {
		t.Fatal(err)
	}
	patch := "--- a/f\n+++ b/f\n@@ -1 +1 @@\n-2\n+zwei\n"
	series, err := agentchanges.FromFile(t.Context(), agentchanges.FileConfig{Repo: r, Name: "x.patch", Data: []byte(patch), Bases: []string{two}})
	if err != nil {
		t.Fatal(err)
	}
	got, err := r.Transplant(t.Context(), series, two, gitrepo.Style{Committer: airlock})
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Push(t.Context(), s.remote(), gitrepo.PushRequest{Tip: got.Tip, Branch: "main", Expect: two}); err != nil {
		t.Fatal(err)
	}
	if at, text := s.at("main"), s.Git("show", "main:f"); at != got.Tip || text != "zwei" {
		t.Errorf("main is at %s with %q", at, text)
	}
	if _, err := r.MergeBase(t.Context(), two, got.Tip); err != nil {
		t.Error(err)
	}
}

func TestPushOfHostileNames(t *testing.T) {
	s, c, one, _, _, _ := published(t)
	r := c.Open()
	for _, branch := range []string{"a;touch${IFS}x", "$(touch${IFS}x)", "`x`", "a'b\"c", "+a", "a%2fb", "ü/ö", "@", "a&&b|c>d"} {
		if err := r.Push(t.Context(), s.remote(), gitrepo.PushRequest{Tip: one, Branch: branch}); err != nil {
			t.Errorf("%q: %v", branch, err)
		}
		if refs := s.Git("for-each-ref", "--format=%(objectname) %(refname)") + "\n"; !strings.Contains(refs, one+" refs/heads/"+branch+"\n") {
			t.Errorf("%q: the server has %s", branch, refs)
		}
	}
	asked := len(s.requests())
	for _, p := range []gitrepo.PushRequest{
		{Tip: one, Branch: "-x"}, {Tip: one, Branch: "--upload-pack=touch x"}, {Tip: one, Branch: "a:b"}, {Tip: one, Branch: "a b"}, {Tip: one, Branch: ""},
		{Tip: "HEAD", Branch: "x"}, {Tip: "", Branch: "main"}, {Tip: one, Branch: "x", Expect: "main"}, {Tip: "--all", Branch: "x"},
		{Tip: strings.Repeat("0", 40), Branch: "main"},
	} {
		if err := r.Push(t.Context(), s.remote(), p); err == nil {
			t.Errorf("%+v was pushed", p)
		}
	}
	if more := s.requests()[asked:]; len(more) > 0 {
		t.Errorf("the server was asked %v", more)
	}
}
