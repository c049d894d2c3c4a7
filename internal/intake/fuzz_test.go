package intake

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
)

// FuzzWrite asserts that for any input nothing panics, every record has exactly one
// outcome, the documents are valid, and that a document which is read again has the same items.
func FuzzWrite(f *testing.F) {
	for _, dir := range []string{"ok", "err"} {
		files, _ := filepath.Glob(filepath.Join(outputs, dir, "*.ndjson"))
		for _, file := range files {
			if raw, err := os.ReadFile(file); err == nil && len(raw) < 4000 {
				f.Add(raw)
			}
		}
	}
	union := unionSchema(f)
	f.Fuzz(func(t *testing.T, in []byte) {
		cfg := Config{Max: noLimits(), MaxLabels: -1}
		doc, rep, counts := write(t, cfg, in)
		if v, err := union.Validate(doc); err != nil || len(v) > 0 {
			t.Fatalf("the document does not conform: %v, %v\n%s", v, err, doc)
		}
		var report Report
		if err := json.Unmarshal(rep, &report); err != nil {
			t.Fatalf("the report is not valid: %v\n%s", err, rep)
		}
		if counts.Accepted+counts.Rejected+counts.Dropped != report.Input.Records {
			t.Fatalf("%d records, but %+v", report.Input.Records, counts)
		}
		for _, r := range report.Records {
			if r.Outcome == OutcomeRejected && len(r.Violations) == 0 {
				t.Fatalf("line %d is rejected without a reason", r.Line)
			}
		}
		again, _, second := write(t, cfg, doc)
		if second.Rejected != 0 || second.Redacted != 0 || !bytes.Equal(items(doc), items(again)) {
			t.Fatalf("the second time: %+v, the first: %+v\n%s\n%s", second, counts, doc, again)
		}
	})
}

func items(doc []byte) []byte { return doc[:bytes.LastIndex(doc, []byte("],\"errors\":"))] }
