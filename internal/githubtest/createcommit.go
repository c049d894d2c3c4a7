package githubtest

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
)

// createCommitOnBranch commits to a branch as GitHub does: only where the branch
// is where it was expected, every file with mode 100644, by the token's account,
// and signed.
func (s *Server) createCommitOnBranch(c *conversation, in map[string]any) (any, error) {
	refuse := func(typ, format string, args ...any) (any, error) {
		return nil, &gqlFailure{Type: typ, Message: fmt.Sprintf(format, args...)}
	}
	git := s.o.Git
	if git == nil {
		return nil, fmt.Errorf("githubtest has no repository: give it Options.Git")
	}
	branch, _ := in["branch"].(map[string]any)
	name, _ := branch["branchName"].(string)
	repo, _ := branch["repositoryNameWithOwner"].(string)
	if !strings.EqualFold(repo, s.state.Repo.Owner+"/"+s.state.Repo.Name) {
		return refuse("NOT_FOUND", "Could not resolve to a Repository with the name '%s'.", repo)
	}
	head, ok := s.findRef("refs/heads/" + name)
	switch expected, _ := in["expectedHeadOid"].(string); {
	case !ok:
		return refuse("NOT_FOUND", "No ref matching \"refs/heads/%s\" found", name)
	case slices.Contains(s.state.Repo.Protected, name):
		return refuse("BRANCH_PROTECTION_RULE_VIOLATION", "%s", byPull)
	case slices.Contains(s.state.Repo.Ruled, name):
		return refuse("UNPROCESSABLE", "Repository rule violations found\n\n%s\n\n", byPull)
	case expected != head.sha:
		return refuse("STALE_DATA", "Expected branch to point to %q but it did not.  Pull and try again.", expected)
	}
	changes, _ := in["fileChanges"].(map[string]any)
	var files []GitFile
	for _, d := range members(changes["deletions"]) {
		path, _ := d["path"].(string)
		if len(git.entries(head.sha, path)) == 0 {
			return refuse("UNPROCESSABLE", "A path was requested for deletion which does not exist as of commit oid `%s`", head.sha)
		}
		files = append(files, GitFile{Path: path, Mode: "0"})
	}
	for _, a := range members(changes["additions"]) {
		path, _ := a["path"].(string)
		encoded, _ := a["contents"].(string)
		data, err := base64.StdEncoding.DecodeString(encoded)
		if err != nil {
			return refuse("UNPROCESSABLE", "The contents of %s are not Base64", path)
		}
		files = append(files, GitFile{Path: path, Data: string(data)})
	}
	message, _ := in["message"].(map[string]any)
	text, _ := message["headline"].(string)
	if body, _ := message["body"].(string); body != "" {
		text += "\n\n" + body
	}
	sha, err := git.commit(newCommit{branch: name, parent: head.sha, files: files, message: text, when: s.now(),
		author:    person{c.account.Login, fmt.Sprintf("%d+%s@users.noreply.github.com", c.account.ID, c.account.Login)},
		committer: person{"GitHub", "noreply@github.com"}})
	if err != nil {
		return nil, err
	}
	s.verified[sha] = true
	return &node{typ: "CreateCommitOnBranchPayload", fields: object{"commit": &node{typ: "Commit", fields: object{"oid": sha, "url": s.siteURL() + "/commit/" + sha}}}}, nil
}

// members are the entries of a list of objects.
func members(v any) []map[string]any {
	list, _ := v.([]any)
	out := make([]map[string]any, 0, len(list))
	for _, e := range list {
		m, _ := e.(map[string]any)
		out = append(out, m)
	}
	return out
}
