package jsonrepair

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
)

func FuzzFix(f *testing.F) {
	for _, seed := range []string{
		`{"a": 1}`, `{'a': 'It's'}`, `{a: [1,], b: {`, `{"a": "He said "hi", ok", "b": 1}`, "x [ {\"a\": \"b\nc\\x\\u12\"} y",
		`{“a”: ‘b’}`, `{"a": "b"; "c": "d"}`, "{\"a\": /* x */ True, // y\n # z\n}", "\uFEFF{}}]", `["a""b"]`, "{\"\xff\\ud800\": -0}",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		before := bytes.Clone(in)
		fixed, repairs, err := Fix(in)
		if !bytes.Equal(before, in) {
			t.Fatal("the input was written to")
		}
		switch {
		case err != nil:
			if e := err.(*Error); e.Offset < 0 || e.Offset > len(in) {
				t.Fatalf("offset %d of %d", e.Offset, len(in))
			}
			if valid(in) && tooDeep(in) < 0 {
				t.Fatalf("an error for valid input: %v", err)
			}
			return
		case valid(in) && (!bytes.Equal(fixed, in) || repairs != nil):
			t.Fatalf("valid input was changed to %q", fixed)
		case !valid(in) && len(repairs) == 0:
			t.Fatal("changed without saying so")
		}
		for _, r := range repairs {
			if r.Offset < 0 || r.Offset >= max(len(in), 1) && r.Kind != MissingCloser || r.Count < 1 {
				t.Fatalf("%+v of %d bytes", r, len(in))
			}
		}
		checkResult(t, fixed)
	})
}

// FuzzStructure writes a random document in near-JSON whose strings are written
// correctly, and asserts that the repaired document has the same value.
func FuzzStructure(f *testing.F) {
	for seed := range uint64(20) {
		f.Add(seed, `text, with } and "quotes": 'x' // y`)
	}
	f.Fuzz(func(t *testing.T, seed uint64, text string) {
		w := &writer{rand: rand.New(rand.NewPCG(seed, 1)), texts: []string{strings.ToValidUTF8(text, "?"), "a", "{'a': 1}", "a, }", "// x", "None", "It's", `say "x", ok`, ""}}
		want := w.object(0)
		near := w.String()
		fixed, _, err := Fix([]byte(near))
		if err != nil {
			t.Fatalf("%v\n%s", err, near)
		}
		var got any
		if err := json.Unmarshal(fixed, &got); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("%s\nbecame\n%s", near, fixed)
		}
	})
}

// writer writes near-JSON at random: with comments, odd spaces, bare keys, single quotes, trailing
// commas and Python's literals.
type writer struct {
	strings.Builder
	rand  *rand.Rand
	texts []string
	keys  int
}

func (w *writer) odds(n int) bool { return w.rand.IntN(n) == 0 }

func (w *writer) pick(choices ...string) { w.WriteString(choices[w.rand.IntN(len(choices))]) }

func (w *writer) space() {
	w.pick("", "", " ", "\n", "/* x, } */", " // y\n", "\u00a0")
}

// text writes a string with the escapes of JSON, delimited by apostrophes now and then.
func (w *writer) text(s string) {
	quoted, _ := json.Marshal(s)
	if w.odds(3) && !strings.ContainsAny(s, `'"`) {
		w.WriteString("'" + string(quoted[1:len(quoted)-1]) + "'")
		return
	}
	w.Write(quoted)
}

func (w *writer) object(depth int) any {
	value := map[string]any{}
	w.WriteString("{")
	n := w.rand.IntN(4)
	for i := range n {
		w.space()
		w.keys++
		key := fmt.Sprintf("k%d", w.keys)
		if w.odds(3) {
			w.WriteString(key)
		} else {
			w.text(key)
		}
		w.space()
		w.WriteString(":")
		w.space()
		value[key] = w.value(depth + 1)
		w.space()
		if i < n-1 || w.odds(3) {
			w.WriteString(",")
		}
	}
	w.space()
	w.WriteString("}")
	return value
}

func (w *writer) value(depth int) any {
	switch n := w.rand.IntN(6); {
	case n == 0 && depth < 6:
		return w.object(depth)
	case n == 1 && depth < 6:
		value := []any{}
		w.WriteString("[")
		n := w.rand.IntN(4)
		for i := range n {
			w.space()
			value = append(value, w.value(depth+1))
			w.space()
			if i < n-1 || w.odds(3) {
				w.WriteString(",")
			}
		}
		w.WriteString("]")
		return value
	case n == 2:
		w.pick("True", "true")
		return true
	case n == 3:
		w.pick("None", "null")
		return nil
	}
	s := w.texts[w.rand.IntN(len(w.texts))]
	w.text(s)
	return s
}

// hostile returns texts of about size bytes, by name, that make a naive reader
// look ahead to the end again and again.
func hostile(size int) map[string][]byte {
	texts := map[string][]byte{}
	for _, unit := range []string{
		`{"a":`, `[`, `{"a": "x" `, `"`, `'`, `",`, `", "`, `"}`, `' „`, `" ‚`, `"/*`, `"//`, `" # `, `/**/`, `"/**/,`, `"\`, `“`, `{`, `}`,
		"\u00a0", "\xff", "\\", `"x "`, `"a":`, "'a", "\"#\n", `", a`, `"]`, "\x00", "// \n",
	} {
		for _, prefix := range []string{`{"a": "`, `{'a': '`, `{“a”: “`, `["`, `{`, `[`, ``, `{"a": 1} `, strings.Repeat(`{"a":[`, 250) + `"`} {
			texts[fmt.Sprintf("%.20q+%q", prefix, unit)] = []byte(prefix + strings.Repeat(unit, size/len(unit)))
		}
	}
	return texts
}

// TestFixEndsOnHostileInput asserts that each text becomes valid JSON or an
// error that points into it. BenchmarkFixHostile measures the time.
func TestFixEndsOnHostileInput(t *testing.T) {
	for name, in := range hostile(96 << 10) {
		fixed, repairs, err := Fix(in)
		if err == nil {
			checkResult(t, fixed)
			if len(repairs) == 0 && !valid(in) {
				t.Errorf("%s: changed without saying so", name)
			}
			continue
		}
		if e := err.(*Error); e.Offset < 0 || e.Offset > len(in) {
			t.Errorf("%s: offset %d of %d", name, e.Offset, len(in))
		}
	}
}

// BenchmarkFixHostile measures each text at two sizes. The difference of their MB/s shows whether
// the time is linear.
func BenchmarkFixHostile(b *testing.B) {
	for _, size := range []int{24 << 10, 96 << 10} {
		for name, in := range hostile(size) {
			b.Run(fmt.Sprintf("%s/%dKB", name, size>>10), func(b *testing.B) {
				b.SetBytes(int64(len(in)))
				for b.Loop() {
					_, _, _ = Fix(in)
				}
			})
		}
	}
}

func BenchmarkFix(b *testing.B) {
	item := `{"type": "create-issue", "title": "A title", "body": "` + strings.Repeat(`Some text with \"quotes\"\nand lines. `, 20) + `"`
	for name, in := range map[string]string{
		"valid":          item + `}`,
		"trailing comma": item + `,}`,
		"single quotes":  strings.ReplaceAll(item, `"`, `'`) + `}`,
		"inner quotes":   `{"body": "` + strings.Repeat(`He said "hi" to me, and "x" was `, 30) + `"}`,
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(in)))
			for b.Loop() {
				if _, _, err := Fix([]byte(in)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// stringsOf lists all strings of a document, keys included, in order.
func stringsOf(t *testing.T, raw []byte) (all []string) {
	t.Helper()
	d := jsontext.NewDecoder(bytes.NewReader(raw), jsontext.AllowDuplicateNames(true))
	for {
		tok, err := d.ReadToken()
		if err == io.EOF {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		if tok.Kind() == '"' {
			all = append(all, tok.String())
		}
	}
}

// FuzzOneMistake makes one mistake in a valid document: it deletes, inserts or replaces a
// character outside of strings, or a delimiter of a string. The result has the same strings as the
// document, or is an error: no string is joined with another, cut or grown.
func FuzzOneMistake(f *testing.F) {
	for seed := range uint64(1000) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		r := rand.New(rand.NewPCG(seed, 3))
		doc, err := json.Marshal(map[string]any{"type": "x", "body": randomValue(r, 0), "n": randomValue(r, 0)})
		if err != nil {
			t.Fatal(err)
		}
		want := stringsOf(t, doc)
		var places []int // outside strings, and their delimiters
		closing := map[int]bool{}
		inside := false
		for i := 0; i < len(doc); i++ {
			switch {
			case inside && doc[i] == '\\':
				i++
				continue
			case doc[i] == '"':
				closing[i] = inside
				inside = !inside
				places = append(places, i)
			case !inside:
				places = append(places, i)
			}
		}
		at := places[r.IntN(len(places))]
		chars := `{}[]:,;"' #/x1=`
		c := chars[r.IntN(len(chars))]
		bad := append([]byte{}, doc[:at]...)
		switch r.IntN(3) {
		case 0: // delete
		case 1:
			if closing[at] {
				return // that would be text
			}
			bad = append(bad, c, doc[at])
		case 2:
			bad = append(bad, c)
		}
		bad = append(bad, doc[at+1:]...)
		fixed, repairs, err := Fix(bad)
		if err != nil {
			return
		}
		checkResult(t, fixed)
		if got := stringsOf(t, fixed); !reflect.DeepEqual(got, want) {
			t.Fatalf("%s\nwith a mistake\n%s\nbecame\n%s\n%v", doc, bad, fixed, repairs)
		}
	})
}

func randomValue(r *rand.Rand, depth int) any {
	texts := []string{"text", "two words", "It's", "a, b", "a: b", "{x}", "x]", "", "5", "// c", "end.", `q "w" e`}
	switch n := r.IntN(6); {
	case n == 0 && depth < 3:
		o := map[string]any{}
		for range r.IntN(4) {
			o[string(rune('a'+r.IntN(26)))] = randomValue(r, depth+1)
		}
		return o
	case n == 1 && depth < 3:
		l := []any{}
		for range r.IntN(4) {
			l = append(l, randomValue(r, depth+1))
		}
		return l
	case n == 2:
		return r.IntN(100)
	case n == 3:
		return true
	}
	return texts[r.IntN(len(texts))]
}
