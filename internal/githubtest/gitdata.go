package githubtest

import (
	"errors"
	"net/http"
	"slices"
	"strings"
)

// withGit is a handler that answers from the repository. An empty one answers 409
// to everything.
func withGit(permission string, h func(*Server, *conversation) reply) func(*Server, *conversation) reply {
	return func(s *Server, c *conversation) reply {
		if r, ok := s.need(c, permission); !ok {
			return r
		}
		if s.o.Git == nil {
			return s.violation(c.rec, "the test server has no repository", errors.New("give it Options.Git"))
		}
		if some, err := s.o.Git.run("", "for-each-ref", "--count=1", "refs/heads"); err == nil && some == "" {
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

// findRef is the ref of exactly this name.
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
		return fail(http.StatusNotFound, "Not Found")
	}
	return okay(s.renderRef(r))
}

// listRefs lists all refs that begin so, on one page.
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
	if _, err := s.o.Git.resolve(in.SHA); err == nil && !in.Force {
		if _, err := s.o.Git.run("", "merge-base", "--is-ancestor", old.sha, in.SHA); err != nil {
			return fail(http.StatusUnprocessableEntity, "Update is not a fast forward")
		}
	}
	return s.writeRef(old.name, in.SHA, byPull, okay)
}

// writeRef moves a ref to a commit, unless the branch is protected, which is
// refused in the given words.
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

// protects refuses a write of a branch that only pull requests may change.
func (s *Server) protects(name, words string) (reply, bool) {
	branch, _ := strings.CutPrefix(name, "refs/heads/")
	switch {
	case slices.Contains(s.state.Repo.Protected, branch):
		return fail(http.StatusUnprocessableEntity, words), true
	case slices.Contains(s.state.Repo.Ruled, branch):
		return fail(http.StatusUnprocessableEntity, "Repository rule violations found\n\n"+byPull+"\n\n"), true
	}
	return reply{}, false
}
