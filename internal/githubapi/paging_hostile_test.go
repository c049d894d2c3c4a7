package githubapi_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/agent-airlock/airlock/internal/githubapi"
)

// labelServer answers a list of labels page by page. link returns the Link header of a page, ""
// for none; asked are the pages that were asked for.
type labelServer struct {
	pages [][]string
	link  func(page, last int) string
	asked []int
	hosts map[string]bool
}

// RoundTrip implements http.RoundTripper.
func (s *labelServer) RoundTrip(req *http.Request) (*http.Response, error) {
	page, _ := strconv.Atoi(req.URL.Query().Get("page"))
	s.asked, s.hosts[req.URL.Host] = append(s.asked, page), true
	labels := []map[string]string{}
	if page <= len(s.pages) {
		for _, name := range s.pages[page-1] {
			labels = append(labels, map[string]string{"name": name})
		}
	}
	body, err := json.Marshal(labels)
	if err != nil {
		return nil, err
	}
	h := http.Header{"Content-Type": {"application/json"}}
	if link := s.link(page, len(s.pages)); link != "" {
		h.Set("Link", link)
	}
	return &http.Response{StatusCode: 200, Header: h, Body: io.NopCloser(strings.NewReader(string(body))), Request: req}, nil
}

// pagesOf divides n labels into pages of the given sizes, and what is left into pages of 100.
func pagesOf(n int, sizes ...int) (pages [][]string) {
	next := 0
	addPage := func(size int) {
		page := []string{}
		for range min(size, n-next) {
			page = append(page, fmt.Sprint("label ", next))
			next++
		}
		pages = append(pages, page)
	}
	for _, size := range sizes {
		addPage(size)
	}
	for next < n {
		addPage(100)
	}
	return pages
}

// gitHubLink returns a function that returns the Link header as GitHub sends it, with next as the
// address of the next page.
func gitHubLink(next string) func(page, last int) string {
	return func(page, last int) string {
		var links []string
		if page > 1 {
			links = append(links, `<https://api.github.com/x?page=1>; rel="first"`, fmt.Sprintf(`<https://api.github.com/x?page=%d>; rel="prev"`, page-1))
		}
		if page < last {
			links = append(links, fmt.Sprintf("<"+next+">; rel=\"next\"", page+1), fmt.Sprintf(`<https://api.github.com/x?page=%d>; rel="last"`, last))
		}
		return strings.Join(links, ", ")
	}
}

// TestListsAreRead asserts that a list is read to its end, whatever the Link header says, in a
// bounded number of requests, which all go to GitHub.
func TestListsAreRead(t *testing.T) {
	t.Parallel()
	const github = "https://api.github.com/x?page=%d"
	always := func(header string) func(int, int) string { return func(int, int) string { return header } }
	for name, c := range map[string]struct {
		pages [][]string
		link  func(page, last int) string
		most  int // requests
	}{
		"one page":                        {pagesOf(99), gitHubLink(github), 1},
		"a full page":                     {pagesOf(100), gitHubLink(github), 2},
		"one more than a page":            {pagesOf(101), gitHubLink(github), 4},
		"two full pages":                  {pagesOf(200), gitHubLink(github), 4},
		"an empty page in the middle":     {pagesOf(150, 100, 0, 50), gitHubLink(github), 6},
		"an empty page at the beginning":  {pagesOf(50, 0, 50), gitHubLink(github), 4},
		"short pages":                     {pagesOf(90, 30, 30, 30), gitHubLink(github), 6},
		"no header":                       {pagesOf(250), always(""), 12},
		"a header cut off":                {pagesOf(250), always(`<https://api.github.com/x?page=`), 12},
		"a header of something else":      {pagesOf(250), always(`</style.css>; rel="preload"`), 12},
		"no quotation marks":              {pagesOf(250), func(page, last int) string { return strings.ReplaceAll(gitHubLink(github)(page, last), `"`, "") }, 6},
		"capital letters":                 {pagesOf(250), func(page, last int) string { return strings.ReplaceAll(gitHubLink(github)(page, last), "rel", "REL") }, 6},
		"commas in the address":           {pagesOf(250), gitHubLink("https://api.github.com/x?labels=a,b;c&page=%d"), 6},
		"cursors instead of numbers":      {pagesOf(250), gitHubLink("https://api.github.com/x?after=Y3Vyc29yOnYy%d"), 6},
		"another host":                    {pagesOf(250), gitHubLink("https://evil.example/x?page=%d"), 6},
		"another repository":              {pagesOf(250), gitHubLink("https://api.github.com/repos/evil/evil/labels?page=%d"), 6},
		"the same page once more":         {pagesOf(250), gitHubLink("https://api.github.com/x?page=1&p=%d"), 6},
		"a page far away":                 {pagesOf(250), gitHubLink("https://api.github.com/x?page=9999%d"), 6},
		"a negative page":                 {pagesOf(250), gitHubLink("https://api.github.com/x?page=-%d"), 6},
		"a page number that is too large": {pagesOf(250), gitHubLink("https://api.github.com/x?page=99999999999999999999%d"), 6},
		"no header, and a short page two": {pagesOf(150), always(""), 8},
	} {
		s := &labelServer{pages: c.pages, link: c.link, hosts: map[string]bool{}}
		got, err := labelsOf(t, s)
		want := 0
		for _, page := range c.pages {
			want += len(page)
		}
		if err != nil || got != want {
			t.Errorf("%s: %d labels of %d, %v", name, got, want, err)
		}
		if len(s.asked) > c.most || len(s.hosts) != 1 || !s.hosts["api.github.com"] {
			t.Errorf("%s: %d requests for the pages %v, to %v", name, len(s.asked), s.asked, s.hosts)
		}
	}
}

// TestListsWithoutEnd asserts that the client stops reading a list that repeats itself for ever,
// and returns an error, because it has read only a part.
func TestListsWithoutEnd(t *testing.T) {
	t.Parallel()
	for name, pages := range map[string][][]string{"one page again and again": slices.Repeat([][]string{{"a", "b"}}, 2000), "empty pages": make([][]string, 2000)} {
		s := &labelServer{pages: pages, link: gitHubLink("https://api.github.com/x?page=%d"), hosts: map[string]bool{}}
		_, err := labelsOf(t, s)
		if !errors.Is(err, githubapi.Malformed) || !strings.Contains(err.Error(), "does not end") || len(s.asked) > 20 {
			t.Errorf("%s: %d requests, %v", name, len(s.asked), err)
		}
	}
}

// TestConnectionsWithoutEnd asserts that the client stops reading a connection of GraphQL that
// repeats a cursor, or that has none for its next page, and returns an error.
func TestConnectionsWithoutEnd(t *testing.T) {
	t.Parallel()
	since := time.Time{}
	calls := map[string]func(*githubapi.Client) error{
		"ReadDraft":            func(c *githubapi.Client) error { return second(c.ReadDraft(t.Context(), repo, "PRR_1")) },
		"IssueEdits":           func(c *githubapi.Client) error { return second(c.IssueEdits(t.Context(), repo, 5, since)) },
		"DiscussionCategories": func(c *githubapi.Client) error { return second(c.DiscussionCategories(t.Context(), repo)) },
		"ListDiscussions":      func(c *githubapi.Client) error { return firstError(c.ListDiscussions(t.Context(), repo, since)) },
		"ListDiscussionComments": func(c *githubapi.Client) error {
			return firstError(c.ListDiscussionComments(t.Context(), repo, 5, since))
		},
		"ProtectedPatterns": func(c *githubapi.Client) error { return second(c.ProtectedPatterns(t.Context(), repo)) },
		"IssueText":         func(c *githubapi.Client) error { return second(c.IssueText(t.Context(), repo, 5)) },
		"FilesOnRefs of a pull request": func(c *githubapi.Client) error {
			return second(c.FilesOnRefs(t.Context(), repo, githubapi.RefQuery{Prefix: "refs/airlock/", Pull: 5}))
		},
		"FilesOnRefs": func(c *githubapi.Client) error {
			return second(c.FilesOnRefs(t.Context(), repo, githubapi.RefQuery{Prefix: "refs/airlock/"}))
		},
	}
	for name, cursor := range map[string]func(request int) string{
		"always the same": func(int) string { return `"A"` },
		"in a circle":     func(n int) string { return []string{`"A"`, `"B"`, `"C"`}[n%3] },
		"null":            func(int) string { return `null` },
		"empty":           func(int) string { return `""` },
	} {
		for call, do := range calls {
			n := 0
			c, err := githubapi.New(githubapi.Options{Attempts: 1, Pace: githubapi.Unpaced(), Transport: roundTripper(func(req *http.Request) (*http.Response, error) {
				page := fmt.Sprintf(`"pageInfo":{"hasNextPage":true,"endCursor":%[1]s,"hasPreviousPage":true,"startCursor":%[1]s}`, cursor(n))
				n++
				body := strings.ReplaceAll(`{"data":{"node":{"state":"PENDING","comments":{"nodes":[{"id":"X1","body":"x"}],PAGE}},"repository":{"id":"R","hasDiscussionsEnabled":true,
					"issueOrPullRequest":{"createdAt":"2026-01-01T00:00:00Z","userContentEdits":{"nodes":[{"editedAt":"2026-01-02T00:00:00Z"}],PAGE},"timelineItems":{"nodes":[],PAGE}},
					"discussionCategories":{"nodes":[{"id":"C"}],PAGE},"discussions":{"nodes":[{"id":"D","createdAt":"2026-01-02T00:00:00Z"}],PAGE},
					"discussion":{"comments":{"nodes":[{"id":"DC"}],PAGE}},"refs":{"nodes":[{"name":"a","target":{"oid":"b"}}],PAGE},
					"branchProtectionRules":{"nodes":[{"id":"P","pattern":"x"}],PAGE},"url":"https://github.com/octo/repo",
					"pullRequest":{"headRefOid":"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa","comments":{"nodes":[{"fullDatabaseId":"1","body":"x"}],PAGE}},
					"issue":{"id":"I","fullDatabaseId":"5","number":5,"body":"x","userContentEdits":{"nodes":[{"id":"E","editedAt":"2026-01-02T00:00:00Z"}],PAGE}}}}}`, "PAGE", page)
				return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(body)), Request: req}, nil
			})})
			if err != nil {
				t.Fatal(err)
			}
			if err := do(c); !errors.Is(err, githubapi.Malformed) || n > 4 {
				t.Errorf("%s, %s: %d requests, %v", call, name, n, err)
			}
		}
	}
}

// labelsOf reads all labels from a server and returns their number.
func labelsOf(t *testing.T, s http.RoundTripper) (n int, err error) {
	t.Helper()
	c, err := githubapi.New(githubapi.Options{Attempts: 1, Pace: githubapi.Unpaced(), Transport: s})
	if err != nil {
		t.Fatal(err)
	}
	for _, err := range c.ListLabels(t.Context(), repo) {
		if err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}
