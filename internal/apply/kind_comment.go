package apply

import (
	"cmp"
	"context"
	"fmt"

	"github.com/agent-airlock/airlock/internal/githubapi"
	"github.com/agent-airlock/airlock/internal/safeoutput"
)

// commentHandler applies add-issue-comment: one comment for each item, in the conversation
// of an issue, a pull request or a discussion.
var commentHandler = handler{
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

func planComment(p *planner, group []*entry) Operation {
	e := group[0]
	op := p.operation(group, "comment on "+describeTarget(e.target))
	op.Permissions = e.permissions()
	list := listID{what: listComments, number: e.target.Number}
	if e.target.IsDiscussion {
		list.what = listDiscussionComments
	}
	if p.adopt(&op, list, e.key) {
		return op
	}
	body, cut := p.cfg.body(p.leadText()+e.item.(*safeoutput.AddIssueComment).Body, p.cfg.footer(e.settings.Footer), e.key)
	op.noteCut(cut)
	if e.target.IsDiscussion {
		p.discussionComment(&op, e, list, body)
		return op
	}
	op.Requests = []Request{p.commentRequest(e.target.Number, body)}
	op.work = commentWork(p.repo, list, e.key, body)
	return op
}

// commentRequest returns the request of commentWork.
func (p *planner) commentRequest(number int, body string) Request {
	return newRequest("POST", p.path(fmt.Sprintf("/issues/%d/comments", number)), bodyJSON{body})
}

// commentWork posts one comment on an issue or pull request.
func commentWork(repo githubapi.Repo, list listID, key, body string) *createWork {
	return &createWork{
		key: key, list: list, what: "the comment",
		do: func(ctx context.Context, gh *githubapi.Client) (Object, bool, []string, error) {
			c, err := gh.CreateIssueComment(ctx, repo, list.number, body)
			return commentObject(c, list.number), hasKey(c.Body, key), nil, err
		},
	}
}

func (p *planner) discussionComment(op *Operation, e *entry, list listID, body string) {
	discussion := p.snap.discussions[e.target.Number]
	if discussion.err != nil {
		op.failAll(discussion.err, "")
		return
	}
	id := discussion.value.ID
	op.Requests = []Request{graphQL("addDiscussionComment", map[string]any{"discussionId": cmp.Or(id, "<discussion>"), "body": body})}
	op.work = &createWork{
		key: e.key, list: list, what: "the comment",
		do: func(ctx context.Context, gh *githubapi.Client) (Object, bool, []string, error) {
			c, err := gh.AddDiscussionComment(ctx, id, body)
			return discussionCommentObject(c, list.number), hasKey(c.Body, e.key), nil, err
		},
	}
}
