package sarif

// shared are elements of a run that indexes refer to.
type shared struct {
	all   []object
	sizes []int // in bytes of JSON; 0 is not yet known
}

func newShared(l []any) *shared {
	all := objects(l)
	return &shared{all, make([]int, len(all))}
}

func (s *shared) size(i int) int {
	if s.sizes[i] == 0 {
		s.sizes[i] = len(encode(s.all[i]))
	}
	return s.sizes[i]
}

// inline puts the members of the element that o's index refers to into o,
// where o has none of its own.
func (r *resolver) inline(o object, elements *shared) {
	if i, has := number(o, "index"); has && i >= 0 {
		switch {
		case i >= len(elements.all):
			r.notes.add(RuleIndexes, "", 1)
		case r.afford(elements.size(i)):
			for k, v := range elements.all[i] {
				if _, have := o[k]; !have {
					o[k] = copyOf(v)
				}
			}
		}
	}
	delete(o, "index")
	delete(o, "parentIndex")
}

func copyOf(v any) any {
	switch v := v.(type) {
	case object:
		c := make(object, len(v))
		for k, e := range v {
			c[k] = copyOf(e)
		}
		return c
	case []any:
		c := make([]any, len(v))
		for i, e := range v {
			c[i] = copyOf(e)
		}
		return c
	}
	return v
}

// offset moves an index into a list that is joined to that of earlier runs.
func (r *resolver) offset(o object, name string, n, by int) {
	i, has := number(o, name)
	switch {
	case !has:
	case i >= 0 && i < n:
		o[name] = i + by
	default:
		delete(o, name)
		if i >= 0 {
			r.notes.add(RuleIndexes, "", 1)
		}
	}
}

// shareSteps takes the run's shared thread flow locations out of it.
func (r *resolver) shareSteps(run object) {
	r.steps = newShared(list(run, "threadFlowLocations"))
	delete(run, "threadFlowLocations")
	for i, s := range r.steps.all {
		delete(s, "index")
		if !types().walk("threadFlowLocation", s, r) {
			r.steps.all[i] = nil
		}
	}
}

// step writes a thread flow location out: code scanning does not follow
// indexes. One without a place in the repository is left out.
func (r *resolver) step(o object) bool {
	i, has := number(o, "index")
	delete(o, "index")
	switch {
	case !has || i < 0:
	case i >= len(r.steps.all):
		r.notes.add(RuleIndexes, "", 1)
	case r.afford(r.steps.size(i)):
		for k, v := range r.steps.all[i] {
			if _, have := o[k]; !have {
				o[k] = v
			}
		}
	}
	return child(o, "location") != nil
}

// afford takes what inlining adds from the budget.
func (r *resolver) afford(size int) bool {
	if size <= 0 {
		return true
	}
	if size > r.budget {
		r.notes.add(RuleUnused, "shared parts", 1)
		return false
	}
	r.budget -= size
	return true
}
