package apply

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/agent-airlock/airlock/internal/safeoutput"
	"github.com/agent-airlock/airlock/internal/secrets"
)

// screen looks for secrets in all that the items say, before anything is written.
// It returns what was found by the entry's index, in words that do not show it.
func screen(scanner *secrets.Scanner, entries []*entry) map[int]string {
	found := map[int]string{}
	if scanner == nil {
		return found
	}
	for _, e := range entries {
		if field, hit, ok := secretOf(scanner, e.item); ok {
			found[e.index] = fmt.Sprintf("'%s' %s", field, secretWords(hit))
		}
	}
	return found
}

// mask takes secrets out of a text that people are shown: names of files, and what
// git or GitHub said.
func (c Config) mask(text string) string {
	if c.Secrets == nil {
		return text
	}
	return c.Secrets.Mask(text)
}

// mask takes secrets out of what is said about a result.
func (r *Result) mask(c Config) {
	r.Message = c.mask(r.Message)
	for i, n := range r.Notes {
		r.Notes[i] = c.mask(n)
	}
}

// mask takes secrets out of what is said about an item's changes: they may stand in
// the names of files, in a patch that cannot be read, and in what git says of both.
func (st *codeState) mask(c Config) {
	if st.refusal != nil {
		st.refusal.message = c.mask(st.refusal.message)
	}
	for i, n := range st.notes {
		st.notes[i] = c.mask(n)
	}
}

// clean returns the entries without a secret.
func (s *Snapshot) clean(entries []*entry) []*entry {
	if len(s.secrets) == 0 {
		return entries
	}
	var left []*entry
	for _, e := range entries {
		if _, found := s.secrets[e.index]; !found {
			left = append(left, e)
		}
	}
	return left
}

// withheld is the operation of items that hold a secret. It says nothing of what
// they say.
func (p *planner) withheld(group []*entry) Operation {
	for _, e := range group {
		e.decide(Denied, CodeSecret, "%s", p.snap.secrets[e.index])
	}
	op := p.operation(group, fmt.Sprintf("nothing: %s holds a secret", group[0].kind))
	return op
}

// secretOf returns the first secret in an item, and the field that it is in.
func secretOf(scanner *secrets.Scanner, it safeoutput.Item) (field string, hit secrets.Hit, ok bool) {
	data, err := safeoutput.Encode(it)
	if err != nil {
		return "", hit, false // entriesOf has encoded it already
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	var v map[string]any
	if dec.Decode(&v) != nil {
		return "", hit, false
	}
	for _, name := range sortedKeys(v) {
		if hit, ok := secretWithin(scanner, v[name]); ok {
			return name, hit, true
		}
	}
	return "", hit, false
}

// secretWithin looks through a JSON value: its strings, and the names in it.
func secretWithin(scanner *secrets.Scanner, v any) (secrets.Hit, bool) {
	switch v := v.(type) {
	case string:
		if hits := scanner.Scan(v); len(hits) > 0 {
			return hits[0], true
		}
	case []any:
		for _, m := range v {
			if hit, ok := secretWithin(scanner, m); ok {
				return hit, true
			}
		}
	case map[string]any:
		for _, name := range sortedKeys(v) {
			if hit, ok := secretWithin(scanner, name); ok {
				return hit, true
			}
			if hit, ok := secretWithin(scanner, v[name]); ok {
				return hit, true
			}
		}
	}
	return secrets.Hit{}, false
}

func sortedKeys(m map[string]any) []string { return slices.Sorted(maps.Keys(m)) }
