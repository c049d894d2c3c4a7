package acceptance

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/agent-airlock/airlock/internal/text"
)

// nearMisses describes unknown members of the request, which are ignored, if the name is like that
// of a known member that the request lacks. An example is "ports" instead of "required_ports".
func (r Request) nearMisses() []string { return nearMisses("$", r.raw, reflect.TypeFor[Request]()) }

// nearMisses is Request.nearMisses for the value at a path, which is decoded into a type.
func nearMisses(path string, raw json.RawMessage, into reflect.Type) (out []string) {
	switch into.Kind() {
	case reflect.Pointer:
		return nearMisses(path, raw, into.Elem())
	case reflect.Slice:
		var list []json.RawMessage
		if decodeLoose(raw, &list) != nil {
			return nil
		}
		for i, item := range list {
			out = append(out, nearMisses(fmt.Sprintf("%s[%d]", path, i), item, into.Elem())...)
		}
	case reflect.Struct:
		var members map[string]json.RawMessage
		if decodeLoose(raw, &members) != nil {
			return nil
		}
		var known []string
		for field := range into.Fields() {
			name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
			if name == "" {
				continue
			}
			known = append(known, name)
			if member, given := members[name]; given {
				out = append(out, nearMisses(path+"."+name, member, field.Type)...)
			}
		}
		for _, name := range slices.Sorted(maps.Keys(members)) {
			like := likeName(name, known)
			if _, given := members[like]; like != "" && !given && !slices.Contains(known, name) {
				out = append(out, fmt.Sprintf("%s has the unknown member %s, which is ignored; did you mean %s?", path, text.QuoteList([]string{name}), like))
			}
		}
	}
	return out
}

// likeName returns the known name that is nearest to a name, or has it as a part; "" for none.
func likeName(name string, known []string) string {
	if near := text.Nearest(name, known); near != "" {
		return near
	}
	i := slices.IndexFunc(known, func(k string) bool { return slices.Contains(strings.Split(k, "_"), strings.ToLower(name)) })
	if i < 0 {
		return ""
	}
	return known[i]
}
