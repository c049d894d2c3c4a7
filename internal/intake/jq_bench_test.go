package intake

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/agent-airlock/airlock/internal/safeoutput"
)

// BenchmarkCollectAndJQ compares the built program with jq, which has to be installed. Both read
// the same file of 40,000 mixed lines, most texts of which need cleaning. The goal is 0.7 of jq's
// time on two processors. On a machine with other work the processor time, cpu-ms/op, says more
// than the elapsed time.
func BenchmarkCollectAndJQ(b *testing.B) {
	dir := b.TempDir()
	binary, input, policy := filepath.Join(dir, "airlock"), filepath.Join(dir, "lines.ndjson"), filepath.Join(dir, "policy.yml")
	if out, err := exec.Command("go", "build", "-o", binary, "../../cmd/airlock").CombinedOutput(); err != nil {
		b.Fatalf("%v\n%s", err, out)
	}
	if err := os.WriteFile(input, dirty(40_000), 0o644); err != nil {
		b.Fatal(err)
	}
	if err := os.WriteFile(policy, manyOfEach(), 0o644); err != nil {
		b.Fatal(err)
	}
	for _, command := range [][]string{
		{binary, "collect", "--config", policy, "--input", input, "--output", filepath.Join(dir, "output.json")},
		{"jq", "-c", ".", input},
	} {
		b.Run(filepath.Base(command[0]), func(b *testing.B) {
			var cpu time.Duration
			for b.Loop() {
				cmd := exec.Command(command[0], command[1:]...)
				if err := cmd.Run(); err != nil {
					b.Fatal(err)
				}
				cpu += cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
			}
			b.ReportMetric(float64(cpu.Microseconds())/1000/float64(b.N), "cpu-ms/op")
		})
	}
}

// manyOfEach returns a configuration with limits, one for each kind, that no file of the benchmarks
// reaches.
func manyOfEach() []byte {
	var b strings.Builder
	for _, spec := range safeoutput.Kinds() {
		b.WriteString(string(spec.Kind) + ":\n  max: 50000\n")
		if spec.Kind == safeoutput.KindAddIssueLabel {
			b.WriteString("  max-items: 50000\n") // max limits the labels
		}
	}
	return []byte(b.String())
}
