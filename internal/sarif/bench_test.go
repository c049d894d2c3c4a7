package sarif

import (
	"testing"
)

// BenchmarkPrepare measures one log and two copies of it: their MB/s differ if Prepare
// does not take linear time.
func BenchmarkPrepare(b *testing.B) {
	source := Source{SARIF: simple("t", 25_000, func(i int) string { return []string{"note", "error", "warning"}[i%3] })}
	for results, sources := range map[string][]Source{"25000": {source}, "50000": {source, source}} {
		b.Run(results, func(b *testing.B) {
			b.SetBytes(int64(len(sources) * len(source.SARIF)))
			for b.Loop() {
				if _, err := Prepare(sources, Options{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkValidate(b *testing.B) {
	log := simple("t", 25_000, func(int) string { return "error" })
	b.SetBytes(int64(len(log)))
	for b.Loop() {
		if found, err := Validate(log); err != nil || len(found) > 0 {
			b.Fatal(found, err)
		}
	}
}

func BenchmarkClean(b *testing.B) {
	log := simple("t", 25_000, func(int) string { return "error" })
	b.SetBytes(int64(len(log)))
	for b.Loop() {
		if _, _, err := cleanLog(log, fakeCleaner{}); err != nil {
			b.Fatal(err)
		}
	}
}
