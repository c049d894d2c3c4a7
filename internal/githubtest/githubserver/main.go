// Command githubserver serves the contract-checked GitHub of githubtest on TCP,
// for tests that drive the airlock binary from outside.
//
// It prints the API's URL as its only line on standard output and serves until
// SIGTERM or SIGINT. GET /_test/state (on the host, not below the API's path)
// answers with everything on the server. With --git, git clients find the repository
// at /OWNER/NAME.git on the same host.
//
// The exit status is 1 when a contract was broken, and 2 when the server could not
// start or failed.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"github.com/agent-airlock/airlock/internal/githubtest"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// run serves until ctx is done and returns the exit status.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("githubserver", flag.ContinueOnError)
	flags.SetOutput(stderr)
	addr := flags.String("addr", "127.0.0.1:0", "address to listen on")
	fixture := flags.String("fixture", "", "JSON file with the state to start with")
	record := flags.String("record", "", "file to write every request to, a line of JSON each")
	violations := flags.String("violations", "", "file to write every broken contract to, a line of JSON each")
	faults := flags.String("faults", "", "JSON file with rules for requests that fail")
	enterprise := flags.Bool("enterprise", false, "serve REST below /api/v3 and GraphQL at /api/graphql")
	lag := flags.Duration("lag", 0, "how long a new object stays out of listings")
	repository := flags.String("git", "", "bare git repository to serve at /OWNER/NAME.git and to answer from")
	processing := flags.Duration("processing", 0, "how long a SARIF upload is pending")
	if err := flags.Parse(args); err != nil {
		return 2
	}
	code, err := serve(ctx, stdout, stderr, *addr, files{*fixture, *record, *violations, *faults, *repository},
		githubtest.Options{Enterprise: *enterprise, Lag: *lag, Processing: *processing})
	if err != nil {
		fmt.Fprintln(stderr, "githubserver:", err)
		return 2
	}
	return code
}

// files are the command's files and directories; an empty name means none.
type files struct{ fixture, record, violations, faults, git string }

// serve starts the server, serves until ctx is done and returns the exit status.
func serve(ctx context.Context, stdout, stderr io.Writer, addr string, f files, o githubtest.Options) (int, error) {
	var state githubtest.Fixture
	if f.fixture != "" {
		data, err := os.ReadFile(f.fixture)
		if err != nil {
			return 0, err
		}
		if state, err = githubtest.ParseFixture(data); err != nil {
			return 0, err
		}
	}
	if f.git != "" {
		var err error
		if o.Git, err = githubtest.OpenGit(f.git); err != nil {
			return 0, err
		}
	}
	if f.faults != "" {
		data, err := os.ReadFile(f.faults)
		if err != nil {
			return 0, err
		}
		rules, err := githubtest.ParseFaultRules(data)
		if err != nil {
			return 0, err
		}
		o.Fault = githubtest.Faults(rules)
	}
	if f.record != "" {
		out, err := os.Create(f.record)
		if err != nil {
			return 0, err
		}
		defer out.Close()
		o.Record = out
	}
	rep := &reporter{out: stderr}
	if f.violations != "" {
		out, err := os.Create(f.violations)
		if err != nil {
			return 0, err
		}
		defer out.Close()
		rep.file = out
	}
	s := githubtest.New(rep, state, o)
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return 0, err
	}
	s.SetBaseURL("http://" + reachable(l.Addr()))
	mux := http.NewServeMux()
	mux.Handle("/", s)
	mux.HandleFunc("GET /_test/state", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(s.State())
	})
	fmt.Fprintln(stdout, s.APIURL())
	if err := serveHTTP(ctx, l, mux); err != nil {
		return 0, err
	}
	if rep.count() > 0 {
		return 1, nil
	}
	return 0, nil
}

// serveHTTP serves until ctx is done. Requests that are being handled then have two seconds more.
func serveHTTP(ctx context.Context, l net.Listener, h http.Handler) error {
	srv := &http.Server{Handler: h, ReadHeaderTimeout: 10 * time.Second}
	done := make(chan error, 1)
	go func() { done <- srv.Serve(l) }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
	}
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
	defer cancel()
	if err := srv.Shutdown(grace); err != nil {
		_ = srv.Close()
	}
	if err := <-done; !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// reachable returns the address to connect to: the loopback one for a server that
// listens everywhere.
func reachable(a net.Addr) string {
	if tcp, ok := a.(*net.TCPAddr); ok && tcp.IP.IsUnspecified() {
		return fmt.Sprintf("127.0.0.1:%d", tcp.Port)
	}
	return a.String()
}

// reporter is the githubtest.Reporter of the server: it counts the violations and writes them to out,
// and to file unless that is nil.
type reporter struct {
	mu   sync.Mutex
	n    int
	out  io.Writer
	file io.Writer
}

func (*reporter) Helper() {}

func (r *reporter) Errorf(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.n++
	message := fmt.Sprintf(format, args...)
	fmt.Fprintln(r.out, message)
	if r.file != nil {
		_ = json.NewEncoder(r.file).Encode(map[string]string{"violation": message})
	}
}

func (r *reporter) count() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.n
}
