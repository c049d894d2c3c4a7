package githubtest

import (
	"cmp"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"
)

// withGit returns a handler that answers from the git repository, with status 409 while that is
// empty.
func withGit(h handler) handler {
	return func(s *Server, c *conversation) reply {
		if s.o.Git == nil {
			return s.violation(c.rec, "the test server has no repository", errors.New("give it Options.Git"))
		}
		isBranch := func(r ref) bool { return strings.HasPrefix(r.name, "refs/heads/") }
		if refs, err := s.o.Git.refs(); err == nil && !slices.ContainsFunc(refs, isBranch) {
			return fail(http.StatusConflict, "Git Repository is empty.")
		}
		return h(s, c)
	}
}

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
	i := slices.IndexFunc(refs, func(r ref) bool { return r.name == name })
	if err != nil || i < 0 {
		return ref{}, false
	}
	return refs[i], true
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
	if _, err := s.o.Git.run("", "check-ref-format", in.Ref); err != nil || !strings.HasPrefix(in.Ref, "refs/") || strings.Count(in.Ref, "/") < 2 {
		return fail(http.StatusUnprocessableEntity, in.Ref+" is not a valid ref name.")
	}
	if _, exists := s.findRef(in.Ref); exists {
		return fail(http.StatusUnprocessableEntity, "Reference already exists")
	}
	return s.writeRef(in.Ref, in.SHA, "Reference update failed", created)
}

func (s *Server) updateRef(c *conversation) reply {
	var in struct {
		SHA   string
		Force bool
	}
	decode(c, &in)
	old, exists := s.findRef("refs/" + c.params["ref"])
	if !exists {
		return fail(http.StatusUnprocessableEntity, "Reference does not exist")
	}
	if _, err := s.o.Git.resolve(in.SHA); err == nil && !in.Force && !s.o.Git.descends(in.SHA, old.sha) {
		return fail(http.StatusUnprocessableEntity, "Update is not a fast forward")
	}
	return s.writeRef(old.name, in.SHA, byPull, okay)
}

// writeRef moves a ref to a commit. If the branch is protected, it refuses that with the given
// message.
func (s *Server) writeRef(name, sha, protected string, answer func(any) reply) reply {
	if r, bad := s.protects(name, protected); bad {
		return r
	}
	if _, err := s.o.Git.resolve(sha); err != nil {
		return fail(http.StatusUnprocessableEntity, "Object does not exist")
	}
	if _, err := s.o.Git.run("", "update-ref", name, sha); err != nil {
		return fail(http.StatusUnprocessableEntity, "Reference update failed") // a/b where there is a, for example
	}
	r := answer(s.renderRef(ref{name, sha, "commit"}))
	r.header = http.Header{"Location": {s.repoURL() + "/git/" + name}}
	return r
}

func (s *Server) deleteRef(c *conversation) reply {
	name := "refs/" + c.params["ref"]
	if _, exists := s.findRef(name); !exists {
		return fail(http.StatusUnprocessableEntity, "Reference does not exist")
	}
	if r, bad := s.protects(name, "Cannot delete this protected branch"); bad {
		return r
	}
	if _, err := s.o.Git.run("", "update-ref", "-d", name); err != nil {
		return s.violation(c.rec, "git failed", err)
	}
	return reply{status: http.StatusNoContent}
}

// protects returns the refusal of a write to a branch that only pull requests may change; ok is
// false for any other branch.
func (s *Server) protects(name, message string) (reply, bool) {
	branch, _ := strings.CutPrefix(name, "refs/heads/")
	switch {
	case matches(s.state.Repo.Protected, branch):
		return fail(http.StatusUnprocessableEntity, message), true
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

// getBranchRules lists the rules for a branch, whether there is one or not.
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

// storedCommit is a commit as git has it.
type storedCommit struct {
	sha, tree, message string
	parents            []string
	author, committer  person
	authored, when     time.Time
}

// log reads the commits that git log lists with these arguments, which name commits by
// their ids.
func (g *Git) log(args ...string) ([]storedCommit, error) {
	const fields = 10
	out, err := g.cachedOutput(append([]string{"log", "-z", "--format=%H%x00%T%x00%P%x00%an%x00%ae%x00%at%x00%cn%x00%ce%x00%ct%x00%B"}, args...)...)
	if err != nil || out == "" {
		return nil, err
	}
	parts := strings.Split(strings.TrimSuffix(out, "\x00"), "\x00")
	var list []storedCommit
	for ; len(parts) >= fields; parts = parts[fields:] {
		list = append(list, storedCommit{sha: parts[0], tree: parts[1], parents: strings.Fields(parts[2]), author: person{parts[3], parts[4]}, authored: seconds(parts[5]),
			committer: person{parts[6], parts[7]}, when: seconds(parts[8]), message: strings.TrimRight(parts[9], "\n")})
	}
	return list, nil
}

func seconds(text string) time.Time {
	n, _ := strconv.ParseInt(text, 10, 64)
	return time.Unix(n, 0)
}

func (s *Server) getCommit(c *conversation) reply {
	sha, err := s.o.Git.resolve(c.params["commit_sha"])
	if err != nil || sha != c.params["commit_sha"] {
		return notFound()
	}
	list, err := s.o.Git.log("-1", sha, "--")
	if err != nil || len(list) != 1 {
		return notFound()
	}
	o := s.renderGitCommit(list[0])
	o["sha"], o["node_id"], o["html_url"] = list[0].sha, "C_"+list[0].sha, s.siteURL()+"/commit/"+list[0].sha
	o["parents"] = s.renderParents(list[0])
	return okay(o)
}

// listCommits lists the history of a branch, a tag or a commit.
func (s *Server) listCommits(c *conversation) reply {
	sha, ok := s.o.Git.named(c.query.Get("sha"))
	if !ok {
		return notFound()
	}
	args := []string{sha, "--"}
	if path := c.query.Get("path"); path != "" {
		args = append(args, ":(literal)"+path)
	}
	list, err := s.o.Git.log(args...)
	if err != nil {
		return s.violation(c.rec, "git failed", err)
	}
	return page(s, c, list, func(a, b storedCommit) int { return cmp.Compare(b.when.Unix(), a.when.Unix()) }, func(k storedCommit) any { return s.renderCommit(k) })
}

// renderCommit returns a commit as GitHub's commits API shows it.
func (s *Server) renderCommit(k storedCommit) object {
	u := s.repoURL() + "/commits/" + k.sha
	inner := s.renderGitCommit(k)
	inner["comment_count"] = 0
	return object{"sha": k.sha, "node_id": "C_" + k.sha, "url": u, "html_url": s.siteURL() + "/commit/" + k.sha, "comments_url": u + "/comments",
		"commit": inner, "author": nil, "committer": nil, "parents": s.renderParents(k)}
}

// renderGitCommit returns the part of a commit that is in git itself.
func (s *Server) renderGitCommit(k storedCommit) object {
	someone := func(p person, at time.Time) object {
		return object{"name": p.name, "email": p.email, "date": stamp(at)}
	}
	verification := object{"verified": false, "reason": "unsigned", "signature": nil, "payload": nil, "verified_at": nil}
	if s.verified[k.sha] {
		verification = object{"verified": true, "reason": "valid", "signature": "-----BEGIN PGP SIGNATURE-----", "payload": "tree " + k.tree, "verified_at": stamp(k.when)}
	}
	return object{"url": s.repoURL() + "/git/commits/" + k.sha, "author": someone(k.author, k.authored), "committer": someone(k.committer, k.when), "message": k.message,
		"tree": object{"sha": k.tree, "url": s.repoURL() + "/git/trees/" + k.tree}, "verification": verification}
}

func (s *Server) renderParents(k storedCommit) []object {
	out := []object{}
	for _, p := range k.parents {
		out = append(out, object{"sha": p, "url": s.repoURL() + "/commits/" + p, "html_url": s.siteURL() + "/commit/" + p})
	}
	return out
}

// compare answers how two commits relate, with the first 300 files that differ, and with the
// first 250 commits or a page of them.
func (s *Server) compare(c *conversation) reply {
	base, head, ok := strings.Cut(c.params["basehead"], "...")
	own := func(name string) string {
		if owner, branch, ok := strings.Cut(name, ":"); ok && strings.EqualFold(owner, s.state.Repo.Owner) {
			return branch
		}
		return name
	}
	from, found := s.o.Git.named(own(base))
	to, found2 := s.o.Git.named(own(head))
	if !ok || base == "" || head == "" || !found || !found2 {
		return notFound()
	}
	fork, err := s.o.Git.mergeBase(from, to)
	if err != nil {
		return fail(http.StatusNotFound, fmt.Sprintf("No common ancestor between %s and %s.", base, head))
	}
	ahead, err := s.o.Git.log("--reverse", from+".."+to, "--")
	behind, err2 := s.o.Git.log(to+".."+from, "--")
	ends, err3 := s.o.Git.log("--no-walk=unsorted", from, fork, "--")
	files, err4 := s.o.Git.diff(fork, to)
	for _, err := range []error{err, err2, err3, err4} {
		if err != nil {
			return s.violation(c.rec, "git failed", err)
		}
	}
	status := "diverged"
	switch {
	case len(ahead)+len(behind) == 0:
		status = "identical"
	case len(behind) == 0:
		status = "ahead"
	case len(ahead) == 0:
		status = "behind"
	}
	commits := []object{}
	first, last := 0, min(250, len(ahead))
	if c.query.Has("page") || c.query.Has("per_page") {
		perPage, number := min(intQuery(c.query, "per_page", 30), 100), intQuery(c.query, "page", 1)
		first = min((number-1)*perPage, len(ahead))
		last = min(first+perPage, len(ahead))
	}
	for _, k := range ahead[first:last] {
		commits = append(commits, s.renderCommit(k))
	}
	changed := []object{}
	for _, f := range files[:min(300, len(files))] {
		changed = append(changed, s.renderFile(&Pull{Head: Branch{SHA: to}}, f))
	}
	html := s.siteURL() + "/compare/" + from + "..." + to
	return okay(object{"url": s.repoURL() + "/compare/" + from + "..." + to, "html_url": html, "permalink_url": html, "diff_url": html + ".diff", "patch_url": html + ".patch",
		"base_commit": s.renderCommit(ends[0]), "merge_base_commit": s.renderCommit(ends[len(ends)-1]), "status": status, "ahead_by": len(ahead), "behind_by": len(behind),
		"total_commits": len(ahead), "commits": commits, "files": changed})
}

// diff returns the files that differ between two commits, in the API's form.
func (g *Git) diff(from, to string) ([]File, error) {
	raw, err := g.cachedOutput("diff", "--raw", "-z", "-M", "--no-ext-diff", from, to)
	if err != nil {
		return nil, err
	}
	text, err := g.cachedOutput("diff", "-p", "-M", "--no-ext-diff", "--no-textconv", "--no-color", from, to)
	if err != nil {
		return nil, err
	}
	// No line within a hunk begins with "diff --git", so the text can be split there.
	patches := strings.Split("\n"+text, "\ndiff --git ")[1:]
	statuses := map[byte]string{'A': "added", 'D': "removed", 'R': "renamed", 'C': "copied", 'T': "changed"}
	var list []File
	parts := strings.Split(raw, "\x00")
	for len(parts) > 1 {
		letter := parts[0][strings.LastIndexByte(parts[0], ' ')+1]
		f := File{Path: parts[1], Status: statuses[letter]}
		if f.Status == "" {
			f.Status = "modified"
		}
		parts = parts[2:]
		if letter == 'R' || letter == 'C' {
			f.PreviousPath, f.Path, parts = f.Path, parts[0], parts[1:]
		}
		if _, hunks, ok := strings.Cut(patches[0], "\n@@ "); ok {
			f.Patch = "@@ " + strings.TrimSuffix(hunks, "\n")
		}
		patches = patches[1:]
		if letter == 'T' {
			patches = patches[1:] // git shows a type change as two patches: a removal and an addition
		}
		list = append(list, f)
	}
	return list, nil
}

// createCommitOnBranch commits to a branch as GitHub does: only if the branch is at the expected
// commit, every file with mode 100644, by the token's account, and signed.
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
	case matches(s.state.Repo.Protected, name):
		return refuse("BRANCH_PROTECTION_RULE_VIOLATION", "%s", byPull)
	case matches(s.state.Repo.Ruled, name):
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

// members returns the entries of a list of objects.
func members(v any) []map[string]any {
	list, _ := v.([]any)
	out := make([]map[string]any, 0, len(list))
	for _, e := range list {
		m, _ := e.(map[string]any)
		out = append(out, m)
	}
	return out
}
