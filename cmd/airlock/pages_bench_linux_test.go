package main_test

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

// answered sends a request and reads the answer, which must be a success.
func answered(b *testing.B, method, url, accept, body string) {
	b.Helper()
	req, err := http.NewRequestWithContext(b.Context(), method, url, strings.NewReader(body))
	if err != nil {
		b.Fatal(err)
	}
	req.Header.Set("Accept", accept)
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		b.Fatal(err)
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != http.StatusOK || strings.Contains(string(raw), `"isError":true`) {
		b.Fatalf("%s: %s %v\n%s", url, res.Status, err, raw)
	}
}

// recordRuns records some runs, for a page to show.
func recordRuns(b *testing.B, url string) {
	for range 20 {
		res, err := http.Post(url+"/runs", "application/json", strings.NewReader(`{"agent_name":"researcher","parameters":{"prompt":"Test"}}`))
		if err != nil {
			b.Fatal(err)
		}
		res.Body.Close()
		if res.StatusCode >= 300 {
			b.Fatalf("POST /runs: %s", res.Status)
		}
	}
}

// BenchmarkPagesFirst asks a server that has just started for its start page, which reads
// the templates.
func BenchmarkPagesFirst(b *testing.B) {
	dir := b.TempDir()
	var elapsed, cpu time.Duration
	for n := 0; b.Loop(); n++ {
		cmd, url := database{}.startServer(b, dir, "0")
		if n == 0 {
			recordRuns(b, url)
		}
		before, _ := processUsage(b, cmd.Process.Pid)
		began := time.Now()
		answered(b, http.MethodGet, url+"/", "text/html", "")
		elapsed += time.Since(began)
		after, _ := processUsage(b, cmd.Process.Pid)
		cpu += after - before
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}
	b.ReportMetric(float64(elapsed.Microseconds())/float64(b.N), "page-us/op")
	b.ReportMetric(float64(cpu.Microseconds())/float64(b.N), "cpu-us/op")
}

// BenchmarkPages asks for the start page again and again.
func BenchmarkPages(b *testing.B) {
	cmd, url := database{}.startServer(b, b.TempDir(), "0")
	recordRuns(b, url)
	answered(b, http.MethodGet, url+"/", "text/html", "")
	before, _ := processUsage(b, cmd.Process.Pid)
	for b.Loop() {
		answered(b, http.MethodGet, url+"/", "text/html", "")
	}
	after, _ := processUsage(b, cmd.Process.Pid)
	b.ReportMetric(float64((after-before).Microseconds())/float64(b.N), "cpu-us/op")
}

// BenchmarkTool calls a tool of /mcp.
func BenchmarkTool(b *testing.B) {
	cmd, url := database{}.startServer(b, b.TempDir(), "0")
	recordRuns(b, url)
	call := func() {
		answered(b, http.MethodPost, url+"/mcp", "application/json, text/event-stream", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"list_runs","arguments":{"limit":20}}}`)
	}
	call()
	before, _ := processUsage(b, cmd.Process.Pid)
	for b.Loop() {
		call()
	}
	after, _ := processUsage(b, cmd.Process.Pid)
	b.ReportMetric(float64((after-before).Microseconds())/float64(b.N), "cpu-us/op")
}
