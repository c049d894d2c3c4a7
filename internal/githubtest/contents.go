package githubtest

import (
	"encoding/base64"
	"net/http"
	"path"
	"strings"
)

// getContent serves the repository's files as JSON: up to 1 MB with their
// content, above it without.
func (s *Server) getContent(c *conversation) reply {
	if r, ok := s.need(c, "contents=read"); !ok {
		return r
	}
	name, ref := c.params["path"], c.query.Get("ref")
	if s.o.Git != nil {
		return s.storedContent(name, ref)
	}
	for _, f := range s.state.Files {
		if f.Path != name || f.Ref != "" && f.Ref != ref && !(ref == "" && f.Ref == s.state.Repo.DefaultBranch) {
			continue
		}
		if f.Type == "dir" {
			return okay([]any{s.entry(f.Path+"/file", "file")})
		}
		return okay(s.fileEntry(f.Path, f.Content))
	}
	return fail(http.StatusNotFound, "Not Found")
}

// fileEntry is a file with its content, unless it is larger than 1 MB.
func (s *Server) fileEntry(name, content string) object {
	o := s.entry(name, "file")
	o["size"] = len(content)
	o["encoding"], o["content"] = "base64", wrapped(content)
	if len(content) > 1<<20 {
		o["encoding"], o["content"] = "none", ""
	}
	return o
}

func (s *Server) entry(name, kind string) object {
	self := s.repoURL() + "/contents/" + name
	blob := s.repoURL() + "/git/blobs/3d21ec53a331a6f037a91c368710b99387d012c1"
	html := s.siteURL() + "/blob/main/" + name
	return object{"type": kind, "name": path.Base(name), "path": name, "size": 0, "sha": "3d21ec53a331a6f037a91c368710b99387d012c1", "url": self, "git_url": blob,
		"html_url": html, "download_url": html, "_links": object{"self": self, "git": blob, "html": html}}
}

// wrapped is base64 in lines of 60, as GitHub sends it.
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
