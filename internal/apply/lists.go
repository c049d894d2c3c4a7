package apply

import (
	"context"
	"iter"
	"time"

	"github.com/agent-airlock/airlock/internal/githubapi"
)

// listID names a list of objects that may contain our own.
type listID struct {
	what   string
	number int // number of the issue, pull request or discussion; 0 for a list of the repository
	// commit and name are those of check runs.
	commit, name string
}

// The lists. Most of them are read only as far back as this workflow run can have written
// something; listEarlierIssues is read further back, by reRunAge. Reviews, check runs and the lists of all workflow
// runs are read entirely.
const (
	listIssues             = "issues"
	listEarlierIssues      = "issues, of earlier workflow runs too"
	listComments           = "comments of an issue or pull request"
	listAllComments        = "comments of a pull request, of all workflow runs"
	listAllReviewComments  = "review comments, of all workflow runs"
	listReviews            = "reviews"
	listReviewComments     = "review comments"
	listDiscussions        = "discussions"
	listCheckRuns          = "check runs"
	listDiscussionComments = "comments of a discussion"
)

// ownAccount is the account of the token.
type ownAccount struct {
	githubapi.Actor
	// login is the account's name as REST spells it; "" where it is not known.
	login string
}

// sameAccount reports whether two accounts are the same one, by their ids. An account whose id is
// not known is not the same as any.
func sameAccount(a, b githubapi.Actor) bool {
	return a.DatabaseID == b.DatabaseID && a.DatabaseID != 0
}

// ownObjects reads a list and returns our own objects in it: the token's own account, identified by
// its database id, wrote them, and their last line is a marker. A marker in somebody else's text
// means nothing. Check runs have no account and no marker: ours are those of the token's app. Among
// the reviews it also returns the account's pending one, because it blocks other reviews, no matter
// which run or program of the account began it. It has no key, and carries nothing yet.
//
// Issues are asked for by their author, because a repository can have thousands that
// changed meanwhile.
func ownObjects(ctx context.Context, gh *githubapi.Client, r githubapi.Repo, id listID, viewer ownAccount, since time.Time) ([]Object, error) {
	own := ownList{viewer: viewer}
	add := own.add
	switch id.what {
	case listAllComments, listAllReviewComments:
		since = time.Time{}
	case listEarlierIssues:
		since = since.Add(-reRunAge)
	}
	var err error
	switch id.what {
	case listIssues, listEarlierIssues:
		err = each(gh.ListIssues(ctx, r, githubapi.IssueFilter{Since: since, Creator: viewer.login, CreatedFrom: since}), func(i githubapi.Issue) {
			if !i.IsPull {
				add(i.Author, i.Body, issueObject(i))
			}
		})
	case listComments, listAllComments:
		err = each(gh.ListIssueComments(ctx, r, id.number, since), func(c githubapi.Comment) {
			add(c.Author, c.Body, commentObject(c, id.number))
		})
	case listReviews:
		err = each(gh.ListReviews(ctx, r, id.number), func(v githubapi.Review) {
			o := reviewObject(v, id.number)
			if v.State != githubapi.ReviewPending {
				add(v.Author, v.Body, o)
			} else if sameAccount(v.Author, viewer.Actor) {
				o.known = &known{pending: true, body: v.Body}
				own.found = append(own.found, o)
			}
		})
	case listReviewComments, listAllReviewComments:
		answered := map[int64]bool{}
		err = each(gh.ListReviewComments(ctx, r, id.number, since), func(c githubapi.DiffComment) {
			answered[c.InReplyTo] = true
			add(c.Author, c.Body, diffCommentObject(c, id.number))
		})
		own.answered(answered)
	case listCheckRuns:
		err = each(gh.ListCheckRuns(ctx, r, id.commit, id.name), func(k githubapi.CheckRun) {
			if k.App == "" || k.App != viewer.App() {
				return
			}
			o := checkRunObject(k)
			o.key, o.known.run, o.claim = readExternalID(k.ExternalID)
			own.found = append(own.found, o)
		})
	case listDiscussions:
		err = each(gh.ListDiscussions(ctx, r, since), func(d githubapi.Discussion) {
			add(d.Author, d.Body, discussionObject(d))
		})
	case listDiscussionComments:
		err = each(gh.ListDiscussionComments(ctx, r, id.number, since), func(c githubapi.DiscussionComment) {
			add(c.Author, c.Body, discussionCommentObject(c, id.number))
		})
	}
	return own.found, err
}

// ownList collects our own objects.
type ownList struct {
	viewer ownAccount
	found  []Object
}

// add adds an object if the token's own account wrote it and it has a marker.
func (l *ownList) add(author githubapi.Actor, body string, o Object) {
	if !sameAccount(author, l.viewer.Actor) {
		return
	}
	o.readKey(body)
	if o.key != "" {
		l.found = append(l.found, o)
	}
}

// answered notes which review comments have replies, by id.
func (l *ownList) answered(replied map[int64]bool) {
	for _, o := range l.found {
		if o.Type == objReviewComment && o.known != nil {
			o.known.answered = replied[o.ID]
		}
	}
}

// ownRecent returns our own objects among the newest ones. It leaves out reviews that are not
// submitted, and their comments, which carry nothing yet.
func ownRecent(r githubapi.Recent, viewer ownAccount) []Object {
	own := ownList{viewer: viewer}
	replied := map[int64]bool{}
	pending := map[int64]bool{}
	for number, reviews := range r.Reviews {
		for _, v := range reviews {
			if v.State == githubapi.ReviewPending {
				pending[v.ID] = true
				continue
			}
			own.add(v.Author, v.Body, reviewObject(v, number))
		}
	}
	for number, comments := range r.Comments {
		for _, c := range comments {
			replied[c.InReplyTo] = true
			if !pending[c.ReviewID] {
				own.add(c.Author, c.Body, diffCommentObject(c, number))
			}
		}
	}
	own.answered(replied)
	for _, d := range r.Discussions {
		own.add(d.Author, d.Body, discussionObject(d))
	}
	for number, comments := range r.InDiscussions {
		for _, c := range comments {
			own.add(c.Author, c.Body, discussionCommentObject(c, number))
		}
	}
	return own.found
}

// each calls f for each element of a list, up to the first error.
func each[T any](list iter.Seq2[T, error], f func(T)) error {
	for v, err := range list {
		if err != nil {
			return err
		}
		f(v)
	}
	return nil
}
