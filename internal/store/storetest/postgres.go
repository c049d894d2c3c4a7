//go:build postgres

package storetest

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// server is the URL of the server without a database; Main sets it.
var server string

// startServer starts Debian's PostgreSQL with a new cluster on a free port of loopback.
// It ends the process if it cannot, because a test that was asked for must not be left
// out.
func startServer() (stop func()) {
	stop, err := start()
	if err != nil {
		fmt.Fprintf(os.Stderr, "PostgreSQL cannot be started (apt-get install postgresql-15): %v\n", err)
		os.Exit(2)
	}
	return stop
}

func start() (func(), error) {
	bins, _ := filepath.Glob("/usr/lib/postgresql/*/bin")
	if len(bins) == 0 {
		return nil, fmt.Errorf("there is no /usr/lib/postgresql/*/bin")
	}
	bin := slices.Max(bins)
	dir, err := os.MkdirTemp("", "pg")
	if err != nil {
		return nil, err
	}
	attr := &syscall.SysProcAttr{Setpgid: true}
	if os.Getuid() == 0 { // the server refuses to run as root
		owner, err := user.Lookup("postgres")
		if err != nil {
			return nil, err
		}
		uid, _ := strconv.Atoi(owner.Uid)
		gid, _ := strconv.Atoi(owner.Gid)
		attr.Credential = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
		if err := os.Chown(dir, uid, gid); err != nil {
			return nil, err
		}
	}
	data := filepath.Join(dir, "data")
	initdb := exec.Command(filepath.Join(bin, "initdb"), "--no-sync", "--auth=trust", "--username=airlock", "--pgdata="+data)
	initdb.SysProcAttr, initdb.Dir = attr, dir
	if out, err := initdb.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("initdb: %w\n%s", err, out)
	}
	port, err := freePort()
	if err != nil {
		return nil, err
	}
	postgres := exec.Command(filepath.Join(bin, "postgres"), "-D", data, "-k", dir, "-c", "listen_addresses=127.0.0.1", "-c", "port="+port,
		"-c", "fsync=off", "-c", "synchronous_commit=off", "-c", "full_page_writes=off", "-c", "max_connections=200")
	postgres.SysProcAttr, postgres.Dir = attr, dir
	if err := postgres.Start(); err != nil {
		return nil, err
	}
	stop := func() {
		_ = postgres.Process.Signal(syscall.SIGQUIT) // at once: nothing is to be kept
		_ = postgres.Wait()
		_ = os.RemoveAll(dir)
	}
	server = "postgres://airlock@127.0.0.1:" + port + "/"
	for deadline := time.Now().Add(30 * time.Second); ; {
		conn, err := pgx.Connect(context.Background(), server+"postgres")
		if err == nil {
			return stop, conn.Close(context.Background())
		}
		if time.Now().After(deadline) {
			stop()
			return nil, err
		}
		time.Sleep(20 * time.Millisecond)
	}
}

func freePort() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer l.Close()
	_, port, err := net.SplitHostPort(l.Addr().String())
	return port, err
}

var databases atomic.Int64

func eachServer(t *testing.T, test func(*testing.T, string)) {
	t.Run("postgres", func(t *testing.T) {
		conn, err := pgx.Connect(t.Context(), server+"postgres")
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close(t.Context())
		name := fmt.Sprintf("test%d", databases.Add(1))
		if _, err := conn.Exec(t.Context(), "CREATE DATABASE "+name); err != nil {
			t.Fatal(err)
		}
		test(t, server+name)
	})
}
