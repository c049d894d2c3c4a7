package apply

import (
	"fmt"
	"slices"
	"strings"

	"github.com/agent-airlock/airlock/internal/githubapi"
	"github.com/agent-airlock/airlock/internal/githubtest"
	"github.com/agent-airlock/airlock/internal/markdown"
	"github.com/google/go-cmp/cmp"
)

// tally is what the results say of equal items.
type tally struct{ all, applied, adopted, unsure, failed int }

func (c *chaos) tallies(results []Result) map[string]*tally {
	out := map[string]*tally{}
	for i, it := range c.items {
		t := out[it.name]
		if t == nil {
			t = &tally{}
			out[it.name] = t
		}
		t.all++
		switch r := results[i]; {
		case r.State == Applied:
			t.applied++
		case r.State == Adopted:
			t.adopted++
		case r.State == Failed && (r.Code == string(githubapi.Ambiguous) || r.Code == CodeNotTaken):
			t.unsure++
		case r.State == Failed:
			t.failed++
		}
	}
	return out
}

// truth asserts that the results of an attempt say what is on the server: what is
// applied or adopted is there, and what failed without a doubt was not written.
func (c *chaos) truth(before, after githubtest.Fixture, results []Result) {
	if len(results) != len(c.items) {
		c.t.Errorf("%d results for %d items", len(results), len(c.items))
		return
	}
	tallies := c.tallies(results)
	for _, it := range c.items {
		n := tallies[it.name]
		if n.applied+n.adopted+n.unsure+n.failed != n.all {
			c.t.Errorf("%s: there is an item of which nothing is said, in %s", it.name, states(results))
		}
		if it.times == nil {
			if n.applied != n.all {
				c.t.Errorf("%s: %+v, although nothing has to be written", it.name, n)
			}
			continue
		}
		there, said, may := it.times(after), n.applied+n.adopted, n.applied+n.unsure
		if c.late > 0 {
			may = n.all // an earlier attempt's, which nobody waits for any more
		}
		if it.once {
			said, may = min(said, 1), min(may, 1)
		}
		if there < said {
			c.t.Errorf("%s stands there %d times, and the results say %+v", it.name, there, *n)
		}
		if written := there - it.times(before); written > may {
			c.t.Errorf("%s was written %d times, and the results say %+v", it.name, written, *n)
		}
	}
	for i, r := range results {
		c.pointsAtItem(after, c.items[i], r)
	}
}

// pointsAtItem asserts that a result's object exists.
func (c *chaos) pointsAtItem(st githubtest.Fixture, it chaosItem, r Result) {
	if r.Object == nil || r.Object.ID == 0 {
		return
	}
	for _, i := range st.Issues {
		if i.ID == r.Object.ID || slices.ContainsFunc(i.Comments, func(m *githubtest.Comment) bool { return m.ID == r.Object.ID }) {
			return
		}
		if p := i.Pull; p != nil && (slices.ContainsFunc(p.Reviews, func(v *githubtest.Review) bool { return v.ID == r.Object.ID }) ||
			slices.ContainsFunc(p.Comments, func(d *githubtest.DiffComment) bool { return d.ID == r.Object.ID })) {
			return
		}
	}
	if slices.ContainsFunc(st.Checks, func(k *githubtest.Check) bool { return k.ID == r.Object.ID }) {
		return
	}
	for _, d := range st.Discussions {
		if d.ID == r.Object.ID || slices.ContainsFunc(d.Comments, func(m *githubtest.Comment) bool { return m.ID == r.Object.ID }) {
			return
		}
	}
	c.t.Errorf("%s: %s, and its object does not exist: %+v", it.name, r.State, *r.Object)
}

// once asserts that every item stands in the repository once and whole, that
// nothing else of ours is there that would not be without faults, and that nothing
// of others is gone.
func (c *chaos) once(wanted []string) {
	st := c.srv.State()
	for i, it := range c.items {
		if it.times == nil {
			continue
		}
		want := len(slices.DeleteFunc(slices.Clone(c.items), func(o chaosItem) bool { return o.name != it.name }))
		if it.once {
			want = 1
		}
		if n := it.times(st); n != want {
			c.t.Errorf("item %d, %s, stands there %d times, not %d", i, it.name, n, want)
		}
	}
	if diff := cmp.Diff(wanted, ownThings(st)); diff != "" {
		c.t.Errorf("the repository (-without faults +with):\n%s", diff)
	}
	strange := 0
	for _, i := range st.Issues {
		for _, m := range i.Comments {
			if m.Author == c.stranger.account() {
				strange++
			}
		}
	}
	if strange != c.stranger.left {
		c.t.Errorf("of the %d comments of others %d are left", c.stranger.left, strange)
	}
}

// ownThings is everything that our account made or changed, without footers, keys
// and numbers, sorted. Review comments are left out: where they stand depends on
// what GitHub refuses.
func ownThings(st githubtest.Fixture) []string {
	var out []string
	add := func(where, text string) {
		text = markdown.StripMarkers(text)
		for _, footer := range []string{"> Asked for by", "> Found by"} {
			text, _, _ = strings.Cut(text, footer)
		}
		out = append(out, where+": "+strings.TrimSpace(text))
	}
	for _, i := range st.Issues {
		if i.Number > discussion && (i.Author != st.Viewer || i.State != "open") {
			continue // of others, or a double that was closed
		}
		labels := slices.Sorted(slices.Values(i.Labels))
		add("issue", fmt.Sprintln(i.Title, i.State, labels)+i.Body)
		for _, m := range i.Comments {
			if m.Author == st.Viewer && !strings.Contains(m.Body, "**`main.go`, line") && !strings.Contains(m.Body, "**`gone.go`, line") {
				add(fmt.Sprint("comment on ", i.Title), m.Body)
			}
		}
	}
	for _, d := range st.Discussions {
		add("discussion", d.Title+"\n"+d.Body)
		for _, m := range d.Comments {
			add("comment on "+d.Title, m.Body)
		}
	}
	slices.Sort(out)
	return out
}
