package githubtest

import (
	"maps"
	"strconv"
	"strings"
)

// getUser shows an account by its id. It knows only the token's own, because no test asks for
// another.
func (s *Server) getUser(c *conversation) reply {
	id, _ := strconv.ParseInt(c.params["account_id"], 10, 64)
	if id != c.account.ID {
		return notFound()
	}
	return okay(s.renderAccount(c.account))
}

// renderAccount returns an account with all that GitHub shows of one.
func (s *Server) renderAccount(a Account) object {
	o := s.renderUser(a).(object)
	maps.Copy(o, object{"user_view_type": "public", "public_repos": 0, "public_gists": 0, "followers": 0, "following": 0,
		"created_at": stamp(s.now()), "updated_at": stamp(s.now())})
	for _, text := range []string{"name", "company", "blog", "location", "email", "hireable", "bio"} {
		o[text] = nil
	}
	return o
}

// getPermission shows what a user may do with the repository.
func (s *Server) getPermission(c *conversation) reply {
	a := s.account(c.params["username"])
	if a == (Account{}) {
		return notFound()
	}
	level := s.state.Repo.Permissions[a.Login]
	if level == "" {
		level = "none"
		if !s.state.Repo.Private {
			level = "read"
		}
	}
	user := s.renderAccount(a)
	delete(user, "user_view_type")
	user["role_name"] = level
	return okay(object{"permission": level, "role_name": level, "user": user})
}

// account finds an account by its login. It looks at the Viewer, the collaborators, and the authors
// of issues and their comments, and returns the zero Account if none of them has the login.
func (s *Server) account(login string) Account {
	known := []Account{s.state.Viewer}
	known = append(known, s.state.Repo.Collaborators...)
	for _, i := range s.state.Issues {
		known = append(known, i.Author)
		for _, m := range i.Comments {
			known = append(known, m.Author)
		}
	}
	return find(known, func(a Account) bool { return strings.EqualFold(a.Login, login) })
}

// plainLogin returns a login as GraphQL and addresses spell it: without "[bot]".
func plainLogin(a Account) string { return strings.TrimSuffix(a.Login, "[bot]") }

// kindOf returns the type of an account.
func kindOf(a Account) string {
	if strings.HasSuffix(a.Login, "[bot]") {
		return "Bot"
	}
	return "User"
}
