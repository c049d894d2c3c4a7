package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/agent-airlock/airlock/internal/text"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/santhosh-tekuri/jsonschema/v5"
)

const (
	// maxDepth is how deeply values may be nested.
	maxDepth = 512
	// maxNumber is the greatest length and exponent of a number: the library
	// computes exactly and would build 10^1000000 digit by digit.
	maxNumber = 400
)

// decode reads one JSON value into Go's generic form, with numbers as
// json.Number. Of duplicate names the last one counts; invalid UTF-8 is replaced.
func decode(raw []byte) (any, *Violation) {
	dec := jsontext.NewDecoder(bytes.NewBuffer(raw), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	v, bad := decodeValue(dec, 0)
	if bad != nil {
		return nil, bad
	}
	if _, err := dec.ReadToken(); !errors.Is(err, io.EOF) {
		return nil, &Violation{Path: "$", Message: "not valid JSON: there is more after the value"}
	}
	return v, nil
}

func decodeValue(dec *jsontext.Decoder, depth int) (any, *Violation) {
	if depth > maxDepth {
		return nil, violationAt(dec, fmt.Sprintf("nested more than %d deep", maxDepth))
	}
	tok, err := dec.ReadToken()
	if err != nil {
		return nil, notJSON(err)
	}
	switch tok.Kind() {
	case 'n':
		return nil, nil
	case 't', 'f':
		return tok.Bool(), nil
	case '"':
		return tok.String(), nil
	case '0':
		lit := tok.String()
		if !BoundedNumber(lit) {
			return nil, violationAt(dec, text.Truncate(lit, maxShown)+" is out of range")
		}
		return json.Number(lit), nil
	case '{':
		m := map[string]any{}
		for dec.PeekKind() != '}' {
			name, err := dec.ReadToken()
			if err != nil {
				return nil, notJSON(err)
			}
			key := name.String()
			v, bad := decodeValue(dec, depth+1)
			if bad != nil {
				return nil, bad
			}
			m[key] = v
		}
		_, err := dec.ReadToken()
		return m, notJSON(err)
	default:
		a := []any{}
		for dec.PeekKind() != ']' {
			v, bad := decodeValue(dec, depth+1)
			if bad != nil {
				return nil, bad
			}
			a = append(a, v)
		}
		_, err := dec.ReadToken()
		return a, notJSON(err)
	}
}

func notJSON(err error) *Violation {
	if err == nil {
		return nil
	}
	msg := strings.TrimPrefix(err.Error(), "jsontext: ")
	return &Violation{Path: "$", Message: "not valid JSON: " + msg}
}

// violationAt returns a violation at the decoder's position.
func violationAt(dec *jsontext.Decoder, msg string) *Violation {
	return &Violation{Path: decoderPath(dec, dec.StackPointer()), Message: msg}
}

// BoundedNumber reports whether a JSON number is small enough for exact
// computation: at most 400 characters, and an exponent from -400 to 400.
func BoundedNumber(lit string) bool {
	if len(lit) > maxNumber {
		return false
	}
	i := strings.IndexAny(lit, "eE")
	if i < 0 {
		return true
	}
	e, err := strconv.Atoi(strings.TrimPrefix(lit[i+1:], "+"))
	return err == nil && e >= -maxNumber && e <= maxNumber
}

// trim shortens every array that is too long for its schema to the length that is allowed, and
// returns v and a violation for each. So a million elements too many cost nothing. It
// follows properties, items and references. ptr and schemaPtr are the JSON pointers to v and to s.
// In these violations, Path is still a JSON pointer.
func trim(s *jsonschema.Schema, v any, ptr, schemaPtr string) (any, []Violation) {
	for n := 0; s != nil && s.Ref != nil && n < maxDepth; n++ {
		s = s.Ref
	}
	if s == nil {
		return v, nil
	}
	var found []Violation
	switch v := v.(type) {
	case map[string]any:
		for name, pv := range v { // not over the properties: there may be thousands for each object
			if ps, ok := s.Properties[name]; ok {
				tok := escapePointer.Replace(name)
				trimmed, more := trim(ps, pv, ptr+"/"+tok, schemaPtr+"/properties/"+tok)
				v[name] = trimmed
				found = append(found, more...)
			}
		}
	case []any:
		if s.MaxItems >= 0 && len(v) > s.MaxItems {
			found = append(found, Violation{
				Path:       ptr,
				Message:    fmt.Sprintf("%s is too long (%s, at most %d)", show(v), text.Count(len(v), "item"), s.MaxItems),
				SchemaPath: schemaPath(schemaPtr + "/maxItems"),
			})
			v = v[:s.MaxItems]
		}
		if is, ok := s.Items.(*jsonschema.Schema); ok && mayTrim(is) {
			for i := range v {
				trimmed, more := trim(is, v[i], ptr+"/"+strconv.Itoa(i), schemaPtr+"/items")
				v[i] = trimmed
				found = append(found, more...)
			}
		}
		return v, found // the shortened one
	}
	return v, found
}

// mayTrim reports whether trim could shorten a value of the schema.
func mayTrim(s *jsonschema.Schema) bool {
	return s.Ref != nil || len(s.Properties) > 0 || s.Items != nil || s.MaxItems >= 0
}
