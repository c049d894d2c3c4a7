package config

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/agent-airlock/airlock/internal/safeoutput"
	"github.com/agent-airlock/airlock/internal/text"
)

// decoder collects the problems of a document, and the warnings about it, while it is decoded.
type decoder struct {
	source   string
	problems Problems
	warnings Problems
	// restricted is set by a key that allows less of the kind that is being decoded, in a
	// way that Airlock cannot follow.
	restricted bool
	// evaluated is set where a runner has evaluated the text's expressions already.
	evaluated bool
	// keys records what becomes of each key of a front matter.
	keys []Key
	// unreadImports is set if an import was not read. The import may restrict what is allowed.
	unreadImports bool
	// placeOf is the function of that name. It reads the tables of keys. If the functions in these
	// tables called it directly, that would be an initialization cycle.
	placeOf func(name string) string
}

func (d *decoder) fail(given *node, format string, args ...any) {
	d.problems = append(d.problems, problem(cmp.Or(given.source, d.source), given.line, given.col, format, args...))
}

func (d *decoder) warn(given *node, format string, args ...any) {
	d.record(given, Changed, format, args...)
}

// key is one key of a section: its names, the values that it takes, and where they go.
type key[T any] struct {
	name string
	// foreign marks keys of the widely used front matter. They set nothing, but some stage items.
	foreign bool
	// also has other names that are understood and not published.
	also []string
	// doc describes in one line what the key does and what its default is.
	doc   string
	takes shape // of the value
	// set stores the value as its shape has decoded it. given is the value's node with the
	// place of the key.
	set func(d *decoder, given *node, value any, into *T)
}

// into makes a key whose value is stored in a variable.
func into[T, V any](name, doc string, takes shape, in func(*T) *V) key[T] {
	return setting(name, doc, takes, func(t *T, v V) { *in(t) = v })
}

// optional makes a key whose variable is nil where the key is not given.
func optional[T, V any](name, doc string, takes shape, in func(*T) **V) key[T] {
	return setting(name, doc, takes, func(t *T, v V) { *in(t) = &v })
}

// yesNo makes a key that takes true or false.
func yesNo[T any](name, doc string, in func(*T) *bool) key[T] {
	return into(name, doc, boolean(), in)
}

// setting makes a key whose value is stored by a function.
func setting[T, V any](name, doc string, takes shape, set func(*T, V)) key[T] {
	return key[T]{name: name, doc: doc, takes: takes, set: func(_ *decoder, _ *node, v any, t *T) { set(t, v.(V)) }}
}

// alias gives a key other names.
func (k key[T]) alias(names ...string) key[T] {
	k.also = names
	return k
}

// canonical returns the spelling by which keys are compared: "_" stands for "-".
func canonical(name string) string { return strings.ReplaceAll(name, "_", "-") }

// section decodes the entries of a mapping into a value, by a table of keys. path names the
// section in messages.
func section[T any](d *decoder, path string, entries []entry, keys []key[T], into *T) {
	byName := map[string]*key[T]{}
	var published []string
	for i := range keys {
		k := &keys[i]
		if !k.foreign {
			published = append(published, k.name)
		}
		for _, name := range append([]string{k.name}, k.also...) {
			byName[name] = k
		}
	}
	given := map[*key[T]]*entry{}
	for i := range entries {
		e := &entries[i]
		k, known := byName[canonical(e.key)]
		if !known {
			d.fail(e.keyNode(), "%s", d.unknownKey(path, e.key, published))
			continue
		}
		if first, twice := given[k]; twice {
			d.fail(e.keyNode(), "%s", sameKey(*e, *first))
			continue
		}
		given[k] = e
		before := len(d.keys)
		if decodeValue(d, e, k, into) {
			d.honour(e, path, before)
		}
	}
}

// sameKey describes an entry whose key an earlier one has in another spelling.
func sameKey(second, first entry) string {
	return fmt.Sprintf("%s means the same as %s on line %d; remove one of them", quote(second.key), quote(first.key), first.line)
}

// decodeValue stores the value of an entry, and reports whether the key takes it.
func decodeValue[T any](d *decoder, e *entry, k *key[T], into *T) bool {
	if expression := expressionIn(&e.value); expression != nil && !k.foreign && !d.evaluated {
		if namesInput(expression.text) {
			d.fail(expression, "%s: %s is an input, which has no value here: the file that imports this one gives it below \"with\"; validate that file", e.key, quote(expression.text))
		} else {
			d.fail(expression, "%s: %s is an expression, which only a workflow file evaluates, so it would be taken literally; write the value itself, %s, or give the configuration in the input config of a workflow's step, where the runner evaluates it", e.key, quote(expression.text), k.takes.wants)
		}
		return false
	}
	value, f := k.takes.read(&e.value)
	for problem := f; problem != nil; problem = problem.next {
		place := problem.at
		if place == &e.value && place.kind == nullNode {
			place = e.keyNode() // there is no value to point at
		}
		d.fail(place, "%s: %s", e.key, problem.why)
	}
	if f != nil {
		return false
	}
	given := e.value
	given.line, given.col = e.line, e.col
	k.set(d, &given, value, into)
	return true
}

// unknownKey describes a key that is not known and what may have been meant.
func (d *decoder) unknownKey(path, name string, names []string) string {
	unknown := "unknown key " + quote(name)
	if path != "" {
		unknown += " below " + path
	}
	if near := nearestKey(canonical(name), names); near != "" {
		return fmt.Sprintf("%s; did you mean %q?", unknown, near)
	}
	if place := d.placeOf(canonical(name)); place != "" {
		return unknown + "; it belongs " + place
	}
	return unknown + "; known are: " + strings.Join(names, ", ")
}

// nearestKey returns the key that is most similar to a name. The other names of kinds count as
// keys too, because the configuration accepts them.
func nearestKey(name string, keys []string) string {
	known := slices.Clone(keys)
	for _, spec := range safeoutput.Kinds() {
		if slices.Contains(keys, string(spec.Kind)) {
			known = append(known, spec.Aliases...)
		}
	}
	return text.Nearest(name, known)
}
