package reviewer

import (
	"fmt"
	"slices"
	"testing"
)

// score counts findings, and those of them that are right.
type score struct{ right, all int }

func (s *score) add(v verdict) {
	if s.all += len(v.Lines); v.Right {
		s.right += len(v.Lines)
	}
}

// String says what the document says of a rule.
func (s score) String() string {
	if s.all == 0 {
		return "–"
	}
	return fmt.Sprintf("%d of %d, %.2f", s.right, s.all, s.share())
}

func (s score) share() float64 { return float64(s.right) / float64(s.all) }

// tally counts the findings of each rule in sources, at a time.
func tally(sources []realSource, when func(verdict) bool) map[string]score {
	rules := map[string]score{}
	for _, s := range sources {
		for _, v := range s.Verdicts {
			if when(v) {
				one := rules[v.Rule]
				one.add(v)
				rules[v.Rule] = one
			}
		}
	}
	return rules
}

// score counts the findings of all rules in a source, at a time.
func (s realSource) score(when func(verdict) bool) score {
	var found score
	for _, v := range s.Verdicts {
		if when(v) {
			found.add(v)
		}
	}
	return found
}

// tuned and heldOut part the sources.
func tuned(s realSource) bool   { return !s.HeldOut }
func heldOut(s realSource) bool { return s.HeldOut && !s.After }
func again(s realSource) bool   { return s.HeldOut && s.After }

func among(sources []realSource, keep func(realSource) bool) []realSource {
	var kept []realSource
	for _, s := range sources {
		if keep(s) {
			kept = append(kept, s)
		}
	}
	return kept
}

const (
	precise       = 0.8 // the share of right findings in real sources under which a rule must be off
	fewestSources = 10  // of either sort
)

// TestRulesArePreciseInRealSources computes the precision of each rule from the
// verdicts. Those under the bar have to be off by default.
func TestRulesArePreciseInRealSources(t *testing.T) {
	sources := readSources(t)
	for _, keep := range []func(realSource) bool{tuned, heldOut} {
		if n := len(among(sources, keep)); n < fewestSources {
			t.Errorf("only %d sources", n)
		}
	}
	rules, err := Rules()
	if err != nil {
		t.Fatal(err)
	}
	found := tally(sources, now)
	for _, r := range rules {
		if s := found[r.ID]; r.Off == "" && s.all > 0 && s.share() < precise {
			t.Errorf("%s is right in %d of %d findings in real sources: it has to be better, or off", r.ID, s.right, s.all)
		}
	}
	for id := range found {
		if !slices.ContainsFunc(rules, func(r Rule) bool { return r.ID == id }) {
			t.Errorf("there is no rule %s", id)
		}
	}
}

// found reports whether a rule finds a known weakness, at a time.
func (s realSource) found(k knownWeakness, when func(verdict) bool) bool {
	return slices.ContainsFunc(s.Verdicts, func(v verdict) bool {
		return when(v) && v.Rule == k.Rule && v.Path == k.Path && slices.Contains(v.Lines, k.Line)
	})
}
