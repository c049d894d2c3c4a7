package safeoutput

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/agent-airlock/airlock/internal/jsonrepair"
	"github.com/google/go-cmp/cmp"
)

// records reads r to its end and returns each record as "first-last: text", or "first-last! error",
// and then the error of the source, if there is one.
func records(t testing.TB, r *Reader) []string {
	t.Helper()
	var out []string
	var b Batch
	for {
		err := r.ReadBatch(&b)
		if err == io.EOF {
			if len(b.Lines) > 0 {
				t.Fatal("records together with io.EOF")
			}
			return out
		}
		if err != nil {
			return append(out, "error: "+err.Error())
		}
		for _, l := range b.Lines {
			s := fmt.Sprintf("%d-%d: %s", l.No, l.End, l.Raw)
			if l.Err != nil {
				s = fmt.Sprintf("%d-%d! %v", l.No, l.End, l.Err)
			}
			out = append(out, s)
		}
	}
}

func TestReaderFrames(t *testing.T) {
	tests := []struct {
		name, in string
		want     []string
	}{
		{"empty", "", nil},
		{"only blank lines", "\n \r\n\x00\n\t\n", nil},
		{"lines", "{\"a\":1}\n{\"b\":2}\n", []string{`1-1: {"a":1}`, `2-2: {"b":2}`}},
		{"no newline at the end", `{"a":1}`, []string{`1-1: {"a":1}`}},
		{"byte order mark, CRLF, NUL, blank lines", "\ufeff{\"a\":1}\r\n\r\n\x00\x00{\"b\":2}\x00\r\n\n", []string{`1-1: {"a":1}`, `3-3: {"b":2}`}},
		{"several on a line", `{"a":1}{"b":"}{"}   {"c":3} , {"d":4}`, []string{`1-1: {"a":1}`, `1-1: {"b":"}{"}`, `1-1: {"c":3} ,`, `1-1: {"d":4}`}},
		{"over several lines", "{\n  \"a\": [\n    {\"b\": 1},\n    {\"c\": 2}\n  ]\n}\n{\"d\":1}", []string{"1-6: {\n  \"a\": [\n    {\"b\": 1},\n    {\"c\": 2}\n  ]\n}", `7-7: {"d":1}`}},
		{"a nested list without indentation", "{\"a\":[\n{\"b\":1},\n{\"c\":2}\n]}", []string{"1-4: {\"a\":[\n{\"b\":1},\n{\"c\":2}\n]}"}},
		{"over several lines, then another on the last", "{\"a\":\n1} {\"b\":2}\n{\"c\":3}", []string{"1-2: {\"a\":\n1}", `2-2: {"b":2}`, `3-3: {"c":3}`}},
		{"an open object ends where a complete one follows", "{\"a\":\"cut of\n{\"b\":1}\n", []string{`1-1: {"a":"cut of`, `2-2: {"b":1}`}},
		{"an open list ends where a safe output follows", "{\"a\":[1,\n{\"type\":\"noop\",\"message\":\"m\"}", []string{`1-1: {"a":[1,`, `2-2: {"type":"noop","message":"m"}`}},
		{"an unescaped newline in a string", "{\"a\":\"one\n\ntwo\"}\n{\"b\":1}", []string{"1-3: {\"a\":\"one\n\ntwo\"}", `4-4: {"b":1}`}},
		{"a fence around", "```json\n{\"a\":1}\n```\n~~~\n{\"b\":1}", []string{`2-2: {"a":1}`, `5-5: {"b":1}`}},
		{"a fence ends an open object", "```\n{\"a\":1\n```\n{\"b\":1}", []string{`2-2: {"a":1`, `4-4: {"b":1}`}},
		{"a fence within a string", "{\"a\":\"x\n```go\ny\n```\"}", []string{"1-4: {\"a\":\"x\n```go\ny\n```\"}"}},
		{"prose, and prose with braces", "Here you are {x\n{\"a\":1}\nuse {y} now", []string{`1-1: Here you are {x`, `2-2: {"a":1}`, `3-3: use {y} now`}},
		{"prose before an object", "Output: {\"a\":\n1}\n{\"b\":1}", []string{"1-2: Output: {\"a\":\n1}", `3-3: {"b":1}`}},
		{"text after an object", `{"a":1} // done {x}`, []string{`1-1: {"a":1} // done {x}`}},
		{"text between objects", `{"a":1} and {"b":2}.`, []string{"1-1! " + ErrInText.Error()}},
		{"prose before objects, and between them", `So {"a":1} and {"b":2}.`, []string{"1-1! " + ErrInText.Error()}},
		{"an object in a comment", `{"a":1} // {"b":2} {"c":3}`, []string{`1-1: {"a":1}`, `1-1: // {"b":2} {"c":3}`}},
		{"an object in a block comment", `{"a":1} /* {"b":2} */ {"c":3}`, []string{`1-1: {"a":1}`, `1-1: /* {"b":2} */ {"c":3}`}},
		{"an object after a comment", `{"a":1} /* x */ {"b":2}`, []string{`1-1: {"a":1} /* x */`, `1-1: {"b":2}`}},
		{"an array of objects", `[{"a":1},{"b":2}]`, []string{`1-1: {"a":1}`, `1-1: {"b":2}`}},
		{"an array with other elements", `[{"a":1},5,"x",[{"b":2}]]`, []string{`1-1: {"a":1}`, "1-1: 5", `1-1: "x"`, `1-1: [{"b":2}]`}},
		{"an array that is not strict", `[{"a":1}, {'b':2},],` + "\n" + `- [{a:1}]`, []string{`1-1: {"a":1},`, `1-1: {'b':2},`, `2-2: {a:1}`}},
		{"an array over several lines", "[\n{\"a\":1},\n{\"b\":\n2}\n]\n{\"c\":3}\n]", []string{`2-2: {"a":1},`, "3-4: {\"b\":\n2}", `6-6: {"c":3}`, "7-7: ]"}},
		{"an array that begins and ends with its objects", "[{\"a\":1},\n{\"b\":2}]\n[{\"c\":3}\n]", []string{`1-1: {"a":1},`, `2-2: {"b":2}`, `3-3: {"c":3}`}},
		{"a brace in an unescaped quotation", `{"a":"use "}" and "{"}" here"}`, []string{`1-1: {"a":"use "}" and "{"}" here"}`}},
		{"not objects", "null\n[1,2]\n\"x\"\n12\n[\n", []string{"1-1: null", "2-2: [1,2]", `3-3: "x"`, "4-4: 12", "6-6! " + ErrOpenList.Error()}},
		{"a missing bracket", "{\"a\":[1}\n{\"b\":1}", []string{`1-1: {"a":[1}`, `2-2: {"b":1}`}},
		{"an extra bracket", "{\"a\":1]}\n}\n{\"b\":1}", []string{`1-1: {"a":1]}`, `2-2: }`, `3-3: {"b":1}`}},
		{"cut off", "{\"a\":1}\n{\"b\":[1,", []string{`1-1: {"a":1}`, `2-2: {"b":[1,`}},
		{"escaped quotes", `{"a":"\\\"}{"}{"b":"\\"}`, []string{`1-1: {"a":"\\\"}{"}`, `1-1: {"b":"\\"}`}},
		{"too deep", strings.Repeat(`{"a":`, 513) + "1" + strings.Repeat("}", 513) + "\n{\"b\":1}", []string{"1-1! " + ErrTooDeep.Error(), `2-2: {"b":1}`}},
		{"as deep as allowed", strings.Repeat(`{"a":`, 512) + "1" + strings.Repeat("}", 512), []string{"1-1: " + strings.Repeat(`{"a":`, 512) + "1" + strings.Repeat("}", 512)}},
		{"UTF-16", "\xff\xfe{\x00", []string{"1-1! " + ErrUTF16.Error()}},
		{"UTF-16 without a mark", "{\x00\"\x00t\x00y\x00", []string{"1-1! " + ErrUTF16.Error()}},
		{"UTF-16 without a mark, high byte first", "\x00{\x00\"\x00t\x00y", []string{"1-1! " + ErrUTF16.Error()}},
		{"NUL bytes that are not UTF-16", "\x00\x00\x00\x00{\"a\":1}", []string{`1-1: {"a":1}`}},
		{"UTF-16, then UTF-8", "\xff\xfe{\x00}\x00\r\x00\n\x00{\x00\x60\x4f\n\x00{\"a\":1}\n", []string{"1-1! " + ErrUTF16.Error(), "2-2! " + ErrUTF16.Error(), `3-3: {"a":1}`}},
		{"UTF-8, then UTF-16, then UTF-8", "{\"a\":1}\n{\x00\"\x00a\x00\"\x00\n\x00\n{\"b\":1}\n", []string{`1-1: {"a":1}`, "2-2! " + ErrUTF16.Error(), `4-4: {"b":1}`}},
		{"not text", "\x7fELF\x02\x01\x01\x03>\x01\n{\"a\":1}", []string{"1-1: \x7fELF\x02\x01\x01\x03>\x01", `2-2: {"a":1}`}},
		{"Latin-1 first", "caf\xe9 cr\xe8me\n{\"a\":1}", []string{"1-1: caf\xe9 cr\xe8me", `2-2: {"a":1}`}},
		{"control characters first", strings.Repeat("\x01", 60) + "\n{\"a\":1}", []string{"1-1: " + strings.Repeat("\x01", 60), `2-2: {"a":1}`}},
		{"document", "{\"items\":[{\"a\":1},\n {\"b\":[{}]}\n], \"errors\": [\"]{\"], \"z\":{}}\n{\"c\":1}", []string{`1-1: {"a":1}`, `2-2: {"b":[{}]}`, `4-4: {"c":1}`}},
		{"document over many lines", "\n{\n \"errors\": [],\n \"items\": [\n  {\n  \"a\": 1\n  },\n  5, \"x\", null, [{\"y\":[1]}]\n ]\n}\n", []string{"5-7: {\n  \"a\": 1\n  }", "8-8: 5", `8-8: "x"`, "8-8: null", `8-8: [{"y":[1]}]`}},
		{"document, cut off", `{"items":[{"a":1},{"b":"x`, []string{`1-1: {"a":1}`, `1-1: {"b":"x`, "1-1! " + ErrCutOff.Error()}},
		{"document, cut off between", `{"items":[{"a":1}`, []string{`1-1: {"a":1}`, "1-1! " + ErrCutOff.Error()}},
		{"comments in a document", "{\"items\":[/*/ {}, */{\"a\":1},// {}\n{\"b\":1} <!-- {}\n,{} -->,#\n{\"c\":1}]}", []string{"1-1! " + (&NotRequestError{"it is commented out"}).Error(), `1-1: {"a":1}`,
			"1-1! " + (&NotRequestError{"it is commented out"}).Error(), `2-2: {"b":1}`, "2-3! " + (&NotRequestError{"it is commented out"}).Error(), "3-3: #", `4-4: {"c":1}`}},
		{"text in a document", `{"items":[no {"a":1} {"b":1}, {"c":1}]}`, []string{"1-1: no", "1-1! " + ErrInText.Error(), "1-1! " + ErrInText.Error(), `1-1: {"c":1}`}},
		{"items by another name", "{\"items\":[{\"a\":1}],\n\"Items\":[{\"type\":\"noop\",\"message\":\"m\"}],\"x\":{\"type\":\"add_comment\"},\"y\":[[{\"z\":1}]],\"version\":{\"type\":\"y\"}}", []string{`1-1: {"a":1}`,
			`2-2! the document's member "Items" contains safe outputs, but only those of "items" are read; write them there`, `2-2! the document's member "x" contains safe outputs, but only those of "items" are read; write them there`}},
		{"a document without lists", `{"errors":null,"items":null}`, nil},
		{"not a document", `{"items":1}`, []string{`1-1: {"items":1}`}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if d := cmp.Diff(tt.want, records(t, NewReader(strings.NewReader(tt.in)))); d != "" {
				t.Errorf("records differ (-want +got):\n%s", d)
			}
			if d := cmp.Diff(tt.want, records(t, NewReader(iotest.OneByteReader(strings.NewReader(tt.in))))); d != "" {
				t.Errorf("read byte by byte, records differ (-want +got):\n%s", d)
			}
		})
	}
}

func TestReaderLimits(t *testing.T) {
	// Both are longer than a line may be; longer also exceeds what is read beyond the limit.
	long, longer := strings.Repeat("x", 5000), strings.Repeat("x", 20_000)
	tests := []struct{ name, in, want string }{
		{"a line", `{"a":1}` + "\n" + `{"b":"` + long + `"}` + "\n" + `{"c":1}`, `1-1: {"a":1}|2-2! the line|3-3: {"c":1}`},
		{"a longer line", `{"a":1}` + "\n" + `{"b":"` + longer + `"}` + "\n" + `{"c":1}`, `1-1: {"a":1}|2-2! the line|3-3: {"c":1}`},
		{"a longer last line", longer, `1-1! the line`},
		{"a longer line in an open record", "{\"a\":\n" + longer + "\n{\"c\":1}\n", `1-1: {"a":|2-2! the line|3-3: {"c":1}`},
		{"a longer item", `{"items":[{"a":1},{"b":"` + longer + `"},{"c":1}],"errors":[]}`, `1-1: {"a":1}|1-1! the line|1-1: {"c":1}`},
		{"the last line", `{"a":1}` + "\n" + long, `1-1: {"a":1}|2-2! the line`},
		{"an open record", "{\n" + strings.Repeat("1,\n", 600) + "{\"c\":1}", `1-501! the line`},
		{"a document's item", `{"items":[{"a":1},{"b":"` + long + `"},{"c":1}],"errors":[]}`, `1-1: {"a":1}|1-1! the line|1-1: {"c":1}`},
	}
	for _, tt := range tests {
		for _, src := range []io.Reader{strings.NewReader(tt.in), iotest.HalfReader(strings.NewReader(tt.in)), iotest.OneByteReader(strings.NewReader(tt.in))} {
			got := strings.Join(records(t, newReader(src, 1500, 1<<20)), "|")
			got = strings.ReplaceAll(got, ErrLineTooLong.Error(), "the line")
			if !strings.HasPrefix(got, tt.want) {
				t.Errorf("%s: records = %.300s, want %s", tt.name, got, tt.want)
			}
		}
	}
}

func TestReaderBoundsBatches(t *testing.T) {
	for name, in := range map[string]string{
		"short lines": strings.Repeat("x\n", 100_000),
		"one line":    strings.Repeat("{}", 100_000) + "\n{\"a\":1}",
		"a document":  `{"items":[` + strings.Repeat("{},", 100_000) + `{}]}`,
	} {
		r, all := NewReader(strings.NewReader(in)), 0
		var b Batch
		var last Line
		for r.ReadBatch(&b) == nil {
			if len(b.Lines) > batchLines+maxOnLine {
				t.Errorf("%s: a batch of %d records", name, len(b.Lines))
			}
			if all += len(b.Lines); len(b.Lines) > 0 {
				last = b.Lines[len(b.Lines)-1]
			}
		}
		// On one line, what follows the first maxOnLine records is one error.
		want := map[string]int{"short lines": 100_000, "one line": maxOnLine + 2, "a document": 100_001}[name]
		if all != want || last.Err != nil {
			t.Errorf("%s: %d records, the last with %v; want %d", name, all, last.Err, want)
		}
	}
}

func TestReaderFileLimit(t *testing.T) {
	in := strings.Repeat("{\"a\":1}\n", 100)
	got := records(t, newReader(strings.NewReader(in), maxLine, 20))
	want := []string{`1-1: {"a":1}`, `2-2: {"a":1}`, "3-3! " + ErrFileTooLong.Error()}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("records differ: %s", d)
	}
}

func TestReaderPassesOnTheSourcesError(t *testing.T) {
	broken := errors.New("the disk is gone")
	r := NewReader(io.MultiReader(strings.NewReader("{\"a\":1}\n"), iotest.ErrReader(broken)))
	var b Batch
	if err := r.ReadBatch(&b); !errors.Is(err, broken) {
		t.Errorf("ReadBatch = %v, want the source's error", err)
	}
}

func TestDocumentErrors(t *testing.T) {
	r := NewReader(strings.NewReader(`{"errors":["a","]"],"items":[],"odd":[1,[2]]}`))
	if got := records(t, r); got != nil {
		t.Errorf("records = %q", got)
	}
	if d := cmp.Diff([]string{"a", "]"}, r.DocumentErrors()); d != "" || !r.IsDocument() {
		t.Errorf("IsDocument = %t, DocumentErrors (-want +got):\n%s", r.IsDocument(), d)
	}
	if d := cmp.Diff([]string{"odd"}, r.DocumentUnknown()); d != "" {
		t.Errorf("DocumentUnknown differ: %s", d)
	}
}

func TestNoDocumentErrorIsLost(t *testing.T) {
	for in, want := range map[string][]string{
		`{"items":[],"errors":["a",{"b":1},7]}`:           {"a", `{"b":1}`, "7"},
		`{"errors":["a"],"items":[],"errors":["b"]}`:      {"a", "b"},
		`{"items":[],"errors":["a",]}`:                    {"the document's list of errors is not valid JSON"},
		`{"items":[{"a":1}],"errors":null,"x":{"y":[1]}}`: nil,
	} {
		r := NewReader(strings.NewReader(in))
		records(t, r)
		if d := cmp.Diff(want, r.DocumentErrors()); d != "" {
			t.Errorf("%s: errors differ (-want +got):\n%s", in, d)
		}
	}
}

func TestReaderCountsFences(t *testing.T) {
	r := NewReader(strings.NewReader("```json\n{}\n```\n"))
	records(t, r)
	if r.Fences() != 2 || r.IsDocument() || r.DocumentErrors() != nil {
		t.Errorf("Fences = %d", r.Fences())
	}
}

// TestFencesCloseWhateverTheirInfo asserts that a fence of three marks closes one of three, also if its
// info has letters whose other case takes more or fewer bytes.
func TestFencesCloseWhateverTheirInfo(t *testing.T) {
	for _, info := range []string{"go", "go \u212a", "go \u023a"} {
		var f codeFence
		f.next([]byte("```" + info))
		if f.width != 3 || f.why == "" {
			t.Errorf("%q: %+v", info, f)
		}
		if f.next([]byte("```")); f != (codeFence{}) {
			t.Errorf("%q is not closed: %+v", info, f)
		}
	}
}

// FuzzReader: in any input, records do not depend on how the source is read. If it is not a
// document, every byte up to the first record with an error is in exactly one record, in order,
// except for space, fences and what may stand around objects.
func FuzzReader(f *testing.F) {
	for _, s := range []string{"{\"a\":1}\n{\"b\":2}{\"c\":\"x\ny\"}\n```\n{", "\ufeff\x00 {\n}\r\n[\n{\"a\":\n{\"type\":\"noop\"}", `{"items":[{"a":1},2],"errors":["x"]} y`, "text {\"a\n\"\\\n}"} {
		f.Add([]byte(s), uint8(3))
	}
	f.Fuzz(func(t *testing.T, in []byte, step uint8) {
		complete := NewReader(bytes.NewReader(in))
		got := records(t, complete)
		pieces := records(t, NewReader(&stepReader{in, int(step) + 1}))
		if d := cmp.Diff(got, pieces); d != "" {
			t.Fatalf("records depend on how the source is read: %s", d)
		}
		if complete.IsDocument() || len(got) > 0 && strings.HasPrefix(got[len(got)-1], "error: ") {
			return
		}
		var b Batch
		r := NewReader(bytes.NewReader(in))
		lineAt := []int{0, 0} // where each line begins, by its number
		for i, c := range in {
			if c == '\n' {
				lineAt = append(lineAt, i+1)
			}
		}
		pos, last := 0, 0
		for r.ReadBatch(&b) == nil {
			for _, l := range b.Lines {
				if l.No < last || l.End < l.No {
					t.Fatalf("line %d-%d comes after %d", l.No, l.End, last)
				}
				last = l.No
				if l.Err != nil {
					return
				}
				from, _ := bounds(in, max(pos, lineAt[l.No]), len(in)) // skips a byte order mark, in which the bytes of a record could be found
				at := bytes.Index(in[from:], l.Raw)
				if at < 0 {
					t.Fatalf("record %q is not in the rest of the input %q", l.Raw, in[from:])
				}
				wantNoContent(t, in[pos:from+at])
				pos = from + at + len(l.Raw)
			}
		}
		wantNoContent(t, in[pos:])
	})
}

func wantNoContent(t *testing.T, b []byte) {
	t.Helper()
	for line := range bytes.Lines(b) {
		if l := trim(line); len(l) > 0 && !isFence(l) && !jsonrepair.IsWrapping(l) {
			t.Fatalf("%q is missing from the records", l)
		}
	}
}

// stepReader reads at most step bytes at a time.
type stepReader struct {
	b    []byte
	step int
}

func (r *stepReader) Read(p []byte) (int, error) {
	if len(r.b) == 0 {
		return 0, io.EOF
	}
	n := copy(p[:min(len(p), r.step)], r.b)
	r.b = r.b[n:]
	return n, nil
}
