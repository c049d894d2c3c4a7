package githubtest

import (
	"cmp"
	"slices"
	"strings"
)

func (s *Server) getPull(c *conversation) reply {
	if r, ok := s.need(c, pullsRead); !ok {
		return r
	}
	i, bad := s.issue(c)
	if i == nil {
		return bad
	}
	return okay(s.renderPull(i, true))
}

func (s *Server) listPulls(c *conversation) reply {
	if r, ok := s.need(c, pullsRead); !ok {
		return r
	}
	state, head, base := cmp.Or(c.query.Get("state"), "open"), c.query.Get("head"), c.query.Get("base")
	var list []*Issue
	for _, i := range s.state.Issues {
		if i.Pull == nil || !s.visible(i) || state != "all" && i.State != state {
			continue
		}
		if head != "" && !strings.EqualFold(head, s.headLabel(i.Pull.Head)) || base != "" && base != i.Pull.Base.Ref {
			continue
		}
		list = append(list, i)
	}
	if c.query.Get("direction") != "asc" {
		slices.Reverse(list)
	}
	return page(s, c, list, func(a, b *Issue) int { return cmp.Compare(b.ID, a.ID) }, func(i *Issue) any { return s.renderPull(i, false) })
}

func (s *Server) headLabel(b Branch) string {
	owner := s.state.Repo.Owner
	if b.Fork != "" {
		owner, _, _ = strings.Cut(b.Fork, "/")
	}
	return owner + ":" + b.Ref
}

// listFiles shows at most 3,000 files, as GitHub does.
func (s *Server) listFiles(c *conversation) reply {
	if r, ok := s.need(c, pullsRead); !ok {
		return r
	}
	i, bad := s.issue(c)
	if i == nil {
		return bad
	}
	list := i.Pull.Files[:min(len(i.Pull.Files), 3000)]
	return page(s, c, list, func(a, b File) int { return cmp.Compare(a.Path, b.Path) }, func(f File) any { return s.renderFile(i.Pull, f) })
}
