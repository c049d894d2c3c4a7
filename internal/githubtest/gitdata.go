package githubtest

import (
	"cmp"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
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

// errNoGit is the failure of GraphQL without Options.Git.
var errNoGit = errors.New("githubtest has no repository: give it Options.Git")

// storedCommit is a commit as git has it.
type storedCommit struct {
	sha, tree, message  string
	parents             []string
	author, committer   person
	authored, committed time.Time
}

// log reads the commits that git log lists with these arguments. They name commits by their ids,
// because the output is cached.
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
			committer: person{parts[6], parts[7]}, committed: seconds(parts[8]), message: strings.TrimRight(parts[9], "\n")})
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
	return okay(s.renderGitObject(list[0]))
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
	return page(s, c, list, func(a, b storedCommit) int { return cmp.Compare(b.committed.Unix(), a.committed.Unix()) }, func(k storedCommit) any { return s.renderCommit(k) })
}

// renderGitObject returns a commit as GitHub's git database API shows it.
func (s *Server) renderGitObject(k storedCommit) object {
	o := s.renderGitCommit(k)
	o["sha"], o["node_id"], o["html_url"] = k.sha, "C_"+k.sha, s.siteURL()+"/commit/"+k.sha
	o["parents"] = s.renderParents(k)
	return o
}

// renderCommit returns a commit as GitHub's commits API shows it.
func (s *Server) renderCommit(k storedCommit) object {
	u := s.repoURL() + "/commits/" + k.sha
	inner := s.renderGitCommit(k)
	inner["comment_count"] = 0
	return object{"sha": k.sha, "node_id": "C_" + k.sha, "url": u, "html_url": s.siteURL() + "/commit/" + k.sha, "comments_url": u + "/comments",
		"commit": inner, "author": nil, "committer": nil, "parents": s.renderParents(k)}
}

// renderGitCommit returns the part of a commit that both APIs show.
func (s *Server) renderGitCommit(k storedCommit) object {
	someone := func(p person, at time.Time) object {
		return object{"name": p.name, "email": p.email, "date": stamp(at)}
	}
	verification := object{"verified": false, "reason": "unsigned", "signature": nil, "payload": nil, "verified_at": nil}
	if s.verified[k.sha] {
		verification = object{"verified": true, "reason": "valid", "signature": "-----BEGIN PGP SIGNATURE-----", "payload": "tree " + k.tree, "verified_at": stamp(k.committed)}
	}
	return object{"url": s.repoURL() + "/git/commits/" + k.sha, "author": someone(k.author, k.authored), "committer": someone(k.committer, k.committed), "message": k.message,
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
	withoutOwner := func(name string) string { // a branch may have its owner in front: octo:main
		if owner, branch, ok := strings.Cut(name, ":"); ok && strings.EqualFold(owner, s.state.Repo.Owner) {
			return branch
		}
		return name
	}
	from, baseFound := s.o.Git.named(withoutOwner(base))
	to, headFound := s.o.Git.named(withoutOwner(head))
	if !ok || base == "" || head == "" || !baseFound || !headFound {
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
		changed = append(changed, s.renderFile(to, f))
	}
	baseCommit, mergeBase := ends[0], ends[len(ends)-1] // if they are the same commit, git lists it once
	html := s.siteURL() + "/compare/" + from + "..." + to
	return okay(object{"url": s.repoURL() + "/compare/" + from + "..." + to, "html_url": html, "permalink_url": html, "diff_url": html + ".diff", "patch_url": html + ".patch",
		"base_commit": s.renderCommit(baseCommit), "merge_base_commit": s.renderCommit(mergeBase), "status": status, "ahead_by": len(ahead), "behind_by": len(behind),
		"total_commits": len(ahead), "commits": commits, "files": changed})
}

// diff returns the files that differ between two commits, in the API's form.
func (g *Git) diff(from, to string) ([]File, error) {
	out, err := g.cachedOutput("diff", "--raw", "-p", "-M", "--no-ext-diff", "--no-textconv", "--no-color", from, to)
	if err != nil {
		return nil, err
	}
	raw, text, _ := strings.Cut(out, "\n\n")
	// No line within a hunk begins with "diff --git", so the text can be split there.
	patches := strings.Split("\n"+text, "\ndiff --git ")[1:]
	statuses := map[string]string{"A": "added", "D": "removed", "R": "renamed", "C": "copied", "T": "changed"}
	var list []File
	for line := range strings.Lines(raw) {
		// ":MODE MODE ID ID LETTER", then the path, which after a rename or copy is the earlier one, followed by the new one.
		entry, names, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		letter := entry[strings.LastIndexByte(entry, ' ')+1:][:1]
		f := File{Status: cmp.Or(statuses[letter], "modified")}
		earlier, path, renamed := strings.Cut(names, "\t")
		if renamed {
			f.PreviousPath = unquotePath(earlier)
			f.Path = unquotePath(path)
		} else {
			f.Path = unquotePath(names)
		}
		if _, hunks, ok := strings.Cut(patches[0], "\n@@ "); ok {
			f.Patch = "@@ " + strings.TrimSuffix(hunks, "\n")
		}
		patches = patches[1:]
		if letter == "T" {
			patches = patches[1:] // git shows a type change as two patches: a removal and an addition
		}
		list = append(list, f)
	}
	return list, nil
}

// unquotePath returns a path that git prints, which is in quotes where it has unusual characters.
func unquotePath(printed string) string {
	if path, err := strconv.Unquote(printed); err == nil {
		return path
	}
	return printed
}

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
	author := authorOf(c.account)
	args := []string{"-c", "user.name=" + author.name, "-c", "user.email=" + author.email, "commit-tree", in.Tree}
	for _, p := range in.Parents {
		args = append(args, "-p", p)
	}
	sha, err := s.o.Git.run(in.Message, args...)
	if err != nil {
		return fail(http.StatusUnprocessableEntity, "Tree SHA does not exist")
	}
	list, err := s.o.Git.log("-1", sha)
	if err != nil || len(list) != 1 {
		return s.violation(c.rec, "git failed", err)
	}
	return created(s.renderGitObject(list[0]))
}

// authorOf returns who an account is in the commits that it makes through the API.
func authorOf(a Account) person {
	return person{a.Login, fmt.Sprintf("%d+%s@users.noreply.github.com", a.ID, a.Login)}
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
			return s.entryNode(sha, name)
		}}}
}

// entryNode returns what a path of a commit names, with its content if that is a file; nil if there is
// no such path.
func (s *Server) entryNode(commit, name string) (*node, error) {
	found := s.o.Git.entries(commit, name)
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
}

// createCommitOnBranch commits to a branch as GitHub does: only if the branch is at the expected
// commit, every file with mode 100644, by the token's account, and signed.
func (s *Server) createCommitOnBranch(c *conversation, in map[string]any) (any, error) {
	refuse := func(typ, format string, args ...any) (any, error) {
		return nil, &gqlFailure{Type: typ, Message: fmt.Sprintf(format, args...)}
	}
	git := s.o.Git
	if git == nil {
		return nil, errNoGit
	}
	branch, _ := in["branch"].(map[string]any)
	name, _ := branch["branchName"].(string)
	repo, _ := branch["repositoryNameWithOwner"].(string)
	if !strings.EqualFold(repo, s.state.Repo.Owner+"/"+s.state.Repo.Name) {
		return refuse("NOT_FOUND", "Could not resolve to a Repository with the name '%s'.", repo)
	}
	head, ok := s.findRef("refs/heads/" + name)
	expected, _ := in["expectedHeadOid"].(string)
	switch {
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
	files, err := git.filesOf(changes, head.sha)
	if err != nil {
		return nil, err
	}
	message, _ := in["message"].(map[string]any)
	text, _ := message["headline"].(string)
	if body, _ := message["body"].(string); body != "" {
		text += "\n\n" + body
	}
	sha, err := git.commit(newCommit{branch: name, parent: head.sha, files: files, message: text, when: s.now(),
		author:    authorOf(c.account),
		committer: person{"GitHub", "noreply@github.com"}})
	if err != nil {
		return nil, err
	}
	s.verified[sha] = true
	return &node{typ: "CreateCommitOnBranchPayload", fields: object{"commit": &node{typ: "Commit", fields: object{"oid": sha, "url": s.siteURL() + "/commit/" + sha}}}}, nil
}

// filesOf returns the files that the fileChanges of createCommitOnBranch write and delete on top of
// a commit.
func (g *Git) filesOf(changes map[string]any, commit string) ([]GitFile, error) {
	var files []GitFile
	for _, d := range members(changes["deletions"]) {
		path, _ := d["path"].(string)
		if len(g.entries(commit, path)) == 0 {
			return nil, &gqlFailure{Type: "UNPROCESSABLE", Message: "A path was requested for deletion which does not exist as of commit oid `" + commit + "`"}
		}
		files = append(files, GitFile{Path: path, Mode: "0"})
	}
	for _, a := range members(changes["additions"]) {
		path, _ := a["path"].(string)
		encoded, _ := a["contents"].(string)
		data, err := base64.StdEncoding.DecodeString(encoded)
		if err != nil {
			return nil, &gqlFailure{Type: "UNPROCESSABLE", Message: "The contents of " + path + " are not Base64"}
		}
		files = append(files, GitFile{Path: path, Data: string(data)})
	}
	return files, nil
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
