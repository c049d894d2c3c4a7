package githubapi

import (
	"context"
	"regexp"
	"strings"

	"github.com/google/go-github/v60/github"
)

// FileOnRef is a text file at the top of the commit that a ref leads to.
type FileOnRef struct {
	Ref      string // complete, such as "refs/airlock/loops/7-1"
	Commit   string
	Headline string // the first line of the commit's message
	// Text is the file's content, "" if there is none or it was not asked for.
	Text string
	// Truncated reports that GitHub gives only the beginning of a long text.
	Truncated bool
}

// FilesOnRefs is what FilesOnRefs found.
type FilesOnRefs struct {
	Repository string // the repository's node id
	Files      []FileOnRef
}

const filesOnRefsQuery = `query FilesOnRefs($owner: String!, $name: String!, $prefix: String!, $containing: String, $file: String!, $withText: Boolean!, $after: String) {
  repository(owner: $owner, name: $name) {
    id
    refs(refPrefix: $prefix, query: $containing, first: 100, after: $after) {
      nodes { name target { ... on Commit {
        oid messageHeadline
        file(path: $file) @include(if: $withText) { object { ... on Blob { text isTruncated } } }
      } } }
      pageInfo { hasNextPage endCursor }
    }
  }
}`

// FilesOnRefs reads the refs below prefix, which ends in a slash, whose names contain a text,
// each with a file of its commit. With file "", only the refs are read.
func (c *Client) FilesOnRefs(ctx context.Context, r Repo, prefix, containing, file string) (FilesOnRefs, error) {
	op := reading(r, "read the refs %s*", asMessage(prefix+containing))
	var all FilesOnRefs
	withText := file != ""
	if !withText {
		file = "-"
	}
	for after := ""; ; {
		var out struct {
			Repository struct {
				ID   string
				Refs struct {
					Nodes []struct {
						Name   string
						Target struct {
							OID, MessageHeadline string
							File                 struct {
								Object struct {
									Text        string
									IsTruncated bool
								}
							}
						}
					}
					PageInfo pageInfo
				}
			}
		}
		err := c.query(ctx, op, filesOnRefsQuery, map[string]any{"owner": r.Owner, "name": r.Name, "prefix": prefix, "containing": containing,
			"file": file, "withText": withText, "after": cursorVariable(after)}, &out)
		if err != nil {
			return FilesOnRefs{}, err
		}
		all.Repository = out.Repository.ID
		if all.Repository == "" {
			return FilesOnRefs{}, op.unlike("it does not name the repository")
		}
		for _, n := range out.Repository.Refs.Nodes {
			if n.Name == "" || n.Target.OID == "" {
				return FilesOnRefs{}, op.unlike("an entry of the list is empty")
			}
			blob := n.Target.File.Object
			all.Files = append(all.Files, FileOnRef{Ref: prefix + n.Name, Commit: n.Target.OID, Headline: n.Target.MessageHeadline, Text: blob.Text, Truncated: blob.IsTruncated})
		}
		page := out.Repository.Refs.PageInfo
		if !page.HasNextPage || page.EndCursor == after {
			return all, nil
		}
		after = page.EndCursor
	}
}

// CommitFiles writes a commit that consists of the given files, at the top, and follows a
// parent; "" for none. No ref leads to it yet.
func (c *Client) CommitFiles(ctx context.Context, r Repo, files []Addition, message, parent string) (sha string, err error) {
	op := writing(r, "write %d files", len(files))
	op.slow, op.needs = true, "contents=write"
	entries := make([]*github.TreeEntry, len(files))
	for i, f := range files {
		if op.checkPath(f.Path); strings.Contains(f.Path, "/") {
			op.refuse("%q is not at the top of a tree", f.Path)
		}
		entries[i] = &github.TreeEntry{Path: github.String(f.Path), Mode: github.String("100644"), Type: github.String("blob"), Content: github.String(string(f.Data))}
	}
	tree, _, err := c.gh.Git.CreateTree(op.context(ctx), r.Owner, r.Name, "", entries)
	if err == nil && tree.GetSHA() == "" {
		return "", op.unlike("it names no tree")
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
		return "", op.unlike("it names no commit")
	}
	return made.GetSHA(), op.finish(err)
}

const updateRefsMutation = `mutation UpdateRefs($input: UpdateRefsInput!) { updateRefs(input: $input) { clientMutationId } }`

// NoCommit is the id that stands for a ref which does not exist.
const NoCommit = "0000000000000000000000000000000000000000"

// MoveRef moves a ref, which need not be a branch, from one commit to another, if it is there;
// from NoCommit, it is created. Any error leaves open why: what the ref leads to then, FilesOnRefs
// shows. repository is its node id.
func (c *Client) MoveRef(ctx context.Context, r Repo, repository, ref, before, after string) error {
	op := writing(r, "move %s", asMessage(ref)).checkCommit(before).checkCommit(after)
	op.needs = "contents=write"
	if !refForm.MatchString(ref) {
		op.refuse("%q is not the complete name of a ref", ref)
	}
	return c.query(ctx, op, updateRefsMutation, map[string]any{"input": map[string]any{"repositoryId": repository,
		"refUpdates": []any{map[string]any{"name": ref, "beforeOid": before, "afterOid": after}}}}, &struct{ UpdateRefs struct{} }{})
}

var refForm = regexp.MustCompile(`^refs(/[A-Za-z0-9_-]+){2,}$`)

// Permission is what a user may do with a repository.
type Permission struct {
	UserID int64
	Level  string // "admin", "write", "read" or "none"
}

func (p Permission) identified() bool { return p.UserID > 0 && p.Level != "" }

// GetPermission returns what a user may do at this moment. NotFound: there is no such user.
func (c *Client) GetPermission(ctx context.Context, r Repo, login string) (Permission, error) {
	op := reading(r, "read the permission of %s", asMessage(login))
	if login == "" || strings.ContainsAny(login, "/?#%") {
		op.refuse("%q is not the name of a user", login)
	}
	g, _, err := c.gh.Repositories.GetPermissionLevel(op.context(ctx), r.Owner, r.Name, login)
	return result(op, g, err, func(g *github.RepositoryPermissionLevel) Permission {
		return Permission{UserID: g.GetUser().GetID(), Level: g.GetPermission()}
	})
}

// GetIssueComment reads a comment in the conversation of an issue or pull request.
func (c *Client) GetIssueComment(ctx context.Context, r Repo, id int64) (Comment, error) {
	op := reading(r, "read the comment %d", id)
	g, _, err := c.gh.Issues.GetComment(op.context(ctx), r.Owner, r.Name, id)
	return result(op, g, err, commentOf)
}
