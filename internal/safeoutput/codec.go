package safeoutput

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// field is one JSON field of a kind's Go type.
type field struct {
	name      string
	index     int
	omitEmpty bool
}

// layout contains the fields of the kinds' Go types, in their order.
type layout map[Kind][]field

var layouts = sync.OnceValue(func() layout {
	l := layout{}
	for _, s := range kinds() {
		l.add(s.New())
	}
	for _, it := range internalItems() {
		l.add(it)
	}
	return l
})

func (l layout) add(it Item) {
	t, kind := reflect.TypeOf(it).Elem(), it.Kind()
	for i := range t.NumField() {
		name, opts, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		l[kind] = append(l[kind], field{name, i, opts == "omitempty"})
	}
}

// FieldNames returns the JSON names of a kind's fields other than "type", in
// the order in which Encode writes them.
func FieldNames(kind Kind) []string {
	var names []string
	for _, f := range layouts()[kind] {
		names = append(names, f.name)
	}
	return names
}

// Field returns a pointer to the item's field with that JSON name, or nil if its
// kind has no such field. For a kind that agents may ask for, it is a *string, *int,
// *[]string, **string, **bool or *json.RawMessage.
func Field(it Item, name string) any {
	for _, f := range layouts()[it.Kind()] { // few, so that a map would take longer
		if f.name == name {
			return reflect.ValueOf(it).Elem().Field(f.index).Addr().Interface()
		}
	}
	return nil
}

// Assign sets the item's field with that JSON name to a JSON value that the kind's
// schema accepts. A whole number may be 7, 7.0 or "7". The item does not refer to
// raw afterwards.
func Assign(it Item, name string, raw []byte) error {
	switch p := Field(it, name).(type) {
	case *string:
		return assignString(p, raw)
	case **string:
		*p = new(string)
		return assignString(*p, raw)
	case *int:
		n, err := ParseWhole(raw)
		*p = n
		return err
	case **bool:
		b := string(raw) == "true"
		if !b && string(raw) != "false" {
			return fmt.Errorf("%s is not true or false", raw)
		}
		*p = &b
		return nil
	case *[]string:
		return assignStrings(p, raw)
	case *json.RawMessage:
		*p = bytes.Clone(raw)
		return nil
	case nil:
		return fmt.Errorf("%s has no field %q", it.Kind(), name)
	default:
		return fmt.Errorf("field %q has no JSON form", name)
	}
}

// assignStrings reads a JSON array of strings without a decoder, which would take longer
// to make than most arrays take to read.
func assignStrings(p *[]string, raw []byte) error {
	if len(raw) < 2 || raw[0] != '[' || !utf8.Valid(raw) {
		return errors.New("not an array")
	}
	list := make([]string, 0, bytes.Count(raw, []byte{','})+1)
	rest := bytes.TrimLeft(raw[1:len(raw)-1], jsonSpace)
	for len(rest) > 0 {
		end := -1
		if rest[0] == '"' {
			end = stringEnd(rest[1:])
		}
		if end < 0 {
			return errors.New("not an array of strings")
		}
		var s string
		if err := assignString(&s, rest[:end+1]); err != nil {
			return err
		}
		list = append(list, s)
		rest = bytes.TrimLeft(rest[end+1:], jsonSpace)
		if len(rest) > 0 { // a comma, as raw is JSON
			rest = bytes.TrimLeft(rest[1:], jsonSpace)
		}
	}
	*p = list
	return nil
}

// jsonSpace is the white space of JSON.
const jsonSpace = " \t\r\n"

func assignString(p *string, raw []byte) error {
	if len(raw) < 2 || raw[0] != '"' {
		return errors.New("not a string")
	}
	text, err := unquoted(raw)
	*p = text
	return err
}

var errNotWhole = errors.New("not a whole number of at least 1")

// ParseWhole reads a JSON number or a JSON string that is a whole number from
// 1 to 2,147,483,647. A number may be written with a fraction of zero or an
// exponent, a string only with digits and without leading zeros.
func ParseWhole(raw []byte) (int, error) {
	if len(raw) == 0 || len(raw) > 400 {
		return 0, errNotWhole
	}
	if raw[0] == '"' {
		s := strings.Trim(string(raw), `"`)
		n, err := strconv.ParseInt(s, 10, 32)
		if err != nil || n < 1 || s[0] < '1' || s[0] > '9' {
			return 0, errNotWhole
		}
		return int(n), nil
	}
	if n, err := strconv.ParseInt(string(raw), 10, 32); err == nil && n >= 1 {
		return int(n), nil
	}
	f, err := strconv.ParseFloat(string(raw), 64)
	if err != nil || f < 1 || f > math.MaxInt32 || f != math.Trunc(f) {
		return 0, errNotWhole
	}
	return int(f), nil
}

// Encode returns the item as one canonical JSON object on one line: "type" first,
// then the fields in the order of the kind's Go type, without those that were not
// given.
func Encode(it Item) ([]byte, error) { return AppendEncode(nil, it) }

// AppendEncode appends the item to dst as Encode writes it.
func AppendEncode(dst []byte, it Item) ([]byte, error) {
	dst = append(dst, `{"type":"`...)
	dst = append(dst, it.Kind()...)
	dst = append(dst, '"')
	v := reflect.ValueOf(it).Elem()
	for _, f := range layouts()[it.Kind()] {
		fv := v.Field(f.index)
		if f.omitEmpty && (fv.IsZero() || fv.Kind() == reflect.Slice && fv.Len() == 0) {
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
		return appendQuoted(dst, *p)
	case **string:
		return appendQuoted(dst, **p)
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
			if dst, err = appendQuoted(dst, (*p)[i]); err != nil {
				return dst, err
			}
		}
		return append(dst, ']'), nil
	case *[]CheckAnnotation:
		list, err := json.Marshal(*p)
		return append(dst, list...), err
	case *json.RawMessage:
		v := jsontext.Value(bytes.Clone(*p))
		if err := v.Compact(jsontext.AllowDuplicateNames(true)); err != nil {
			return dst, err
		}
		return append(dst, v...), nil
	}
	return dst, errors.New("no JSON form")
}

// Decode reads a valid item of the kind, as Encode writes it. Of the kind's schema it checks only the
// names of the fields and the types of their values. raw has to begin with a strict JSON object;
// Decode does not read what follows. The item does not refer to raw afterwards.
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
