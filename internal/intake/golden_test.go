package intake

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agent-airlock/airlock/internal/safeoutput"
	"github.com/agent-airlock/airlock/internal/schema"
	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the golden files anew")

const outputs = "../../testdata/outputs"

// write runs Write and returns both documents.
func write(t testing.TB, cfg Config, in []byte) (document, report []byte, counts Counts) {
	t.Helper()
	var out, rep bytes.Buffer
	counts, err := Write(context.Background(), bytes.NewReader(in), cfg, Documents{Output: &out, Report: &rep})
	if err != nil {
		t.Fatal(err)
	}
	return out.Bytes(), rep.Bytes(), counts
}

// TestExamples compares every example of an agent's output with its golden document
// and report. In testdata/outputs/ok every record is accepted completely, in err at
// least one is not.
func TestExamples(t *testing.T) {
	union := unionSchema(t)
	reports, ok := schema.Published("collect-report.json", "")
	if !ok {
		t.Fatal("the report's schema is not published")
	}
	for _, dir := range []string{"ok", "err"} {
		files, err := filepath.Glob(filepath.Join(outputs, dir, "*.ndjson"))
		if err != nil || len(files) < 20 {
			t.Fatalf("%d examples in %s, %v", len(files), dir, err)
		}
		for _, file := range files {
			name := strings.TrimSuffix(file, ".ndjson")
			t.Run(dir+"/"+filepath.Base(name), func(t *testing.T) {
				in, err := os.ReadFile(file)
				if err != nil {
					t.Fatal(err)
				}
				doc, rep, counts := write(t, Config{}, in)
				if counts.Clean() != (dir == "ok") {
					t.Errorf("counts are %+v", counts)
				}
				if v, err := union.Validate(doc); err != nil || len(v) > 0 {
					t.Errorf("the document does not conform to the published schema: %v, %v", v, err)
				}
				if v, err := reports.Validate(rep); err != nil || len(v) > 0 {
					t.Errorf("the report does not conform to its published schema: %v, %v", v, err)
				}
				var report Report
				if err := json.Unmarshal(rep, &report); err != nil {
					t.Errorf("the report cannot be decoded: %v", err)
				}
				golden(t, name+".json", doc)
				golden(t, name+".report.json", rep)
			})
		}
	}
}

func golden(t *testing.T, file string, got []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), string(got)); d != "" {
		t.Errorf("%s differs; run the test with -update if that is meant (-want +got):\n%s", file, d)
	}
}

func unionSchema(t testing.TB) *schema.Schema {
	t.Helper()
	s, ok := schema.Published(unionFile, "")
	if !ok {
		t.Fatal("the union's schema is not published")
	}
	return s
}

// TestEachKindHasExamples asserts that each kind of item has an example that is accepted and one that
// is not.
func TestEachKindHasExamples(t *testing.T) {
	for _, s := range safeoutput.Kinds() {
		for _, dir := range []string{"ok", "err"} {
			if _, err := os.Stat(filepath.Join(outputs, dir, "kind-"+string(s.Kind)+".ndjson")); err != nil {
				t.Errorf("%s has no %s example: %v", s.Kind, dir, err)
			}
		}
	}
}
