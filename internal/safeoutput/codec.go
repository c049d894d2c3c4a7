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

	"github.com/go-json-experiment/json/jsontext"
)

// field is one JSON field of a kind's Go type.
type field struct {
	name      string
	index     int
	omitEmpty bool
}

// layout is what reflection finds in the kinds' Go types, once.
type layout struct {
	ordered map[Kind][]field
	byName  map[Kind]map[string]field
}

var layouts = sync.OnceValue(func() layout {
	l := layout{map[Kind][]field{}, map[Kind]map[string]field{}}
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
	l.byName[kind] = map[string]field{}
	for i := range t.NumField() {
		name, opts, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		f := field{name, i, opts == "omitempty"}
		l.ordered[kind] = append(l.ordered[kind], f)
		l.byName[kind][name] = f
	}
}

func fieldsOf(kind Kind) map[string]field { return layouts().byName[kind] }

// FieldNames returns the JSON names of a kind's fields other than "type", in
// the order in which Encode writes them.
func FieldNames(kind Kind) []string {
	var names []string
	for _, f := range layouts().ordered[kind] {
		names = append(names, f.name)
	}
	return names
}

// Field returns a pointer to the item's field of that JSON name, or nil where
// its kind has no such field. It is a *string, *int, *[]string, **string,
// **bool or *json.RawMessage.
func Field(it Item, name string) any {
	f, ok := fieldsOf(it.Kind())[name]
	if !ok {
		return nil
	}
	return reflect.ValueOf(it).Elem().Field(f.index).Addr().Interface()
}

// Assign sets the item's field of that JSON name from a JSON value that the
// kind's schema accepts. A whole number may be written as 7, 7.0 or "7". The
// item keeps no reference to raw.
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
		*p = append(json.RawMessage(nil), raw...)
		return nil
	case nil:
		return fmt.Errorf("%s has no field %q", it.Kind(), name)
	default:
		return fmt.Errorf("field %q has no JSON form", name)
	}
}

func assignStrings(p *[]string, raw []byte) error {
	dec := jsontext.NewDecoder(bytes.NewBuffer(raw))
	tok, err := dec.ReadToken()
	if err != nil || tok.Kind() != '[' {
		return errors.New("not an array")
	}
	list := make([]string, 0, bytes.Count(raw, []byte{','})+1)
	for dec.PeekKind() == '"' {
		tok, err := dec.ReadToken()
		if err != nil {
			return err
		}
		list = append(list, tok.String())
	}
	if dec.PeekKind() != ']' {
		return errors.New("not an array of strings")
	}
	*p = list
	return nil
}

func assignString(p *string, raw []byte) error {
	if len(raw) < 2 || raw[0] != '"' {
		return errors.New("not a string")
	}
	if b := raw[1 : len(raw)-1]; !hasBackslash(b) {
		*p = string(b)
		return nil
	}
	b, err := jsontext.AppendUnquote(make([]byte, 0, len(raw)), raw)
	*p = string(b)
	return err
}

// errNotWhole is what ParseWhole answers for any other value.
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
