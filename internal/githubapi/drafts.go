package githubapi

import (
	"context"
	"fmt"
	"strings"

	"github.com/google/go-github/v60/github"
)

// ReviewPending is the Review.State of a review that is not submitted yet. Only its author
// sees it, and an account has at most one on a pull request: while it is there, GitHub
// refuses every other review of that account.
const ReviewPending = "PENDING"

// MaxThreads is how many threads one call of AddReviewThreads can carry.
const MaxThreads = 10

// NewThread is a comment to add to a pending review, on lines or on an entire file.
type NewThread struct {
	DraftComment
	OnFile bool // the lines and sides are then ignored
}

// Draft is the state and the comments of a review, pending or not.
type Draft struct {
	State    string
	Comments []string // their texts
}

const (
	draftFields = `fragment draft on PullRequestReview {
  state
  comments(first: 100, after: $after) { nodes { id body } pageInfo { hasNextPage endCursor } }
}`

	readDraftQuery = `query Draft($id: ID!, $after: String) {
  node(id: $id) { ...draft }
}
` + draftFields

	submitReviewMutation = `mutation SubmitReview($input: SubmitPullRequestReviewInput!) {
  submitPullRequestReview(input: $input) { pullRequestReview { state } }
}`

	deleteReviewMutation = `mutation DeleteReview($input: DeletePullRequestReviewInput!) {
  deletePullRequestReview(input: $input) { pullRequestReview { id } }
}`
)

// StartReview makes a pending review without comments: see ReviewPending.
func (c *Client) StartReview(ctx context.Context, r Repo, n int, commitID, body string) (Review, error) {
	op := creating(r, "begin a review of the pull request #%d", n).checkNumber(n)
	g, _, err := c.gh.PullRequests.CreateReview(op.context(ctx), r.Owner, r.Name, n, &github.PullRequestReviewRequest{Body: &body, CommitID: optional(commitID)})
	return resultOf(op, g, err, reviewOf, func(v Review) bool {
		return v.State == ReviewPending && v.NodeID != "" && isOn(g.GetPullRequestURL(), n)
	})
}

// AddReviewThreads adds at most MaxThreads comments to a pending review and reports which of them
// GitHub took. GitHub takes no comment whose place is not in the diff or whose content it refuses;
// these are not errors. pullID and reviewID are node ids.
//
// After Ambiguous some may have been added: ReadDraft returns those that were.
func (c *Client) AddReviewThreads(ctx context.Context, r Repo, pullID, reviewID string, threads []NewThread) (taken []bool, err error) {
	op := creating(r, "add comments to a review")
	op.needs, op.several = "pull_requests=write", true
	op.require("the node id of the pull request or of the review is missing", pullID, reviewID)
	if len(threads) == 0 || len(threads) > MaxThreads {
		op.refuse("between 1 and %d comments can be added in one request, not %d", MaxThreads, len(threads))
	}
	var out map[string]*struct{ Thread *struct{ ID string } }
	document, inputs := threadsMutation(pullID, reviewID, threads)
	if err := c.query(ctx, op, document, inputs, &out); err != nil {
		return nil, err
	}
	taken = make([]bool, len(threads))
	for i := range threads {
		got, ok := out[alias(i)]
		if !ok {
			return nil, op.unexpectedAnswer("it leaves out a comment")
		}
		taken[i] = got != nil && got.Thread != nil && got.Thread.ID != ""
	}
	return taken, nil
}

// threadsMutation returns the document and the variables that add threads.
func threadsMutation(pullID, reviewID string, threads []NewThread) (document string, inputs map[string]any) {
	inputs = ThreadInputs(pullID, reviewID, threads)
	declarations, fields := make([]string, len(threads)), make([]string, len(threads))
	for i := range threads {
		declarations[i] = fmt.Sprintf("$%s: AddPullRequestReviewThreadInput!", alias(i))
		fields[i] = fmt.Sprintf("  %[1]s: addPullRequestReviewThread(input: $%[1]s) { thread { id } }\n", alias(i))
	}
	return "mutation AddThreads(" + strings.Join(declarations, ", ") + ") {\n" + strings.Join(fields, "") + "}", inputs
}

// ThreadInputs returns the variables of the mutation that adds threads. A plan shows them, too.
func ThreadInputs(pullID, reviewID string, threads []NewThread) map[string]any {
	inputs := make(map[string]any, len(threads))
	for i, t := range threads {
		in := map[string]any{"pullRequestId": pullID, "pullRequestReviewId": reviewID, "path": t.Path, "body": t.Body}
		if t.OnFile {
			in["subjectType"] = "FILE"
		} else {
			side, startLine, startSide := anchor(t.Line, t.Side, t.StartLine, t.StartSide)
			in["line"], in["side"] = t.Line, *side
			if startLine != nil {
				in["startLine"], in["startSide"] = *startLine, *startSide
			}
		}
		inputs[alias(i)] = in
	}
	return inputs
}

// alias returns the name of the nth of several mutations in one document.
func alias(n int) string { return fmt.Sprintf("t%d", n) }

// ReadDraft reads a review by its node id. Unlike GitHub's lists, it shows a new comment at
// once.
func (c *Client) ReadDraft(ctx context.Context, r Repo, reviewID string) (Draft, error) {
	var state string
	list := reading(r, "read a review")
	list.require("the node id of the review is missing", reviewID)
	comments, err := collect(cursors(list, func(d draftComment) string { return d.ID }, func(op *operation, cursor string) ([]draftComment, pageInfo, error) {
		var out struct {
			Node *struct {
				State    string
				Comments connection[draftComment]
			}
		}
		if err := c.query(ctx, op, readDraftQuery, map[string]any{"id": reviewID, "after": cursorVariable(cursor)}, &out); err != nil {
			return nil, pageInfo{}, err
		}
		if out.Node == nil {
			return nil, pageInfo{}, op.fail(NotFound, "")
		}
		if out.Node.State == "" {
			return nil, pageInfo{}, op.unexpectedAnswer("it does not name the review's state")
		}
		state = out.Node.State
		return out.Node.Comments.Nodes, out.Node.Comments.PageInfo, nil
	}), func(d draftComment) string { return d.Body })
	if err != nil {
		return Draft{}, err
	}
	return Draft{state, comments}, nil
}

type draftComment struct{ ID, Body string }

// SubmitReview publishes a pending review and replaces its body.
func (c *Client) SubmitReview(ctx context.Context, r Repo, reviewID, event, body string) error {
	op := creating(r, "submit a review")
	op.needs = "pull_requests=write"
	op.require("the node id of the review or the event is missing", reviewID, event)
	var out struct {
		SubmitPullRequestReview struct{ PullRequestReview struct{ State string } }
	}
	err := c.query(ctx, op, submitReviewMutation, map[string]any{"input": map[string]any{"pullRequestReviewId": reviewID, "event": event, "body": body}}, &out)
	if err != nil {
		return err
	}
	if state := out.SubmitPullRequestReview.PullRequestReview.State; state == "" || state == ReviewPending {
		return op.fail(Ambiguous, "the answer does not show that the review was submitted")
	}
	return nil
}

// DeletePendingReview removes a pending review with its comments. If the review was submitted
// already, the error is Validation.
func (c *Client) DeletePendingReview(ctx context.Context, r Repo, reviewID string) error {
	op := writing(r, "delete a pending review")
	op.needs = "pull_requests=write"
	op.require("the node id of the review is missing", reviewID)
	var out struct {
		DeletePullRequestReview struct{ PullRequestReview struct{ ID string } }
	}
	if err := c.query(ctx, op, deleteReviewMutation, map[string]any{"input": map[string]any{"pullRequestReviewId": reviewID}}, &out); err != nil {
		return err
	}
	if out.DeletePullRequestReview.PullRequestReview.ID == "" {
		return op.unexpectedAnswer("it does not name the review")
	}
	return nil
}
