package apply

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/agent-airlock/airlock/internal/githubapi"
	"github.com/agent-airlock/airlock/internal/safeoutput"
)

// commentGroup is the review comments of one operation. Two runs at the same moment may put
// one of them in different places: on its line, into the body of a review, or into a comment
// in the conversation.
type commentGroup struct {
	key     string
	entries []*entry    // the members, in order
	work    *reviewWork // nil where the plan had nothing to do
}

// has reports whether an object carries members of the group.
func (g commentGroup) has(o Object) bool {
	return strings.HasPrefix(o.key, g.key) || slices.ContainsFunc(g.entries, func(e *entry) bool { return e.key == o.key })
}

// carrier is a review or a comment in the conversation that carries members of a group.
type carrier struct {
	Object
	onLines []int // members with a comment on lines that belongs to the review
	body    []int // members whose text its body contains
}

// carriers returns the reviews and comments that stay: each carries a member of the group that no
// earlier one carries. The marker of a review lists its comments on lines too.
func (g commentGroup) carriers(there []Object) []carrier {
	there = slices.Clone(there)
	slices.SortFunc(there, compareDoubles)
	var kept []Object
	var out []carrier
	for _, o := range there {
		carries, ok := members(o.key, g.key, len(g.entries))
		if !ok || o.Type == objReviewComment || o.carriesNothing() || covered(o, kept) {
			continue
		}
		kept = append(kept, o)
		c := carrier{Object: o}
		for m, e := range g.entries {
			switch {
			case !carries(m):
			case slices.ContainsFunc(there, func(p Object) bool { return p.Type == objReviewComment && p.key == e.key && o.has(p) }):
				c.onLines = append(c.onLines, m)
			default:
				c.body = append(c.body, m)
			}
		}
		out = append(out, c)
	}
	return out
}

// has reports whether a comment on lines belongs to a review.
func (o Object) has(comment Object) bool { return o.Type == objReview && comment.review == o.ID }

// keepOnePlace removes members of the group that are in two places: a comment on lines if a body
// contains its text too, and a section of a body if an earlier body contains it. A comment on lines
// whose review is not listed yet stays: that review may turn out to come before the body.
func (x *executor) keepOnePlace(ctx context.Context, g commentGroup, there []Object) {
	inBody := map[int]Object{}
	for _, c := range g.carriers(there) {
		var doubles []int
		for _, m := range c.body {
			if _, ok := inBody[m]; ok {
				doubles = append(doubles, m)
			} else {
				inBody[m] = c.Object
			}
		}
		if len(doubles) > 0 && ctx.Err() == nil {
			x.trim(ctx, g, c, doubles)
		}
	}
	for m, e := range g.entries {
		body, ok := inBody[m]
		if !ok {
			continue
		}
		for _, o := range there {
			isComment := o.Type == objReviewComment && o.key == e.key
			isReviewListed := slices.ContainsFunc(there, func(p Object) bool { return p.has(o) })
			if isComment && isReviewListed && ctx.Err() == nil {
				x.remove(ctx, o, body, []*entry{e})
			}
		}
	}
}

// trim removes from a body the sections of doubles, whose texts are elsewhere too. Everything stays
// where a comment was so long that it was divided, because its pieces cannot be distinguished, and
// where the rest does not fit into one body.
func (x *executor) trim(ctx context.Context, g commentGroup, c carrier, doubles []int) {
	if g.work == nil {
		return
	}
	comment := func(m int) *reviewComment {
		return &reviewComment{e: g.entries[m], member: m, item: g.entries[m].item.(*safeoutput.CreateReviewComment)}
	}
	for m := range g.entries {
		if len(g.work.parts([]*reviewComment{comment(m)})) > 1 {
			return
		}
	}
	var left, inline []*reviewComment
	for _, m := range c.body {
		if !slices.Contains(doubles, m) {
			left = append(left, comment(m))
		}
	}
	for _, m := range c.onLines {
		inline = append(inline, comment(m))
	}
	parts := g.work.parts(left)
	if len(parts) > 1 {
		return
	}
	body := g.work.partBody(first(parts), inline)
	err := x.idempotent(ctx, func(ctx context.Context) error {
		if c.Type == objReview {
			_, err := x.deps.GitHub.EditReview(ctx, x.repo, c.Number, c.ID, body)
			return err
		}
		_, err := x.deps.GitHub.EditIssueComment(ctx, x.repo, c.ID, body)
		return err
	})
	note := "it was written twice: the second text was taken out of " + c.URL
	if err != nil && !isKind(err, githubapi.NotFound) {
		note = fmt.Sprintf("it was written twice, and the second text could not be taken out of %s: %v", c.URL, err)
	}
	x.deps.log(note)
	for _, m := range doubles {
		if r := x.results[g.entries[m].index]; r != nil {
			r.Notes = append(slices.Clone(r.Notes), note)
		}
	}
}
