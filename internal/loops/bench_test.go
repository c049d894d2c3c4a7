package loops_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/agent-airlock/airlock/internal/fixloop"
	"github.com/agent-airlock/airlock/internal/loops"
)

// BenchmarkThousandOpenLoops opens a thousand loops that wait for a fix in one store, and reports
// the memory of the process, the size of the store, and how long it takes to find one of them.
func BenchmarkThousandOpenLoops(b *testing.B) {
	location := filepath.Join(b.TempDir(), "s.db")
	h := &hands{script: map[fixloop.WorkKind][]reaction{fixloop.WorkValidate: {results(fixloop.Tests)}, fixloop.WorkFix: {hang}}}
	for b.Loop() {
		d := openDriver(b, location, h) // drives all loops, because each is started with the name of d
		for i := range 1000 {
			if _, _, err := d.Start(b.Context(), fixloop.Loop{Repository: "o/r", Issue: i + 1}, []byte(`{}`), func(string) string { return loops.OfOne(name) }); err != nil {
				b.Fatal(err)
			}
		}
		for waiting := 0; waiting < 1000; time.Sleep(100 * time.Millisecond) {
			all, err := d.List(b.Context(), loops.Filter{})
			if err != nil {
				b.Fatal(err)
			}
			waiting = 0
			for _, l := range all {
				if l.State.Work().Kind == fixloop.WorkFix {
					waiting++
				}
			}
		}
		began := time.Now()
		if _, err := d.Find(b.Context(), "o/r", 500, 0); err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(time.Since(began).Microseconds()), "µs/status")
		b.ReportMetric(resident(b), "MB-resident")
		if info, err := os.Stat(location); err == nil {
			b.ReportMetric(float64(info.Size())/(1<<20), "MB-store")
		}
		d.Close()
	}
}

// resident returns the memory of this process, in MB.
func resident(b *testing.B) float64 {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0 // the system does not report the memory of a process this way
	}
	var kb float64
	for line := range strings.Lines(string(status)) {
		if _, err := fmt.Sscanf(line, "VmRSS: %f kB", &kb); err == nil {
			break
		}
	}
	return kb / 1024
}
