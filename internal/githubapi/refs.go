package githubapi

import (
	"cmp"
	"context"
	"errors"
	"strings"

	"github.com/google/go-github/v60/github"

	"github.com/agent-airlock/airlock/internal/branchname"
	"github.com/agent-airlock/airlock/internal/lazyregexp"
	"github.com/agent-airlock/airlock/internal/text"
)

// FileOnRef is a text file at the top of the commit that a ref leads to.
type FileOnRef struct {
	Ref      string // complete, such as "refs/airlock/loops/7-1"
	Commit   string // "" if the ref leads to something else, such as a blob or an annotated tag
	Headline string // the first line of the commit's message
	// Text is the file's content, "" if there is none or it was not asked for.
	Text string
	// Truncated reports that GitHub gives only the beginning of a long text.
	Truncated bool
}

// RefQuery names what FilesOnRefs reads.
type RefQuery struct {
	Prefix     string // of the refs, with a slash at its end
	Containing string // what the rest of their names contains
	File       string // the file that is read of each; "" for none
	Pull       int    // the pull request that is read with them; 0 for none
	Also       FileAt // a file that is read with them; the zero FileAt for none
}

// FileAt names a file of a commit.
type FileAt struct {
	Path   string
	Commit string // "" for the default branch's
}

// FilesOnRefs is what Client.FilesOnRefs found.
type FilesOnRefs struct {
	Repository string // the repository's node id
	Files      []FileOnRef
	Pull       *PullNow // nil unless it was asked for
	// Also is the content of the file that was asked for. It is nil where GitHub does not give it
	// this way: for a file that is not there, is long, is not text, or is a link. GetFile then
	// returns the content, or an error that says why there is none.
	Also *string
}

// PullNow is how a pull request stands, with the comments in its conversation.
type PullNow struct {
	State    string // "OPEN", "CLOSED" or "MERGED"
	Title    string
	Head     string // the commit
	CloneURL string // the address for git of the repository that the pull request is in
	Branch   string // the name of the branch that is to be merged
	Fork     bool   // that branch is in another repository
	// Comments are in the order in which they were written.
	Comments []CommentNow
}

// CommentNow is a comment as it is at this moment.
type CommentNow struct {
	ID     int64
	Body   string
	Author Actor
	IsUser bool // the author is a user, not a bot, and the account still exists
	Own    bool // the token's own account wrote it
	Edited bool
}

const pullNowFields = `    url
    pullRequest(number: $number) { state title headRefOid headRefName isCrossRepository
      comments(last: 100) { ...comments } }
`

const pullCommentFields = `fragment comments on IssueCommentConnection {
  nodes { fullDatabaseId body lastEditedAt viewerDidAuthor author { __typename ...actor } }
  pageInfo { hasPreviousPage startCursor }
}
` + actorFields

const olderCommentsQuery = `query OlderComments($owner: String!, $name: String!, $number: Int!, $before: String!) {
  repository(owner: $owner, name: $name) {
    pullRequest(number: $number) { comments(last: 100, before: $before) { ...comments } }
  }
}
` + pullCommentFields

const alsoFields = `    also: object(expression: $commit) { ... on Commit { file(path: $path) { mode object { ... on Blob { text byteSize isTruncated } } } } }
`

// document returns the GraphQL document of a query.
func (q RefQuery) document() string {
	var declarations, file, pull, fragment, also string // "" where the query has no such part
	if q.File != "" {
		file = " file(path: $file) { object { ... on Blob { text isTruncated } } }"
		declarations = ", $file: String!"
	}
	if q.Pull != 0 {
		declarations += ", $number: Int!"
		pull, fragment = pullNowFields, "\n"+pullCommentFields
	}
	if q.Also.Path != "" {
		declarations += ", $commit: String!, $path: String!"
		also = alsoFields
	}
	return `query FilesOnRefs($owner: String!, $name: String!, $prefix: String!, $containing: String, $after: String` + declarations + `) {
  repository(owner: $owner, name: $name) { id
` + pull + also + `    refs(refPrefix: $prefix, query: $containing, first: 100, after: $after) {
      nodes { name target { __typename ... on Commit { oid messageHeadline` + file + ` } } }
      pageInfo { hasNextPage endCursor } } }
}` + fragment
}

// FilesOnRefs reads refs, which need not be branches, each with a file of its commit, and the pull
// request and the other file that q names.
func (c *Client) FilesOnRefs(ctx context.Context, r Repo, q RefQuery) (FilesOnRefs, error) {
	op := reading(r, "read the refs %s*", asMessage(q.Prefix+q.Containing))
	var all FilesOnRefs
	for way := (trail{}); !way.ended; {
		variables := map[string]any{"owner": r.Owner, "name": r.Name, "prefix": q.Prefix, "containing": q.Containing, "after": cursorVariable(way.cursor)}
		if q.File != "" {
			variables["file"] = q.File
		}
		if q.Pull != 0 {
			op.checkNumber(q.Pull)
			variables["number"] = q.Pull
		}
		if q.Also.Path != "" {
			op.checkPath(q.Also.Path)
			variables["path"], variables["commit"] = q.Also.Path, cmp.Or(q.Also.Commit, "HEAD")
		}
		var out struct{ Repository refAnswer }
		if err := c.query(ctx, op, q.document(), variables, &out); err != nil {
			return FilesOnRefs{}, err
		}
		if err := out.Repository.addTo(&all, q); err != nil {
			return FilesOnRefs{}, op.unexpectedAnswer(err.Error())
		}
		if q.Pull != 0 {
			older, err := c.olderComments(ctx, r, q.Pull, out.Repository.PullRequest.Comments.nextOlder())
			if err != nil {
				return FilesOnRefs{}, err
			}
			all.Pull.Comments = append(older, all.Pull.Comments...)
		}
		if err := way.follow(op, out.Repository.Refs.PageInfo); err != nil {
			return FilesOnRefs{}, err
		}
		q.Pull, q.Also = 0, FileAt{} // further pages have only refs
	}
	return all, nil
}

// refAnswer is GitHub's answer to a RefQuery.
type refAnswer struct {
	ID, URL string
	Also    struct {
		File struct {
			Mode   int
			Object struct {
				Text        *string
				ByteSize    int
				IsTruncated bool
			}
		}
	}
	PullRequest *struct {
		State, Title, HeadRefOid, HeadRefName string
		IsCrossRepository                     bool
		Comments                              commentsAnswer
	}
	Refs connection[struct {
		Name   string
		Target struct {
			Typename             string `json:"__typename"`
			OID, MessageHeadline string // of a commit
			File                 struct {
				Object struct {
					Text        string
					IsTruncated bool
				}
			}
		}
	}]
}

// commentsAnswer is a page of a pull request's comments, which are read from the newest on.
type commentsAnswer struct {
	Nodes []struct {
		FullDatabaseID  int64 `json:",string"` // GraphQL gives ids of 64 bits as texts
		Body            string
		LastEditedAt    *string
		ViewerDidAuthor bool
		Author          struct {
			Typename   string `json:"__typename"`
			Login      string
			DatabaseID int64
		}
	}
	PageInfo *struct {
		HasPreviousPage bool
		StartCursor     string
	}
}

// comments returns the comments of the page.
func (a commentsAnswer) comments() (list []CommentNow, err error) {
	if a.Nodes == nil || a.PageInfo == nil {
		return nil, errors.New("the list of comments is missing")
	}
	for _, n := range a.Nodes {
		list = append(list, CommentNow{ID: n.FullDatabaseID, Body: n.Body, Author: Actor{n.Author.Login, n.Author.DatabaseID},
			IsUser: n.Author.Typename == "User", Own: n.ViewerDidAuthor, Edited: n.LastEditedAt != nil})
	}
	return list, nil
}

// nextOlder returns the place of the page with the next older comments, as an argument for
// trail.follow.
func (a commentsAnswer) nextOlder() pageInfo {
	return pageInfo{HasNextPage: a.PageInfo.HasPreviousPage, EndCursor: a.PageInfo.StartCursor}
}

// olderComments reads the comments of a pull request that are older than those of a page. next is
// that page's nextOlder.
func (c *Client) olderComments(ctx context.Context, r Repo, n int, next pageInfo) (older []CommentNow, err error) {
	op := reading(r, "list the comments of #%d", n)
	way := trail{}
	for {
		if err := way.follow(op, next); err != nil || way.ended {
			return older, err
		}
		var out struct {
			Repository struct {
				PullRequest struct{ Comments commentsAnswer }
			}
		}
		if err := c.query(ctx, op, olderCommentsQuery, map[string]any{"owner": r.Owner, "name": r.Name, "number": n, "before": way.cursor}, &out); err != nil {
			return nil, err
		}
		page := out.Repository.PullRequest.Comments
		list, err := page.comments()
		if err != nil {
			return nil, op.unexpectedAnswer(err.Error())
		}
		older = append(list, older...)
		next = page.nextOlder()
	}
}

// The modes of ordinary files, as git has them.
const (
	fileMode = 0o100644
	execMode = 0o100755
)

// addTo adds an answer to what was found.
func (a *refAnswer) addTo(all *FilesOnRefs, q RefQuery) error {
	if a.ID == "" {
		return errors.New("it does not name the repository")
	}
	all.Repository = a.ID
	for _, n := range a.Refs.Nodes {
		isOther := n.Target.Typename != "" && n.Target.Typename != "Commit"
		if n.Name == "" || n.Target.OID == "" && !isOther {
			return errors.New("an entry of the list is empty")
		}
		blob := n.Target.File.Object
		all.Files = append(all.Files, FileOnRef{Ref: q.Prefix + n.Name, Commit: n.Target.OID, Headline: n.Target.MessageHeadline, Text: blob.Text, Truncated: blob.IsTruncated})
	}
	if also := a.Also.File; q.Also.Path != "" && (also.Mode == fileMode || also.Mode == execMode) {
		// A text that GitHub has converted to UTF-8 has another length.
		if text := also.Object.Text; text != nil && !also.Object.IsTruncated && len(*text) == also.Object.ByteSize {
			all.Also = text
		}
	}
	if q.Pull == 0 {
		return nil
	}
	if a.PullRequest == nil || !branchname.IsObjectID(a.PullRequest.HeadRefOid) || a.URL == "" {
		return errors.New("it does not name the pull request and its head")
	}
	comments, err := a.PullRequest.Comments.comments()
	if err != nil {
		return err
	}
	all.Pull = &PullNow{State: a.PullRequest.State, Title: a.PullRequest.Title, Head: a.PullRequest.HeadRefOid, CloneURL: a.URL + ".git",
		Branch: a.PullRequest.HeadRefName, Fork: a.PullRequest.IsCrossRepository, Comments: comments}
	return nil
}

// CommitFiles writes a commit whose tree is the given files and nothing else, all of them at the top.
// parent is the commit before it, "" for none. No ref leads to the new commit yet.
func (c *Client) CommitFiles(ctx context.Context, r Repo, files []Addition, message, parent string) (sha string, err error) {
	op := writing(r, "write %s", text.Count(len(files), "file"))
	op.slow, op.needs = true, "contents=write"
	entries := make([]*github.TreeEntry, len(files))
	for i, f := range files {
		op.checkPath(f.Path)
		if strings.Contains(f.Path, "/") {
			op.refuse("%q is not at the top of a tree", f.Path)
		}
		entries[i] = &github.TreeEntry{Path: github.String(f.Path), Mode: github.String("100644"), Type: github.String("blob"), Content: github.String(string(f.Data))}
	}
	tree, _, err := c.gh.Git.CreateTree(op.context(ctx), r.Owner, r.Name, "", entries)
	if err == nil && tree.GetSHA() == "" {
		return "", op.unexpectedAnswer("it names no tree")
	}
	if err = op.finish(err); err != nil {
		return "", err
	}
	op = writing(r, "write a commit")
	op.needs = "contents=write"
	commit := &github.Commit{Message: &message, Tree: &github.Tree{SHA: tree.SHA}}
	if parent != "" {
		op.checkCommit(parent)
		commit.Parents = []*github.Commit{{SHA: &parent}}
	}
	made, _, err := c.gh.Git.CreateCommit(op.context(ctx), r.Owner, r.Name, commit, nil)
	if err == nil && made.GetSHA() == "" {
		return "", op.unexpectedAnswer("it names no commit")
	}
	return made.GetSHA(), op.finish(err)
}

const updateRefsMutation = `mutation UpdateRefs($input: UpdateRefsInput!) { updateRefs(input: $input) { clientMutationId } }`

// NoCommit is the id that stands for a ref which does not exist.
const NoCommit = "0000000000000000000000000000000000000000"

// MoveRef moves a ref, which need not be a branch, from the commit oldID to the commit newID, and fails
// if the ref leads to another commit than oldID. If oldID is NoCommit, it creates the ref. An error does
// not say which commit the ref leads to now; FilesOnRefs does. repository is the repository's node id.
// MoveRef refuses a ref that is not complete, or whose names have other characters than ASCII letters,
// digits, "_" and "-".
func (c *Client) MoveRef(ctx context.Context, r Repo, repository, ref, oldID, newID string) error {
	op := writing(r, "move %s", asMessage(ref)).checkCommit(oldID).checkCommit(newID)
	op.needs = "contents=write"
	if !refForm.MatchString(ref) {
		op.refuse("%q is not the complete name of a ref, with only letters, digits, \"_\" and \"-\" between its slashes", ref)
	}
	var out struct{ UpdateRefs *struct{} }
	err := c.query(ctx, op, updateRefsMutation, map[string]any{"input": map[string]any{"repositoryId": repository,
		"refUpdates": []any{map[string]any{"name": ref, "beforeOid": oldID, "afterOid": newID}}}}, &out)
	if err == nil && out.UpdateRefs == nil {
		return op.unexpectedAnswer("it does not show that the ref was moved")
	}
	return err
}

// refForm matches the complete names of the refs that MoveRef takes.
var refForm = lazyregexp.New(`^refs(/[A-Za-z0-9_-]+){2,}$`)
