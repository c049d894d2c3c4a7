package sarif

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// maxDepth is how deeply a log may be nested.
const maxDepth = 512

var errTooDeep = fmt.Errorf("the SARIF log is nested more than %d deep", maxDepth)

// object is a JSON object in Go's generic form, with numbers as json.Number.
type object = map[string]any

// decode reads one JSON object. Of duplicate names the last one counts. Members
// that are null are left out, because null has no meaning in SARIF, and counted.
func decode(raw []byte) (o object, nulls int, err error) {
	d := decoder{jsontext.NewDecoder(bytes.NewReader(raw), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)), 0}
	v, err := d.value(0)
	if errors.Is(err, errTooDeep) {
		return nil, 0, err
	}
	if err != nil {
		return nil, 0, fmt.Errorf("the SARIF log is not valid JSON: %w", err)
	}
	if _, err := d.ReadToken(); !errors.Is(err, io.EOF) {
		return nil, 0, errors.New("the SARIF log is not valid JSON: there is more after the object")
	}
	o, ok := v.(object)
	if !ok {
		return nil, 0, errors.New("the SARIF log is not a JSON object")
	}
	return o, d.nulls, nil
}

type decoder struct {
	*jsontext.Decoder
	nulls int
}

func (d *decoder) value(depth int) (any, error) {
	if depth > maxDepth {
		return nil, errTooDeep
	}
	tok, err := d.ReadToken()
	if err != nil {
		return nil, err
	}
	switch tok.Kind() {
	case 'n':
		return nil, nil
	case 't', 'f':
		return tok.Bool(), nil
	case '"':
		return tok.String(), nil
	case '0':
		return json.Number(tok.String()), nil
	case '{':
		o := object{}
		for d.PeekKind() != '}' {
			name, err := d.ReadToken()
			if err != nil {
				return nil, err
			}
			key := name.String()
			v, err := d.value(depth + 1)
			if err != nil {
				return nil, err
			}
			if v == nil {
				d.nulls++
				delete(o, key)
				continue
			}
			o[key] = v
		}
		_, err := d.ReadToken()
		return o, err
	}
	list := []any{}
	for d.PeekKind() != ']' {
		v, err := d.value(depth + 1)
		if err != nil {
			return nil, err
		}
		list = append(list, v)
	}
	_, err = d.ReadToken()
	return list, err
}

// encode writes a value as compact JSON. Members are sorted, "$schema" and
// "version" first.
func encode(v any) []byte { return appendValue(nil, v) }

func appendValue(b []byte, v any) []byte {
	switch v := v.(type) {
	case bool:
		return strconv.AppendBool(b, v)
	case string:
		b, _ = jsontext.AppendQuote(b, v) // the error is about invalid UTF-8, which it replaces
		return b
	case json.Number:
		return append(b, v...)
	case int:
		return strconv.AppendInt(b, int64(v), 10)
	case []any:
		b = append(b, '[')
		for i, e := range v {
			if i > 0 {
				b = append(b, ',')
			}
			b = appendValue(b, e)
		}
		return append(b, ']')
	case object:
		var few [16]string
		keys := few[:0]
		for k := range v {
			keys = append(keys, k)
		}
		slices.SortFunc(keys, compareKeys)
		b = append(b, '{')
		for i, k := range keys {
			if i > 0 {
				b = append(b, ',')
			}
			b, _ = jsontext.AppendQuote(b, k)
			b = append(b, ':')
			b = appendValue(b, v[k])
		}
		return append(b, '}')
	}
	return append(b, "null"...)
}

func compareKeys(a, b string) int {
	return cmp.Or(keyRank(a)-keyRank(b), strings.Compare(a, b))
}

func keyRank(key string) int {
	switch key {
	case "$schema":
		return 0
	case "version":
		return 1
	}
	return 2
}

// The accessors below treat a member of the wrong type as absent.

func child(o object, key string) object { c, _ := o[key].(object); return c }

func list(o object, key string) []any { l, _ := o[key].([]any); return l }

func stringMember(o object, key string) string { s, _ := o[key].(string); return s }

// intMember returns an integer member; 5.0 is an integer, as in JSON Schema.
func intMember(o object, key string) (int, bool) {
	switch n := o[key].(type) {
	case int:
		return n, true
	case json.Number:
		if i, err := strconv.Atoi(string(n)); err == nil {
			return i, true
		}
		if len(n) > 400 {
			return 0, false
		}
		f, err := strconv.ParseFloat(string(n), 64)
		if err == nil && f == math.Trunc(f) && math.Abs(f) < 1<<53 {
			return int(f), true
		}
	}
	return 0, false
}

// index returns the member "index" and reports whether it is that of one of n elements.
func index(o object, n int) (int, bool) {
	i, ok := intMember(o, "index")
	return i, ok && i >= 0 && i < n
}

// objects returns the elements of a list that are objects.
func objects(l []any) []object {
	out := make([]object, 0, len(l))
	for _, v := range l {
		if o, ok := v.(object); ok {
			out = append(out, o)
		}
	}
	return out
}
