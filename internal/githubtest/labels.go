package githubtest

import (
	"cmp"
	"slices"
	"strings"
)

// label finds a label without regard to case, and creates it when the
// repository has none.
func (s *Server) label(name string) Label {
	if l, ok := s.findLabel(name); ok {
		return l
	}
	l := Label{ID: s.id(), Name: name}
	s.state.Labels = append(s.state.Labels, l)
	return l
}

func (s *Server) findLabel(name string) (Label, bool) {
	l := find(s.state.Labels, func(l Label) bool { return strings.EqualFold(l.Name, name) })
	return l, l.ID != 0
}

// attachLabels adds labels to an issue, in the spelling that the repository has.
func (s *Server) attachLabels(i *Issue, names []string) {
	for _, n := range names {
		l := s.label(n)
		if !slices.Contains(i.Labels, l.Name) {
			i.Labels = append(i.Labels, l.Name)
			i.UpdatedAt = s.now()
		}
	}
}

// checkLabels returns why GitHub refuses to add labels to an issue with the existing ones: a name is
// empty or longer than 50 characters, or the issue would have more than 100 labels. It returns nil
// if GitHub accepts them.
func checkLabels(existing, added []string) *fieldError {
	all := map[string]bool{}
	for _, n := range existing {
		all[strings.ToLower(n)] = true
	}
	for _, n := range added {
		if strings.TrimSpace(n) == "" {
			return &fieldError{Resource: "Label", Field: "name", Code: "missing_field"}
		}
		if length(n) > 50 {
			return &fieldError{Resource: "Label", Field: "name", Code: "custom", Message: "name is too long (maximum is 50 characters)"}
		}
		all[strings.ToLower(n)] = true
	}
	if len(all) > 100 {
		return &fieldError{Resource: "Issue", Field: "labels", Code: "custom", Message: "issues may have a maximum of 100 labels"}
	}
	return nil
}

func (s *Server) listLabels(c *conversation) reply {
	return page(s, c, s.state.Labels, newerLabel, func(l Label) any { return s.renderLabel(l) })
}

func newerLabel(a, b Label) int { return cmp.Compare(b.ID, a.ID) }

func (s *Server) listIssueLabels(c *conversation, i *Issue) reply {
	list := make([]Label, len(i.Labels))
	for k, n := range i.Labels {
		list[k] = s.label(n)
	}
	return page(s, c, list, newerLabel, func(l Label) any { return s.renderLabel(l) })
}

func (s *Server) addLabels(c *conversation, i *Issue) reply {
	var in struct{ Labels []string }
	decode(c, &in)
	accepted := permissionFor(i)
	for _, n := range in.Labels {
		if _, ok := s.findLabel(n); !ok {
			accepted = issuesWrite // creating a label needs more than using one
		}
	}
	if r, ok := s.need(c, accepted); !ok {
		return r
	}
	if bad := checkLabels(i.Labels, in.Labels); bad != nil {
		return invalid(*bad)
	}
	s.attachLabels(i, in.Labels)
	return okay(s.renderLabels(i.Labels))
}
