package apply

import (
	"errors"
	"fmt"

	"github.com/agent-airlock/airlock/internal/event"
	"github.com/agent-airlock/airlock/internal/policy"
	"github.com/agent-airlock/airlock/internal/safeoutput"
)

// entry is an approved item on its way through this package.
type entry struct {
	index    int
	line     int
	kind     safeoutput.Kind
	item     safeoutput.Item
	target   policy.Target
	settings policy.KindConfig
	staged   bool
	key      string
	runKey   string // key, without what later workflow runs find
	ordinal  int    // among an agent's approved items of the kind, from 0
	approved policy.Approved
	// own says that Airlock itself asked for it.
	own bool
	// keep are the comments that an item of minimise-comments leaves alone.
	keep map[string]bool
	// decided is the outcome where the plan knows it already.
	decided *Result
}

// entriesOf numbers the approved items and gives each its key.
func entriesOf(cfg Config, ev event.Event, approved []policy.Approved) ([]*entry, error) {
	if cfg.Sanitizer == nil {
		return nil, errors.New("apply: Config.Sanitizer is required")
	}
	entries := make([]*entry, 0, len(approved))
	seen, ofKind := map[string]int{}, map[safeoutput.Kind]int{}
	for i, a := range approved {
		it := a.Item()
		if it == nil {
			return nil, fmt.Errorf("approved item %d was not made by the policy", i)
		}
		canonical, err := safeoutput.Encode(it)
		if err != nil {
			return nil, fmt.Errorf("line %d: %s: cannot be encoded: %w", a.Line(), it.Kind(), err)
		}
		e := &entry{index: i, line: a.Line(), kind: it.Kind(), item: it, target: a.Target(), settings: a.Settings(),
			staged: a.Staged() || cfg.DryRun, approved: a, own: a.Origin() == policy.OriginAirlock}
		kind, target := keyKind(e.kind, e.own), targetKey(e.target)
		if !e.own {
			e.ordinal = ofKind[e.kind]
			ofKind[e.kind]++
		}
		equal := kind + "\x00" + target + "\x00" + string(canonical)
		e.runKey = itemKey(cfg.Run, ev.Repo.ID, kind, target, canonical, seen[equal])
		e.key = e.runKey
		seen[equal]++
		if name := e.stableName(); name != "" {
			named := kind + "\x00" + target + "\x00name\x00" + name
			e.key = nameKey(cfg.Run, ev.Repo.ID, kind, target, name, seen[named]) + scopeKey(cfg.Run, ev.Repo.ID, kind, target, scopeOf(name))
			seen[named]++
		}
		entries = append(entries, e)
	}
	for _, e := range entries {
		if e.kind == safeoutput.KindMinimiseComments {
			e.keep = keepFor(cfg, ev.Repo.ID, e, entries)
		}
	}
	return entries, nil
}

// result starts an entry's result.
func (e *entry) result(s State, code, format string, args ...any) Result {
	r := Result{Index: e.index, Line: e.line, Kind: e.kind, State: s, Code: code, Message: format, Key: e.key, Own: e.own}
	if len(args) > 0 {
		r.Message = fmt.Sprintf(format, args...)
	}
	return r
}

// decide fixes an entry's outcome at planning.
func (e *entry) decide(s State, code, format string, args ...any) {
	r := e.result(s, code, format, args...)
	e.decided = &r
}

// pending returns the entries whose outcome is open.
func pending(entries []*entry) []*entry {
	var open []*entry
	for _, e := range entries {
		if e.decided == nil {
			open = append(open, e)
		}
	}
	return open
}
