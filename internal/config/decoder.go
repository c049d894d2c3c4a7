package config

import (
	"fmt"
	"strings"
)

// decoder collects what is wrong, and what is understood but has no effect,
// while a document is decoded.
type decoder struct {
	source   string
	problems Problems
	warnings Problems
	// restricted is set by a key that the kind being decoded cannot be held to.
	restricted bool
	// placeOf says in which section a key is known, or "".
	placeOf func(name string) string
}

func (d *decoder) fail(line, col int, format string, args ...any) {
	d.problems = append(d.problems, problem(d.source, line, col, format, args...))
}

func (d *decoder) warn(line, col int, format string, args ...any) {
	d.warnings = append(d.warnings, problem(d.source, line, col, format, args...))
}

// key is one key of a section: its names, what it takes, and where that goes.
type key[T any] struct {
	name string
	// foreign marks keys that are understood and have no effect.
	foreign bool
	// also holds other names that are understood and not published.
	also []string
	// doc says in one line what the key does and what holds without it.
	doc   string
	takes shape
	// set stores a value that takes has accepted. at is the value's node with the
	// place of the key.
	set func(d *decoder, at *node, value any, into *T)
}

// canonical is how keys are compared: "_" stands for "-".
func canonical(name string) string { return strings.ReplaceAll(name, "_", "-") }

// section decodes the entries of a mapping by a table of keys. path names the
// section in messages.
func section[T any](d *decoder, path string, entries []entry, keys []key[T], into *T) {
	byName := map[string]*key[T]{}
	var names []string
	for i := range keys {
		k := &keys[i]
		byName[k.name] = k
		if !k.foreign {
			names = append(names, k.name)
		}
		for _, n := range k.also {
			byName[n] = k
		}
	}
	given := map[string]entry{}
	for i := range entries {
		e := &entries[i]
		k, ok := byName[canonical(e.key)]
		if !ok {
			d.fail(e.line, e.col, "%s", d.unknownKey(path, e.key, names))
			continue
		}
		if first, twice := given[k.name]; twice {
			d.fail(e.line, e.col, "%q means the same as %q on line %d; remove one of them", shorten(e.key), shorten(first.key), first.line)
			continue
		}
		given[k.name] = *e
		value, at, why := k.takes.read(&e.value)
		if why != "" {
			if at.kind == nullNode && at == &e.value {
				at = &node{line: e.line, col: e.col} // nothing is there to point at
			}
			d.fail(at.line, at.col, "%s: %s", e.key, why)
			continue
		}
		named := e.value
		named.line, named.col = e.line, e.col
		k.set(d, &named, value, into)
	}
}

// unknownKey says that a key is not known and what may have been meant.
func (d *decoder) unknownKey(path, name string, names []string) string {
	where := ""
	if path != "" {
		where = " below " + path
	}
	if near := nearest(canonical(name), names); near != "" {
		return fmt.Sprintf("unknown key %q%s; did you mean %q?", shorten(name), where, near)
	}
	if place := d.placeOf(canonical(name)); place != "" {
		return fmt.Sprintf("unknown key %q%s; it belongs %s", shorten(name), where, place)
	}
	return fmt.Sprintf("unknown key %q%s; known are: %s", shorten(name), where, strings.Join(names, ", "))
}
