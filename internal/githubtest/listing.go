package githubtest

import (
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// page answers with one page of a list, in the list's order, and its Link header. The request's
// fault may hide the newest entries, reverse the list or shift the pages. newest orders the entries
// by age, the newest first, to find the entries to hide.
func page[T any](s *Server, c *conversation, list []T, newest func(a, b T) int, render func(T) any) reply {
	if c.fault.Hide > 0 {
		byAge := slices.Clone(list)
		slices.SortStableFunc(byAge, newest)
		hidden := byAge[:min(c.fault.Hide, len(byAge))]
		list = slices.DeleteFunc(slices.Clone(list), func(x T) bool {
			return slices.ContainsFunc(hidden, func(h T) bool { return newest(h, x) == 0 })
		})
	}
	if c.fault.Reverse {
		list = slices.Clone(list)
		slices.Reverse(list)
	}
	perPage, number := intQuery(c.query, "per_page", 30), intQuery(c.query, "page", 1)
	perPage = min(max(perPage, 1), s.o.PerPage)
	from := (number - 1) * perPage
	if number > 1 {
		from = max(0, from-c.fault.Shift)
	}
	out := make([]any, 0, perPage)
	for _, entry := range list[min(from, len(list)):min(from+perPage, len(list))] {
		out = append(out, render(entry))
	}
	r := okay(out)
	last := (len(list) + perPage - 1) / perPage
	var links []string
	link := func(rel string, p int) {
		q := maps.Clone(c.query)
		q.Set("page", strconv.Itoa(p))
		links = append(links, fmt.Sprintf(`<%s%s?%s>; rel="%s"`, s.apiURL(), c.rec.Path, q.Encode(), rel))
	}
	if number > 1 {
		link("prev", number-1)
	}
	if number < last {
		link("next", number+1)
		link("last", last)
	}
	if len(links) > 0 {
		r.header = http.Header{"Link": {strings.Join(links, ", ")}}
	}
	return r
}

// intQuery returns a query parameter, or def if it is missing or not a number.
func intQuery(q url.Values, name string, def int) int {
	if n, err := strconv.Atoi(q.Get(name)); err == nil {
		return n
	}
	return def
}

// since returns the query parameter since, or the zero time if it is missing or
// invalid.
func since(q url.Values) time.Time {
	t, _ := time.Parse(time.RFC3339, q.Get("since"))
	return t
}

// find returns the first entry for which matches returns true, or the zero value if there is none.
func find[T any](list []T, matches func(T) bool) (found T) {
	if k := slices.IndexFunc(list, matches); k >= 0 {
		found = list[k]
	}
	return found
}

// visibleOf returns the objects that listings already show and that keep accepts.
func visibleOf[T any](s *Server, list []T, keep func(T) bool) []T {
	return slices.DeleteFunc(slices.Clone(list), func(v T) bool { return !s.visible(v) || !keep(v) })
}

// visible reports whether listings already show an object.
func (s *Server) visible(key any) bool {
	listedFrom, ok := s.listed[key]
	return !ok || !s.o.Clock.Now().Before(listedFrom)
}

// lag keeps a new object out of listings. The options and the fault of the request that creates the
// object each say for how long; the longer time counts.
func (s *Server) lag(key any) {
	delay := s.o.Lag
	if s.o.LagOf != nil {
		delay = s.o.LagOf()
	}
	if delay = max(delay, s.unlisted); delay > 0 {
		s.listed[key] = s.time().Add(delay)
	}
}

// now returns GitHub's time: full seconds, UTC.
func (s *Server) now() time.Time { return s.time().UTC().Truncate(time.Second) }

// id returns the next id of an object.
func (s *Server) id() int64 {
	s.nextID++
	return s.nextID
}

// number returns the next number, of an issue, a pull request or a discussion.
func (s *Server) number() int {
	s.nextNum++
	return s.nextNum
}
