package apply

import "github.com/agent-airlock/airlock/internal/event"

// needs is what the approved items make Observe read: each thing once.
type needs struct {
	ev          event.Event
	lists       set[listID]
	labels      set[int] // of issues and pull requests
	issues      set[int]
	pulls       set[int]
	diffs       set[int] // of pull requests
	discussions set[int] // whose node ids are needed
	reports     []*entry // whose files' lines are hashed
	categories  bool
	code        []*entry // whose changes are read
}

// set holds values in the order in which they were added, each once.
type set[T comparable] struct {
	all  []T
	seen map[T]bool
}

func (s *set[T]) add(v T) {
	if s.seen[v] {
		return
	}
	if s.seen == nil {
		s.seen = map[T]bool{}
	}
	s.seen[v] = true
	s.all = append(s.all, v)
}

// list asks for a list of objects that may hold our own.
func (n *needs) list(what string, number int) { n.lists.add(listID{what: what, number: number}) }

// needsOf collects what the items need.
func needsOf(ev event.Event, entries []*entry) *needs {
	n := &needs{ev: ev}
	for _, e := range entries {
		if h, _ := handlerOf(e.kind); h.needs != nil {
			h.needs(n, e)
		}
	}
	return n
}
