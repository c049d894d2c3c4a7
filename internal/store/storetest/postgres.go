//go:build postgres

package storetest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// server is the one that Main starts.
var server *Postgres

// startServer starts the server of Main. It ends the process if it cannot, because a test
// that was asked for must not be left out.
func startServer() (stop func()) {
	var err error
	if server, err = StartPostgres("fsync=off", "synchronous_commit=off", "full_page_writes=off", "max_connections=200"); err != nil {
		fmt.Fprintf(os.Stderr, "PostgreSQL cannot be started (apt-get install postgresql-15): %v\n", err)
		os.Exit(2)
	}
	return server.Stop
}

// Postgres is a server of Debian's PostgreSQL with a new cluster on a port of loopback.
type Postgres struct {
	dir, port string
	settings  []string
	attr      *syscall.SysProcAttr
	process   *exec.Cmd
	ended     chan struct{} // closed when the process has ended
	databases atomic.Int64
}

// StartPostgres starts a server with settings, as NAME=VALUE. The caller calls Stop.
func StartPostgres(settings ...string) (*Postgres, error) {
	dir, err := os.MkdirTemp("", "pg")
	if err != nil {
		return nil, err
	}
	p := &Postgres{dir: dir, settings: settings, attr: &syscall.SysProcAttr{Setpgid: true}}
	if os.Getuid() == 0 { // the server refuses to run as root
		owner, err := user.Lookup("postgres")
		if err != nil {
			return nil, err
		}
		uid, _ := strconv.Atoi(owner.Uid)
		gid, _ := strconv.Atoi(owner.Gid)
		p.attr.Credential = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
		if err := os.Chown(dir, uid, gid); err != nil {
			return nil, err
		}
	}
	if out, err := p.command("initdb", "--no-sync", "--auth=trust", "--username=airlock", "--pgdata="+p.data()).CombinedOutput(); err != nil {
		return nil, fmt.Errorf("initdb: %w\n%s", err, out)
	}
	if p.port, err = freePort(); err != nil {
		return nil, err
	}
	if err := p.Start(); err != nil {
		p.Stop()
		return nil, err
	}
	return p, nil
}

func (p *Postgres) data() string { return filepath.Join(p.dir, "data") }

func (p *Postgres) command(name string, args ...string) *exec.Cmd {
	bins, _ := filepath.Glob("/usr/lib/postgresql/*/bin")
	if len(bins) == 0 {
		bins = []string{"/usr/lib/postgresql"} // the error names what is missing
	}
	cmd := exec.Command(filepath.Join(slices.Max(bins), name), args...)
	cmd.SysProcAttr, cmd.Dir = p.attr, p.dir
	return cmd
}

// Start starts the server, the first time or after Kill, and waits until it answers. While
// processes of a killed server are left, a new one ends at once: Start then starts another.
func (p *Postgres) Start() error {
	args := []string{"-D", p.data(), "-k", p.dir, "-c", "listen_addresses=127.0.0.1", "-c", "port=" + p.port}
	for _, setting := range p.settings {
		args = append(args, "-c", setting)
	}
	deadline := time.Now().Add(time.Minute)
	for {
		process, ended := p.command("postgres", args...), make(chan struct{})
		if err := process.Start(); err != nil {
			return err
		}
		go func() { _ = process.Wait(); close(ended) }()
		p.process, p.ended = process, ended
		err := p.connect(deadline)
		if err == nil || time.Now().After(deadline) {
			return err
		}
	}
}

// connect connects to the server as soon as it answers. It returns an error when the server ends,
// or at the deadline.
func (p *Postgres) connect(deadline time.Time) error {
	for {
		conn, err := pgx.Connect(context.Background(), p.url("postgres"))
		if err == nil {
			return conn.Close(context.Background())
		}
		if time.Now().After(deadline) {
			return err
		}
		select {
		case <-p.ended:
			return err
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// Processes returns the ids of the server's main process and of its children.
func (p *Postgres) Processes() []int {
	pids := []int{p.process.Process.Pid}
	raw, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%[1]d/children", pids[0]))
	for field := range strings.FieldsSeq(string(raw)) {
		if pid, err := strconv.Atoi(field); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}

// Kill kills the server's main process. The server's other processes notice, and end as well.
func (p *Postgres) Kill() { _ = p.process.Process.Kill() }

// Stop ends the server and removes what it has kept.
func (p *Postgres) Stop() {
	if p.ended != nil {
		_ = p.process.Process.Signal(syscall.SIGQUIT) // at once: nothing is to be kept
		<-p.ended
	}
	_ = os.RemoveAll(p.dir)
}

func (p *Postgres) url(database string) string {
	return "postgres://airlock@127.0.0.1:" + p.port + "/" + database
}

// NewDatabase makes an empty database and returns its URL.
func (p *Postgres) NewDatabase(ctx context.Context) (string, error) {
	conn, err := pgx.Connect(ctx, p.url("postgres"))
	if err != nil {
		return "", err
	}
	defer conn.Close(ctx)
	name := fmt.Sprintf("test%d", p.databases.Add(1))
	_, err = conn.Exec(ctx, "CREATE DATABASE "+name)
	return p.url(name), err
}

// freePort returns a port that nobody listens on. It is below the ports that Linux gives to
// outgoing connections, because such a connection could take it before the server does, or between
// two starts.
func freePort() (string, error) {
	const lowest, end = 20000, 32768
	for {
		port := strconv.Itoa(lowest + rand.IntN(end-lowest))
		l, err := net.Listen("tcp", "127.0.0.1:"+port)
		if err == nil {
			return port, l.Close()
		}
		if !errors.Is(err, syscall.EADDRINUSE) {
			return "", err
		}
	}
}

func eachServer(t *testing.T, test func(*testing.T, string)) {
	t.Run("postgres", func(t *testing.T) {
		location, err := server.NewDatabase(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		test(t, location)
	})
}
