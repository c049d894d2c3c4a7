package apply

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/agent-airlock/airlock/internal/githubapi"
)

// notPosted returns the comments that no earlier comment in the conversation
// carries.
func (r *reviewRun) notPosted(ctx context.Context, comments []*reviewComment) []*reviewComment {
	if len(comments) == 0 {
		return nil
	}
	if err := r.searchConversation(ctx); err != nil {
		r.giveUp(ctx, err, r.undone(comments))
	}
	return r.undone(comments)
}

// searchConversation looks, once, for comments of an earlier attempt that carry
// some of the group. That is rare, so Observe does not do it.
func (r *reviewRun) searchConversation(ctx context.Context) error {
	if r.listed {
		return nil
	}
	r.listed = true
	own, err := ownObjects(ctx, r.x.w.GitHub, r.repo, listID{what: listComments, number: r.number}, r.x.plan.snap.viewer, r.x.since)
	if err != nil {
		return err
	}
	for _, o := range own {
		carries, ok := members(o.key, r.group, r.size)
		if !ok {
			continue
		}
		for _, c := range slices.Concat(r.inline, r.file, r.body) {
			if carries(c.member) && !r.isDone(c) {
				res := c.e.result(Adopted, "", "an earlier attempt of this workflow run posted it as a comment already")
				res.Object = &o
				r.results = append(r.results, res)
			}
		}
	}
	return nil
}

// giveUp ends the comments that could not be posted: for a fork by the next
// step down, else as failures that keep the text.
func (r *reviewRun) giveUp(ctx context.Context, err error, left []*reviewComment) {
	left = r.undone(left)
	if len(left) == 0 {
		return
	}
	code, message := failure(err, r.op.Permissions)
	fork := r.x.readOnlyFork() && lacksPermission(err)
	if fork && !r.stepped && !r.own {
		r.stepped = true
		parts := r.parts(inOrder(left, nil))
		if r.postComments(ctx, parts, "since "+forkReason) == nil {
			left = r.undone(left)
		}
	}
	if len(left) > 0 {
		r.x.remember(r.op, err, code, message)
	}
	for _, c := range left {
		res := r.x.refused(c.e, code, message)
		res.Fallback = c.e.fallback()
		r.results = append(r.results, res)
	}
}

// aboutTheWhole reports whether a refusal is about the review itself, so that
// fewer comments would not help.
func aboutTheWhole(err error) bool {
	var e *githubapi.Error
	if !errors.As(err, &e) {
		return false
	}
	text := strings.ToLower(e.Message)
	for _, f := range e.Fields {
		text += " " + strings.ToLower(f.Field+" "+f.Message)
	}
	return strings.Contains(text, "commit") && strings.Contains(text, "not part of the pull request") ||
		strings.Contains(text, "commit_id") || strings.Contains(text, "pending review")
}

// reason is GitHub's own words for a refusal.
func reason(err error) string {
	var e *githubapi.Error
	if !errors.As(err, &e) {
		return err.Error()
	}
	words := make([]string, 0, len(e.Fields))
	for _, f := range e.Fields {
		words = append(words, strings.TrimSpace(f.Field+" "+cmp.Or(f.Message, f.Code)))
	}
	if len(words) == 0 {
		return e.Message
	}
	return strings.Join(words, "; ")
}
