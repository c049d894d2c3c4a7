package intake

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/agent-airlock/airlock/internal/safeoutput"
)

var (
	mixedFile = flag.String("mixed", "", "write the 40,000 mixed lines of the benchmarks to this file")
	dirtyFile = flag.String("dirty", "", "write the 40,000 lines of the benchmarks in which most texts need cleaning to this file")
)

// mixed returns lines of NDJSON as agents write them: all kinds, about 625
// bytes a line, so that 40,000 lines are 25 MB. The same number of lines always
// gives the same bytes.
func mixed(lines int) []byte {
	r := rand.New(rand.NewPCG(2, 40_000))
	var b bytes.Buffer
	kinds := safeoutput.Kinds()
	for i := range lines {
		writeLine(&b, newItem(r, kinds[i%len(kinds)].Kind, i))
	}
	return b.Bytes()
}

// dirty returns lines like those of mixed, but most of their texts need cleaning. Every second
// security report is a SARIF log. The same number of lines always gives the same bytes.
func dirty(lines int) []byte {
	r := rand.New(rand.NewPCG(5, 40_000))
	additions := []string{
		" Thanks @octocat and @org/team.", " This fixes #12.", "\n\n<!-- hidden -->\n", " See http://intranet.example/x for more.", "\n/deploy now\n", " <script>alert(1)</script>",
		" a\u200bb\u202ec", " <img src=x onerror=y>", " [link](javascript:alert(1))", " closes <b>#</b>7",
	}
	var b bytes.Buffer
	kinds := safeoutput.Kinds()
	for i := range lines {
		item := newItem(r, kinds[i%len(kinds)].Kind, i)
		for _, name := range []string{"body", "title", "message", "reason", "alternatives", "details"} {
			if value, ok := item[name].(string); ok {
				addition := " for @octocat"
				if name == "body" {
					addition = additions[r.IntN(len(additions))]
				}
				item[name] = value + addition
			}
		}
		if item["type"] == safeoutput.KindCreateSecurityReport && i%2 == 0 {
			item = map[string]any{"type": safeoutput.KindCreateSecurityReport, "sarif": map[string]any{
				"version": "2.1.0", "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
				"runs": []any{map[string]any{
					"tool": map[string]any{"driver": map[string]any{"name": "agent", "rules": []any{map[string]any{"id": "r1", "shortDescription": map[string]any{"text": "Ask @octocat"}}}}},
					"results": []any{map[string]any{
						"ruleId": "r1", "level": "warning", "message": map[string]any{"text": randomWords(r, 40) + " @octocat"},
						"locations": []any{map[string]any{"physicalLocation": map[string]any{"artifactLocation": map[string]any{"uri": "cmd/main.go"}, "region": map[string]any{"startLine": i%500 + 1}}}},
					}},
				}},
			}}
		}
		writeLine(&b, item)
	}
	return b.Bytes()
}

// newItem returns the members of an item. Its texts are random, and its numbers depend on i. For some
// kinds, it returns the members of the kind table's example instead.
func newItem(r *rand.Rand, kind safeoutput.Kind, i int) map[string]any {
	item := map[string]any{"type": kind}
	switch kind {
	case safeoutput.KindCreateIssue, safeoutput.KindCreatePullRequest, safeoutput.KindCreateDiscussion:
		item["title"] = fmt.Sprintf("Flaky test %d in package %s", i, randomWords(r, 2))
		item["body"] = markdown(r, 760)
		if kind == safeoutput.KindCreateIssue {
			item["labels"] = []string{"bug", "area: " + randomWords(r, 1)}
		}
	case safeoutput.KindAddIssueComment:
		item["body"], item["issue_number"] = markdown(r, 760), i%900+1
	case safeoutput.KindAddIssueLabel:
		item["labels"] = []string{"bug", "needs-" + randomWords(r, 1), randomWords(r, 1)}
	case safeoutput.KindUpdateIssue:
		item["status"], item["body"], item["issue_number"] = "open", markdown(r, 680), fmt.Sprint(i%900+1)
	case safeoutput.KindPushToBranch:
		item["message"] = "Fix " + randomWords(r, 60)
	case safeoutput.KindCreateReviewComment:
		item["path"], item["line"], item["side"] = "internal/"+strings.ReplaceAll(randomWords(r, 2), " ", "/")+".go", i%500+1, "RIGHT"
		item["body"] = markdown(r, 600)
	case safeoutput.KindMissingTool:
		item["tool"], item["reason"], item["alternatives"] = randomWords(r, 1), randomWords(r, 50), randomWords(r, 20)
	case safeoutput.KindCreateSecurityReport:
		item["file"], item["line"], item["severity"] = "cmd/"+randomWords(r, 1)+".go", i%500+1, "warning"
		item["message"] = randomWords(r, 50)
	case safeoutput.KindNoop:
		item["message"] = randomWords(r, 70)
	default:
		if err := json.Unmarshal([]byte(safeoutput.SpecOf(kind).Example), &item); err != nil {
			panic(err)
		}
	}
	return item
}

func writeLine(b *bytes.Buffer, item map[string]any) {
	raw, err := json.Marshal(item)
	if err != nil {
		panic(err)
	}
	b.Write(raw)
	b.WriteByte('\n')
}

var vocabulary = strings.Fields(`the build fails when cache is cold because handler returns before response body was closed and
	context deadline exceeded while reading from upstream so that retry loop never sees an error it should wrap value
	parser accepts trailing comma token stream buffer grows without bound test covers only happy path café naïve Straße 日本語`)

func randomWords(r *rand.Rand, n int) string {
	w := make([]string, n)
	for i := range w {
		w[i] = vocabulary[r.IntN(len(vocabulary))]
	}
	return strings.Join(w, " ")
}

// markdown returns ordinary Markdown of about n bytes.
func markdown(r *rand.Rand, n int) string {
	var b strings.Builder
	b.WriteString("## " + randomWords(r, 3) + "\n\n")
	for b.Len() < n {
		switch r.IntN(6) {
		case 0:
			b.WriteString("- **" + randomWords(r, 2) + "**: " + randomWords(r, 8) + "\n- `" + randomWords(r, 1) + "()` " + randomWords(r, 6) + "\n\n")
		case 1:
			b.WriteString("```go\nif err != nil {\n\treturn fmt.Errorf(\"" + randomWords(r, 3) + ": %w\", err)\n}\n```\n\n")
		case 2:
			b.WriteString(randomWords(r, 5) + " [docs](https://github.com/octocat/hello-world/blob/main/README.md), see #" + fmt.Sprint(r.IntN(900)) + ".\n\n")
		default:
			b.WriteString(randomWords(r, 22) + ".\n\n")
		}
	}
	return b.String()
}

// limits returns the same limit for each kind.
func limits(n int) map[safeoutput.Kind]int {
	limits := map[safeoutput.Kind]int{}
	for _, spec := range safeoutput.Kinds() {
		limits[spec.Kind] = n
	}
	return limits
}

// oneKind returns lines like those of mixed, all of one kind.
func oneKind(kind safeoutput.Kind, lines int) []byte {
	r := rand.New(rand.NewPCG(3, 40_000))
	var b bytes.Buffer
	for i := range lines {
		writeLine(&b, newItem(r, kind, i))
	}
	return b.Bytes()
}

func TestMixedLinesAreAllAccepted(t *testing.T) {
	if *mixedFile != "" {
		if err := os.WriteFile(*mixedFile, mixed(40_000), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if *dirtyFile != "" {
		if err := os.WriteFile(*dirtyFile, dirty(40_000), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	in := mixed(1100)
	if n := len(in) / 1100; n < 560 || n > 690 {
		t.Errorf("a line has %d bytes on average, want about 625", n)
	}
	_, _, counts := write(t, Config{Max: noLimits(), MaxLabels: -1}, in)
	if counts.Accepted != 1100 || counts.Repaired != 0 {
		t.Errorf("counts are %+v, want 1,100 accepted", counts)
	}
}

// TestLinesOfBenchmarksAreStable asserts that the lines of benchmarks do not differ between two
// runs, so that their results can be compared.
func TestLinesOfBenchmarksAreStable(t *testing.T) {
	for name, lines := range map[string]func(int) []byte{"mixed": mixed, "dirty": dirty} {
		first := lines(200)
		for range 5 {
			if !bytes.Equal(lines(200), first) {
				t.Errorf("the lines of %s differ", name)
				break
			}
		}
	}
}

// BenchmarkWrite measures the collector without its file handling. The goals are, for
// 40,000 mixed lines, 0.7 of the time of jq -c, linear up to 160,000 lines; and for
// 40,000 lines of one kind, 0.1 s.
func BenchmarkWrite(b *testing.B) {
	for _, bm := range []struct {
		name string
		in   []byte
		cfg  Config
	}{
		{"mixed-40000", mixed(40_000), Config{Max: noLimits()}},
		{"mixed-160000", mixed(160_000), Config{Max: noLimits()}},
		{"dirty-40000", dirty(40_000), Config{Max: limits(50_000), MaxLabels: 10}},
		{"mixed-40000-default-limits", mixed(40_000), Config{}},
		{"missing-tool-40000", oneKind(safeoutput.KindMissingTool, 40_000), Config{Max: noLimits()}},
		{"add-issue-label-40000", oneKind(safeoutput.KindAddIssueLabel, 40_000), Config{Max: noLimits()}},
	} {
		b.Run(bm.name, func(b *testing.B) {
			b.SetBytes(int64(len(bm.in)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Write(context.Background(), bytes.NewReader(bm.in), bm.cfg, Documents{Output: io.Discard}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkJudge measures the work on one record, without cleaning it.
func BenchmarkJudge(b *testing.B) {
	d, err := newDoor(Config{})
	if err != nil {
		b.Fatal(err)
	}
	p := newParser()
	for _, kind := range []safeoutput.Kind{safeoutput.KindCreateIssue, safeoutput.KindAddIssueLabel, safeoutput.KindCreateSecurityReport} {
		line := bytes.TrimSpace(oneKind(kind, 1))
		b.Run(string(kind), func(b *testing.B) {
			b.SetBytes(int64(len(line)))
			b.ReportAllocs()
			for b.Loop() {
				if v := d.judge(p, safeoutput.Line{No: 1, Raw: line}); len(v.violations) > 0 {
					b.Fatal(v.violations)
				}
			}
		})
	}
}
