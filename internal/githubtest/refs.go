package githubtest

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// createTree writes a tree of files whose content is given.
func (s *Server) createTree(c *conversation) reply {
	var in struct {
		Tree []struct{ Path, Mode, Type, SHA, Content string }
		Base string `json:"base_tree"`
	}
	decode(c, &in)
	if in.Base != "" {
		return s.violation(c.rec, "a tree on top of another is not served", fmt.Errorf("base_tree %s", in.Base))
	}
	var listing strings.Builder
	entries := []object{}
	for _, e := range in.Tree {
		if e.Path == "" || strings.Contains(e.Path, "/") || e.SHA != "" {
			return s.violation(c.rec, "only files at the top, with their content, are served", fmt.Errorf("path %q", e.Path))
		}
		blob, err := s.o.Git.writeBlob(e.Content)
		if err != nil {
			return s.violation(c.rec, "git failed", err)
		}
		mode := cmp.Or(e.Mode, "100644")
		fmt.Fprintf(&listing, "%s blob %s\t%s\n", mode, blob, e.Path)
		entries = append(entries, object{"path": e.Path, "mode": mode, "type": "blob", "sha": blob, "size": len(e.Content), "url": s.repoURL() + "/git/blobs/" + blob})
	}
	sha, err := s.o.Git.run(listing.String(), "mktree")
	if err != nil {
		return s.violation(c.rec, "git failed", err)
	}
	return created(object{"sha": sha, "url": s.repoURL() + "/git/trees/" + sha, "tree": entries, "truncated": false})
}

// createCommit writes a commit that no ref leads to yet.
func (s *Server) createCommit(c *conversation) reply {
	var in struct {
		Message, Tree string
		Parents       []string
	}
	decode(c, &in)
	args := []string{"-c", "user.name=" + c.account.Login, "-c", "user.email=" + fmt.Sprintf("%d+%s@users.noreply.github.com", c.account.ID, c.account.Login), "commit-tree", in.Tree}
	for _, p := range in.Parents {
		args = append(args, "-p", p)
	}
	sha, err := s.o.Git.run(in.Message, args...)
	if err != nil {
		return fail(422, "Tree SHA does not exist")
	}
	list, err := s.o.Git.log("-1", sha)
	if err != nil || len(list) != 1 {
		return s.violation(c.rec, "git failed", err)
	}
	out := s.renderGitCommit(list[0])
	out["sha"], out["node_id"], out["parents"] = sha, "C_"+sha, s.renderParents(list[0])
	out["html_url"] = s.siteURL() + "/commit/" + sha
	return created(out)
}

// noObject is the id that stands for no object.
const noObject = "0000000000000000000000000000000000000000"

// updateRefs moves refs, all or none, if each is where it is said to be.
func (s *Server) updateRefs(_ *conversation, in map[string]any) (any, error) {
	if s.o.Git == nil {
		return nil, fmt.Errorf("githubtest has no repository: give it Options.Git")
	}
	if in["repositoryId"] != nodeID("R", s.state.Repo.ID) {
		return nil, missingNode(in["repositoryId"])
	}
	var commands strings.Builder
	commands.WriteString("start\n")
	for _, u := range members(in["refUpdates"]) {
		name, _ := u["name"].(string)
		before, conditional := u["beforeOid"].(string)
		after, _ := u["afterOid"].(string)
		if _, bad := s.protects(name, byPull); bad {
			return nil, &gqlFailure{Type: "UNPROCESSABLE", Message: byPull}
		}
		if after != noObject {
			if _, err := s.o.Git.resolve(after); err != nil {
				return nil, &gqlFailure{Type: "UNPROCESSABLE", Message: "Object " + after + " does not exist"}
			}
		}
		old, exists := s.findRef(name)
		if conditional && cmp.Or(old.sha, noObject) != before {
			return nil, &gqlFailure{Type: "UNPROCESSABLE", Message: fmt.Sprintf("Reference %s does not point to %s", name, before)}
		}
		force, _ := u["force"].(bool)
		if exists && !force && after != noObject {
			if !s.o.Git.descends(after, old.sha) {
				return nil, &gqlFailure{Type: "UNPROCESSABLE", Message: "Update of " + name + " is not a fast forward"}
			}
		}
		if after == noObject {
			fmt.Fprintf(&commands, "delete %s\n", name)
		} else {
			fmt.Fprintf(&commands, "update %s %s\n", name, after)
		}
	}
	commands.WriteString("prepare\ncommit\n")
	if _, err := s.o.Git.run(commands.String(), "update-ref", "--stdin"); err != nil {
		return nil, &gqlFailure{Type: "UNPROCESSABLE", Message: "A reference cannot be updated"}
	}
	return &node{typ: "UpdateRefsPayload", fields: object{"clientMutationId": nil}}, nil
}

// refNodes lists the refs below a prefix whose name contains a text.
func (s *Server) refNodes(args map[string]any) (any, error) {
	if s.o.Git == nil {
		return nil, fmt.Errorf("githubtest has no repository: give it Options.Git")
	}
	prefix, _ := args["refPrefix"].(string)
	query, _ := args["query"].(string)
	refs, err := s.o.Git.refs()
	if err != nil {
		return nil, err
	}
	var list []*node
	for _, r := range refs {
		name, below := strings.CutPrefix(r.name, prefix)
		if !below || !strings.Contains(name, query) || r.kind != "commit" {
			continue
		}
		list = append(list, &node{typ: "Ref", fields: object{"name": name, "target": s.commitNode(r.sha)}})
	}
	return connection("RefConnection", list, args, func(n *node) string { return n.fields["name"].(string) }), nil
}

// commitNode returns a commit with its files.
func (s *Server) commitNode(sha string) *node {
	headline := ""
	if list, err := s.o.Git.log("-1", sha); err == nil && len(list) == 1 {
		headline, _, _ = strings.Cut(strings.TrimLeft(list[0].message, "\n"), "\n\n")
	}
	return &node{typ: "Commit", fields: object{"oid": sha, "messageHeadline": strings.ReplaceAll(headline, "\n", " "),
		"file": func(args map[string]any) (any, error) {
			name, _ := args["path"].(string)
			found := s.o.Git.entries(sha, name)
			if len(found) != 1 {
				return nil, nil //nolint:nilnil // there is no such file
			}
			mode, err := strconv.ParseInt(found[0].mode, 8, 32)
			if err != nil {
				return nil, err
			}
			entry := object{"mode": mode}
			if text, err := s.o.Git.blob(found[0].sha); err == nil {
				const most = 512 << 10 // GitHub truncates longer texts
				blob := object{"text": text[:min(len(text), most)], "isTruncated": len(text) > most, "byteSize": len(text)}
				if !utf8.ValidString(text) || strings.ContainsRune(text, 0) {
					blob["text"] = nil
				}
				entry["object"] = &node{typ: "Blob", fields: blob}
			}
			return &node{typ: "TreeEntry", fields: entry}, nil
		}}}
}
