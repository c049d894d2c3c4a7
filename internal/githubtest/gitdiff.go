package githubtest

import (
	"fmt"
	"net/http"
	"strings"
)

// compare tells how two commits relate, with the first 300 files that differ.
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
		return fail(http.StatusNotFound, "Not Found")
	}
	fork, err := s.o.Git.run("", "merge-base", from, to)
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
	for _, k := range ahead[:min(250, len(ahead))] {
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

// diff is what changed between two commits, file by file as the API has it.
func (g *Git) diff(from, to string) ([]File, error) {
	raw, err := g.output("", "diff", "--raw", "-z", "-M", "--no-ext-diff", from, to)
	if err != nil {
		return nil, err
	}
	text, err := g.output("", "diff", "-p", "-M", "--no-ext-diff", "--no-textconv", "--no-color", from, to)
	if err != nil {
		return nil, err
	}
	// No line within a hunk begins so.
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
			patches = patches[1:] // one for what went and one for what came
		}
		list = append(list, f)
	}
	return list, nil
}
