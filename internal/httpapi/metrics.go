package httpapi

import (
	"context"
	"log/slog"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/agent-airlock/airlock/internal/runs"
)

// metrics are what /metrics answers.
type metrics struct {
	handler  http.Handler
	requests *prometheus.HistogramVec
	created  prometheus.Counter
}

// newMetrics returns metrics. While the store cannot be used, its metrics are left out, and the reason
// is logged.
func newMetrics(service *runs.Service, version string, log *slog.Logger) *metrics {
	m := &metrics{
		requests: prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "airlock_http_request_seconds", Help: "How long requests took, by method, path and class of the status.",
			Buckets: []float64{.001, .005, .01, .025, .05, .1, .25, .5, 1, 5, 30}}, []string{"method", "path", "code"}),
		created: prometheus.NewCounter(prometheus.CounterOpts{Name: "airlock_runs_created_total", Help: "Runs that this process recorded."}),
	}
	info := prometheus.NewGauge(prometheus.GaugeOpts{Name: "airlock_info", Help: "The program's version.", ConstLabels: prometheus.Labels{"version": version}})
	info.Set(1)
	r := prometheus.NewRegistry()
	r.MustRegister(m.requests, m.created, info, runCounts{service}, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	m.handler = promhttp.HandlerFor(r, promhttp.HandlerOpts{ErrorHandling: promhttp.ContinueOnError, ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelError)})
	return m
}

// observe counts a request that has been answered, and how long it took.
func (m *metrics) observe(r *http.Request, path string, status int, began time.Time) {
	m.requests.With(prometheus.Labels{"method": knownMethod(r.Method), "path": path, "code": statusClass(status)}).Observe(time.Since(began).Seconds())
}

// knownMethod returns a method, or "other": clients can send any word.
func knownMethod(m string) string {
	if slices.Contains([]string{"GET", "HEAD", "POST", "PATCH", "DELETE"}, m) {
		return m
	}
	return "other"
}

// statusClass returns the class of a status, such as "4xx".
func statusClass(status int) string {
	if status < 100 || status > 599 {
		return "none"
	}
	return strconv.Itoa(status/100) + "xx"
}

// runCounts is a collector that asks the store for the number of runs each time.
type runCounts struct{ service *runs.Service }

var runsDesc = prometheus.NewDesc("airlock_runs", "Runs that have not ended, by status.", []string{"status"}, nil)

// Describe implements prometheus.Collector.
func (c runCounts) Describe(to chan<- *prometheus.Desc) { to <- runsDesc }

// Collect implements prometheus.Collector.
func (c runCounts) Collect(to chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	counts, err := c.service.Count(ctx)
	if err != nil {
		to <- prometheus.NewInvalidMetric(runsDesc, err)
		return
	}
	for status, n := range counts {
		to <- prometheus.MustNewConstMetric(runsDesc, prometheus.GaugeValue, float64(n), string(status))
	}
}
