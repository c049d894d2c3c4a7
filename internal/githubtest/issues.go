package githubtest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"unicode/utf16"
)

func issuesOff() reply { return fail(http.StatusGone, "Issues has been disabled in this repository.") }

func (s *Server) getIssue(_ *conversation, i *Issue) reply {
	return okay(s.renderIssue(i))
}

func (s *Server) listIssues(c *conversation) reply {
	state, updatedSince := cmp.Or(c.query.Get("state"), "open"), since(c.query)
	var wanted []string
	if l := c.query.Get("labels"); l != "" {
		wanted = strings.Split(l, ",")
	}
	list := visibleOf(s, s.state.Issues, func(i *Issue) bool {
		inState := state == "all" || i.State == state
		byCreator := !c.query.Has("creator") || strings.EqualFold(i.Author.Login, c.query.Get("creator"))
		return inState && byCreator && !i.UpdatedAt.Before(updatedSince) && hasAll(i.Labels, wanted)
	})
	order := func(a, b *Issue) int { return cmp.Compare(a.ID, b.ID) }
	if c.query.Get("sort") == "updated" {
		order = func(a, b *Issue) int { return cmp.Or(a.UpdatedAt.Compare(b.UpdatedAt), cmp.Compare(a.ID, b.ID)) }
	}
	slices.SortFunc(list, order)
	if c.query.Get("direction") != "asc" {
		slices.Reverse(list)
	}
	return page(s, c, list, func(a, b *Issue) int { return cmp.Compare(b.ID, a.ID) }, func(i *Issue) any { return s.renderIssue(i) })
}

// hasAll reports whether the labels that an issue has include all that are wanted, without regard to
// case.
func hasAll(have, want []string) bool {
	for _, w := range want {
		if !slices.ContainsFunc(have, func(h string) bool { return strings.EqualFold(h, w) }) {
			return false
		}
	}
	return true
}

func (s *Server) createIssue(c *conversation) reply {
	if s.state.Repo.NoIssues {
		return issuesOff()
	}
	var in struct {
		Title, Body string // a body of null stays empty
		Labels      []string
	}
	decode(c, &in)
	if bad := checkText("Issue", &in.Title, &in.Body); bad != nil {
		return invalid(bad...)
	}
	if bad := checkLabels(nil, in.Labels); bad != nil {
		return invalid(*bad)
	}
	i := &Issue{ID: s.id(), Number: s.number(), Title: in.Title, Body: in.Body, State: "open", Author: c.account, CreatedAt: s.now(), UpdatedAt: s.now()}
	s.attachLabels(i, in.Labels)
	s.state.Issues = append(s.state.Issues, i)
	s.lag(i)
	return created(s.renderIssue(i))
}

func (s *Server) updateIssue(c *conversation, i *Issue) reply {
	var in struct {
		Title       *string
		Body        *string
		State       *string
		StateReason *string `json:"state_reason"`
		Labels      *[]string
	}
	decode(c, &in)
	if bad := checkText("Issue", in.Title, in.Body); bad != nil {
		return invalid(bad...)
	}
	s.edit(i, c.account, "title", in.Title, &i.Title)
	s.edit(i, c.account, "body", in.Body, &i.Body)
	if in.State != nil && *in.State == "open" {
		i.StateReason = ""
	}
	s.edit(i, c.account, "state", in.State, &i.State)
	if in.StateReason != nil {
		i.StateReason = *in.StateReason
	} else if in.State != nil && i.State == "closed" && i.StateReason == "" && i.Pull == nil {
		i.StateReason = "completed"
	}
	if in.Labels != nil {
		i.Labels = nil
		s.attachLabels(i, *in.Labels)
	}
	return okay(s.renderIssue(i))
}

// edit sets a field to a value and records who edited it. It does nothing if the value is nil or the
// field has it already.
func (s *Server) edit(i *Issue, editor Account, name string, value, field *string) {
	if value == nil || *value == *field {
		return
	}
	if name == "body" && !slices.ContainsFunc(i.Edits, func(e Edit) bool { return e.Field == "body" }) {
		i.FirstBody = *field
	}
	*field = *value
	i.UpdatedAt = s.now()
	i.Edits = append(i.Edits, Edit{Field: name, To: *value, Editor: editor, At: s.now()})
}

// permissionFor returns the permissions to write to an issue or pull request; one of them is
// enough.
func permissionFor(i *Issue) string {
	if i.Pull != nil {
		return issueOrPull
	}
	return issuesWrite
}

// checkText applies GitHub's limits to a title and a body; nil is not checked.
func checkText(resource string, title, body *string) []fieldError {
	var bad []fieldError
	if title != nil {
		switch {
		case strings.TrimSpace(*title) == "":
			bad = append(bad, fieldError{Resource: resource, Field: "title", Code: "missing_field"})
		case length(*title) > 256:
			bad = append(bad, fieldError{Resource: resource, Field: "title", Code: "custom", Message: "title is too long (maximum is 256 characters)"})
		}
	}
	if body != nil && (length(*body) > 65536 || len(*body) > 262144) {
		bad = append(bad, fieldError{Resource: resource, Field: "body", Code: "custom", Message: "body is too long (maximum is 65536 characters)"})
	}
	return bad
}

// length counts UTF-16 units, the strictest reading of GitHub's "characters".
func length(s string) int { return len(utf16.Encode([]rune(s))) }

// decode reads a body that the contract has found valid.
func decode(c *conversation, v any) {
	if err := json.Unmarshal(c.body, v); err != nil {
		panic(fmt.Sprintf("githubtest: %s: %v", c.rec.Operation, err))
	}
}
