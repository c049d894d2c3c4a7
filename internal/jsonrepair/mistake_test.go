package jsonrepair

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
)

// stringsOf lists all strings of a document, keys included, in order.
func stringsOf(t *testing.T, raw []byte) (all []string) {
	t.Helper()
	d := jsontext.NewDecoder(bytes.NewReader(raw), jsontext.AllowDuplicateNames(true))
	for {
		tok, err := d.ReadToken()
		if err != nil {
			return all
		}
		if tok.Kind() == '"' {
			all = append(all, tok.String())
		}
	}
}

// FuzzOneMistake makes one mistake in a valid document, a character deleted,
// inserted or replaced outside its strings, their delimiters included. What
// comes out says what the document said, or it is an error: no string is
// joined with another, cut or grown.
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
