package githubtest

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"
)

func (s *Server) renderRef(r ref) object {
	kind := "commits"
	if r.kind != "commit" {
		kind = "tags"
	}
	return object{"ref": r.name, "node_id": "REF_" + r.name, "url": s.repoURL() + "/git/" + r.name,
		"object": object{"type": r.kind, "sha": r.sha, "url": s.repoURL() + "/git/" + kind + "/" + r.sha}}
}

// findRef returns the ref of exactly this name.
func (s *Server) findRef(name string) (ref, bool) {
	refs, err := s.o.Git.refs()
	found := find(refs, func(r ref) bool { return r.name == name })
	return found, err == nil && found.name != ""
}

func (s *Server) getRef(c *conversation) reply {
	r, ok := s.findRef("refs/" + c.params["ref"])
	if !ok {
		return notFound()
	}
	return okay(s.renderRef(r))
}

// listRefs lists all refs that begin with the path's name, on one page.
func (s *Server) listRefs(c *conversation) reply {
	refs, err := s.o.Git.refs()
	if err != nil {
		return s.violation(c.rec, "git failed", err)
	}
	out := []object{}
	for _, r := range refs {
		if strings.HasPrefix(r.name, "refs/"+c.params["ref"]) {
			out = append(out, s.renderRef(r))
		}
	}
	return okay(out)
}

func (s *Server) createRef(c *conversation) reply {
	var in struct{ Ref, SHA string }
	decode(c, &in)
	_, err := s.o.Git.run("", "check-ref-format", in.Ref)
	complete := strings.HasPrefix(in.Ref, "refs/") && strings.Count(in.Ref, "/") >= 2
	if err != nil || !complete {
		return fail(http.StatusUnprocessableEntity, in.Ref+" is not a valid ref name.")
	}
	if _, exists := s.findRef(in.Ref); exists {
		return fail(http.StatusUnprocessableEntity, "Reference already exists")
	}
	if r, protected := s.protects(in.Ref); protected {
		return r
	}
	if _, err := s.o.Git.resolve(in.SHA); err != nil {
		return fail(http.StatusUnprocessableEntity, "Object does not exist")
	}
	if _, err := s.o.Git.run("", "update-ref", in.Ref, in.SHA); err != nil {
		return fail(http.StatusUnprocessableEntity, "Reference update failed") // for example for a/b if there is a branch a
	}
	r := created(s.renderRef(ref{in.Ref, in.SHA, "commit"}))
	r.header = http.Header{"Location": {s.repoURL() + "/git/" + in.Ref}}
	return r
}

// protects reports whether only pull requests may change a branch, and returns the answer that
// refuses to create it.
func (s *Server) protects(name string) (reply, bool) {
	branch, _ := strings.CutPrefix(name, "refs/heads/")
	switch {
	case matches(s.state.Repo.Protected, branch):
		return fail(http.StatusUnprocessableEntity, "Reference update failed"), true
	case matches(s.state.Repo.Ruled, branch):
		return fail(http.StatusUnprocessableEntity, "Repository rule violations found\n\n"+byPull+"\n\n"), true
	}
	return reply{}, false
}

// matches reports whether a branch has one of the names, or matches one of the patterns, in
// which "*" stands for any text without a slash.
func matches(patterns []string, branch string) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool {
		ok, err := path.Match(pattern, branch)
		return pattern == branch || err == nil && ok
	})
}

func (s *Server) getBranch(c *conversation) reply {
	name := c.params["branch"]
	r, ok := s.findRef("refs/heads/" + name)
	if !ok {
		return fail(http.StatusNotFound, "Branch not found")
	}
	list, err := s.o.Git.log("-1", r.sha, "--")
	if err != nil || len(list) != 1 {
		return s.violation(c.rec, "git failed", errors.Join(err, errors.New("no such commit")))
	}
	address := s.repoURL() + "/branches/" + url.PathEscape(name)
	protected := matches(s.state.Repo.Protected, name) || matches(s.state.Repo.Ruled, name)
	return okay(object{"name": name, "commit": s.renderCommit(list[0]), "protected": protected, "protection": object{"enabled": protected},
		"protection_url": address + "/protection", "_links": object{"self": address, "html": s.siteURL() + "/tree/" + name}})
}

// getBranchRules lists the rules for a branch, even if the branch does not exist.
func (s *Server) getBranchRules(c *conversation) reply {
	kinds, rules := []string{}, []object{}
	if s.state.Repo.NoForce {
		kinds = append(kinds, "non_fast_forward")
	}
	if matches(s.state.Repo.Ruled, c.params["branch"]) {
		kinds = append(kinds, "deletion", "pull_request")
	}
	for _, kind := range kinds {
		rules = append(rules, object{"type": kind, "ruleset_source_type": "Repository", "ruleset_source": s.state.Repo.Owner + "/" + s.state.Repo.Name, "ruleset_id": 1})
	}
	return page(s, c, rules, func(_, _ object) int { return 0 }, func(rule object) any { return rule })
}

// noObject is the id that stands for no object.
const noObject = "0000000000000000000000000000000000000000"

// updateRefs creates, moves and deletes refs, all or none. Each must be where the request expects
// it to be, if the request says where.
func (s *Server) updateRefs(_ *conversation, in map[string]any) (any, error) {
	if s.o.Git == nil {
		return nil, errNoGit
	}
	if in["repositoryId"] != nodeID("R", s.state.Repo.ID) {
		return nil, missingNode(in["repositoryId"])
	}
	commands := "start\n"
	for _, u := range members(in["refUpdates"]) {
		command, err := s.refCommand(u)
		if err != nil {
			return nil, err
		}
		commands += command
	}
	commands += "prepare\ncommit\n"
	if _, err := s.o.Git.run(commands, "update-ref", "--stdin"); err != nil {
		return nil, &gqlFailure{Type: "UNPROCESSABLE", Message: "A reference cannot be updated"}
	}
	return &node{typ: "UpdateRefsPayload", fields: object{"clientMutationId": nil}}, nil
}

// refCommand returns the line for git update-ref --stdin that does what an entry of refUpdates asks
// for, or the reason for which GitHub refuses it.
func (s *Server) refCommand(update map[string]any) (string, error) {
	refuse := func(format string, args ...any) (string, error) {
		return "", &gqlFailure{Type: "UNPROCESSABLE", Message: fmt.Sprintf(format, args...)}
	}
	name, _ := update["name"].(string)
	before, conditional := update["beforeOid"].(string)
	after, _ := update["afterOid"].(string)
	force, _ := update["force"].(bool)
	deletes := after == noObject
	if _, protected := s.protects(name); protected {
		return refuse("%s", byPull)
	}
	if !deletes {
		if _, err := s.o.Git.resolve(after); err != nil {
			return refuse("Object %s does not exist", after)
		}
	}
	old, exists := s.findRef(name)
	if conditional && cmp.Or(old.sha, noObject) != before {
		return refuse("Reference %s does not point to %s", name, before)
	}
	if deletes {
		return "delete " + name + "\n", nil
	}
	if exists && !force && !s.o.Git.descends(after, old.sha) {
		return refuse("Update of %s is not a fast forward", name)
	}
	return "update " + name + " " + after + "\n", nil
}

// refNodes lists the refs below the argument refPrefix, if the rest of their name contains the
// argument query.
func (s *Server) refNodes(args map[string]any) (any, error) {
	if s.o.Git == nil {
		return nil, errNoGit
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
		if !below || !strings.Contains(name, query) {
			continue
		}
		target := &node{typ: map[string]string{"tag": "Tag", "tree": "Tree", "blob": "Blob"}[r.kind], fields: object{"oid": r.sha}}
		if r.kind == "commit" {
			target = s.commitNode(r.sha)
		}
		list = append(list, &node{typ: "Ref", fields: object{"id": name, "name": name, "target": target}})
	}
	return connection("RefConnection", list, args), nil
}
