package safeoutput

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

func hasBackslash(b []byte) bool { return bytes.IndexByte(b, '\\') >= 0 }

// Encode returns the item as one canonical JSON object on one line: "type"
// first, then the fields in the order of the kind's Go type, without those
// that were not given.
func Encode(it Item) ([]byte, error) { return AppendEncode(nil, it) }

// AppendEncode is Encode into a buffer of the caller's.
func AppendEncode(dst []byte, it Item) ([]byte, error) {
	dst = append(dst, `{"type":"`...)
	dst = append(dst, it.Kind()...)
	dst = append(dst, '"')
	v := reflect.ValueOf(it).Elem()
	for _, f := range layouts().ordered[it.Kind()] {
		fv := v.Field(f.index)
		if f.omitEmpty && fv.IsZero() || fv.Kind() == reflect.Slice && f.omitEmpty && fv.Len() == 0 {
			continue
		}
		dst = append(dst, ',', '"')
		dst = append(dst, f.name...)
		dst = append(dst, '"', ':')
		var err error
		if dst, err = appendField(dst, fv.Addr().Interface()); err != nil {
			return dst, fmt.Errorf("%s: field %q: %w", it.Kind(), f.name, err)
		}
	}
	return append(dst, '}'), nil
}

func appendField(dst []byte, p any) ([]byte, error) {
	switch p := p.(type) {
	case *string:
		return jsontext.AppendQuote(dst, *p)
	case **string:
		return jsontext.AppendQuote(dst, **p)
	case *int:
		return strconv.AppendInt(dst, int64(*p), 10), nil
	case *bool:
		return strconv.AppendBool(dst, *p), nil
	case **bool:
		return strconv.AppendBool(dst, **p), nil
	case *[]string:
		dst = append(dst, '[')
		for i := range *p {
			if i > 0 {
				dst = append(dst, ',')
			}
			var err error
			if dst, err = jsontext.AppendQuote(dst, (*p)[i]); err != nil {
				return dst, err
			}
		}
		return append(dst, ']'), nil
	case *[]CheckAnnotation:
		list, err := json.Marshal(*p)
		return append(dst, list...), err
	case *json.RawMessage:
		v := jsontext.Value(append([]byte(nil), *p...))
		if err := v.Compact(jsontext.AllowDuplicateNames(true)); err != nil {
			return dst, err
		}
		return append(dst, v...), nil
	}
	return dst, errors.New("no JSON form")
}

// Decode reads an already valid canonical object of the kind, as Encode writes
// it. The item keeps no reference to raw. It is an error if raw is not one
// strict JSON object or has a field that the kind does not have; nothing else
// is judged.
func Decode(kind Kind, raw []byte) (Item, error) {
	spec, ok := byName()[string(kind)]
	if !ok {
		return nil, fmt.Errorf("there is no kind %q", kind)
	}
	it := spec.New()
	dec := jsontext.NewDecoder(bytes.NewReader(raw))
	if tok, err := dec.ReadToken(); err != nil || tok.Kind() != '{' {
		return nil, errors.Join(fmt.Errorf("%s: not a JSON object", kind), err)
	}
	for dec.PeekKind() != '}' {
		tok, err := dec.ReadToken()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", kind, err)
		}
		name := tok.String()
		v, err := dec.ReadValue()
		if err != nil {
			return nil, fmt.Errorf("%s: field %q: %w", kind, name, err)
		}
		if name == "type" {
			continue
		}
		if err := Assign(it, name, v); err != nil {
			return nil, fmt.Errorf("%s: field %q: %w", kind, name, err)
		}
	}
	return it, nil
}
