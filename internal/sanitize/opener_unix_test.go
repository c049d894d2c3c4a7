//go:build unix

package sanitize

import (
	"fmt"
	"syscall"
	"testing"
	"time"
)

// BenchmarkOpener cleans a quarter of a megabyte and a megabyte of every repeated opener,
// and reports the processor time for a megabyte in milliseconds (cpu-ms/MB). Where cleaning
// is not linear, the two differ. The goal is 100.
func BenchmarkOpener(b *testing.B) {
	for _, o := range repetitions() {
		for _, size := range []int{1 << 18, 1 << 20} {
			b.Run(fmt.Sprintf("%.60q/%dKB", o.String(), size>>10), func(b *testing.B) {
				text := o.text(size)
				before := processorTime(b)
				benchmarkBody(b, text)
				used := processorTime(b) - before
				b.ReportMetric(used.Seconds()*1000/float64(b.N)*(1<<20)/float64(len(text)), "cpu-ms/MB")
			})
		}
	}
}

// processorTime returns how much time of the processor this process has used.
func processorTime(b *testing.B) time.Duration {
	b.Helper()
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		b.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
