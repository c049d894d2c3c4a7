package apply

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

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

// carriesCode reports whether the entry goes with changes: such items are applied first.
func (e *entry) carriesCode() bool { return safeoutput.SpecOf(e.kind).CarriesCode }

// permissions returns what the token needs to apply the entry.
func (e *entry) permissions() []Permission { return permissionsFor(e.kind, e.target) }

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

// targetWords names a target for people.
func targetWords(t policy.Target) string {
	n := "#" + strconv.Itoa(t.Number)
	switch {
	case t.Number == 0:
		return "repository"
	case t.IsDiscussion:
		return "discussion " + n
	case t.IsPull:
		return "pull request " + n
	case t.FromEvent:
		return "issue " + n
	}
	return n
}

// quoted joins words for a sentence.
func quoted(words []string) string {
	q := make([]string, len(words))
	for i, w := range words {
		q[i] = strconv.Quote(w)
	}
	return strings.Join(q, ", ")
}

// shorten cuts a text to one line of at most n characters for a summary.
func shorten(s string, n int) string {
	s = strings.Join(strings.Fields(s[:min(len(s), 8*n)]), " ")
	for i := range s {
		if n--; n < 0 {
			return strings.ToValidUTF8(s[:i], "") + "…"
		}
	}
	return strings.ToValidUTF8(s, "")
}

// short shortens a commit's id for people.
func short(oid string) string {
	if oid == "" {
		return "the base"
	}
	return oid[:min(7, len(oid))]
}

// fallback is the text of an item that GitHub did not take, for those who show
// it by other means; nil for kinds without one.
func (e *entry) fallback() *Fallback {
	f := &Fallback{To: ToSummary, Title: string(e.kind) + " " + targetWords(e.target)}
	switch it := e.item.(type) {
	case *safeoutput.CreateIssue:
		f.Title, f.Text = it.Title, it.Body
	case *safeoutput.CreateDiscussion:
		f.Title, f.Text = it.Title, it.Body
	case *safeoutput.AddIssueComment:
		f.Text = it.Body
	case *safeoutput.StickyComment:
		f.Title, f.Text = it.Name, it.Body
	case *safeoutput.CreateReviewComment:
		return &Fallback{To: ToAnnotation, Path: it.Path, StartLine: it.StartLine, Line: it.Line,
			Title: it.Path + ", " + linesOf(it), Text: it.Body}
	case *safeoutput.UpdateIssue:
		if it.Body == nil {
			return nil
		}
		f.Text = *it.Body
	default:
		return nil
	}
	return f
}

// account adds to a result what the doors changed about the item, so that
// whoever reads about it knows.
func (e *entry) account(r *Result) {
	for _, n := range e.approved.Notes() {
		r.Notes = append(slices.Clone(r.Notes), n.Message)
	}
	if e.approved.Item() == nil {
		return
	}
	doors := e.approved.Accepted().Notes()
	for _, c := range doors.Redactions {
		r.Cleaned = append(r.Cleaned, Cleaning{Field: c.Field, Rule: c.Rule, Detail: c.Detail, Count: c.Count})
	}
	for _, m := range doors.Repairs {
		r.Repaired = append(r.Repaired, Repair{Kind: m.Kind, Field: m.Field, Count: m.Count})
	}
	if len(doors.UnknownFields) > 0 {
		r.Notes = append(slices.Clone(r.Notes), "fields that the kind does not have were left out: "+quoted(doors.UnknownFields))
	}
	if len(doors.DroppedLabels) > 0 {
		r.Notes = append(slices.Clone(r.Notes), "labels beyond the limit were left out: "+quoted(doors.DroppedLabels))
	}
}
