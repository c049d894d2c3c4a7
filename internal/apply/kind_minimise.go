package apply

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/agent-airlock/airlock/internal/githubapi"
	"github.com/agent-airlock/airlock/internal/safeoutput"
	"github.com/agent-airlock/airlock/internal/text"
)

// minimiseHandler applies minimise-comments: review comments of earlier workflow runs of the
// same job are hidden as resolved when their reason is gone or their finding is shown elsewhere.
var minimiseHandler = handler{
	needs: func(n *needs, e *entry) { n.list(listAllReviewComments, e.target.Number) },
	plan:  planMinimise,
}

func planMinimise(p *planner, group []*entry) Operation {
	e := group[0]
	number := e.target.Number
	op := p.operation(group, fmt.Sprintf("nothing: no review comment on %s is resolved", describeTarget(e.target)))
	op.Permissions = permissionsFor(safeoutput.KindCreateReviewComment, e.target)
	if err := p.snap.lists[listID{what: listAllReviewComments, number: number}]; err != nil {
		op.failReading(err)
		return op
	}
	if !p.snap.connected {
		op.Notes = append(op.Notes, "it was not checked which comments are there")
	}
	resolved, kept := p.resolvedNow(e)
	if len(resolved) == 0 {
		e.decide(Applied, "", "no comment had to be hidden").Kept = kept
		return op
	}
	for _, s := range resolved {
		if !s.there.known.answered {
			op.Requests = append(op.Requests, graphQL("minimizeComment", map[string]any{"subjectId": s.there.NodeID, "classifier": githubapi.Resolved}))
		}
		op.Requests = append(op.Requests, p.commentEdit(s.there.ID, s.body))
	}
	op.Summary = fmt.Sprintf("hide %s on %s as resolved", text.Count(len(resolved), "review comment"), describeTarget(e.target))
	op.work = &minimiseWork{resolve: resolved, kept: kept}
	return op
}

// resolvedNow returns our open comments that are to be resolved, the oldest first. Either their
// reason is gone, and they are in the entry's scopes, or their finding is shown elsewhere. It
// leaves out comments that a later workflow run wrote. kept are the comments that the item names
// and that stay.
func (p *planner) resolvedNow(e *entry) (resolved []resolving, kept []Kept) {
	item := e.item.(*safeoutput.MinimiseComments)
	var scopes []string
	for _, s := range item.Scopes {
		scopes = append(scopes, scopeKey(p.cfg.Run, p.ev.Repo.ID, keyKind(safeoutput.KindCreateReviewComment, true), targetKey(e.target), s))
	}
	inScope := func(key string) bool {
		return slices.ContainsFunc(scopes, func(s string) bool { return strings.HasSuffix(key, s) })
	}
	for key, own := range p.snap.own {
		position, named := e.keep[key]          // it is still asked for, by this item or another one
		listed := named && position != askedNow // by this one
		moved := listed && slices.Contains(item.Moved, item.Keep[position])
		for _, o := range own {
			if o.Type != objReviewComment || o.known == nil || o.known.resolved {
				continue
			}
			switch mine := !o.known.later(p.cfg.Run); {
			case mine && moved:
				resolved = append(resolved, resolving{there: o, body: p.hiddenBody(o, "still find this, and show it elsewhere now")})
			case mine && !named && inScope(o.key):
				resolved = append(resolved, resolving{there: o, body: p.hiddenBody(o, "no longer find this")})
			case listed && !moved:
				kept = append(kept, Kept{position, o.URL})
			}
		}
	}
	slices.SortFunc(resolved, func(a, b resolving) int { return compareIDs(a.there, b.there) })
	slices.SortFunc(kept, func(a, b Kept) int { return cmp.Or(a.Position-b.Position, strings.Compare(a.URL, b.URL)) })
	return resolved, kept
}

// askedNow is the value in entry.keep of a comment that is not in the item's own list, but that
// another item of this workflow run asks for.
const askedNow = -1

// keepFor returns the value of entry.keep: by the key of each comment that is still asked for, its
// position in the item's own list, or askedNow.
func keepFor(cfg Config, repositoryID int64, e *entry, all []*entry) map[string]int {
	keep, seen := map[string]int{}, map[string]int{}
	kind := keyKind(safeoutput.KindCreateReviewComment, true)
	for i, name := range e.item.(*safeoutput.MinimiseComments).Keep {
		keep[nameKey(cfg.Run, repositoryID, kind, targetKey(e.target), name, seen[name])] = i
		seen[name]++
	}
	for _, o := range all {
		if o.kind == safeoutput.KindCreateReviewComment && len(o.key) == stableLen {
			if _, named := keep[o.key[:keyLen]]; !named {
				keep[o.key[:keyLen]] = askedNow
			}
		}
	}
	return keep
}

// hiddenBody returns the text of a comment that is hidden, with why.
func (p *planner) hiddenBody(o Object, why string) string {
	note := "*The checks " + why + ".*"
	if sha := p.ev.Head.SHA; sha != "" {
		note = fmt.Sprintf("*The checks of %.7s %s.*", sha, why)
	}
	body, _ := p.cfg.body(o.known.body, note, stableMarker(o.key, history{resolved: true, run: p.cfg.Run.ID}))
	return body
}

// resolving is a comment that is to be resolved, and its text from now on.
type resolving struct {
	there Object
	body  string
}

// minimiseWork hides comments. A comment that somebody has answered stays visible, because
// otherwise its answers would lose their context. Its text says that it is resolved.
type minimiseWork struct {
	resolve []resolving
	kept    []Kept
}

func (w *minimiseWork) execute(ctx context.Context, x *executor, op *Operation) []Result {
	e := op.entries[0]
	var notes []string // the address comes first: after "resolved", it would be made inert
	var failed error
	hidden := 0
	for _, s := range w.resolve {
		if err := w.hide(ctx, x, s); err != nil {
			failed = err
			notes = append(notes, s.there.URL+": not resolved")
		} else {
			hidden++
			notes = append(notes, s.there.URL+": resolved")
		}
		if failed != nil && (lacksPermission(failed) || ctx.Err() != nil) { // the others would fail alike
			break
		}
	}
	r := e.result(Applied, "", "%s resolved", text.Count(hidden, "review comment"))
	if failed != nil {
		r = x.failed(op, e, failed)
		r.Message = fmt.Sprintf("only %d of %s could be resolved; %s", hidden, text.Count(len(w.resolve), "review comment"), r.Message)
	}
	r.Notes, r.Kept = notes, w.kept
	return []Result{r}
}

// hide hides a comment before it changes the text, by which later runs recognise what is done.
func (w *minimiseWork) hide(ctx context.Context, x *executor, s resolving) error {
	if !s.there.known.answered {
		err := x.idempotent(ctx, func(ctx context.Context) error {
			return x.deps.GitHub.MinimizeComment(ctx, s.there.NodeID, githubapi.Resolved)
		})
		if err != nil {
			return err
		}
	}
	return x.editReviewComment(ctx, s.there.ID, s.body)
}
