package githubtest

import (
	"cmp"
	"encoding/base64"
	"net/http"
	"path"
	"strconv"
	"strings"
)

// getContent serves a path of the repository as JSON: a file of up to 1 MiB with its content, a
// larger one without. A directory of the fixture contains one file, which is made up.
func (s *Server) getContent(c *conversation) reply {
	name, ref := c.params["path"], c.query.Get("ref")
	if s.o.Git != nil {
		return s.storedContent(name, ref)
	}
	for _, f := range s.state.Files {
		if f.Path != name || !f.isAt(ref, s.state.Repo.DefaultBranch) {
			continue
		}
		if f.Type == "dir" {
			return okay([]any{s.entry(f.Path+"/file", "file")})
		}
		return okay(s.fileEntry(f.Path, f.Content))
	}
	return notFound()
}

// fileEntry returns a file with its content, unless it is larger than 1 MiB.
func (s *Server) fileEntry(name, content string) object {
	o := s.entry(name, "file")
	o["size"] = len(content)
	o["encoding"], o["content"] = "base64", wrapped(content)
	if len(content) > 1<<20 {
		o["encoding"], o["content"] = "none", ""
	}
	return o
}

// entry returns GitHub's description of what is at a path. The id is made up, and the size is 0: a
// caller that knows the real ones sets them.
func (s *Server) entry(name, kind string) object {
	const sha = "3d21ec53a331a6f037a91c368710b99387d012c1"
	self := s.repoURL() + "/contents/" + name
	blob := s.repoURL() + "/git/blobs/" + sha
	html := s.siteURL() + "/blob/main/" + name
	return object{"type": kind, "name": path.Base(name), "path": name, "size": 0, "sha": sha, "url": self, "git_url": blob,
		"html_url": html, "download_url": html, "_links": object{"self": self, "git": blob, "html": html}}
}

// wrapped returns base64 in lines of 60, as GitHub sends it.
func wrapped(text string) string {
	enc := base64.StdEncoding.EncodeToString([]byte(text))
	var b strings.Builder
	for len(enc) > 60 {
		b.WriteString(enc[:60] + "\n")
		enc = enc[60:]
	}
	b.WriteString(enc + "\n")
	return b.String()
}

// treeEntry is an entry of a directory as git has it.
type treeEntry struct {
	mode, sha, path string
	size            int
}

// entries returns the one entry that a path names, if there is one. For a path with a slash at its end
// it lists what is in that directory.
func (g *Git) entries(commit, name string) []treeEntry {
	out, err := g.output("", "ls-tree", "-z", "--long", commit, name)
	if err != nil {
		return nil
	}
	var list []treeEntry
	for _, line := range strings.Split(strings.TrimSuffix(out, "\x00"), "\x00") {
		about, name, ok := strings.Cut(line, "\t")
		if f := strings.Fields(about); ok && len(f) == 4 {
			size, _ := strconv.Atoi(f[3])
			list = append(list, treeEntry{f[0], f[2], name, size})
		}
	}
	return list
}

// storedContent serves a path as it is in a commit. As on GitHub, a symbolic link to a file is
// answered with that file.
func (s *Server) storedContent(name, ref string) reply {
	commit, ok := s.o.Git.named(ref)
	if !ok {
		return fail(http.StatusNotFound, "No commit found for the ref "+ref)
	}
	found := s.o.Git.entries(commit, name)
	if len(found) != 1 {
		return notFound()
	}
	e := found[0]
	sha := e.sha // of the file whose content is shown
	switch e.mode {
	case "120000":
		target, err := s.o.Git.blob(e.sha)
		if err != nil {
			return notFound()
		}
		targets := s.o.Git.entries(commit, path.Join(path.Dir(name), target))
		if len(targets) != 1 || !strings.HasPrefix(targets[0].mode, "100") {
			o := s.storedEntry(e)
			o["target"] = target
			return okay(o)
		}
		sha = targets[0].sha
	case "040000":
		list := []object{}
		for _, inner := range s.o.Git.entries(commit, name+"/") {
			list = append(list, s.storedEntry(inner))
		}
		return okay(list)
	case "160000":
		o := s.storedEntry(e)
		o["submodule_git_url"] = "https://github.com/octo/sub.git" // a fixed address: .gitmodules is not read
		return okay(o)
	}
	text, err := s.o.Git.blob(sha)
	if err != nil {
		return notFound()
	}
	o := s.fileEntry(name, text)
	o["sha"] = sha
	return okay(o)
}

func (s *Server) storedEntry(e treeEntry) object {
	kinds := map[string]string{"040000": "dir", "120000": "symlink", "160000": "submodule"}
	o := s.entry(e.path, cmp.Or(kinds[e.mode], "file"))
	o["sha"], o["size"] = e.sha, e.size
	return o
}
