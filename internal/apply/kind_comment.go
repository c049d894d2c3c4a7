package apply

import (
	"context"
	"fmt"

	"github.com/agent-airlock/airlock/internal/safeoutput"
)

// commentHandler applies add-issue-comment: one comment an item, in the
// conversation of an issue, a pull request, or the event's discussion.
func commentHandler() handler {
	return handler{
		text: true,
		needs: func(n *needs, e *entry) {
			if e.target.IsDiscussion {
				n.discussions.add(e.target.Number)
				n.list(listDiscussionComments, e.target.Number)
				return
			}
			n.list(listComments, e.target.Number)
		},
		plan: planComment,
	}
}

func planComment(p *planner, group []*entry) Operation {
	e := group[0]
	op := p.operation(group, "comment on "+targetWords(e.target))
	op.Permissions = e.permissions()
	list := listID{what: listComments, number: e.target.Number}
	if e.target.IsDiscussion {
		list.what = listDiscussionComments
	}
	if p.adopt(&op, list, group, e.key) {
		return op
	}
	body, cut := p.cfg.body(p.lead()+e.item.(*safeoutput.AddIssueComment).Body, p.cfg.footer(e.settings.Footer), e.key)
	op.noteCut(cut)
	if e.target.IsDiscussion {
		p.discussionComment(&op, e, list, body)
		return op
	}
	op.Requests = []Request{p.commentRequest(e.target.Number, body)}
	op.work = p.commentWork(list, e.key, body)
	return op
}

func (p *planner) commentRequest(number int, body string) Request {
	return newRequest("POST", p.path(fmt.Sprintf("/issues/%d/comments", number)), struct {
		Body string `json:"body"`
	}{body})
}

// commentWork posts one comment on an issue or pull request.
func (p *planner) commentWork(list listID, key, body string) *createWork {
	repo := p.repo
	return &createWork{
		key: key, list: list, what: "the comment",
		do: func(ctx context.Context, gh GitHub) (Object, []string, error) {
			c, err := gh.CreateIssueComment(ctx, repo, list.number, body)
			return commentObject(c, list.number), nil, err
		},
	}
}

func (p *planner) discussionComment(op *Operation, e *entry, list listID, body string) {
	d := p.snap.discussions[e.target.Number]
	if d.err != nil {
		code, message := failure(d.err, op.Permissions)
		e.decide(Failed, code, "%s", message)
		return
	}
	id := d.id
	shown := id
	if shown == "" {
		shown = "<discussion>"
	}
	op.Requests = []Request{graphQL("addDiscussionComment", map[string]any{"discussionId": shown, "body": body})}
	op.work = &createWork{
		key: e.key, list: list, what: "the comment",
		do: func(ctx context.Context, gh GitHub) (Object, []string, error) {
			c, err := gh.AddDiscussionComment(ctx, id, body)
			return discussionCommentObject(c, list.number), nil, err
		},
	}
}

// graphQL is a mutation as a plan shows it: its name, and the variables exactly
// as they are sent. The document's text is githubapi's own.
func graphQL(mutation string, input map[string]any) Request {
	return newRequest("POST", "/graphql", struct {
		Mutation  string         `json:"mutation"`
		Variables map[string]any `json:"variables"`
	}{mutation, map[string]any{"input": input}})
}
