package loopturn_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/agent-airlock/airlock/internal/gitrepo"
	"github.com/agent-airlock/airlock/internal/loopturn"
	"github.com/agent-airlock/airlock/internal/token"
)

// TestPushesJudgeCommitsThatAreGone asserts that a push is refused if the commit that it counts from
// is gone, and that the error is gitrepo.ErrMissing if the pushed commit is gone.
func TestPushesJudgeCommitsThatAreGone(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.server.Start(t)
	pushes := loopturn.Pushes{Scanner: b.gate.Scanner(), Remote: func(string) (*gitrepo.Remote, error) {
		return gitrepo.NewRemote(gitrepo.RemoteOptions{URL: b.server.GitURL(), Token: token.New("ghs_x", b.server.APIURL()), AllowLoopback: true})
	}}
	base, gone := b.git.SHA("main"), strings.Repeat("1", 40)
	for name, tt := range map[string]struct { // by which of its commits are gone
		from, to string
		refused  string // "": not
		missing  bool
	}{
		"none":                {base, b.head, "", false},
		"that it counts from": {gone, b.head, "the commit 111111111111, which the changes count from, is gone", false},
		"its own":             {base, gone, "", true},
		"both":                {gone, strings.Repeat("2", 40), "", true},
	} {
		t.Run(name, func(t *testing.T) {
			reasons, err := pushes.Judge(t.Context(), "", tt.from, tt.to)
			if errors.Is(err, gitrepo.ErrMissing) != tt.missing || err != nil && !tt.missing {
				t.Errorf("err = %v, want ErrMissing: %v", err, tt.missing)
			}
			if got := strings.Join(reasons, "; "); !strings.Contains(got, tt.refused) || got != "" && tt.refused == "" {
				t.Errorf("refused for %q, want %q", got, tt.refused)
			}
		})
	}
}
