package githubtest

import (
	"cmp"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// storedCommit is a commit as git has it.
type storedCommit struct {
	sha, tree, message string
	parents            []string
	author, committer  person
	authored, when     time.Time
}

// log reads the commits that git log lists with these arguments.
func (g *Git) log(args ...string) ([]storedCommit, error) {
	const fields = 10
	out, err := g.output("", append([]string{"log", "-z", "--format=%H%x00%T%x00%P%x00%an%x00%ae%x00%at%x00%cn%x00%ce%x00%ct%x00%B"}, args...)...)
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
	list, err := s.o.Git.log("-1", c.params["commit_sha"], "--")
	if err != nil || len(list) != 1 || list[0].sha != c.params["commit_sha"] {
		return fail(http.StatusNotFound, "Not Found")
	}
	o := s.renderGitCommit(list[0])
	o["sha"], o["node_id"], o["html_url"] = list[0].sha, "C_"+list[0].sha, s.siteURL()+"/commit/"+list[0].sha
	o["parents"] = s.renderParents(list[0])
	return okay(o)
}

// listCommits lists what a branch, a tag or a commit leads to.
func (s *Server) listCommits(c *conversation) reply {
	sha, ok := s.o.Git.named(c.query.Get("sha"))
	if !ok {
		return fail(http.StatusNotFound, "Not Found")
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

// renderCommit is a commit with what GitHub knows of it.
func (s *Server) renderCommit(k storedCommit) object {
	u := s.repoURL() + "/commits/" + k.sha
	inner := s.renderGitCommit(k)
	inner["comment_count"] = 0
	return object{"sha": k.sha, "node_id": "C_" + k.sha, "url": u, "html_url": s.siteURL() + "/commit/" + k.sha, "comments_url": u + "/comments",
		"commit": inner, "author": nil, "committer": nil, "parents": s.renderParents(k)}
}

// renderGitCommit is what git itself knows.
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
