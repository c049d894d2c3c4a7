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
	index    int // among the approved items
	line     int
	kind     safeoutput.Kind
	item     safeoutput.Item
	target   policy.Target
	settings policy.KindConfig
	approved policy.Approved
	staged   bool
	own      bool   // Airlock itself asked for it
	ordinal  int    // among an agent's approved items of the kind, from 0
	key      string // the key by which a re-run or, if it is stable, a later workflow run finds the object
	runKey   string // the key by which a re-run finds it; the same as key unless that is stable
	// keep has, for an item of minimise-comments, the comments that are still asked for. Its keys
	// are the first halves of the comments' keys, its values their places in the item's list, or
	// askedNow for comments that other items ask for.
	keep map[string]int
	// withheld is set where the item contains a secret. Neither its texts nor the policy's notes
	// are shown then: a note may quote the secret, or a part of it that no scan recognises.
	withheld bool
	// decided is the outcome where the plan knows it already.
	decided *Result
}

// texts returns the texts of an agent's item, as they would be posted and as they were asked
// for; none if they are withheld.
func (e *entry) texts() []ItemText {
	if e.own || e.withheld {
		return nil
	}
	var list []ItemText
	for _, t := range e.item.Texts() {
		if *t.Value == "" || t.Mode == safeoutput.Label {
			continue
		}
		text := ItemText{Field: t.Field, Posted: *t.Value, Asked: *t.Value, Mode: t.Mode}
		if asked, ok := e.approved.Accepted().Asked(t.Field); ok {
			text.Asked = asked
		}
		list = append(list, text)
	}
	return list
}

// entriesOf numbers the approved items and gives each its key.
func entriesOf(cfg Config, ev event.Event, approved []policy.Approved) ([]*entry, error) {
	if cfg.Sanitizer == nil {
		return nil, errors.New("apply: Config.Sanitizer is required")
	}
	entries := make([]*entry, 0, len(approved))
	equal, ofKind := map[string]int{}, map[safeoutput.Kind]int{}
	for i, a := range approved {
		it := a.Item()
		if it == nil {
			return nil, fmt.Errorf("approved item %d was not made by the policy", i)
		}
		canonical, err := safeoutput.Encode(asAsked(a))
		if err != nil {
			return nil, fmt.Errorf("line %d: %s: cannot be encoded: %w", a.Line(), it.Kind(), err)
		}
		e := &entry{index: cfg.FirstIndex + i, line: a.Line(), kind: it.Kind(), item: it, target: a.Target(), settings: a.Settings(),
			staged: a.Staged() || cfg.DryRun, approved: a, own: a.Origin() == policy.OriginAirlock}
		if !e.own {
			e.ordinal = ofKind[e.kind]
			ofKind[e.kind]++
		}
		e.setKeys(cfg.Run, ev.Repo.ID, canonical, equal)
		entries = append(entries, e)
	}
	for _, e := range entries {
		if e.kind == safeoutput.KindMinimiseComments {
			e.keep = keepFor(cfg, ev.Repo.ID, e, entries)
		}
	}
	return entries, nil
}

// asAsked returns an item as it was asked for, before it was cleaned and got what the owner adds.
// Keys are made of that: a repeated run, whose configuration may have been edited since, finds what
// the run before it wrote.
func asAsked(a policy.Approved) safeoutput.Item {
	it := safeoutput.Clone(a.Accepted().Item())
	for _, t := range it.Texts() {
		if asked, ok := a.Accepted().Asked(t.Field); ok {
			*t.Value = asked
		}
	}
	return it
}

// setKeys sets the entry's keys, and counts the entry in equal. Entries that would have the same key
// are counted together, and that count makes their keys differ.
func (e *entry) setKeys(run event.Run, repositoryID int64, canonical []byte, equal map[string]int) {
	kind, target := keyKind(e.kind, e.own), targetKey(e.target)
	same := strings.Join([]string{kind, target, string(canonical)}, "\x00")
	e.runKey = itemKey(run, repositoryID, kind, target, canonical, equal[same])
	equal[same]++
	e.key = e.runKey
	name := e.stableName()
	if name == "" {
		return
	}
	same = strings.Join([]string{kind, target, "name", name}, "\x00")
	writer := e.writer(run)
	e.key = nameKey(writer, repositoryID, kind, target, name, equal[same]) + scopeKey(writer, repositoryID, kind, target, scopeOf(name))
	equal[same]++
}

// Keys returns the keys of the approved items that are not staged. A later process of the same
// workflow run computes the same keys for equal items.
func Keys(cfg Config, ev event.Event, approved []policy.Approved) ([]string, error) {
	entries, err := entriesOf(cfg, ev, approved)
	var keys []string
	for _, e := range entries {
		if !e.staged {
			keys = append(keys, e.runKey)
		}
	}
	return keys, err
}

// carriesCode reports whether the entry goes with changes. Such items are applied first.
func (e *entry) carriesCode() bool { return safeoutput.SpecOf(e.kind).CarriesCode }

// permissions returns what the token needs to apply the entry.
func (e *entry) permissions() []Permission { return permissionsFor(e.kind, e.target) }

// pending returns the entries whose outcome is open.
func pending(entries []*entry) []*entry {
	return slices.DeleteFunc(slices.Clone(entries), func(e *entry) bool { return e.decided != nil })
}

// result starts an entry's result.
func (e *entry) result(s State, code, format string, args ...any) Result {
	r := Result{Index: e.index, Line: e.line, Kind: e.kind, State: s, Code: code, Message: format, Key: e.key, Own: e.own, Name: e.approved.Accepted().Stable()}
	if len(args) > 0 {
		r.Message = fmt.Sprintf(format, args...)
	}
	return r
}

// decide sets an entry's outcome when planning.
func (e *entry) decide(s State, code, format string, args ...any) *Result {
	r := e.result(s, code, format, args...)
	e.decided = &r
	return e.decided
}

// adopt decides that the entry is applied already, by an object that exists.
func (e *entry) adopt(there Object, message string) {
	e.decide(Adopted, "", "%s", message).Object = &there
}

// fallback returns the item's text, to be shown by other means if it was not delivered, or may not
// have been. It returns nil for an update-issue without a body, and for kinds whose texts are not
// shown in this way.
func (e *entry) fallback() *Fallback {
	f := &Fallback{To: ToSummary, Title: string(e.kind) + " " + describeTarget(e.target)}
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

// addNotes adds to a result what intake and the policy changed about the item.
func (e *entry) addNotes(r *Result) {
	r.Notes = slices.Clone(r.Notes)
	for _, n := range e.approved.Notes() {
		if !e.withheld {
			r.Notes = append(r.Notes, n.Message)
		}
	}
	first := e.approved.Accepted().Notes()
	for _, c := range first.Redactions {
		r.Cleaned = append(r.Cleaned, Cleaning{Field: c.Field, Rule: c.Rule, Detail: c.Detail, Count: c.Count})
	}
	for _, m := range first.Repairs {
		r.Repaired = append(r.Repaired, Repair{Kind: m.Kind, Field: m.Field, Count: m.Count})
	}
	r.Notes = append(r.Notes, LeftOut(first.UnknownFields, first.DroppedLabels)...)
}

// LeftOut returns the notes of a result on what intake left out of the item.
func LeftOut(unknownFields, droppedLabels []string) (notes []string) {
	if len(unknownFields) > 0 {
		notes = append(notes, "fields that the kind does not have were left out: "+quoteAll(unknownFields))
	}
	if len(droppedLabels) > 0 {
		notes = append(notes, "labels beyond the limit were left out: "+quoteAll(droppedLabels))
	}
	return notes
}

// describeTarget names a target for people.
func describeTarget(t policy.Target) string {
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

// quoteAll lists names in quotes.
func quoteAll(names []string) string {
	quoted := make([]string, len(names))
	for i, name := range names {
		quoted[i] = strconv.Quote(name)
	}
	return strings.Join(quoted, ", ")
}
