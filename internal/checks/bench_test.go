package checks

import (
	"fmt"
	"strings"
	"testing"

	"github.com/agent-airlock/airlock/internal/changes"
	"github.com/agent-airlock/airlock/internal/config"
	"github.com/agent-airlock/airlock/internal/phase"
	"github.com/agent-airlock/airlock/internal/plugin"
)

// BenchmarkSecurityReview measures a security review of 1,000 files (10 MB): the built-in one, and
// that of a plug-in which reports 10,000 findings.
func BenchmarkSecurityReview(b *testing.B) {
	set := &changes.Set{}
	request := phase.ReviewRequest{Repository: b.TempDir()}
	text := []byte("package a\n" + strings.Repeat("func f(x int) int { return x + 1 }\n", 290))
	for i := range 1000 {
		f := changes.File{ChangedFile: changes.ChangedFile{Path: fmt.Sprintf("src/%04d.go", i)}, Language: "go", AllChanged: true, Text: text}
		set.Files, request.Files, request.Diff = append(set.Files, f), append(request.Files, f.Path), append(request.Diff, f.ChangedFile)
	}
	var out strings.Builder
	for i := range 10_000 {
		fmt.Fprintf(&out, `{"message":"finding %d is about the value that is returned here","location":{"path":"src/%04d.go","range":{"start":{"line":%d}}},"code":{"value":"R%d"}}`+"\n", i, i%1000, i%290+1, i%40)
	}
	for name, checks := range map[string]config.Checks{
		"built-in": {},
		"plug-in":  {SkipSecurityReview: true, Plugins: []plugin.Config{{Name: "lint", Command: "lint", Format: plugin.RDJSONL, Check: phase.SecurityReview}}},
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				r, _ := openReviews(b, reviewsConfig{Checks: checks, Changes: set}, func(string, int) (string, int, error) { return out.String(), 1, nil })
				found, err := r.securityReview()(b.Context(), request)
				if err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(float64(len(found)), "findings")
			}
		})
	}
}
