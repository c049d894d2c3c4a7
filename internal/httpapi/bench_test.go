package httpapi

import (
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/agent-airlock/airlock/internal/access"
	"github.com/agent-airlock/airlock/internal/agents"
	"github.com/agent-airlock/airlock/internal/runs"
	"github.com/agent-airlock/airlock/internal/store"
)

// BenchmarkCreateRun records runs over HTTP, for 32 clients a processor: in a SQLite file, or in
// the PostgreSQL database whose URL is in AIRLOCK_BENCH_STORE. Nobody carries them out.
func BenchmarkCreateRun(b *testing.B) {
	ctx := context.WithoutCancel(b.Context())
	location := os.Getenv("AIRLOCK_BENCH_STORE")
	if location == "" {
		location = b.TempDir() + "/store.db"
	}
	st, err := store.Open(ctx, location, agents.Tables, access.Tables, runs.Tables)
	if err != nil {
		b.Fatal(err)
	}
	agent, err := agents.Parse([]byte(researcher))
	if err != nil {
		b.Fatal(err)
	}
	defer st.Close()
	registry, err := agents.New(st, agent)
	if err != nil {
		b.Fatal(err)
	}
	quiet := slog.New(slog.DiscardHandler)
	service := runs.New(registry, st, runs.NewWorker(st, runs.WorkerConfig{}))
	defer service.Close()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	server := New(Config{Agents: registry, Runs: service, Tokens: access.New(st), Log: quiet}).HTTP()
	go func() { _ = server.Serve(listener) }()
	defer server.Close()
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 128}}
	url := "http://" + listener.Addr().String() + "/runs"
	b.SetParallelism(32)
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			res, err := client.Post(url, "application/json", strings.NewReader(`{"agent_name":"researcher","parameters":{"prompt":"Test"}}`))
			if err != nil {
				b.Error(err)
				return
			}
			_, _ = io.Copy(io.Discard, res.Body)
			res.Body.Close()
			if res.StatusCode != http.StatusCreated {
				b.Error(res.Status)
			}
		}
	})
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "runs/s")
}
