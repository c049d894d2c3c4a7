package sarif

import (
	"encoding/json"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// FuzzLog asserts of any bytes what checkLog does.
func FuzzLog(f *testing.F) {
	f.Add(rich(f))
	f.Add([]byte(`{"version":"2.1.0","runs":[{"tool":{"driver":{"name":"t"}},"results":[{"message":{"text":"m"},"ruleIndex":-1}]}]}`))
	f.Add([]byte(`{"version":1,"runs":[{"tool":{"driver":{"name":"t","rules":[1,{"id":2}]}},"results":[null,{"message":"m","locations":["x",{"physicalLocation":7}]}],"artifacts":{}}]}`))
	f.Add([]byte(`{"runs":[[]],"version":[`))
	f.Fuzz(func(t *testing.T, raw []byte) { checkLog(t, raw) })
}

// FuzzMutated asserts the same of a rich log that is changed at random.
func FuzzMutated(f *testing.F) {
	for seed := range uint64(60) {
		f.Add(seed, uint8(seed%16))
	}
	log := rich(f)
	f.Fuzz(func(t *testing.T, seed uint64, n uint8) {
		o, _, err := decode(log)
		if err != nil {
			t.Fatal(err)
		}
		m := &mutator{rand: rand.New(rand.NewPCG(seed, 7)), seen: map[string][]any{}}
		m.collect("", o)
		for range n {
			m.mutate("", o)
		}
		checkLog(t, encode(o))
	})
}

// checkLog asserts that cleaning a log twice gives the same as cleaning it once. If the log is
// valid, it can be cleaned, the cleaned log and the prepared one are valid, too, and preparing is
// idempotent. Each result that is left then has a text and a path below the root of the repository.
func checkLog(t *testing.T, raw []byte) {
	t.Helper()
	found, err := Validate(raw)
	if err != nil {
		t.Fatal(err)
	}
	clean, _, err := cleanLog(raw, fakeCleaner{})
	if err != nil {
		if len(found) == 0 {
			t.Fatalf("a valid log cannot be cleaned: %v", err)
		}
		return
	}
	if again, _, err := cleanLog(clean, fakeCleaner{}); err != nil || string(again) != string(clean) {
		t.Fatalf("cleaning is not idempotent: %v\n%s\n%s", err, clean, again)
	}
	u, err := Prepare([]Source{{SARIF: clean}, {SARIF: raw}, {SARIF: raw, Category: "c"}}, Options{ReadFile: files})
	if len(found) > 0 {
		return
	}
	if err != nil {
		if strings.HasPrefix(err.Error(), "none of the results") {
			return
		}
		t.Fatal(err)
	}
	wantValid(t, clean)
	wantValid(t, u.SARIF)
	if t.Failed() {
		t.Fatalf("from %s\ncame %s", raw, u.SARIF)
	}
	wantNoDanglingIndex(t, u.SARIF)
	again, err := Prepare([]Source{{SARIF: u.SARIF}}, Options{ReadFile: files})
	if err != nil || string(again.SARIF) != string(u.SARIF) {
		t.Fatalf("preparing is not idempotent: %v\n%s\n%s", err, u.SARIF, again.SARIF)
	}
	for _, run := range objects(list(tree(t, u.SARIF), "runs")) {
		for _, r := range objects(list(run, "results")) {
			uri, _ := lookup(t, r, "locations/0/physicalLocation/artifactLocation/uri").(string)
			if path, err := RepoPath(uri, nil); err != nil || encodePath(path) != uri {
				t.Fatalf("a result is at %q: %v", uri, err)
			}
			if strings.TrimSpace(lookup(t, r, "message/text").(string)) == "" {
				t.Fatal("a result has no text")
			}
		}
	}
}

// mutator changes a log at random: it deletes and repeats values, replaces values by others
// under the same name, and sets numbers and texts to odd ones.
type mutator struct {
	rand *rand.Rand
	seen map[string][]any // the values under each name; those in a list x are under x[]
}

// collect adds to seen the value v under a name, and the values in it.
func (m *mutator) collect(name string, v any) {
	m.seen[name] = append(m.seen[name], v)
	switch v := v.(type) {
	case object:
		for _, k := range slices.Sorted(maps.Keys(v)) {
			m.collect(k, v[k])
		}
	case []any:
		for _, e := range v {
			m.collect(name+"[]", e)
		}
	}
}

// mutate walks to a random place in v and may change what is there. It returns what v becomes.
func (m *mutator) mutate(name string, v any) any {
	switch v := v.(type) {
	case object:
		keys := slices.Sorted(maps.Keys(v))
		if len(keys) == 0 {
			return v
		}
		k := keys[m.rand.IntN(len(keys))]
		if m.rand.IntN(8) == 0 {
			delete(v, k)
		} else {
			v[k] = m.mutate(k, v[k])
		}
	case []any:
		if len(v) == 0 {
			return v
		}
		i := m.rand.IntN(len(v))
		switch m.rand.IntN(10) {
		case 0:
			return slices.Delete(slices.Clone(v), i, i+1)
		case 1:
			return append(slices.Clone(v), copyOf(v[i]))
		}
		v[i] = m.mutate(name+"[]", v[i])
	case json.Number:
		return json.Number([]string{"-1", "0", "1", "2", "99", "3.0"}[m.rand.IntN(6)])
	case string:
		switch m.rand.IntN(4) {
		case 0:
			odd := []string{"", " ", "x\x01y", "../x", "file:///etc/x", "a%2Fb c", "{0}{1}", "S1", "S2", "E1", "<b>", "\u2028"}
			return odd[m.rand.IntN(len(odd))]
		case 1:
			others := m.seen[name]
			return copyOf(others[m.rand.IntN(len(others))])
		}
	}
	if m.rand.IntN(20) == 0 {
		others := m.seen[name]
		return copyOf(others[m.rand.IntN(len(others))])
	}
	return v
}
