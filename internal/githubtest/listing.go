package githubtest

import (
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

// visibleOf returns the objects that listings show already and keep accepts.
func visibleOf[T any](s *Server, list []T, keep func(T) bool) []T {
	return slices.DeleteFunc(slices.Clone(list), func(v T) bool { return !s.visible(v) || !keep(v) })
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

// now is GitHub's time: full seconds, UTC.
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
