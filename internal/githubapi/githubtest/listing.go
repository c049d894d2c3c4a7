package githubtest

import (
	"cmp"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// page answers with one page of a list and its Link header. The fault may hide
// the newest entries (those that newest puts first) or shift the pages.
func page[T any](s *Server, c *conversation, list []T, newest func(a, b T) int, render func(T) any) reply {
	if c.fault.Hide > 0 {
		byAge := slices.Clone(list)
		slices.SortStableFunc(byAge, newest)
		hidden := byAge[:min(c.fault.Hide, len(byAge))]
		list = slices.DeleteFunc(slices.Clone(list), func(x T) bool {
			return slices.ContainsFunc(hidden, func(h T) bool { return newest(h, x) == 0 })
		})
	}
	per, n := intQuery(c.query, "per_page", 30), intQuery(c.query, "page", 1)
	per = min(max(per, 1), s.o.PerPage)
	from := (n - 1) * per
	if n > 1 {
		from = max(0, from-c.fault.Shift)
	}
	out := make([]any, 0, per)
	for i := min(from, len(list)); i < min(from+per, len(list)); i++ {
		out = append(out, render(list[i]))
	}
	r := okay(out)
	last := (len(list) + per - 1) / per
	var links []string
	link := func(rel string, p int) {
		q := url.Values{}
		for k, v := range c.query {
			q[k] = v
		}
		q.Set("page", strconv.Itoa(p))
		links = append(links, fmt.Sprintf(`<%s%s?%s>; rel="%s"`, s.apiURL(), c.rec.Path, q.Encode(), rel))
	}
	if n > 1 {
		link("prev", n-1)
	}
	if n < last {
		link("next", n+1)
		link("last", last)
	}
	if len(links) > 0 {
		r.header = http.Header{"Link": {strings.Join(links, ", ")}}
	}
	return r
}

func intQuery(q url.Values, name string, def int) int {
	if n, err := strconv.Atoi(q.Get(name)); err == nil {
		return n
	}
	return def
}

// since is the query parameter of that name, or the zero time.
func since(q url.Values) time.Time {
	t, _ := time.Parse(time.RFC3339, q.Get("since"))
	return t
}

// visible reports whether listings show an object yet.
func (s *Server) visible(key any) bool {
	at, ok := s.listed[key]
	return !ok || !s.o.Clock.Now().Before(at)
}

// lag keeps a new object out of listings for a while.
func (s *Server) lag(key any) {
	by := s.o.Lag
	if s.o.LagOf != nil {
		by = s.o.LagOf()
	}
	if by > 0 {
		s.listed[key] = s.time().Add(by)
	}
}

// now is GitHub's time: whole seconds, UTC.
func (s *Server) now() time.Time { return s.time().UTC().Truncate(time.Second) }

// id gives out growing ids; number gives out numbers, which issues, pull
// requests and discussions share.
func (s *Server) id() int64 {
	s.nextID++
	return s.nextID
}

func (s *Server) number() int {
	s.nextNum++
	return s.nextNum
}

// complete fills in what a fixture may leave out, and starts ids and numbers
// above all that are taken.
func (s *Server) complete() {
	f := &s.state
	def(&f.Repo.ID, 1)
	def(&f.Repo.Owner, "octo")
	def(&f.Repo.Name, "repo")
	def(&f.Repo.DefaultBranch, "main")
	if f.Viewer == (Account{}) {
		f.Viewer = Account{Login: "github-actions[bot]", ID: 41898282}
	}
	s.nextID = max(s.nextID, 1000)
	taken := func(ids ...int64) {
		for _, id := range ids {
			s.nextID = max(s.nextID, id)
		}
	}
	for _, i := range f.Issues {
		taken(i.ID)
		s.nextNum = max(s.nextNum, i.Number)
		for _, c := range i.Comments {
			taken(c.ID)
		}
		if i.Pull != nil {
			for _, r := range i.Pull.Reviews {
				taken(r.ID)
			}
			for _, d := range i.Pull.Comments {
				taken(d.ID)
			}
		}
	}
	for _, d := range f.Discussions {
		taken(d.ID)
		s.nextNum = max(s.nextNum, d.Number)
		for _, c := range d.Comments {
			taken(c.ID)
		}
	}
	for _, k := range f.Checks {
		taken(k.ID)
	}
	for i := range f.Labels {
		taken(f.Labels[i].ID)
	}
	stranger := Account{Login: "octocat", ID: 583231}
	old := s.now().Add(-24 * time.Hour)
	for i := range f.Labels {
		fillID(&f.Labels[i].ID, s.id)
	}
	comment := func(c *Comment) {
		fillID(&c.ID, s.id)
		def(&c.Author, stranger)
		def(&c.CreatedAt, old)
		def(&c.UpdatedAt, c.CreatedAt)
	}
	for _, i := range f.Issues {
		fillID(&i.ID, s.id)
		fillID(&i.Number, s.number)
		def(&i.State, "open")
		def(&i.Author, stranger)
		def(&i.CreatedAt, old)
		def(&i.UpdatedAt, i.CreatedAt)
		for _, c := range i.Comments {
			comment(c)
		}
		for k, l := range i.Labels {
			i.Labels[k] = s.label(l).Name
		}
		if p := i.Pull; p != nil {
			def(&p.Base.Ref, f.Repo.DefaultBranch)
			def(&p.Base.SHA, strings.Repeat("b", 40))
			def(&p.Head.Ref, fmt.Sprintf("branch-%d", i.Number))
			def(&p.Head.SHA, strings.Repeat("a", 40))
			for k := range p.Files {
				def(&p.Files[k].Status, "modified")
			}
			for _, r := range p.Reviews {
				fillID(&r.ID, s.id)
				def(&r.State, "COMMENTED")
				def(&r.CommitID, p.Head.SHA)
				def(&r.Author, stranger)
				def(&r.SubmittedAt, old)
			}
			for _, d := range p.Comments {
				fillID(&d.ID, s.id)
				def(&d.CommitID, p.Head.SHA)
				def(&d.Side, "RIGHT")
				def(&d.Subject, "line")
				def(&d.Author, stranger)
				def(&d.CreatedAt, old)
				def(&d.UpdatedAt, d.CreatedAt)
			}
		}
	}
	for _, k := range f.Checks {
		fillID(&k.ID, s.id)
		def(&k.Author, stranger)
		def(&k.At, old)
	}
	for i := range f.Categories {
		fillID(&f.Categories[i].ID, s.id)
	}
	for _, d := range f.Discussions {
		fillID(&d.ID, s.id)
		fillID(&d.Number, s.number)
		def(&d.Author, stranger)
		def(&d.CreatedAt, old)
		def(&d.UpdatedAt, d.CreatedAt)
		for _, c := range d.Comments {
			comment(c)
		}
	}
}

func def[T comparable](p *T, v T) {
	if *p == *new(T) {
		*p = v
	}
}

func fillID[T cmp.Ordered](p *T, next func() T) {
	if *p == *new(T) {
		*p = next()
	}
}
