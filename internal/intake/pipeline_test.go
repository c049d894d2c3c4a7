package intake

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/agent-airlock/airlock/internal/safeoutput"
	"github.com/agent-airlock/airlock/internal/sanitize"
	"github.com/google/go-cmp/cmp"
)

func TestOrderDoesNotDependOnWorkers(t *testing.T) {
	in := mixed(3000)
	want, wantReport, _ := write(t, Config{Workers: 1}, in)
	for _, workers := range []int{2, 7} {
		got, report, _ := write(t, Config{Workers: workers}, in)
		if !bytes.Equal(want, got) || !bytes.Equal(wantReport, report) {
			t.Errorf("%d workers give another result", workers)
		}
	}
}

// TestWorkersCleanAheadOfTheCount asserts that cleaning in the workers changes nothing: an
// item that cleaning rejects takes no place in the limit, and what a limit drops has the
// notes of an item that nobody cleaned.
func TestWorkersCleanAheadOfTheCount(t *testing.T) {
	var in bytes.Buffer
	for i, line := range bytes.SplitAfter(dirty(4000), []byte("\n")) {
		if i%3 == 0 {
			fmt.Fprintf(&in, `{"type":"add-issue-comment","body":"<!-- %s -->"}`+"\n", strings.Repeat("h", i%500))
		}
		in.Write(line)
	}
	for _, limit := range []int{0, 1, 5, 200, 400} {
		cfg := Config{Max: limits(limit), MaxLabels: -1, Workers: 1}
		want, wantReport, counts := write(t, cfg, in.Bytes())
		for kind, n := range counts.Kinds {
			if n > limit {
				t.Errorf("limit %d: %d of %s were accepted", limit, n, kind)
			}
		}
		if n := counts.Kinds[safeoutput.KindAddIssueComment]; n != min(limit, 308) { // every 13th line of dirty is a comment
			t.Errorf("limit %d: %d comments were accepted", limit, n)
		}
		for line := range bytes.Lines(wantReport) {
			if bytes.Contains(line, []byte(`"outcome":"dropped"`)) && bytes.Contains(line, []byte(`"rule":"mentions"`)) {
				t.Fatalf("limit %d: a dropped item was cleaned: %s", limit, line)
			}
		}
		for _, workers := range []int{2, 7} {
			cfg.Workers = workers
			got, report, _ := write(t, cfg, in.Bytes())
			if !bytes.Equal(want, got) || !bytes.Equal(wantReport, report) {
				t.Errorf("limit %d: %d workers give another result", limit, workers)
			}
		}
	}
}

func TestLinesAreCountedInOrder(t *testing.T) {
	var b strings.Builder
	for i := range 5000 {
		fmt.Fprintf(&b, `{"type":"missing-tool","tool":"t%d","reason":"%s"}`+"\n", i, strings.Repeat("r", i%97))
	}
	res := collect(t, Config{Max: map[safeoutput.Kind]int{safeoutput.KindMissingTool: 1000}, Workers: 5}, b.String())
	last := 0
	for i, a := range res.Accepted {
		if got := a.Item().(*safeoutput.MissingTool).Tool; got != fmt.Sprintf("t%d", a.Line()-1) || a.Line() <= last {
			t.Fatalf("item %d is %s of line %d after line %d", i, got, a.Line(), last)
		}
		last = a.Line()
	}
	if len(res.Accepted) != 1000 || len(res.Accepted)+len(res.Rejected)+len(res.Dropped) != 5000 {
		t.Errorf("accepted %d, rejected %d, dropped %d", len(res.Accepted), len(res.Rejected), len(res.Dropped))
	}
}

func TestRunEndsWithTheContext(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	n := 0
	_, err := run(ctx, bytes.NewReader(mixed(5000)), Config{}, false, func(Outcome) error {
		if n++; n == 10 {
			cancel()
		}
		return nil
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("run = %v after %d outcomes, want %v", err, n, context.Canceled)
	}
}

func TestRunEndsWithTheSinksError(t *testing.T) {
	broken := errors.New("the disk is full")
	_, err := run(context.Background(), bytes.NewReader(mixed(5000)), Config{}, false, func(Outcome) error { return broken })
	if !errors.Is(err, broken) {
		t.Errorf("run = %v, want the sink's error", err)
	}
	if _, err := Write(context.Background(), bytes.NewReader(mixed(3000)), Config{Max: noLimits()}, Documents{Output: failing{broken}}); !errors.Is(err, broken) {
		t.Errorf("Write = %v", err)
	}
	if _, err := Write(context.Background(), strings.NewReader("{}"), Config{}, Documents{Output: io.Discard, Report: failing{broken}}); !errors.Is(err, broken) {
		t.Errorf("Write of the report = %v", err)
	}
}

// failing is a writer that always fails.
type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }

// TestRunPassesOnTheReadersError asserts that Collect returns the reader's error, but that UTF-16 is
// a rejected record.
func TestRunPassesOnTheReadersError(t *testing.T) {
	broken := errors.New("the network is gone")
	if _, err := Collect(context.Background(), iotest.ErrReader(broken), Config{}); !errors.Is(err, broken) {
		t.Errorf("Collect = %v", err)
	}
	res, err := Collect(context.Background(), strings.NewReader("\xff\xfe{\x00"), Config{})
	if err != nil || len(res.Rejected) != 1 || res.Rejected[0].Violations[0].Message != safeoutput.ErrUTF16.Error() {
		t.Errorf("Collect of UTF-16 = %+v, %v; want a rejected record", res, err)
	}
}

func TestRunRefusesBadSettings(t *testing.T) {
	cfg := Config{Sanitize: sanitize.Config{AllowedDomains: []string{"not a host"}}}
	if _, err := Collect(context.Background(), strings.NewReader(""), cfg); err == nil {
		t.Error("an invalid domain is accepted")
	}
}

func TestLargeLines(t *testing.T) {
	var b bytes.Buffer
	for i := range 40 {
		fmt.Fprintf(&b, `{"type":"missing-tool","tool":"t%d","reason":"%s"}`+"\n", i, strings.Repeat("word ", 200_000))
	}
	res := collect(t, Config{Workers: 3}, b.String())
	if len(res.Accepted) != 40 {
		t.Errorf("accepted %d: %q", len(res.Accepted), errorsOf(res))
	}
}

func TestErrorsAreBounded(t *testing.T) {
	w := documentWriter{errors: errorList{size: maxErrorText + 1}}
	w.addError("one more")
	if w.omitted != 1 || w.errors.size != maxErrorText+1 {
		t.Error("the list of errors grows without bound")
	}
}

func TestReportHasSchemasOnRequest(t *testing.T) {
	var out, rep bytes.Buffer
	_, err := Write(context.Background(), strings.NewReader(`{"type":"noop"}`+"\n"+`{"type":"nope"}`), Config{}, Documents{Output: &out, Report: &rep, Schemas: true})
	if err != nil || !strings.Contains(rep.String(), `"schemas":{"noop":{"description":`) {
		t.Errorf("the report is %s, %v", &rep, err)
	}
}

func TestEachSeesEveryOutcome(t *testing.T) {
	var lines []string
	_, err := Write(context.Background(), strings.NewReader(`{"type":"noop","message":"a"}`+"\n"+`{"type":"noop","message":"b"}`+"\nnull"), Config{}, Documents{
		Output: io.Discard,
		Each:   func(o Outcome) { lines = append(lines, fmt.Sprintf("%d %s", o.Record().Line, o.Record().Outcome)) },
	})
	if d := cmp.Diff([]string{"1 accepted", "2 dropped", "3 rejected"}, lines); d != "" || err != nil {
		t.Errorf("outcomes differ: %s, %v", d, err)
	}
}
