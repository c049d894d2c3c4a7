package main_test

import (
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/agent-airlock/airlock/internal/githubtest"
	"github.com/agent-airlock/airlock/internal/shorttest"
)

// TestScripts runs testdata/script against the built binary. In addition to
// testscript's own commands, scripts can use:
//
//	github           start a GitHub; sets GITHUB_API_URL, GITHUB_GRAPHQL_URL and GITHUB_TOKEN
//	writes N         assert how many write requests that server has received
//	fifo NAME        make a named pipe
//
// $EVENTS is the path of testdata/events, and $EXAMPLES that of examples.
func TestScripts(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	servers := map[string]*githubtest.Server{} // by the script's directory
	scripts, err := filepath.Glob(filepath.Join(root, "testdata", "script", "*.txtar"))
	if err != nil || len(scripts) == 0 {
		t.Fatalf("%q, %v", scripts, err)
	}
	testscript.Run(t, testscript.Params{
		Files:               shorttest.First(2, scripts),
		RequireExplicitExec: true,
		Setup: func(env *testscript.Env) error {
			env.Setenv("PATH", filepath.Dir(binary)+string(os.PathListSeparator)+env.Getenv("PATH"))
			env.Setenv("EVENTS", filepath.Join(root, "testdata", "events"))
			env.Setenv("EXAMPLES", filepath.Join(root, "examples"))
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"github": func(ts *testscript.TestScript, _ bool, _ []string) {
				s := githubtest.New(t, pullRequestFixture(), githubtest.Options{})
				s.Start(t)
				mu.Lock()
				defer mu.Unlock()
				servers[ts.Getenv("WORK")] = s
				ts.Setenv("GITHUB_API_URL", s.APIURL())
				ts.Setenv("GITHUB_GRAPHQL_URL", s.APIURL()+"/graphql")
				ts.Setenv("GITHUB_TOKEN", secret)
			},
			"writes": func(ts *testscript.TestScript, _ bool, args []string) {
				mu.Lock()
				defer mu.Unlock()
				got := len(servers[ts.Getenv("WORK")].Writes())
				if len(args) != 1 || args[0] != strconv.Itoa(got) {
					ts.Fatalf("the server received %d writes, want %v", got, args)
				}
			},
			"fifo": func(ts *testscript.TestScript, _ bool, args []string) { ts.Check(mkfifo(ts.MkAbs(args[0]))) },
		},
	})
}
